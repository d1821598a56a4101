import type { TrackKind } from '../../media/samples/media-sample.ts';

interface KeyframeWatchOptions {
  readonly timeoutMs: number;
  hasVideo(): boolean;
  /** Called when the time is over without video. */
  noVideoArrived(): void;
}

/** Time of video with recovery points and without any keyframe. */
const maxOnlyRefreshedMs = 5000;

/** Detects video that nobody can begin to watch, because keyframes are missing. */
export class KeyframeWatch {
  readonly #options: KeyframeWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #isOverdue = false;
  #hasKeyframe = false;
  #hasRecoveryPoint = false;
  /** Time of the first video frame, until there is a keyframe. */
  #withoutKeyframeSinceMs: number | undefined;

  constructor(options: KeyframeWatchOptions) {
    this.#options = options;
    this.restart();
  }

  restart(): void {
    this.stop();
    this.#isOverdue = false;
    const { timeoutMs, hasVideo, noVideoArrived } = this.#options;
    this.#timer = setTimeout(() => {
      // A publisher that sends nothing at all is lost before long.
      if (hasVideo()) this.#isOverdue = true;
      else noVideoArrived();
    }, timeoutMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  keyframeArrived(): void {
    this.#hasKeyframe = true;
    this.restart();
  }

  recoveryPointArrived(): void {
    this.#hasRecoveryPoint = true;
  }

  /** Call for all but keyframes. @param atMs on the broadcast's clock @returns a text for the publisher */
  problemAt(atMs: number, kind: TrackKind): string | undefined {
    if (this.#isOverdue) return this.#problemAfter(this.#options.timeoutMs);
    return kind === 'video' && this.#onlyRefreshes(atMs) ? this.#problemAfter(maxOnlyRefreshedMs) : undefined;
  }

  /** Tells whether video begins without a keyframe and is refreshed gradually. */
  #onlyRefreshes(atMs: number): boolean {
    if (this.#hasKeyframe) return false;
    this.#withoutKeyframeSinceMs ??= atMs;
    return this.#hasRecoveryPoint && atMs - this.#withoutKeyframeSinceMs > maxOnlyRefreshedMs;
  }

  #problemAfter(ms: number): string {
    const problem = `No keyframe arrived for ${Math.round(ms / 1000)} s`;
    return this.#hasRecoveryPoint
      ? `${problem}: the encoder uses periodic intra refresh, and players cannot start. Turn off intra refresh, and set the keyframe interval to 2 s in the encoder.`
      : `${problem}. Set the keyframe interval to 2 s in the encoder.`;
  }
}
