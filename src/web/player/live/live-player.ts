import type { AudioControl } from '../media/audio-control.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import type { SdkPlayer } from '../sdk/sdk-link.ts';
import type { LiveSession } from './live-session.ts';

/** What can be done to a live stream that is playing, for messages of the page around. */
export class LivePlayer implements SdkPlayer {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly playing: PlaybackIntent;
  readonly sound: AudioControl;
  /** It has no beginning to go back to: what is set here is told again, and that is all. */
  isLooping = false;
  /** A live stream lasts until nobody knows when. */
  readonly totalSeconds = Number.POSITIVE_INFINITY;
  readonly #session: LiveSession;

  constructor(parts: {
    readonly root: HTMLElement;
    readonly video: HTMLVideoElement;
    readonly session: LiveSession;
    readonly playing: PlaybackIntent;
    readonly sound: AudioControl;
  }) {
    this.root = parts.root;
    this.video = parts.video;
    this.playing = parts.playing;
    this.sound = parts.sound;
    this.#session = parts.session;
  }

  get hasBegun(): boolean {
    return this.video.played.length > 0;
  }

  play(): void {
    this.playing.start();
  }

  pause(): void {
    if (this.playing.wantsToPlay) this.playing.toggle();
  }

  seekTo(seconds: number): void {
    if (Number.isFinite(seconds)) this.#session.media.seekTo(seconds);
  }

  seekBy(seconds: number): void {
    this.seekTo(this.video.currentTime + seconds);
  }

  /** The speed is that of the broadcast, or what makes up for a stall. */
  setRate(): void {}
}
