import { withoutBasePath } from '../../shared/base-path.ts';
import type { MillraceControls } from '../controls/millrace-controls.ts';
import { applyColors } from '../controls/theme.ts';
import type { MillracePlayer } from '../element/millrace-player.ts';
import type { MillraceVideo } from '../element/millrace-video.ts';
import type { SdkPeer } from './sdk-peer.ts';

interface SdkTarget {
  readonly player: MillracePlayer;
  /** The media of {@link player}. */
  readonly media: MillraceVideo;
}

/** Untrusted. */
type Message = Readonly<Record<string, unknown>>;

const styleProperties: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  video: { transform: 'transform', 'object-fit': 'object-fit' },
  '.vjs-poster': { transform: 'transform', 'background-size': 'object-fit' },
};

const controlElements: Readonly<Record<string, string>> = {
  play: 'play',
  playbackRate: 'settings',
  volume: 'mute',
  fullscreen: 'fullscreen',
  subtitles: 'captions',
  chapters: 'chapter',
  pictureInPicture: 'pip',
  progressBar: 'seek',
  download: 'download',
  more: 'settings',
};

/**
 * `{message, sdkPlayerId, callbackId, …}` comes in, `{type, sdkPlayerId, …}` and `{callbackId, arg}` go out.
 * Accepts the direct parent only, and only the origin in the URL if there is one.
 */
export class SdkLink {
  readonly #peer: SdkPeer;
  readonly #target: SdkTarget;
  #isReady = false;
  #hasEmittedEnd = false;

  constructor(peer: SdkPeer, target: SdkTarget) {
    this.#peer = peer;
    this.#target = target;
    addEventListener('message', event => void this.#onMessage(event));
    this.#send({ type: 'sdkSync' });
    this.#wireEvents();
  }

  #send(message: Message): void {
    const { playerId, origin = '*' } = this.#peer;
    parent.postMessage({ ...message, sdkPlayerId: playerId }, origin);
  }

