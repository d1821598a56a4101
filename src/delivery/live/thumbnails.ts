import { readFile, stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { systemCodeOf } from '../../shared/errors.ts';
import { fileEtag } from '../../shared/files/file-etag.ts';

export interface Thumbnail {
  readonly body: Buffer;
  readonly contentType: string;
  /** Quoted, strong. */
  readonly etag: string;
}

export interface LiveFrameSource {
  /** A frame exists or can be made on request. */
  hasFrame(broadcastId: string): boolean;
  frame(broadcastId: string): Promise<Thumbnail | undefined>;
}

const maxCacheBytes = 32 * 1024 * 1024;

export class Thumbnails {
  readonly #byPath = new LRUCache<string, Thumbnail>({
    maxSize: maxCacheBytes,
    sizeCalculation: ({ body }) => body.length,
  });

  /** Returns undefined when the file is missing or is no JPEG, PNG or WebP. */
  async read(path: string): Promise<Thumbnail | undefined> {
    try {
      const etag = fileEtag(await stat(path));
      const cached = this.#byPath.get(path);
      if (cached?.etag === etag) return cached;
      const body = await readFile(path);
      const contentType = imageType(body);
      if (contentType === undefined) return undefined;
      const thumbnail: Thumbnail = { body, contentType, etag };
      this.#byPath.set(path, thumbnail);
      return thumbnail;
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

function imageType(bytes: Buffer): 'image/jpeg' | 'image/png' | 'image/webp' | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  return undefined;
}
