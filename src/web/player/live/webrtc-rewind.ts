import type { StoryboardRange } from './live-playlist.ts';
import type { ServerClock } from './server-clock.ts';

interface Window {
  /** Time of `performance.now()`. */
  readonly sinceMs: number;
  readonly maxMs: number;
  readonly storyboard: string;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Age of media that has been packaged for HLS and has a frame in the storyboard. */
const packagedAfterMs = 15_000;
/** A proxy may have changed the header. */
const maxWindowSeconds = 86_400;
const headerName = 'Millrace-Rewind';

/** Media that a viewer over WebRTC can go back to with HLS, in the time of the video element. */
export class WebRtcRewind {
  readonly #video: { readonly currentTime: number };
  readonly #clock: ServerClock;
  #window: Window | undefined;
  /** Distance behind live of a viewer who went back, while HLS is loaded. */
  #behindMs = 0;
  #wentBackAtMs = 0;

  constructor(video: { readonly currentTime: number }, clock: ServerClock) {
    this.#video = video;
    this.#clock = clock;
  }

  /** @param base address that the storyboard is relative to */
  answered(headers: Headers, base: string): void {
    const value = headers.get(headerName) ?? '';
    const numberOf = (name: string) => Number(new RegExp(`${name}=([\\d.]+)`).exec(value)?.[1]);
    const seconds = numberOf('seconds');
    const maxSeconds = numberOf('max');
    const storyboard = URL.parse(/storyboard="([^"]+)"/.exec(value)?.[1] ?? 'http:', base);
    if (!(seconds >= 0 && maxSeconds > 0) || storyboard === null) return;
    this.#window = {
      sinceMs: performance.now() - seconds * 1000,
      maxMs: Math.min(maxSeconds, maxWindowSeconds) * 1000,
      storyboard: storyboard.href,
    };
  }

  /** Forgets the window of a broadcast that has ended. */
  reset(): void {
    this.#window = undefined;
    this.goLive();
  }

  goLive(): void {
    this.#behindMs = 0;
  }

  goBack(seconds: number): void {
    this.#behindMs = seconds * 1000;
    this.#wentBackAtMs = performance.now();
  }

  /** The picture stands still while HLS is loaded. */
  get behindSeconds(): number {
    return this.#behindMs === 0 ? 0 : (this.#behindMs + performance.now() - this.#wentBackAtMs) / 1000;
  }

  rewindRange(): Range | undefined {
    if (this.#window === undefined) return undefined;
    const { sinceMs, maxMs } = this.#window;
    const end = this.#video.currentTime + this.behindSeconds;
    return { start: end - Math.min(performance.now() - sinceMs, maxMs) / 1000, end };
  }

  dateAt(position: number): Date {
    const behindSeconds = this.#video.currentTime - position + this.behindSeconds;
    return new Date(this.#clock.nowMs() - behindSeconds * 1000);
  }

  storyboardRange(): StoryboardRange | undefined {
    return this.#window && { folder: this.#window.storyboard, endMs: this.#clock.nowMs() - packagedAfterMs };
  }
}
