import type { MediaEvent } from '../../media/samples/media-sample.ts';

/** A publisher without video for this long has audio only. */
const audioOnlyAfterMs = 1000;
/** Video without a keyframe is passed on after this. */
const maxWaitMs = 3000;

/** Holds the media of a reconnected publisher until its media can be shown. The slate continues until then. */
export class ReconnectBuffer {
  /** Newest metadata and decoder configurations, which precede the media. */
  readonly #pending = new Map<string, MediaEvent>();
  #hasVideo = false;
  #firstMediaAtMs: number | undefined;

  /** @param nowMs monotonic @returns what to pass on once the media begins */
  push(event: MediaEvent, nowMs: number): MediaEvent[] | undefined {
    if (event.type === 'declared' || event.type === 'color') {
      this.#pending.set(event.type, event);
      this.#hasVideo ||= event.type === 'declared' && event.media.hasVideo;
      return undefined;
    }
    if (event.kind === 'video') this.#hasVideo = true;
    if (event.type === 'config') {
      this.#pending.set(`${event.kind} ${event.trackId}`, event);
      return undefined;
    }
    if (event.trackId !== 0) return undefined;
    this.#firstMediaAtMs ??= nowMs;
    const waitedMs = nowMs - this.#firstMediaAtMs;
    const isDue =
      event.isKeyframe || waitedMs >= maxWaitMs || (!this.#hasVideo && waitedMs >= audioOnlyAfterMs);
    return isDue ? this.flush(event) : undefined;
  }

  flush(event: MediaEvent): MediaEvent[] {
    const events = [...this.#pending.values(), event];
    this.#pending.clear();
    return events;
  }
}
