import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { pongMessage } from './feed-message.ts';

export interface FeedSubscription {
  readonly projectId: string;
  readonly afterNumber: number;
  /** Types to send; undefined for all. */
  readonly types: ReadonlySet<string> | undefined;
  readonly subjectId: string | undefined;
  /** @throws AppError when the client's credentials are no longer valid */
  recheck(): Promise<void>;
  /** Calls `changed` when the credentials may no longer be valid. @returns ends that */
  followAccess(changed: () => void): () => void;
}

export type FeedCloseReason =
  | 'client-closed'
  | 'connection-lost'
  | 'protocol-error'
  | 'bad-message'
  | 'not-reading'
  | 'no-pong'
  | 'credentials-ended'
  | 'account-suspended'
  | 'server-stopping';

export interface FeedTimes {
  readonly pingIntervalMs: number;
  /** Timeout without any frame from the client. */
  readonly maxSilenceMs: number;
  /** Timeout without progress while messages are buffered. */
  readonly maxUnreadMs: number;
  readonly recheckIntervalMs: number;
}

interface FeedClientEvents {
  drained(): void;
  ended(end: FeedCloseReason): void;
}

/** Bytes of buffered events; further ones stay in the database. */
const maxBufferedEventBytes = 128 * 1024;
/** Bytes of buffered transient messages; further ones are dropped, because they would arrive outdated. */
const maxBufferedTransientBytes = 64 * 1024;
const maxFramesPerSecond = 30;

/** Holds its position as a number, so only its socket buffers messages. */
export class FeedClient {
  readonly subscription: FeedSubscription;
  /** Number of the last event that was checked for it. */
  cursor: number;
  isWaitingForDrain = false;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #times: FeedTimes;
  readonly #clock: Clock;
  readonly #events: FeedClientEvents;
  #unflushed = 0;
  #lastFlushMs = 0;
  #lastFrameMs: number;
  #lastPingMs: number;
  #lastCheckMs: number;
  #isRechecking = false;
  #mustRecheck = false;
  #framesThisSecond = 0;
  /** Index of the next transient message to send after an incomplete round. */
  #firstTransient = 0;
  #closeReason: FeedCloseReason | undefined;

