import type { Sample } from '../cmaf/fragment-reader.ts';
import type { FollowingSegmenter } from './following-segmenter.ts';

/** The lag that is made up for at a change is shorter than this many frames. */
const mostEarly = 4000;

/**
 * What fills a rendition: the samples of one name, or, once that is made no more, those of another, so that its viewers go on in what is
 * there.
 */
export class RungFeed {
  readonly segmenter: FollowingSegmenter;
  #from: string;
  #next: { readonly name: string; readonly fromMs: number; readonly early: [Sample, number][] } | undefined;

  constructor(segmenter: FollowingSegmenter, from: string) {
    this.segmenter = segmenter;
    this.#from = from;
  }

  /** Whose samples it takes, or will take. */
  get from(): string {
    return this.#next?.name ?? this.#from;
  }

  /** Whose samples it takes now. */
  get current(): string {
    return this.#from;
  }

  /** @param atMs decoding time on the broadcast's clock */
  deliver(name: string, sample: Sample, atMs: number): void {
    const next = this.#next;
    if (name === this.#from && (next === undefined || atMs < next.fromMs - 1))
      this.segmenter.add(sample, atMs);
    else if (name === next?.name && atMs >= next.fromMs - 1 && next.early.length < mostEarly) {
      next.early.push([sample, atMs]);
    }
  }

  /** From `fromMs` on it takes the samples of another name. What comes of those is kept back until {@link settle}. */
  replace(name: string, fromMs: number): void {
    this.#next = { name, fromMs, early: [] };
  }

  /** All samples from before the change have come. @returns whether there was one */
  settle(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    this.#from = next.name;
    this.#next = undefined;
    return true;
  }

  /** What was kept back, to be delivered after {@link settle}. */
  get early(): readonly [Sample, number][] {
    return this.#next?.early ?? [];
  }
}
