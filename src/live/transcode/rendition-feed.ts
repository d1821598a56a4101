import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { AlignedSegmenter } from '../packaging/aligned-segmenter.ts';

/** The lag that is made up for at a change is shorter than this many frames. */
const maxHeldSamples = 4000;

/**
 * What fills a rendition: the samples of one name, or, once that is made no more, those of another, so that its viewers go on in what is
 * there.
 */
export class RenditionFeed {
  readonly segmenter: AlignedSegmenter;
  #currentRendition: string;
  #next: { readonly name: string; readonly fromMs: number; readonly early: [Sample, number][] } | undefined;

  constructor(segmenter: AlignedSegmenter, from: string) {
    this.segmenter = segmenter;
    this.#currentRendition = from;
  }

  /** Whose samples it takes, or will take. */
  get nextRendition(): string {
    return this.#next?.name ?? this.#currentRendition;
  }

  /** Whose samples it takes now. */
  get currentRendition(): string {
    return this.#currentRendition;
  }

  /** @param atMs decoding time on the broadcast's clock */
  deliver(name: string, sample: Sample, atMs: number): void {
    const next = this.#next;
    if (name === this.#currentRendition && (next === undefined || atMs < next.fromMs - 1))
      this.segmenter.add(sample, atMs);
    else if (name === next?.name && atMs >= next.fromMs - 1 && next.early.length < maxHeldSamples) {
      next.early.push([sample, atMs]);
    }
  }

  /** From `fromMs` on it takes the samples of another name. What comes of those is kept back until {@link completeSwitch}. */
  switchTo(name: string, fromMs: number): void {
    this.#next = { name, fromMs, early: [] };
  }

  /** All samples from before the change have come. @returns whether there was one */
  completeSwitch(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    this.#currentRendition = next.name;
    this.#next = undefined;
    return true;
  }

  /** What was kept back, to be delivered after {@link completeSwitch}. */
  get heldSamples(): readonly [Sample, number][] {
    return this.#next?.early ?? [];
  }
}
