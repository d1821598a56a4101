import type { AudioControl } from '../media/audio-control.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import { nextRate } from '../ui/player-keys.ts';
import type { PlayRange } from './play-range.ts';
import type { PlayerSettings } from './player-settings.ts';
import type { VodSession } from './vod-session.ts';

/** The parts that a player is put together from. */
export interface VodPlayerParts {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly session: VodSession;
  readonly playing: PlaybackIntent;
  readonly sound: AudioControl;
  readonly settings: PlayerSettings;
  readonly range: PlayRange;
  readonly isLooping: boolean;
  /** Something that the controls show has changed. */
  onChange(): void;
}

/** A jump to the very end would be no picture at all. */
const endMarginSeconds = 0.1;
/** A timer at the end of the range is set this long before; earlier, the events of the video are often enough. */
const endTimerSeconds = 0.6;
const maxRate = 16;
const minRate = 0.0625;

/** What can be done to a video that is playing, for controls, keys and messages alike. */
export class VodPlayer {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly session: VodSession;
  readonly playing: PlaybackIntent;
  readonly sound: AudioControl;
  readonly settings: PlayerSettings;
  isLooping: boolean;
  #range: PlayRange;
  readonly #onChange: () => void;
  #isAtEnd = false;
  #hasBegun = false;
  #endTimer = 0;

  constructor(parts: VodPlayerParts) {
    this.root = parts.root;
    this.video = parts.video;
    this.session = parts.session;
    this.playing = parts.playing;
    this.sound = parts.sound;
    this.settings = parts.settings;
    this.isLooping = parts.isLooping;
    this.#range = parts.range;
    this.#onChange = parts.onChange;
    this.#wire();
  }

  /** Whether something was shown, so that the poster has done its duty. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether it has been played to its end, and nothing was done since. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Seconds that the whole video has; 0 while unknown. */
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

  /** Goes to a position in seconds, as far as there is something to show. */
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

  /** Moves by one picture, and pauses for it. */
  stepFrame(steps: 1 | -1): void {
    this.pause();
    this.seekBy(steps / this.session.media.frameRate);
  }

  /** Speed of playing, 1 is normal. Remembered unless told otherwise. */
  setRate(rate: number, isRemembered = true): void {
    if (!Number.isFinite(rate)) return;
    const wanted = Math.min(maxRate, Math.max(minRate, rate));
    this.video.defaultPlaybackRate = wanted;
    this.video.playbackRate = wanted;
    if (isRemembered) this.settings.save({ rate: wanted });
  }

  /** Takes the next faster or slower speed on offer. */
  stepRate(steps: 1 | -1): void {
    this.setRate(nextRate(this.video.playbackRate, steps));
  }

  #wire(): void {
    const { video } = this;
    video.addEventListener('playing', () => {
      this.#hasBegun = true;
      // A busy browser may tell of it when the end has been reached since.
      if (video.paused) return;
      this.#isAtEnd = false;
      this.#onChange();
    });
    video.addEventListener('seeking', () => {
      this.#range.seeked(video.currentTime);
      // Also when another control, such as the small window's, did it.
      if (!video.ended) this.#isAtEnd = false;
    });
    video.addEventListener('ended', () => this.#end());
    for (const event of ['timeupdate', 'ratechange', 'playing', 'pause'] as const) {
      video.addEventListener(event, () => this.#checkRangeEnd());
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
      // At the end of the file the element has stopped by itself.
      if (this.playing.wantsToPlay) void this.video.play().catch(() => {});
      return;
    }
    this.#isAtEnd = true;
    this.video.pause();
    this.playing.end();
    this.#onChange();
  }
}
