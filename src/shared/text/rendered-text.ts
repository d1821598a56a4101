import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface CompressedText {
  readonly plain: Buffer;
  readonly gzip: Buffer;
  /** ETag in quotes. */
  readonly etag: string;
}

export class RenderedText implements CompressedText {
  readonly plain: Buffer;
  #gzip: Buffer | undefined;
  #etag: string | undefined;

  constructor(text: string) {
    this.plain = Buffer.from(text);
  }

  get gzip(): Buffer {
    this.#gzip ??= gzipSync(this.plain, { level: 6 });
    return this.#gzip;
  }

  get etag(): string {
    this.#etag ??= `"${createHash('sha1').update(this.plain).digest('base64url')}"`;
    return this.#etag;
  }
}
