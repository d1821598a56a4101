import type { BroadcastPackaging } from './broadcast-packaging.ts';

export class GapFiller {
  readonly #packaging: BroadcastPackaging;
  readonly #seconds: number;
  readonly #showsStills: boolean;
  #timer: NodeJS.Timeout | undefined;

  constructor(packaging: BroadcastPackaging, targetDurationSeconds: number, showsStills: boolean) {
    this.#packaging = packaging;
    // Low-latency players run out of media before a still of a whole target duration.
    this.#seconds = showsStills ? targetDurationSeconds / 2 : targetDurationSeconds;
    this.#showsStills = showsStills;
  }

  start(hasStopped: boolean): void {
    this.stop();
    this.#timer = setInterval(() => {
      if (this.#packaging.hasPendingMedia) return;
      for (const window of this.#packaging.renditions.windows) {
        if (this.#showsStills) window.addStill(this.#seconds, hasStopped);
        else window.addGap(this.#seconds, hasStopped);
      }
    }, this.#seconds * 1000);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
