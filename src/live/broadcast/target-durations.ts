import { LRUCache } from 'lru-cache';

export const maxTargetDurationSeconds = 10;

/** @returns the least, at least `minSeconds`, that segments of one keyframe interval fit, if any does */
export function targetDurationFor(gopSeconds: number, minSeconds: number): number {
  return Math.min(maxTargetDurationSeconds, Math.max(minSeconds, Math.round(gopSeconds)));
}

/** Keeps keyframe intervals for a live stream's next broadcast, whose first playlist precedes its first one. */
export class TargetDurations {
  readonly #usualSeconds: number;
  readonly #learnedSeconds = new LRUCache<string, number>({ max: 1000 });

  constructor(segmentTargetMs: number) {
    this.#usualSeconds = Math.ceil(segmentTargetMs / 1000);
  }

  /** Undefined before the first broadcast whose keyframe interval was measured. */
  learned(liveStreamId: string): number | undefined {
    return this.#learnedSeconds.get(liveStreamId);
  }

  get usualSeconds(): number {
    return this.#usualSeconds;
  }

  /** @param gopSeconds 0 when unknown */
  learn(liveStreamId: string, gopSeconds: number): void {
    if (gopSeconds === 0) return;
    this.#learnedSeconds.set(liveStreamId, targetDurationFor(gopSeconds, this.#usualSeconds));
  }

  forget(liveStreamId: string): void {
    this.#learnedSeconds.delete(liveStreamId);
  }
}
