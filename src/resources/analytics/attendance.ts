interface Present {
  readonly ends: number;
  readonly viewer: number;
}

/**
 * Follows how many are there at a time, from stays in the order of their beginnings. Times are whole slots; a stay's end belongs to it.
 * With `isUnique`, a viewer who is there several times counts once.
 */
export class Attendance {
  readonly #isUnique: boolean;
  /** A heap: the one who leaves first stands first. */
  readonly #present: Present[] = [];
  readonly #times = new Map<number, number>();
  #count = 0;
  #at = 0;
  #peak = 0;
  #area = 0;

  constructor(isUnique: boolean) {
    this.#isUnique = isUnique;
  }

  /** The most that were there at a time. */
  get peak(): number {
    return this.#peak;
  }

  /** How many were there in the mean of so many slots, once all have left. */
  averageOver(slots: number): number {
    this.#advance(Number.MAX_SAFE_INTEGER);
    return slots === 0 ? 0 : this.#area / slots;
  }

  add(begins: number, ends: number, viewer: number): void {
    this.#advance(begins);
    this.#push({ ends, viewer });
    const times = this.#isUnique ? (this.#times.get(viewer) ?? 0) : 0;
    if (this.#isUnique) this.#times.set(viewer, times + 1);
    if (times === 0) this.#count += 1;
    this.#peak = Math.max(this.#peak, this.#count);
  }

  #advance(to: number): void {
    while (this.#present.length > 0 && this.#present[0]!.ends < to) {
      const { ends, viewer } = this.#pop();
      this.#area += this.#count * (ends + 1 - this.#at);
      this.#at = ends + 1;
      const times = this.#isUnique ? this.#times.get(viewer)! - 1 : 0;
      if (times > 0) {
        this.#times.set(viewer, times);
        continue;
      }
      this.#times.delete(viewer);
      this.#count -= 1;
    }
    this.#area += this.#count * (to - this.#at);
    this.#at = to;
  }

  #push(added: Present): void {
    const heap = this.#present;
    let at = heap.length;
    heap.push(added);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.ends <= added.ends) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = added;
  }

  #pop(): Present {
    const heap = this.#present;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.ends < heap[child]!.ends) child += 1;
      if (heap[child]!.ends >= last.ends) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}
