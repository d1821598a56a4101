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
  /** Shared by all recordings: each piece that is uploaded is in memory. */
  readonly turns: ConcurrencyLimit;
  /** Concurrency of uploads of recordings that are behind. */
  readonly catchUpTurns: ConcurrencyLimit;
  readonly ids: Readonly<Record<string, unknown>>;
  readonly log: Logger;
}

interface GrowingSpan {
  bytes: number;
  seconds: number;
  /** Position of the next piece, and the length of the file when the last one was cut. */
  cutBytes: number;
  cutSeconds: number;
  /** Positions of pieces that are cut and not stored yet. */
  readonly sending: Set<number>;
}

interface Piece {
  readonly path: string;
  readonly span: GrowingSpan;
  readonly start: number;
  readonly length: number;
}

/** A recording that is further behind would lose more than this with its server. */
export const maxLagSeconds = 10;
const pieceSeconds = 4;
export const maxPieceBytes = 8 * 1024 * 1024;
const maxPiecesBehind = 8;
const retryDelayMs = 2_000;

/**
 * Uploads a recording in pieces while it is written, so that another server can finish it. Reads the local file in its own
 * time: slow storage only makes it fall behind. Then it uploads several pieces at once.
 */
export class RecordingUpload {
  readonly #options: RecordingUploadOptions;
  readonly #spans = new Map<string, GrowingSpan>();
  readonly #stopping = new AbortController();
  #work: Promise<void> | undefined;
  #isComplete = false;
  /** Resolves when there may be another piece. */
  #grown = Promise.withResolvers<void>();

  constructor(options: RecordingUploadOptions) {
    this.#options = options;
  }

  /** Lag of the recording that another server could not finish now. */
  get lagSeconds(): number {
    let seconds = 0;
    for (const span of this.#spans.values()) {
      const storedBytes = Math.min(span.cutBytes, ...span.sending);
      if (span.bytes > 0) seconds += span.seconds * (1 - storedBytes / span.bytes);
    }
    return seconds;
  }

  /** True when nothing is missing in the storage. */
  get isStored(): boolean {
    return [...this.#spans.values()].every(span => span.cutBytes === span.bytes && span.sending.size === 0);
  }

  written({ path, bytes, seconds }: Pick<RecordingSpan, 'path' | 'bytes' | 'seconds'>): void {
    const span = this.#spans.get(path) ?? {
      bytes,
      seconds,
      cutBytes: 0,
      cutSeconds: 0,
      sending: new Set<number>(),
    };
    this.#spans.set(path, Object.assign(span, { bytes, seconds }));
    this.#noteGrown();
    if (this.#stopping.signal.aborted) return;
    this.#start();
  }

  #noteGrown(): void {
    this.#grown.resolve();
    this.#grown = Promise.withResolvers();
  }

  #start(): void {
    this.#work ??= this.#sendAll().finally(() => {
      this.#work = undefined;
    });
  }

  /** Uploads the rest. Never rejects. */
  async finish(): Promise<void> {
    this.#isComplete = true;
    this.#noteGrown();
    const { signal } = this.#stopping;
    while (!signal.aborted && (this.#work !== undefined || this.#findPiece() !== undefined)) {
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
    const { signal } = this.#stopping;
    const sending = new Set<Promise<void>>();
    for (;;) {
      const hasRoom = sending.size < (this.lagSeconds > maxLagSeconds ? maxPiecesBehind : 1);
      const piece = hasRoom && !signal.aborted ? this.#findPiece() : undefined;
      if (piece !== undefined) {
        const sent = this.#sendPiece(piece).finally(() => sending.delete(sent));
        sending.add(sent);
      } else if (sending.size === 0) return;
      else await Promise.race([...sending, this.#grown.promise]);
    }
  }

  /** Repeats until the piece is stored. Never rejects. */
  async #sendPiece({ path, span, start, length }: Piece): Promise<void> {
    const { turns, catchUpTurns, ids, log } = this.#options;
    const { signal } = this.#stopping;
    span.cutBytes = start + length;
    span.cutSeconds = span.seconds;
    span.sending.add(start);
    while (!signal.aborted) {
      try {
        const limit = this.lagSeconds > maxLagSeconds ? catchUpTurns : turns;
        await limit.run(() => this.#send(path, start, length));
        span.sending.delete(start);
        return;
      } catch (error) {
        if (signal.aborted) return;
        const lagSeconds = Math.round(this.lagSeconds);
        log.warn('recording-upload-delayed', { ...ids, lagSeconds, error: messageOf(error) });
        await sleep(retryDelayMs, undefined, { signal }).catch(() => {});
      }
    }
  }

  #findPiece(): Piece | undefined {
    const newest = [...this.#spans.values()].at(-1);
    for (const [path, span] of this.#spans) {
      const length = Math.min(span.bytes - span.cutBytes, maxPieceBytes);
      const isDue =
        this.#isComplete ||
        span !== newest ||
        length === maxPieceBytes ||
        span.seconds - span.cutSeconds >= pieceSeconds;
      if (length > 0 && isDue) return { path, span, start: span.cutBytes, length };
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
