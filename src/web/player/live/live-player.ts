import type { AudioControl } from '../media/audio-control.ts';
import type { PlaybackIntent } from '../media/playback-intent.ts';
import type { SdkPlayer } from '../sdk/sdk-link.ts';
import type { LiveSession } from './live-session.ts';

export class LivePlayer implements SdkPlayer {
  readonly root: HTMLElement;
  readonly video: HTMLVideoElement;
  readonly playing: PlaybackIntent;
  readonly audio: AudioControl;
  /** A broadcast has no start to loop to. The value is only reported back. */
  isLooping = false;
  readonly totalSeconds = Number.POSITIVE_INFINITY;
  readonly #session: LiveSession;

  constructor(parts: {
    readonly root: HTMLElement;
    readonly video: HTMLVideoElement;
    readonly session: LiveSession;
    readonly playing: PlaybackIntent;
    readonly audio: AudioControl;
  }) {
    this.root = parts.root;
    this.video = parts.video;
    this.playing = parts.playing;
    this.audio = parts.audio;
    this.#session = parts.session;
  }

  get hasBegun(): boolean {
    return this.video.played.length > 0;
  }

  get rate(): number {
    return this.#session.media.rate;
  }

  play(): void {
    this.playing.start();
  }

  pause(): void {
    if (this.playing.wantsToPlay) this.playing.toggle();
  }

  seekTo(seconds: number): void {
    if (Number.isFinite(seconds)) this.#session.seekTo(seconds);
  }

  seekBy(seconds: number): void {
    this.seekTo(this.video.currentTime + seconds);
  }

  /** The rate is that of the broadcast. */
  setRate(): void {}
}
