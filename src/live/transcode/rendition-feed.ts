import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { AlignedSegmenter } from '../packaging/aligned-segmenter.ts';

/** Frames held during a switch. */
const maxHeldSamples = 4000;

/**
 * Feeds a rendition's segmenter with the samples of an encoded rendition or, once that was dropped, of another, so that its viewers
 * continue.
 */
export class RenditionFeed {
  readonly segmenter: AlignedSegmenter;
  #currentRendition: string;
  #next: { readonly name: string; readonly fromMs: number; readonly held: [Sample, number][] } | undefined;

  constructor(segmenter: AlignedSegmenter, from: string) {
    this.segmenter = segmenter;
    this.#currentRendition = from;
  }

  /** Source of its samples after a pending switch. */
  get nextRendition(): string {
    return this.#next?.name ?? this.#currentRendition;
  }

  /** Source of its samples now. */
  get currentRendition(): string {
    return this.#currentRendition;
  }

  /** @param atMs decoding time on the broadcast's clock */
  deliver(name: string, sample: Sample, atMs: number): void {
    const next = this.#next;
    if (name === this.#currentRendition && (next === undefined || atMs < next.fromMs - 1))
      this.segmenter.add(sample, atMs);
    else if (name === next?.name && atMs >= next.fromMs - 1 && next.held.length < maxHeldSamples) {
      next.held.push([sample, atMs]);
    }
  }

  /** Takes the samples of another rendition from `fromMs` on; holds them until {@link completeSwitch}. */
  switchTo(name: string, fromMs: number): void {
    this.#next = { name, fromMs, held: [] };
  }

  /** All samples from before the switch have arrived. @returns whether a switch was pending */
  completeSwitch(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    this.#currentRendition = next.name;
    this.#next = undefined;
    return true;
  }

  /** Held samples, to be delivered after {@link completeSwitch}. */
  get heldSamples(): readonly [Sample, number][] {
    return this.#next?.held ?? [];
  }
}