  #emit(type: string, values: Message = {}): void {
    this.#send({ ...values, type });
  }

  #wireEvents(): void {
    const { player, media } = this.#target;
    const video = media.nativeEl;
    const tellReady = () => {
      if (this.#isReady) return;
      this.#isReady = true;
      this.#emit('ready');
    };
    video.addEventListener('loadedmetadata', tellReady);
    if (video.readyState >= HTMLMediaElement.HAVE_METADATA) tellReady();
    for (const type of ['pause', 'seeking', 'play'] as const) {
      video.addEventListener(type, () => this.#emit(type));
    }
    media.addEventListener('ratechange', () => this.#emit('ratechange'));
    media.addEventListener('ended', () => this.#emitEnded());
    video.addEventListener('playing', () => {
      this.#hasEmittedEnd = false;
    });
    video.addEventListener('playing', () => this.#emit('firstplay'), { once: true });
    video.addEventListener('timeupdate', () => this.#emit('timeupdate', { currentTime: video.currentTime }));
    video.addEventListener('volumechange', () => this.#emit('volumechange', { volume: volumeOf(media) }));
    video.addEventListener('resize', () => {
      const { videoWidth: width, videoHeight: height } = video;
      this.#emit('resize');
      this.#emit('qualitychange', { resolution: { width, height } });
    });
    document.addEventListener('fullscreenchange', () => this.#emit('fullscreenchange'));
    player.addEventListener('mouseenter', () => this.#emit('mouseenter'));
    player.addEventListener('mouseleave', () => this.#emit('mouseleave'));
    addEventListener('resize', () => this.#emit('playerresize'));
    const isWithout = media.parentElement?.hasAttribute('hide-controls') === true;
    void customElements
      .whenDefined('millrace-controls')
      .then(() =>
        this.#changeControls(controls => this.#watchClasses(partOf(controls, 'player')!, isWithout)),
      );
  }

  /** Loads the controls first, if they are not there yet. */
  async #changeControls(change: (controls: MillraceControls) => void): Promise<void> {
    const controls = await this.#target.player.loadControls().catch(() => undefined);
    if (controls !== undefined) change(controls);
  }

  #emitEnded(): void {
    if (this.#hasEmittedEnd) return;
    this.#hasEmittedEnd = true;
    this.#emit('ended');
  }

  /** @param isWithout whether the controls were hidden when the page around began to listen */
  #watchClasses(root: HTMLElement, isWithout: boolean): void {
    const read = () => ({
      isIdle: root.classList.contains('is-idle'),
      isWithout: root.classList.contains('hide-controls'),
      hasEnded: root.dataset.phase === 'ended',
      hasFailed: ['failed', 'refused', 'unsupported'].includes(root.dataset.phase ?? ''),
    });
    // The states may have changed before the controls were there.
    let before = { isIdle: false, isWithout, hasEnded: false, hasFailed: false };
    const tell = () => {
      const now = read();
      if (now.isIdle !== before.isIdle) this.#emit(now.isIdle ? 'userinactive' : 'useractive');
      if (now.isWithout !== before.isWithout)
        this.#emit(now.isWithout ? 'controlsdisabled' : 'controlsenabled');
      // The video element of an ended broadcast may not have ended.
      if (now.hasEnded && !before.hasEnded) this.#emitEnded();
      if (now.hasFailed && !before.hasFailed) this.#emit('error');
      before = now;
    };
    tell();
    new MutationObserver(tell).observe(root, { attributeFilter: ['class', 'data-phase'] });
  }

  async #onMessage(event: MessageEvent<unknown>): Promise<void> {
    const { playerId, origin } = this.#peer;
    if (event.source !== parent || (origin !== undefined && event.origin !== origin)) return;
    if (typeof event.data !== 'object' || event.data === null) return;
    const message = event.data as Message;
    if (playerId !== undefined && String(message.sdkPlayerId) !== playerId) return;
    if (typeof message.message !== 'string') return;
    const arg = await this.#execute(message.message, message);
    if (message.callbackId !== undefined) this.#send({ callbackId: message.callbackId, arg });
  }

  #execute(name: string, message: Message): unknown {
    const { media } = this.#target;
    switch (name) {
      case 'play':
        return void media.play();
      case 'pause':
        return void media.pause();
      case 'mute':
      case 'unmute':
        media.muted = name === 'mute';
        return undefined;
      case 'seek':
        return void this.#seekTo(media.currentTime + Number(message.seek));
      case 'setCurrentTime':
        return void this.#seekTo(Number(message.currentTime));
      case 'setVolume':
        if (Number.isFinite(Number(message.volume))) media.volume = Number(message.volume);
        return undefined;
      case 'setPlaybackRate':
        return void media.source?.setRate(Number(message.rate), false);
      case 'setLoop':
        media.loop = message.loop === true;
        return undefined;
      case 'setAutoplay':
        return void (message.autoplay === true && !media.hasBegun && media.play());
      case 'setChromeless':
        this.#setHidden('controls', message.chromeless === true);
        return void this.#setHidden('title', message.chromeless === true);
      case 'setTheme':
        return this.#changeControls(controls => applyColors(controls, (message.theme ?? {}) as Message));
      case 'setStyleProperty':
        return this.#setStyle(message);
      case 'showControls':
      case 'hideControls':
        return this.#showControls(name === 'showControls', message.controls);
      case 'showTitle':
      case 'hideTitle':
        return void this.#setHidden('title', name === 'hideTitle');
      case 'showPoster':
      case 'hidePoster':
        return void this.#setHidden('poster', name === 'hidePoster');
      case 'showSubtitles':
      case 'hideSubtitles':
        return void media.source?.captions.setShown(name === 'showSubtitles');
      case 'setAudioTrack':
        return void media.source?.audioTracks.choose(Number(message.audioTrack));
      case 'loadConfig':
        return void loadOtherMedia(message.url);
      case 'destroy':
        media.pause();
        return void media.close();
      default:
        return this.#query(name) ?? void this.#changeWindow(name);
    }
  }

  #seekTo(seconds: number): void {
    if (Number.isFinite(seconds)) this.#target.media.currentTime = seconds;
  }

  /** `false` shows what the address or the theme hides. */
  #setHidden(part: 'controls' | 'title' | 'poster', isHidden: boolean): void {
    this.#target.player.setAttribute(`hide-${part}`, String(isHidden));
  }

  #query(name: string): unknown {
    const { media } = this.#target;
    const { audioTracks } = media.source ?? {};
    switch (name) {
      case 'getAudioTracks':
        return (audioTracks?.options ?? []).map(({ id, label, language }) => ({ id, label, language }));
      case 'getAudioTrack':
        return audioTracks?.chosen?.id;
      case 'getPaused':
        return media.paused;
      case 'getPlaying':
        return !media.paused;
      case 'getMuted':
        return media.muted;
      case 'getDuration':
        return media.duration || 0;
      case 'getCurrentTime':
        return media.currentTime;
      case 'getVolume':
        return volumeOf(media);
      case 'getLoop':
        return media.loop;
      case 'getPlaybackRate':
        return media.playbackRate;
      case 'getVideoSize':
        return { width: media.videoWidth, height: media.videoHeight };
      default:
        return undefined;
    }
  }

  /** Browsers refuse these without a click in the frame. */
  #changeWindow(name: string): void {
    const { media } = this.#target;
    const refused = () => {};
    if (name === 'requestFullscreen')
      void this.#changeControls(controls => controls.requestFullscreen().catch(refused));
    if (name === 'exitFullscreen' && document.fullscreenElement !== null)
      document.exitFullscreen().catch(refused);
    if (name === 'requestPictureInPicture') media.requestPictureInPicture().catch(refused);
    if (name === 'exitPictureInPicture' && document.pictureInPictureElement !== null) {
      document.exitPictureInPicture().catch(refused);
    }
  }

  async #showControls(isShown: boolean, names: unknown): Promise<void> {
    if (isShown || !Array.isArray(names)) this.#setHidden('controls', !isShown);
    if (!Array.isArray(names)) return;
    await this.#changeControls(controls => {
      for (const name of names)
        if (typeof name === 'string' && Object.hasOwn(controlElements, name))
          partOf(controls, controlElements[name]!)?.classList.toggle('is-left-out', !isShown);
    });
  }

  async #setStyle({ query, property, value }: Message): Promise<void> {
    const name = styleProperties[String(query)]?.[String(property)];
    if (name === undefined || typeof value !== 'string') return;
    const set = (element: HTMLElement | null) => element?.style.setProperty(name, value);
    if (query === 'video') set(this.#target.media.nativeEl);
    else await this.#changeControls(controls => set(partOf(controls, 'poster')));
  }
}

function partOf({ shadowRoot }: MillraceControls, id: string): HTMLElement | null {
  return shadowRoot?.getElementById(id) ?? null;
}

function volumeOf({ muted, volume }: MillraceVideo): number {
  return muted ? 0 : volume;
}

/** Loads other media, from pages of this server only. */
function loadOtherMedia(address: unknown): void {
  if (typeof address !== 'string' || !URL.canParse(address, location.href)) return;
  const url = new URL(address, location.href);
  if (url.origin === location.origin && /^\/(vod|live)\//.test(withoutBasePath(url.pathname)))
    location.replace(url);
}
