import { LRUCache } from 'lru-cache';

const maxTargetDurationSeconds = 10;

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

  of(liveStreamId: string): number {
    return this.#learnedSeconds.get(liveStreamId) ?? this.#usualSeconds;
  }

  /** @param gopSeconds 0 when unknown */
  learn(liveStreamId: string, gopSeconds: number): void {
    if (gopSeconds === 0) return;
    const fitting = targetDurationFor(gopSeconds, this.#usualSeconds);
    if (fitting === this.#usualSeconds) this.#learnedSeconds.delete(liveStreamId);
    else this.#learnedSeconds.set(liveStreamId, fitting);
  }

  forget(liveStreamId: string): void {
    this.#learnedSeconds.delete(liveStreamId);
  }
}
