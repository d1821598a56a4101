import { maxIntervalSlots } from '../reports/playback.ts';

/**
 * Requires intervals in order of first slots. With `isUnique`, concurrent intervals of a viewer count once.
 */
export class ConcurrentViewers {
  readonly #isUnique: boolean;
  /** Intervals by last slot. */
  readonly #leaving = new Map<number, number>();
  /** Last slots of viewers, in two generations that together contain every current viewer. */
  #viewers = new Map<number, number>();
  #previousViewers: Map<number, number> | undefined;
  #viewersSince = 0;
  #count = 0;
  #slot = 0;
  #peak = 0;
  #viewerSlots = 0;

  constructor(isUnique: boolean) {
    this.#isUnique = isUnique;
  }

  get peak(): number {
    return this.#peak;
  }

  averageOver(slots: number): number {
    this.#advance(Number.MAX_SAFE_INTEGER);
    return slots === 0 ? 0 : this.#viewerSlots / slots;
  }

  add(begins: number, ends: number, viewer: number): void {
    this.#advance(begins);
    let isNew = true;
    if (this.#isUnique) {
      const known = this.#viewers.get(viewer) ?? this.#previousViewers?.get(viewer) ?? -1;
      this.#viewers.set(viewer, Math.max(known, ends));
      if (known >= ends) return;
      if (known >= begins) {
        isNew = false;
        this.#leave(known, -1);
      }
    }
    this.#leave(ends, 1);
    if (isNew) this.#count += 1;
    this.#peak = Math.max(this.#peak, this.#count);
  }

  #leave(slot: number, by: number): void {
    const leaving = (this.#leaving.get(slot) ?? 0) + by;
    if (leaving === 0) this.#leaving.delete(slot);
    else this.#leaving.set(slot, leaving);
  }

  #advance(to: number): void {
    while (this.#slot < to && this.#count > 0) {
      this.#viewerSlots += this.#count;
      this.#count -= this.#leaving.get(this.#slot) ?? 0;
      this.#leaving.delete(this.#slot);
      this.#slot += 1;
    }
    this.#slot = to;
    if (this.#isUnique && to - this.#viewersSince > maxIntervalSlots) {
      // No interval is longer, so everyone who was not seen since has left.
      this.#previousViewers = this.#count === 0 ? undefined : this.#viewers;
      if (this.#count === 0) this.#viewers.clear();
      else this.#viewers = new Map();
      this.#viewersSince = to;
    }
  }
}
