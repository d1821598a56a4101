import type { TrackKind } from '../../media/samples/media-sample.ts';

const windowMs = 2000;

/** Tags arrive interleaved in bursts. A distance that both extremes of a few seconds share means clock drift. */
export class AudioVideoDrift {
  readonly #newestMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #minMs = Number.POSITIVE_INFINITY;
  #maxMs = Number.NEGATIVE_INFINITY;
  #windowFromMs: number | undefined;
  #hasArrived: Record<TrackKind, boolean> = { audio: false, video: false };
  #driftMs: number | undefined;

  /** Negative when audio is behind; undefined while unknown. */
  get driftMs(): number | undefined {
    return this.#driftMs === undefined ? undefined : Math.round(this.#driftMs);
  }

  restart(): void {
    this.#newestMs.audio = undefined;
    this.#newestMs.video = undefined;
    this.#driftMs = undefined;
    this.#windowFromMs = undefined;
  }

  /** @param atMs on the broadcast's clock @param nowMs monotonic */
  arrived(kind: TrackKind, atMs: number, nowMs: number): void {
    if (this.#windowFromMs === undefined || nowMs - this.#windowFromMs >= windowMs) this.#nextWindow(nowMs);
    const newest = this.#newestMs;
    if (kind === 'video') {
      newest.video = Math.max(atMs, newest.video ?? atMs);
      this.#hasArrived.video = true;
    } else {
      newest.audio = Math.max(atMs, newest.audio ?? atMs);
      this.#hasArrived.audio = true;
    }
    const { audio, video } = newest;
    if (audio === undefined || video === undefined) return;
    this.#minMs = Math.min(this.#minMs, audio - video);
    this.#maxMs = Math.max(this.#maxMs, audio - video);
  }

  #nextWindow(nowMs: number): void {
    if (this.#windowFromMs !== undefined) {
      const hasBoth = this.#hasArrived.audio && this.#hasArrived.video && this.#minMs <= this.#maxMs;
      const windowDriftMs = Math.max(this.#minMs, 0) + Math.min(this.#maxMs, 0);
      const lastMs = this.#driftMs ?? windowDriftMs;
      this.#driftMs = hasBoth ? lastMs + (windowDriftMs - lastMs) / 2 : undefined;
    }
    this.#windowFromMs = nowMs;
    this.#minMs = Number.POSITIVE_INFINITY;
    this.#maxMs = Number.NEGATIVE_INFINITY;
    this.#hasArrived = { audio: false, video: false };
  }
}
