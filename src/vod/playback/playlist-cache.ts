import { LRUCache } from 'lru-cache';
import { RenderedText } from '../../shared/text/rendered-text.ts';

type Render = () => Promise<string>;

/** Caches playlists that many viewers request, up to a total size. */
export class PlaylistCache {
  readonly #texts: LRUCache<string, RenderedText, Render>;

  /** @param maxBytes of the uncompressed texts together */
  constructor(maxBytes: number) {
    this.#texts = new LRUCache<string, RenderedText, Render>({
      maxSize: maxBytes,
      sizeCalculation: ({ plain }) => Math.max(1, plain.length),
      fetchMethod: async (_key, _stale, { context: render }) => new RenderedText(await render()),
    });
  }

  /** Returns the cached text, or renders it once for all who request it meanwhile. */
  get(key: string, render: Render): Promise<RenderedText> {
    return this.#texts.forceFetch(key, { context: render });
  }
}
