const notYetRetryMs = 150;
/** Number of quick retries; later ones come every second, because nobody publishes. */
const maxQuickRetries = 20;
const slowRetryMs = 1000;

/** Candidates for the URL of the multivariant playlist. They are tried in turn, beginning with the last that existed. */
export class PlaylistUrls {
  #urls: readonly string[] = [];
  #index = 0;
  #misses = 0;

  use(urls: readonly string[]): void {
    this.#urls = urls;
    this.#misses = 0;
  }

  get all(): readonly string[] {
    return this.#urls;
  }

  get current(): string {
    return this.#urls[this.#index % this.#urls.length] ?? '';
  }

  /** Moves on to the next URL. @returns milliseconds until it is tried */
  next(): number {
    this.#index += 1;
    this.#misses += 1;
    return this.#misses > maxQuickRetries ? slowRetryMs : notYetRetryMs;
  }
}
