import { LRUCache } from 'lru-cache';
import { RenderedText } from '../../shared/text/rendered-text.ts';

type Render = () => Promise<string>;

export class PlaylistCache {
  readonly #texts: LRUCache<string, RenderedText, Render>;

  constructor(maxBytes: number) {
    this.#texts = new LRUCache<string, RenderedText, Render>({
      maxSize: maxBytes,
      sizeCalculation: ({ plain }) => Math.max(1, plain.length),
      fetchMethod: async (_key, _stale, { context: render }) => new RenderedText(await render()),
    });
  }

  clear(): void {
    // `clear` of the cache would fail requests that wait for a playlist.
    for (const key of [...this.#texts.keys()]) this.#texts.delete(key);
  }

  get(key: string, render: Render): Promise<RenderedText> {
    return this.#texts.forceFetch(key, { context: render });
  }
}
