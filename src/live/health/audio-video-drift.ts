import type { TrackKind } from '../../media/flv/flv-tag.ts';

const windowMs = 2000;

/**
 * How far the sound of a publisher runs ahead of its picture.
 *
 * Tags of both tracks arrive in turn, in bursts of any length, so the distance of their newest times swings. What of it is in both
 * extremes of a few seconds is no order of arrival: the clocks of the tracks have come apart.
 */
export class AudioVideoDrift {
  readonly #newestMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #leastMs = Number.POSITIVE_INFINITY;
  #mostMs = Number.NEGATIVE_INFINITY;
  #windowFromMs: number | undefined;
  #hasCome: Record<TrackKind, boolean> = { audio: false, video: false };
  #driftMs: number | undefined;

  /** Milliseconds that sound is ahead of the picture, negative where it is behind; undefined while it is not known. */
  get driftMs(): number | undefined {
    return this.#driftMs === undefined ? undefined : Math.round(this.#driftMs);
  }

  /** Another publisher connection. */
  restart(): void {
    this.#newestMs.audio = undefined;
    this.#newestMs.video = undefined;
    this.#driftMs = undefined;
    this.#windowFromMs = undefined;
  }

  /**
   * A tag came in.
   *
   * @param atMs on the broadcast's clock
   * @param nowMs monotonic
   */
  arrived(kind: TrackKind, atMs: number, nowMs: number): void {
    if (this.#windowFromMs === undefined || nowMs - this.#windowFromMs >= windowMs) this.#nextWindow(nowMs);
    this.#newestMs[kind] = Math.max(atMs, this.#newestMs[kind] ?? atMs);
    this.#hasCome[kind] = true;
    const { audio, video } = this.#newestMs;
    if (audio === undefined || video === undefined) return;
    this.#leastMs = Math.min(this.#leastMs, audio - video);
    this.#mostMs = Math.max(this.#mostMs, audio - video);
  }

  #nextWindow(nowMs: number): void {
    if (this.#windowFromMs !== undefined) {
      const isWhole = this.#hasCome.audio && this.#hasCome.video && this.#leastMs <= this.#mostMs;
      const seenMs = Math.max(this.#leastMs, 0) + Math.min(this.#mostMs, 0);
      if (!isWhole) this.#driftMs = undefined;
      else
        this.#driftMs = this.#driftMs === undefined ? seenMs : this.#driftMs + (seenMs - this.#driftMs) / 2;
    }
    this.#windowFromMs = nowMs;
    this.#leastMs = Number.POSITIVE_INFINITY;
    this.#mostMs = Number.NEGATIVE_INFINITY;
    this.#hasCome = { audio: false, video: false };
  }
}
