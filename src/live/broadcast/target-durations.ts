const maxRememberedStreams = 1000;
const maxTargetDurationSeconds = 10;

/**
 * Learns the target duration that fits the keyframe interval of a live stream, for its next broadcast: the first playlist is out before
 * the first interval is known.
 */
export class TargetDurations {
  readonly #usualSeconds: number;
  /** By live stream, oldest first; only those that differ from the usual one. */
  readonly #learnedSeconds = new Map<string, number>();

  constructor(segmentTargetMs: number) {
    this.#usualSeconds = Math.ceil(segmentTargetMs / 1000);
  }

  of(liveStreamId: string): number {
    return this.#learnedSeconds.get(liveStreamId) ?? this.#usualSeconds;
  }

  /** @param gopSeconds 0 when it is not known */
  learn(liveStreamId: string, gopSeconds: number): void {
    if (gopSeconds === 0) return;
    const fitting = Math.min(maxTargetDurationSeconds, Math.max(this.#usualSeconds, Math.round(gopSeconds)));
    this.#learnedSeconds.delete(liveStreamId);
    if (fitting === this.#usualSeconds) return;
    this.#learnedSeconds.set(liveStreamId, fitting);
    const oldest = this.#learnedSeconds.keys().next();
    if (this.#learnedSeconds.size > maxRememberedStreams && !oldest.done)
      this.#learnedSeconds.delete(oldest.value);
  }

  forget(liveStreamId: string): void {
    this.#learnedSeconds.delete(liveStreamId);
  }
}
