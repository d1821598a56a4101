import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { AppError } from '../../shared/errors.ts';
import { requestedRange } from '../responses/byte-range.ts';
import { matchesEtag } from '../responses/content-negotiation.ts';
import type { FileAnswer } from './route.ts';

interface FileAnswersOptions {
  /** Time without progress after which a response is cut off. Clients continue with a range. */
  readonly idleTimeoutMs: number;
}

/** Maximum responses at once, each of which holds an open file. */
const maxOpenFiles = 256;

/** Sends files: whole, one range (206), 304 or 416. */
export class FileAnswers {
  readonly #idleTimeoutMs: number;
  #openFiles = 0;

  constructor({ idleTimeoutMs }: FileAnswersOptions) {
    this.#idleTimeoutMs = idleTimeoutMs;
  }

  /** @throws AppError `range-not-satisfiable`, `media-unavailable`, or of `file.open` */
  async send(ctx: Context, status: number, file: FileAnswer): Promise<void> {
    const { contentType, contentDisposition, bytes, etag } = file;
    const headers = {
      ETag: etag,
      'Accept-Ranges': 'bytes',
      ...(contentDisposition === undefined ? {} : { 'Content-Disposition': contentDisposition }),
    };
    if (matchesEtag(ctx.get('If-None-Match') || undefined, etag)) {
      ctx.set(headers);
      ctx.body = null;
      ctx.status = 304;
      return;
    }
    const isHead = ctx.method === 'HEAD';
    const range = isHead ? 'whole' : requestedRange(ctx.req.headers, file);
    if (range === 'unsatisfiable') {
      ctx.set('Content-Range', `bytes */${bytes}`);
      throw new AppError('range-not-satisfiable', undefined, {
        details: { detail: `The file has ${bytes} bytes.` },
      });
    }
    const { start, end } = range === 'whole' ? { start: 0, end: bytes } : range;
    const stream = isHead ? undefined : await this.#open(ctx, file, { start, end });
    ctx.status = range === 'whole' ? status : 206;
    ctx.set({ ...headers, 'Content-Type': contentType });
    if (range !== 'whole') ctx.set('Content-Range', `bytes ${start}-${end - 1}/${bytes}`);
    ctx.body = stream ?? '';
    ctx.length = end - start;
  }

  async #open(
    { res }: Context,
    { open }: FileAnswer,
    range: { readonly start: number; readonly end: number },
  ): Promise<Readable> {
    if (this.#openFiles >= maxOpenFiles) {
      const detail = 'Too many files are being downloaded. Try again in a moment.';
      throw new AppError('media-unavailable', undefined, { details: { detail, retryAfterSeconds: 2 } });
    }
    this.#openFiles += 1;
    let stream: Readable | undefined;
    const release = () => {
      this.#openFiles -= 1;
    };
    try {
      stream = await open(range);
      stream.once('close', release);
      // A file that cannot be read fails here, while there is no response yet.
      await once(stream, 'readable');
      // Koa leaves the response open when its stream fails.
      stream.once('error', () => res.destroy());
      res.setTimeout(this.#idleTimeoutMs, () => res.destroy());
      return stream;
    } catch (error) {
      if (stream === undefined) release();
      throw error;
    }
  }
}
