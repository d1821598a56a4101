import type { CodecConfig, MediaSample } from '../../media/samples/media-sample.ts';

const maxSamples = 2000;
const maxBytes = 16 * 1024 * 1024;

/** Media that waits for a packager. Drops the oldest above its limits. */
export class HeldMedia<T extends { readonly media: MediaSample | CodecConfig }> {
  #samples: T[] = [];
  #bytes = 0;
  readonly #dropped: (sample: T) => void;

  constructor(dropped: (sample: T) => void) {
    this.#dropped = dropped;
  }

  get samples(): readonly T[] {
    return this.#samples;
  }

  add(sample: T): void {
    this.#samples.push(sample);
    this.#bytes += sample.media.data.length;
    while (this.#samples.length > maxSamples || this.#bytes > maxBytes) {
      const oldest = this.#samples.shift()!;
      this.#bytes -= oldest.media.data.length;
      this.#dropped(oldest);
    }
  }

  take(): T[] {
    const samples = this.#samples;
    this.#samples = [];
    this.#bytes = 0;
    return samples;
  }
}
