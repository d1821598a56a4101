import type { Http2Session } from 'node:http2';
import type { Clock } from '../shared/clock.ts';
import { cutOff, isOrphaned, isQueued, type ViewerReply, type ViewerResponse } from './viewer-reply.ts';

/** Cuts off viewers who stop reading. */
export class StallGuard {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #onDrop: () => void;
  /** By response: when its viewer was last seen to read, in ms of the monotonic clock. */
  readonly #progress = new Map<ViewerReply, number>();
  readonly #pinged = new WeakSet<Http2Session>();
  readonly #timer: NodeJS.Timeout;

  /** A response without progress for `stallMs` is cut off at most a quarter of that later; `onDrop` is called for each. */
  constructor(clock: Clock, stallMs: number, onDrop: () => void) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#onDrop = onDrop;
    this.#timer = setInterval(() => this.#sweep(), Math.max(10, stallMs / 4));
    this.#timer.unref();
  }

  /** Watches until the response has closed. The returned function notes that the viewer has read something. */
  watch(reply: ViewerReply): () => void {
    this.#progress.set(reply, this.#clock.monotonicMs());
    reply.once('close', () => this.#progress.delete(reply));
    return () => {
      if (this.#progress.has(reply)) this.#progress.set(reply, this.#clock.monotonicMs());
    };
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [reply, progressAtMs] of this.#progress) {
      if (isOrphaned(reply)) this.#progress.delete(reply);
      else if (isQueued(reply)) this.#progress.set(reply, nowMs);
      else if (nowMs - progressAtMs >= this.#stallMs) this.#drop(reply);
    }
  }

  #drop(reply: ViewerReply): void {
    this.#progress.delete(reply);
    this.#onDrop();
    const session = sessionOf(reply);
    cutOff(reply);
    if (session !== undefined) this.#askForLife(session);
  }

  /** One stalled stream may be a paused download; a session that does not even answer a ping is dead. */
  #askForLife(session: Http2Session): void {
    if (session.destroyed || this.#pinged.has(session)) return;
    this.#pinged.add(session);
    const timer = setTimeout(() => destroyConnection(session), this.#stallMs);
    timer.unref();
    const isSent = session.ping(() => {
      clearTimeout(timer);
      this.#pinged.delete(session);
    });
    if (!isSent) destroyConnection(session);
  }
}

/**
 * `destroy` of a session waits for its last write, which here never ends, and its socket must not be destroyed by that name.
 * Disposing of the socket does it.
 */
function destroyConnection(session: Http2Session): void {
  if (session.destroyed) return;
  const { socket } = session;
  socket[Symbol.asyncDispose]().catch(() => {});
  session.destroy();
}

function sessionOf(reply: ViewerReply): Http2Session | undefined {
  const response = reply as ViewerReply & ViewerResponse;
  return 'stream' in response ? response.stream.session : undefined;
}
