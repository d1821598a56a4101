import { LRUCache } from 'lru-cache';
import { AppError } from '../../shared/errors.ts';
import type { OpenFile } from '../../shared/files/opened-file.ts';
import type { ResponseBody } from '../../shared/viewer-responses.ts';
import { readBody } from './open-files.ts';

/** A segment of a second or two. */
const maxBodyBytes = 1024 * 1024;
const maxCachedBytes = 16 * 1024 * 1024;
/** Maximum size of cached bodies on their way to viewers who read slowly. */
const maxLentBytes = 32 * 1024 * 1024;
const maxRemembered = 1000;

/** Keeps bodies from files that are asked for again, such as the parts that a crowd goes back to. */
export class SliceCache {
  readonly #open: OpenFile;
  readonly #requested = new LRUCache<string, true>({ max: maxRemembered });
  readonly #bodies = new LRUCache<string, ResponseBody>({
    maxSize: maxCachedBytes,
    sizeCalculation: body => body.bytes,
  });
  readonly #reading = new Map<string, Promise<ResponseBody | undefined>>();
  #lentBytes = 0;

  constructor(open: OpenFile) {
    this.#open = open;
  }

  /** @returns the body in memory; undefined where it is to be sent from its files */
  find(body: ResponseBody): Promise<ResponseBody | undefined> | ResponseBody | undefined {
    if (body.bytes > maxBodyBytes || body.bytes === 0 || this.#lentBytes >= maxLentBytes) return undefined;
    const key = keyOf(body);
    const found = this.#bodies.get(key) ?? this.#reading.get(key);
    if (found !== undefined) return found;
    if (!this.#requested.has(key)) {
      this.#requested.set(key, true);
      return undefined;
    }
    const reading = this.#read(key, body).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  /** Counts bytes that a viewer has not taken yet. @returns a function to call once when none are left */
  lend(bytes: number): () => void {
    this.#lentBytes += bytes;
    return () => {
      this.#lentBytes -= bytes;
    };
  }

  clear(): void {
    this.#requested.clear();
    this.#bodies.clear();
  }

  async #read(key: string, body: ResponseBody): Promise<ResponseBody | undefined> {
    try {
      const bytes = await readBody(this.#open, body.parts, body.bytes);
      if (bytes?.length !== body.bytes) return undefined;
      const cached = { ...body, parts: [bytes] };
      this.#bodies.set(key, cached);
      return cached;
    } catch (error) {
      if (error instanceof AppError && error.kind === 'unavailable') throw error;
      // Sending it from its files fails in the same way, and tells the viewer.
      return undefined;
    }
  }
}

/** The tag tells versions of a file apart. */
function keyOf({ etag, parts, bytes }: ResponseBody): string {
  let key = `${etag} ${bytes}`;
  for (const part of parts) key += Buffer.isBuffer(part) ? ` ${part.length}` : ` ${part.path} ${part.start}`;
  return key;
}
