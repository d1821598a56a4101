import type { OpenedFile, OpenFile } from '../../shared/files/opened-file.ts';
import type { BodyPart } from '../../shared/viewer-responses.ts';
import type { DeliveryObserver } from '../delivery-observer.ts';
import { BodyReader } from './body-reader.ts';
import { connectionOf, type Exchange, isClosed } from './exchange.ts';
import { closeFiles, openFiles } from './open-files.ts';
import { ReadBufferPool } from './read-buffer-pool.ts';
import type { StallGuard } from './stall-guard.ts';

/** `missing` and `busy` have sent nothing. */
type FileOutcome = 'sent' | 'missing' | 'busy';

const maxConcurrentResponses = 8192;
/**
 * Maximum responses of a connection: as many as an HTTP/2 connection may open; bounds pipelining over HTTP/1.1.
 */
const maxPerConnection = 128;

/** Reads a buffer when the one before it was sent, so a slow viewer costs no more than a fast one. */
export class FileSender {
  readonly #open: OpenFile;
  readonly #guard: StallGuard;
  readonly #observer: DeliveryObserver;
  readonly #buffers = new ReadBufferPool();
  readonly #perConnection = new WeakMap<object, number>();
  #openResponses = 0;

  constructor(open: OpenFile, guard: StallGuard, observer: DeliveryObserver) {
    this.#open = open;
    this.#guard = guard;
    this.#observer = observer;
  }

  /**
   * Settles when all files are closed. `sendHead` is called with the first bytes at hand. @throws Error when a file
   * could not be read to its end
   */
  async send(exchange: Exchange, pieces: readonly BodyPart[], sendHead: () => void): Promise<FileOutcome> {
    const connection = connectionOf(exchange);
    const count = this.#perConnection.get(connection) ?? 0;
    if (count >= maxPerConnection || this.#openResponses >= maxConcurrentResponses) return 'busy';
    this.#perConnection.set(connection, count + 1);
    this.#openResponses += 1;
    const files = new Map<string, OpenedFile>();
    try {
      const problem = await openFiles(this.#open, pieces, files);
      if (problem !== undefined) return problem;
      if (!isClosed(exchange.reply)) await this.#pump(exchange, pieces, files, sendHead);
      return 'sent';
    } finally {
      this.#openResponses -= 1;
      this.#perConnection.set(connection, this.#perConnection.get(connection)! - 1);
      await closeFiles(files);
    }
  }

  releaseMemory(): void {
    this.#buffers.clear();
  }

  async #pump(
    exchange: Exchange,
    pieces: readonly BodyPart[],
    files: ReadonlyMap<string, OpenedFile>,
    sendHead: () => void,
  ): Promise<void> {
    const { reply } = exchange;
    const reader = new BodyReader(pieces, files);
    const viewer = { isGone: false, wake: () => {} };
    const noteProgress = this.#guard.watch(reply, () => {
      viewer.isGone = true;
      viewer.wake();
      closeFiles(files).catch(() => {});
    });
    for (let isFirst = true; !viewer.isGone; isFirst = false) {
      const window = this.#buffers.take();
      // A buffer whose bytes may still be on their way is not reused.
      let isIdle = false;
      try {
        const chunks = await reader.next(window);
        isIdle = true;
        if (viewer.isGone || isClosed(reply)) return;
        noteProgress();
        if (isFirst) sendHead();
        if (chunks.length === 0) {
          reply.end();
          return;
        }
        isIdle = false;
        await new Promise<void>(resolve => {
          viewer.wake = resolve;
          this.#write(exchange, chunks, error => {
            isIdle = !viewer.isGone && error == null;
            resolve();
          });
        });
        noteProgress();
      } catch (error) {
        if (!viewer.isGone) throw error;
      } finally {
        this.#buffers.release(window, isIdle);
      }
    }
  }

  #write(
    { reply, trafficOwner }: Exchange,
    chunks: readonly Buffer[],
    onSent: (error: Error | null | undefined) => void,
  ): void {
    let bytes = 0;
    reply.cork();
    for (const [index, chunk] of chunks.entries()) {
      bytes += chunk.length;
      if (index === chunks.length - 1) reply.write(chunk, onSent);
      else reply.write(chunk);
    }
    reply.uncork();
    this.#observer.bytesOut(bytes, trafficOwner);
  }
}
