import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { ConcurrencyLimit } from '../../shared/scheduling/concurrency-limit.ts';
import type { MediaStorage } from '../../storage/media-storage.ts';
import { readFully } from '../../storage/read-fully.ts';
import { pieceName, piecesFolder, type RecordingSpan } from './recording-span.ts';

interface RecordingUploadOptions {
  readonly storage: Pick<MediaStorage, 'write'>;
  /** Of all recordings: each one that runs holds a piece in memory. */
  readonly turns: ConcurrencyLimit;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly log: Logger;
}

interface GrowingSpan {
  bytes: number;
  seconds: number;
  sentBytes: number;
  sentSeconds: number;
}

interface Piece {
  readonly path: string;
  readonly span: GrowingSpan;
  readonly length: number;
}

const pieceSeconds = 4;
const maxPieceBytes = 8 * 1024 * 1024;
const retryDelayMs = 2_000;

/**
 * Uploads a recording in pieces while it is written, so that another server can finish it. Reads the local file in its own
 * time: slow storage only makes it fall behind.
 */
export class RecordingUpload {
  readonly #options: RecordingUploadOptions;
  readonly #spans = new Map<string, GrowingSpan>();
  readonly #stopping = new AbortController();
  #work: Promise<void> | undefined;
  #isComplete = false;

  constructor(options: RecordingUploadOptions) {
    this.#options = options;
  }

  written({ path, bytes, seconds }: Pick<RecordingSpan, 'path' | 'bytes' | 'seconds'>): void {
    const span = this.#spans.get(path) ?? { bytes, seconds, sentBytes: 0, sentSeconds: 0 };
    this.#spans.set(path, Object.assign(span, { bytes, seconds }));
    if (this.#stopping.signal.aborted) return;
    this.#start();
  }

  #start(): void {
    this.#work ??= this.#sendAll().finally(() => {
      this.#work = undefined;
    });
  }

  /** Uploads the rest. Never rejects. */
  async finish(): Promise<void> {
    this.#isComplete = true;
    const { signal } = this.#stopping;
    while (!signal.aborted && (this.#work !== undefined || this.#next() !== undefined)) {
      this.#start();
      await this.#work;
    }
    await this.#work;
  }

  /** Gives up what is not uploaded yet. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  async #sendAll(): Promise<void> {
    const { turns, ids, log } = this.#options;
    const { signal } = this.#stopping;
    for (let piece = this.#next(); piece !== undefined && !signal.aborted; piece = this.#next()) {
      const { path, span, length } = piece;
      const { seconds } = span;
      try {
        await turns.run(() => this.#send(path, span.sentBytes, length));
        span.sentBytes += length;
        span.sentSeconds = seconds;
      } catch (error) {
        if (signal.aborted) return;
        log.warn('recording-upload-delayed', {
          ...ids,
          behindBytes: span.bytes - span.sentBytes,
          error: messageOf(error),
        });
        await sleep(retryDelayMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  #next(): Piece | undefined {
    const newest = [...this.#spans.values()].at(-1);
    for (const [path, span] of this.#spans) {
      const length = Math.min(span.bytes - span.sentBytes, maxPieceBytes);
      const isDue =
        this.#isComplete ||
        span !== newest ||
        length === maxPieceBytes ||
        span.seconds - span.sentSeconds >= pieceSeconds;
      if (length > 0 && isDue) return { path, span, length };
    }
    return undefined;
  }

  async #send(path: string, start: number, length: number): Promise<void> {
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    await using file = await open(path, 'r');
    const bytes = await readFully(file, start, length);
    if (bytes.length < length) throw new Error('the file of the recording became shorter');
    signal.throwIfAborted();
    await this.#options.storage.write(join(piecesFolder(path), pieceName(start)), bytes, signal);
  }
}
