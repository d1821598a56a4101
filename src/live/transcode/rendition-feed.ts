import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { AlignedSegmenter } from '../packaging/aligned-segmenter.ts';

/** Held during a switch. */
const maxHeldSamples = 4000;

/** Feeds a rendition's segmenter. Continues a dropped rendition with another's samples. */
export class RenditionFeed {
  readonly segmenter: AlignedSegmenter;
  #currentRendition: string;
  #next: { readonly name: string; readonly fromMs: number; readonly held: [Sample, number][] } | undefined;

  constructor(segmenter: AlignedSegmenter, from: string) {
    this.segmenter = segmenter;
    this.#currentRendition = from;
  }

  get nextRendition(): string {
    return this.#next?.name ?? this.#currentRendition;
  }

  get currentRendition(): string {
    return this.#currentRendition;
  }

  /** @param atMs decode time on the broadcast's clock */
  deliver(name: string, sample: Sample, atMs: number): void {
    const next = this.#next;
    if (name === this.#currentRendition && (next === undefined || atMs < next.fromMs - 1))
      this.segmenter.add(sample, atMs);
    else if (name === next?.name && atMs >= next.fromMs - 1 && next.held.length < maxHeldSamples) {
      next.held.push([sample, atMs]);
    }
  }

  /** Holds the new samples from `fromMs` on until {@link completeSwitch}. */
  switchTo(name: string, fromMs: number): void {
    this.#next = { name, fromMs, held: [] };
  }

  /** Call when all samples from before the switch have arrived. @returns true when a switch was pending */
  completeSwitch(): boolean {
    const next = this.#next;
    if (next === undefined) return false;
    this.#currentRendition = next.name;
    this.#next = undefined;
    return true;
  }

  get heldSamples(): readonly [Sample, number][] {
    return this.#next?.held ?? [];
  }
}
