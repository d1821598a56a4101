import { LRUCache } from 'lru-cache';
import type { ReadableFiles } from '../../shared/files/opened-file.ts';
import { readBody } from '../responses/open-files.ts';

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

/** Frames of broadcasts for the seek bar. */
export interface LiveStoryboardSource {
  /** At least so many slots of a sheet, in one image. Undefined when they have not passed, are gone, or have no frame. */
  sheet(
    liveStreamId: string,
    broadcastId: string,
    number: number,
    slots: number,
  ): Promise<Thumbnail | undefined>;
}

const maxCacheBytes = 32 * 1024 * 1024;

export class Thumbnails {
  readonly #files: ReadableFiles;
  readonly #byPath = new LRUCache<string, Thumbnail>({
    maxSize: maxCacheBytes,
    sizeCalculation: ({ body }) => body.length,
  });

  constructor(files: ReadableFiles) {
    this.#files = files;
  }

  clear(): void {
    this.#byPath.clear();
  }

  /** Returns undefined when the file is missing or is no JPEG, PNG or WebP. */
  async read(path: string): Promise<Thumbnail | undefined> {
    const { find, open } = this.#files;
    const file = await find(path);
    if (file === undefined) return undefined;
    const { etag, bytes } = file;
    const cached = this.#byPath.get(path);
    if (cached?.etag === etag) return cached;
    const body = await readBody(open, [{ path, start: 0, length: bytes }], bytes);
    const contentType = body && imageType(body);
    if (body === undefined || contentType === undefined) return undefined;
    const thumbnail: Thumbnail = { body, contentType, etag };
    this.#byPath.set(path, thumbnail);
    return thumbnail;
  }
}

function imageType(bytes: Buffer): 'image/jpeg' | 'image/png' | 'image/webp' | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  return undefined;
}
