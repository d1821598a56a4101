import type { Playing } from './playing.ts';
import type { SdkPeer } from './sdk-peer.ts';
import type { Sound } from './sound.ts';
import { applyColors } from './theme.ts';

/** The player of a video or of a live stream. */
export interface SdkPlayer {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly playing: Playing;
  readonly sound: Sound;
  /** Whether something was shown. */
  readonly hasBegun: boolean;
  /** Seconds that there are in all. */
  readonly totalSeconds: number;
  isLooping: boolean;
  play(): void;
  pause(): void;
  seekTo(seconds: number): void;
  seekBy(seconds: number): void;
  setRate(rate: number, isRemembered: boolean): void;
}

/** What messages from the page around may drive. */
export interface SdkTarget {
  readonly player: SdkPlayer;
  readonly controls: { setHidden(part: 'controls' | 'title' | 'poster', isHidden: boolean): void };
  readonly captions: { setShown(isShown: boolean): void };
  /** Ends the player for good. */
  destroy(): void;
}

/** A message from the page around, as it comes: nothing in it can be trusted. */
type Message = Readonly<Record<string, unknown>>;

/** Elements and properties that `setStyleProperty` may touch, and as what. */
const styleProperties: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  video: { transform: 'transform', 'object-fit': 'object-fit' },
  '.vjs-poster': { transform: 'transform', 'background-size': 'object-fit' },
};

/** Names of our buttons by those that an SDK hides and shows one by one. */
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
 * Lets the page around this frame drive the player by messages, and tells it what happens: `{message, sdkPlayerId,
 * callbackId, …}` comes in, `{type, sdkPlayerId, …}` and `{callbackId, arg}` go out. Only the direct parent is heard, and
 * only of the origin that the address names, if it names one.
 */
export class SdkLink {
  readonly #peer: SdkPeer;
  readonly #target: SdkTarget;
  #isReady = false;
  #hasToldEnd = false;

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

  #tell(type: string, values: Message = {}): void {
    this.#send({ ...values, type });
  }

  #wireEvents(): void {
    const { player } = this.#target;
    const { root, video } = player;
    const tellReady = () => {
      if (this.#isReady) return;
      this.#isReady = true;
      this.#tell('ready');
    };
    video.addEventListener('loadedmetadata', tellReady);
    if (video.readyState >= HTMLMediaElement.HAVE_METADATA) tellReady();
    for (const type of ['pause', 'seeking', 'ratechange'] as const) {
      video.addEventListener(type, () => this.#tell(type));
    }
    video.addEventListener('ended', () => this.#tellEnd());
    video.addEventListener('playing', () => {
      this.#hasToldEnd = false;
    });
    video.addEventListener('play', () => this.#tell('play'));
    video.addEventListener('playing', () => this.#tell('firstplay'), { once: true });
    video.addEventListener('timeupdate', () => this.#tell('timeupdate', { currentTime: video.currentTime }));
    video.addEventListener('volumechange', () => this.#tell('volumechange', { volume: player.sound.volume }));
    video.addEventListener('resize', () => {
      const { videoWidth: width, videoHeight: height } = video;
      this.#tell('resize');
      this.#tell('qualitychange', { resolution: { width, height } });
    });
    document.addEventListener('fullscreenchange', () => this.#tell('fullscreenchange'));
    root.addEventListener('mouseenter', () => this.#tell('mouseenter'));
    root.addEventListener('mouseleave', () => this.#tell('mouseleave'));
    addEventListener('resize', () => this.#tell('playerresize'));
    this.#watchClasses(root);
  }

  #tellEnd(): void {
    if (this.#hasToldEnd) return;
    this.#hasToldEnd = true;
    this.#tell('ended');
  }

  #watchClasses(root: HTMLElement): void {
    const read = () => ({
      isIdle: root.classList.contains('is-idle'),
      isWithout: root.classList.contains('hide-controls'),
      hasEnded: root.dataset.phase === 'ended',
      hasFailed: root.dataset.phase === 'unsupported' || root.dataset.phase === 'failed',
    });
    let before = read();
    new MutationObserver(() => {
      const now = read();
      if (now.isIdle !== before.isIdle) this.#tell(now.isIdle ? 'userinactive' : 'useractive');
      if (now.isWithout !== before.isWithout)
        this.#tell(now.isWithout ? 'controlsdisabled' : 'controlsenabled');
      // Of a broadcast that is over, the video itself may not know that it has ended.
      if (now.hasEnded && !before.hasEnded) this.#tellEnd();
      if (now.hasFailed && !before.hasFailed) this.#tell('error');
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
    const arg = this.#do(message.message, message);
    if (message.callbackId !== undefined) this.#send({ callbackId: message.callbackId, arg });
  }

  /** Does what a message says. Gives what its sender is told. */
  #do(name: string, message: Message): unknown {
    const { player, captions, controls } = this.#target;
    const { video, sound } = player;
    switch (name) {
      case 'play':
        return void player.play();
      case 'pause':
        return void player.pause();
      case 'mute':
      case 'unmute':
        if (video.muted !== (name === 'mute')) sound.toggle();
        return undefined;
      case 'seek':
        return void player.seekBy(Number(message.seek));
      case 'setCurrentTime':
        return void player.seekTo(Number(message.currentTime));
      case 'setVolume':
        return void (Number.isFinite(Number(message.volume)) && sound.setVolume(Number(message.volume)));
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
      case 'loadConfig':
        return void goTo(message.url);
      case 'destroy':
        return void this.#target.destroy();
      default:
        return this.#ask(name) ?? void this.#window(name);
    }
  }

  #ask(name: string): unknown {
    const { player } = this.#target;
    const { video, sound } = player;
    switch (name) {
      case 'getPaused':
        return !player.playing.isWanted;
      case 'getPlaying':
        return player.playing.isWanted;
      case 'getMuted':
        return video.muted;
      case 'getDuration':
        return player.totalSeconds;
      case 'getCurrentTime':
        return video.currentTime;
      case 'getVolume':
        return sound.volume;
      case 'getLoop':
        return player.isLooping;
      case 'getPlaybackRate':
        return video.playbackRate;
      case 'getVideoSize':
        return { width: video.videoWidth, height: video.videoHeight };
      default:
        return undefined;
    }
  }

  /** Browsers may refuse these, since no click in this frame came before. */
  #window(name: string): void {
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

/** Another video of this server; nothing else can be loaded in here. */
function goTo(address: unknown): void {
  if (typeof address !== 'string' || !URL.canParse(address, location.href)) return;
  const url = new URL(address, location.href);
  if (url.origin === location.origin && /^\/(vod|live)\//.test(url.pathname)) location.replace(url);
}
