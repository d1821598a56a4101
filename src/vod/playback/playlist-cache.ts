import { RenderedText } from '../../shared/text/rendered-text.ts';

/** Texts that many viewers ask for, kept until others push them out. */
export class PlaylistCache {
  readonly #bytesAtMost: number;
  /** Asked for longest ago first. */
  readonly #texts = new Map<string, Promise<RenderedText>>();
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  /** `bytesAtMost`: of the plain texts together. */
  constructor(bytesAtMost: number) {
    this.#bytesAtMost = bytesAtMost;
  }

  /** The text named `key`, made by `render` unless it is still there; made once for all who ask meanwhile. */
  async get(key: string, render: () => Promise<string>): Promise<RenderedText> {
    const kept = this.#texts.get(key);
    if (kept !== undefined) {
      this.#texts.delete(key);
      this.#texts.set(key, kept);
      return kept;
    }
    const made = render().then(text => new RenderedText(text));
    this.#texts.set(key, made);
    try {
      const text = await made;
      if (this.#texts.get(key) === made) this.#count(key, text.plain.length);
      return text;
    } catch (error) {
      if (this.#texts.get(key) === made) this.#texts.delete(key);
      throw error;
    }
  }

  #count(key: string, bytes: number): void {
    this.#sizes.set(key, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#texts.keys()) {
      if (this.#bytes <= this.#bytesAtMost) return;
      const size = this.#sizes.get(oldest);
      // One that is being made has no size yet.
      if (size === undefined) continue;
      this.#texts.delete(oldest);
      this.#sizes.delete(oldest);
      this.#bytes -= size;
    }
  }
}
