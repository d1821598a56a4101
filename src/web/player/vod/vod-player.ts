import type { AudioControl } from '../media/audio-control.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import { nextRate } from '../media/playback-rates.ts';
import type { PlayerSettings } from '../media/player-settings.ts';
import type { PlayRange } from './play-range.ts';
import type { VodSession } from './vod-session.ts';

interface VodPlayerParts {
  readonly video: HTMLVideoElement;
  readonly session: VodSession;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly settings: PlayerSettings;
  readonly range: PlayRange;
  readonly isLooping: boolean;
  readonly signal?: AbortSignal;
  onChange(): void;
}

/** The very end shows no frame. */
const endMarginSeconds = 0.1;
/** Events of the video suffice for earlier times. */
const endTimerSeconds = 0.6;
const maxRate = 16;
const minRate = 0.0625;

export class VodPlayer {
  readonly video: HTMLVideoElement;
  readonly session: VodSession;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  readonly settings: PlayerSettings;
  isLooping: boolean;
  #range: PlayRange;
  readonly #onChange: () => void;
  #isAtEnd = false;
  #hasBegun = false;
  #endTimer = 0;

  constructor(parts: VodPlayerParts) {
    this.video = parts.video;
    this.session = parts.session;
    this.playing = parts.playing;
    this.audio = parts.audio;
    this.settings = parts.settings;
    this.isLooping = parts.isLooping;
    this.#range = parts.range;
    this.#onChange = parts.onChange;
    this.#wire(parts.signal);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** 0 while unknown. */
  get totalSeconds(): number {
    return this.session.totalSeconds;
  }

  play(): void {
    if (this.#isAtEnd) this.seekTo(this.#range.startSeconds);
    this.playing.start();
  }

  pause(): void {
    if (this.playing.wantsToPlay) this.playing.toggle();
  }

  toggle(): void {
    if (this.playing.wantsToPlay) this.pause();
    else this.play();
  }

  seekTo(seconds: number): void {
    const { media } = this.session;
    const available = media.availableSeconds;
    if (!Number.isFinite(seconds) || available === 0) return;
    const latest = Math.max(0, available - (media.isGrowing ? 2 : endMarginSeconds));
    this.#isAtEnd = false;
    this.#hasBegun = true;
    const target = Math.min(latest, Math.max(0, seconds));
    this.#range.seeked(target);
    this.video.currentTime = target;
    this.#onChange();
  }

  seekBy(seconds: number): void {
    this.seekTo(this.video.currentTime + seconds);
  }

  stepFrame(steps: 1 | -1): void {
    this.pause();
    this.seekBy(steps / this.session.media.frameRate);
  }

  get rate(): number {
    return this.video.playbackRate;
  }

  setRate(rate: number, isRemembered = true): void {
    if (!Number.isFinite(rate)) return;
    const wanted = Math.min(maxRate, Math.max(minRate, rate));
    this.video.defaultPlaybackRate = wanted;
    this.video.playbackRate = wanted;
    if (isRemembered) this.settings.save({ rate: wanted });
  }

  stepRate(steps: 1 | -1): void {
    this.setRate(nextRate(this.video.playbackRate, steps));
  }

  #wire(signal: AbortSignal | undefined): void {
    const { video } = this;
    const listen = (type: keyof HTMLMediaElementEventMap, listener: () => void) =>
      video.addEventListener(type, listener, { signal });
    signal?.addEventListener('abort', () => clearTimeout(this.#endTimer));
    listen('playing', () => {
      this.#hasBegun = true;
      // The event may arrive after the end.
      if (video.paused) return;
      this.#isAtEnd = false;
      this.#onChange();
    });
    listen('seeking', () => {
      this.#range.seeked(video.currentTime);
      // The picture-in-picture window seeks, too.
      if (!video.ended) this.#isAtEnd = false;
    });
    listen('ended', () => this.#end());
    for (const event of ['timeupdate', 'ratechange', 'playing', 'pause'] as const) {
      listen(event, () => this.#checkRangeEnd());
    }
  }

  #checkRangeEnd(): void {
    clearTimeout(this.#endTimer);
    if (this.video.seeking) return;
    const { currentTime, paused, playbackRate } = this.video;
    if (this.#range.hasReachedEnd(currentTime)) {
      this.#end();
      return;
    }
    const left = this.#range.remainingSeconds(currentTime);
    if (left === undefined || paused || left / playbackRate > endTimerSeconds) return;
    this.#endTimer = setTimeout(() => this.#checkRangeEnd(), (left / playbackRate) * 1000 + 5);
  }

  #end(): void {
    if (this.isLooping) {
      this.seekTo(this.#range.startSeconds);
      // The element stops at the end of the file.
      if (this.playing.wantsToPlay) void this.video.play().catch(() => {});
      return;
    }
    this.#isAtEnd = true;
    this.video.pause();
    this.playing.end();
    this.#onChange();
  }
}
