import type { Http2Session } from 'node:http2';
import type { Clock } from '../../shared/clock.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { abortResponse, isQueued, type ViewerReply, type ViewerResponse } from './exchange.ts';

export class StallGuard {
  readonly #clock: Clock;
  readonly #stallMs: number;
  readonly #onDrop: () => void;
  /** Monotonic time of the viewer's last read. */
  readonly #watched = new Map<
    ViewerReply,
    { progressAtMs: number; readonly onGone: (() => void) | undefined }
  >();
  readonly #pinged = new WeakSet<Http2Session>();
  readonly #sweeps: OnDemandInterval;

  /** @param onDrop called for each response that is cut off, at most a quarter of `stallMs` late */
  constructor(clock: Clock, stallMs: number, onDrop: () => void) {
    this.#clock = clock;
    this.#stallMs = stallMs;
    this.#onDrop = onDrop;
    this.#sweeps = new OnDemandInterval(Math.max(10, stallMs / 4), () => this.#sweep());
  }

  /** Returns a function that records progress. Calls `onGone` when nothing more will reach the viewer. */
  watch(reply: ViewerReply, onGone?: () => void): () => void {
    const watched = { progressAtMs: this.#clock.monotonicMs(), onGone };
    this.#watched.set(reply, watched);
    this.#sweeps.wake();
    reply.once('close', () => this.#forget(reply));
    return () => {
      watched.progressAtMs = this.#clock.monotonicMs();
    };
  }

  stop(): void {
    this.#sweeps.stop();
  }

  #sweep(): boolean {
    const nowMs = this.#clock.monotonicMs();
    for (const [reply, watched] of this.#watched) {
      if (isQueued(reply)) watched.progressAtMs = nowMs;
      else if (nowMs - watched.progressAtMs >= this.#stallMs) this.#drop(reply);
    }
    return this.#watched.size > 0;
  }

  #forget(reply: ViewerReply): void {
    const watched = this.#watched.get(reply);
    if (!this.#watched.delete(reply)) return;
    watched?.onGone?.();
  }

  #drop(reply: ViewerReply): void {
    this.#onDrop();
    const session = sessionOf(reply);
    abortResponse(reply);
    this.#forget(reply);
    if (session !== undefined) this.#pingSession(session);
  }

  /** A stalled stream may be a paused download: without an answer to a ping, its session is dead. */
  #pingSession(session: Http2Session): void {
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

/** HTTP/2 forbids `socket.destroy`, and a session's `destroy` waits for a write that never ends. */
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
