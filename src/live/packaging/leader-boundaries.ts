import type { SegmentInfo } from '../window/live-window.ts';

type Boundary =
  | { readonly kind: 'open'; readonly segment: SegmentInfo }
  | { readonly kind: 'part'; readonly endMs: number }
  | { readonly kind: 'close' };

/** Boundaries of a leading rendition that a follower has not reached yet. Begins with a segment. */
export class LeaderBoundaries {
  readonly #queue: Boundary[] = [];
  #hasBegun = false;
  #offsetMs = 0;
  #newestFrameMs = 0;

  /** Start of the leader's last frame, which may last for seconds. */
  get newestFrameMs(): number {
    return this.#newestFrameMs;
  }

  get next(): Boundary | undefined {
    return this.#queue[0];
  }

  passed(): void {
    this.#queue.shift();
  }

  /** @param offsetMs between the clocks of the leader and the follower, for all that follows */
  segmentOpened(segment: SegmentInfo, offsetMs: number): void {
    this.#hasBegun = true;
    this.#offsetMs = offsetMs;
    this.#queue.push({ kind: 'open', segment: { ...segment, startMs: segment.startMs + offsetMs } });
  }

  partListed(endMs: number, newestFrameMs: number): void {
    if (!this.#hasBegun) return;
    this.#newestFrameMs = newestFrameMs + this.#offsetMs;
    this.#queue.push({ kind: 'part', endMs: endMs + this.#offsetMs });
  }

  segmentClosed(): void {
    if (this.#hasBegun) this.#queue.push({ kind: 'close' });
  }
}
