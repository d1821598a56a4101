import { withoutBasePath } from '../../shared/base-path.ts';
import type { AudioControl } from '../media/audio-control.ts';
import type { AudioTracks } from '../media/audio-tracks.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import { applyColors } from '../theme/apply-theme.ts';
import type { SdkPeer } from './sdk-peer.ts';

export interface SdkPlayer {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly hasBegun: boolean;
  readonly totalSeconds: number;
  /** Chosen by the viewer. */
  readonly rate: number;
  isLooping: boolean;
  play(): void;
  pause(): void;
  seekTo(seconds: number): void;
  seekBy(seconds: number): void;
  setRate(rate: number, isRemembered: boolean): void;
}

interface SdkTarget {
  readonly player: SdkPlayer;
  readonly controls: { setHidden(part: 'controls' | 'title' | 'poster', isHidden: boolean): void };
  readonly captions: { setShown(isShown: boolean): void };
  readonly audioTracks: Pick<AudioTracks, 'options' | 'chosen' | 'choose'>;
  destroy(): void;
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
    addEventListener('message', event => this.#onMessage(event));
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
    const { player } = this.#target;
    const { root, video } = player;
    const tellReady = () => {
      if (this.#isReady) return;
      this.#isReady = true;
      this.#emit('ready');
    };
    video.addEventListener('loadedmetadata', tellReady);
    if (video.readyState >= HTMLMediaElement.HAVE_METADATA) tellReady();
    for (const type of ['pause', 'seeking'] as const) {
      video.addEventListener(type, () => this.#emit(type));
    }
    let { rate } = player;
    video.addEventListener('ratechange', () => {
      if (player.rate === rate) return;
      rate = player.rate;
      this.#emit('ratechange');
    });
    video.addEventListener('ended', () => this.#emitEnded());
    video.addEventListener('playing', () => {
      this.#hasEmittedEnd = false;
    });
    video.addEventListener('play', () => this.#emit('play'));
    video.addEventListener('playing', () => this.#emit('firstplay'), { once: true });
    video.addEventListener('timeupdate', () => this.#emit('timeupdate', { currentTime: video.currentTime }));
    video.addEventListener('volumechange', () => this.#emit('volumechange', { volume: player.audio.volume }));
    video.addEventListener('resize', () => {
      const { videoWidth: width, videoHeight: height } = video;
      this.#emit('resize');
      this.#emit('qualitychange', { resolution: { width, height } });
    });
    document.addEventListener('fullscreenchange', () => this.#emit('fullscreenchange'));
    root.addEventListener('mouseenter', () => this.#emit('mouseenter'));
    root.addEventListener('mouseleave', () => this.#emit('mouseleave'));
    addEventListener('resize', () => this.#emit('playerresize'));
    this.#watchClasses(root);
  }

  #emitEnded(): void {
    if (this.#hasEmittedEnd) return;
    this.#hasEmittedEnd = true;
    this.#emit('ended');
  }

  #watchClasses(root: HTMLElement): void {
    const read = () => ({
      isIdle: root.classList.contains('is-idle'),
      isWithout: root.classList.contains('hide-controls'),
      hasEnded: root.dataset.phase === 'ended',
      hasFailed: ['failed', 'refused', 'unsupported'].includes(root.dataset.phase ?? ''),
    });
    let before = read();
    new MutationObserver(() => {
      const now = read();
      if (now.isIdle !== before.isIdle) this.#emit(now.isIdle ? 'userinactive' : 'useractive');
      if (now.isWithout !== before.isWithout)
        this.#emit(now.isWithout ? 'controlsdisabled' : 'controlsenabled');
      // The video element of an ended broadcast may not have ended.
      if (now.hasEnded && !before.hasEnded) this.#emitEnded();
      if (now.hasFailed && !before.hasFailed) this.#emit('error');
      before = now;
    }).observe(root, { attributeFilter: ['class', 'data-phase'] });
  }

  #onMessage(event: MessageEvent<unknown>): void {
    const { playerId, origin } = this.#peer;
    if (event.source !== parent || (origin !== undefined && event.origin !== origin)) return;
    if (typeof event.data !== 'object' || event.data === null) return;
    const message = event.data as Message;
    if (playerId !== undefined && String(message.sdkPlayerId) !== playerId) return;
    if (typeof message.message !== 'string') return;
    const arg = this.#execute(message.message, message);
    if (message.callbackId !== undefined) this.#send({ callbackId: message.callbackId, arg });
  }

  #execute(name: string, message: Message): unknown {
    const { player, captions, controls } = this.#target;
    const { video, audio } = player;
    switch (name) {
      case 'play':
        return void player.play();
      case 'pause':
        return void player.pause();
      case 'mute':
      case 'unmute':
        if (video.muted !== (name === 'mute')) audio.toggleMuted();
        return undefined;
      case 'seek':
        return void player.seekBy(Number(message.seek));
      case 'setCurrentTime':
        return void player.seekTo(Number(message.currentTime));
      case 'setVolume':
        return void (Number.isFinite(Number(message.volume)) && audio.setVolume(Number(message.volume)));
      case 'setPlaybackRate':
        return void player.setRate(Number(message.rate), false);
      case 'setLoop':
        player.isLooping = message.loop === true;
        return undefined;
      case 'setAutoplay':
        return void (message.autoplay === true && !player.hasBegun && player.play());
      case 'setChromeless':
        controls.setHidden('controls', message.chromeless === true);
        return void controls.setHidden('title', message.chromeless === true);
      case 'setTheme':
        return void applyColors(player.root, (message.theme ?? {}) as Message);
      case 'setStyleProperty':
        return void setStyle(player.root, message);
      case 'showControls':
      case 'hideControls':
        return void this.#showControls(name === 'showControls', message.controls);
      case 'showTitle':
      case 'hideTitle':
        return void controls.setHidden('title', name === 'hideTitle');
      case 'showPoster':
      case 'hidePoster':
        return void controls.setHidden('poster', name === 'hidePoster');
      case 'showSubtitles':
      case 'hideSubtitles':
        return void captions.setShown(name === 'showSubtitles');
      case 'setAudioTrack':
        return void this.#target.audioTracks.choose(Number(message.audioTrack));
      case 'loadConfig':
        return void loadOtherMedia(message.url);
      case 'destroy':
        return void this.#target.destroy();
      default:
        return this.#query(name) ?? void this.#changeWindow(name);
    }
  }

  #query(name: string): unknown {
    const { player, audioTracks } = this.#target;
    const { video, audio } = player;
    switch (name) {
      case 'getAudioTracks':
        return audioTracks.options.map(({ id, label, language }) => ({ id, label, language }));
      case 'getAudioTrack':
        return audioTracks.chosen?.id;
      case 'getPaused':
        return !player.playing.wantsToPlay;
      case 'getPlaying':
        return player.playing.wantsToPlay;
      case 'getMuted':
        return video.muted;
      case 'getDuration':
        return player.totalSeconds;
      case 'getCurrentTime':
        return video.currentTime;
      case 'getVolume':
        return audio.volume;
      case 'getLoop':
        return player.isLooping;
      case 'getPlaybackRate':
        return player.rate;
      case 'getVideoSize':
        return { width: video.videoWidth, height: video.videoHeight };
      default:
        return undefined;
    }
  }

  /** Browsers refuse these without a click in the frame. */
  #changeWindow(name: string): void {
    const { root, video } = this.#target.player;
    const refused = () => {};
    if (name === 'requestFullscreen') root.requestFullscreen().catch(refused);
    if (name === 'exitFullscreen' && document.fullscreenElement !== null)
      document.exitFullscreen().catch(refused);
    if (name === 'requestPictureInPicture') video.requestPictureInPicture().catch(refused);
    if (name === 'exitPictureInPicture' && document.pictureInPictureElement !== null) {
      document.exitPictureInPicture().catch(refused);
    }
  }

  #showControls(isShown: boolean, names: unknown): void {
    const { controls, player } = this.#target;
    if (!Array.isArray(names)) {
      controls.setHidden('controls', !isShown);
      return;
    }
    for (const name of names) {
      const id =
        typeof name === 'string' && Object.hasOwn(controlElements, name) ? controlElements[name] : undefined;
      player.root.querySelector(`#${id}`)?.classList.toggle('is-left-out', !isShown);
    }
    if (isShown) controls.setHidden('controls', false);
  }
}

function setStyle(root: HTMLElement, { query, property, value }: Message): void {
  const name = styleProperties[String(query)]?.[String(property)];
  const element = root.querySelector<HTMLElement>(query === 'video' ? '#video' : '#poster');
  if (name !== undefined && typeof value === 'string') element?.style.setProperty(name, value);
}

/** Loads other media, from pages of this server only. */
function loadOtherMedia(address: unknown): void {
  if (typeof address !== 'string' || !URL.canParse(address, location.href)) return;
  const url = new URL(address, location.href);
  if (url.origin === location.origin && /^\/(vod|live)\//.test(withoutBasePath(url.pathname)))
    location.replace(url);
}
