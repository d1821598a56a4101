import type { BroadcastPackaging } from './broadcast-packaging.ts';

/** Encoders with long keyframe intervals have longer target durations, which players with little media cannot wait for. */
const maxGapSeconds = 4;

export class GapFiller {
  readonly #packaging: BroadcastPackaging;
  readonly #usesFillerSegments: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(packaging: BroadcastPackaging, usesFillerSegments: boolean) {
    this.#packaging = packaging;
    this.#usesFillerSegments = usesFillerSegments;
  }

  start(hasStopped: boolean): void {
    this.stop();
    const { targetDurationSeconds } = this.#packaging.renditions.source.window;
    const gapSeconds = Math.min(targetDurationSeconds, maxGapSeconds);
    // Low-latency players run out of media before a still of a whole gap.
    const seconds = this.#usesFillerSegments ? gapSeconds / 2 : gapSeconds;
    this.#timer = setInterval(() => {
      if (this.#packaging.hasPendingMedia) return;
      for (const window of this.#packaging.renditions.windows) {
        if (this.#usesFillerSegments) window.addFillerSegment(seconds, hasStopped);
        else window.addGap(seconds, hasStopped);
      }
    }, seconds * 1000);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