  constructor(options: {
    webSocket: WebSocket;
    socket: Duplex;
    subscription: FeedSubscription;
    times: FeedTimes;
    events: FeedClientEvents;
    clock: Clock;
  }) {
    const { webSocket, subscription, clock } = options;
    const nowMs = clock.monotonicMs();
    this.#webSocket = webSocket;
    this.#socket = options.socket;
    this.#times = options.times;
    this.#clock = clock;
    this.#events = options.events;
    this.subscription = subscription;
    this.cursor = subscription.afterNumber;
    this.#lastFrameMs = nowMs;
    this.#lastPingMs = nowMs;
    this.#lastCheckMs = nowMs;
    const unfollow = subscription.followAccess(() => void this.#recheck());
    webSocket.on('message', (data, isBinary) => this.#handleMessage(data, isBinary));
    webSocket.on('ping', data => {
      if (this.#countFrame() && this.canTakeEvents) webSocket.pong(data);
    });
    webSocket.on('pong', () => this.#countFrame());
    webSocket.on('error', () => {
      this.#closeReason ??= 'protocol-error';
    });
    webSocket.on('close', code => {
      unfollow();
      this.#events.ended(this.#closeReason ?? (code === 1006 ? 'connection-lost' : 'client-closed'));
    });
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  get canTakeEvents(): boolean {
    return this.isOpen && this.#webSocket.bufferedAmount < maxBufferedEventBytes;
  }

  wants(type: string, subjectId: string): boolean {
    const { types, subjectId: only } = this.subscription;
    return (types === undefined || types.has(type)) && (only === undefined || only === subjectId);
  }

  send(texts: readonly string[]): void {
    if (texts.length === 0 || !this.isOpen) return;
    this.#socket.cork();
    for (const text of texts) this.#write(text);
    this.#socket.uncork();
  }

  /** Sends while the buffer has room, and returns the number. The next call begins with the rest. */
  sendTransient(texts: readonly string[]): number {
    if (!this.isOpen) return 0;
    const first = this.#firstTransient % Math.max(1, texts.length);
    let sent = 0;
    this.#socket.cork();
    for (const text of [...texts.slice(first), ...texts.slice(0, first)]) {
      if (this.#webSocket.bufferedAmount > maxBufferedTransientBytes) break;
      this.#write(text);
      sent += 1;
    }
    this.#socket.uncork();
    this.#firstTransient = sent === texts.length ? 0 : first + sent;
    return sent;
  }

  /** Call this about once per second. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#framesThisSecond = 0;
    if (!this.isOpen) return;
    const { pingIntervalMs, maxSilenceMs, maxUnreadMs, recheckIntervalMs } = this.#times;
    const isSilent = nowMs - this.#lastFrameMs >= maxSilenceMs;
    // A client that does not read does not see pings either.
    if (this.#unflushed > 0 && (isSilent || nowMs - this.#lastFlushMs >= maxUnreadMs)) {
      this.close('not-reading', 4408, 'The client does not read its messages.');
      return;
    }
    if (isSilent) {
      this.#closeReason ??= 'no-pong';
      this.#webSocket.terminate();
      return;
    }
    if (nowMs - this.#lastPingMs >= pingIntervalMs) {
      this.#lastPingMs = nowMs;
      this.#webSocket.ping();
    }
    if (nowMs - this.#lastCheckMs >= recheckIntervalMs) void this.#recheck();
  }

  close(end: FeedCloseReason, code: number, reason: string): void {
    this.#closeReason ??= end;
    this.#webSocket.close(code, reason);
  }

  terminate(end: FeedCloseReason): void {
    this.#closeReason ??= end;
    this.#webSocket.terminate();
  }

  readonly #flushed = () => {
    this.#unflushed -= 1;
    this.#lastFlushMs = this.#clock.monotonicMs();
    if (!this.isWaitingForDrain || !this.canTakeEvents) return;
    this.isWaitingForDrain = false;
    this.#events.drained();
  };

  #write(text: string): void {
    if (this.#unflushed === 0) this.#lastFlushMs = this.#clock.monotonicMs();
    this.#unflushed += 1;
    this.#webSocket.send(text, this.#flushed);
  }

  #handleMessage(data: RawData, isBinary: boolean): void {
    if (!this.#countFrame()) return;
    if (isBinary || !isPing(String(data))) {
      this.close('bad-message', 1008, 'Only {"type":"ping"} is supported.');
    } else if (this.canTakeEvents) {
      this.send([pongMessage]);
    }
  }

  #countFrame(): boolean {
    this.#lastFrameMs = this.#clock.monotonicMs();
    this.#framesThisSecond += 1;
    if (this.#framesThisSecond <= maxFramesPerSecond) return true;
    this.close('bad-message', 1008, 'Too many messages.');
    return false;
  }

  async #recheck(): Promise<void> {
    this.#mustRecheck = true;
    if (this.#isRechecking) return;
    this.#isRechecking = true;
    while (this.#mustRecheck && this.isOpen) {
      this.#mustRecheck = false;
      this.#lastCheckMs = this.#clock.monotonicMs();
      await this.#checkCredentials();
    }
    this.#isRechecking = false;
  }

  async #checkCredentials(): Promise<void> {
    try {
      await this.subscription.recheck();
    } catch (error) {
      // A database error says nothing about the credentials.
      if (!(error instanceof AppError)) return;
      if (error.code === 'authorization-suspended-account') {
        this.close('account-suspended', 4403, 'The account is suspended.');
      } else if (error.kind === 'denied') {
        this.close('credentials-ended', 4401, 'The credentials are no longer valid.');
      }
    }
  }
}

function isPing(text: string): boolean {
  try {
    const message: unknown = JSON.parse(text);
    return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ping';
  } catch {
    return false;
  }
}
