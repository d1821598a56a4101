import type { Duplex } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { pongMessage } from './feed-message.ts';

/** What a client is told, and for how long. */
export interface FeedSubscription {
  readonly projectId: string;
  /** Events of its project with a higher number follow. */
  readonly afterNumber: number;
  /** Types that are told; all unless given. */
  readonly types: ReadonlySet<string> | undefined;
  /** The one subject that is told of; all unless given. */
  readonly subjectId: string | undefined;
  /** Throws an AppError when the client's credentials do not count any more. */
  recheck(): void;
}

/** Why a client's connection ended. */
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

/** Times of a connection. */
export interface FeedTimes {
  /** Between pings. */
  readonly pingIntervalMs: number;
  /** A client that is silent for this long is gone. */
  readonly maxSilenceMs: number;
  /** A client that takes nothing of what waits for it for this long does not read. */
  readonly maxUnreadMs: number;
  /** Between looks at whether the credentials still count. */
  readonly recheckIntervalMs: number;
}

/** Told to those who hear of a client. */
export interface FeedClientEvents {
  /** It takes more, after it did not. */
  drained(): void;
  ended(end: FeedCloseReason): void;
}

/** No further event is handed to the socket while so much waits in it; they are read from the database later. */
const maxBufferedEventBytes = 128 * 1024;
/** Past this, what tells only of the moment is left out: by the time it arrives it is old. */
const maxBufferedTransientBytes = 64 * 1024;
/** Nobody has a reason to send more than a ping now and then. */
const maxFramesPerSecond = 30;

/** One client of the feed. What waits for it is bounded by its socket; where it is in the events is a number. */
export class FeedClient {
  readonly subscription: FeedSubscription;
  /** The last event that was looked at for it. */
  cursor: number;
  /** It waits for room, and is told by itself when there is. */
  isWaitingForDrain = false;
  readonly #webSocket: WebSocket;
  readonly #socket: Duplex;
  readonly #times: FeedTimes;
  readonly #clock: Clock;
  readonly #events: FeedClientEvents;
  /** Messages that the socket has not taken. */
  #unflushed = 0;
  /** When it last took something while something waited. */
  #flushedMs = 0;
  #heardMs: number;
  #pingedMs: number;
  #checkedMs: number;
  #framesHeard = 0;
  /** Where what is told of the next moment begins. */
  #firstTransient = 0;
  #end: FeedCloseReason | undefined;

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
    this.#heardMs = nowMs;
    this.#pingedMs = nowMs;
    this.#checkedMs = nowMs;
    webSocket.on('message', (data, isBinary) => this.#hear(data, isBinary));
    webSocket.on('ping', data => {
      if (this.#countFrame() && this.canTakeEvents) webSocket.pong(data);
    });
    webSocket.on('pong', () => this.#countFrame());
    webSocket.on('error', () => {
      this.#end ??= 'protocol-error';
    });
    webSocket.on('close', code => {
      this.#events.ended(this.#end ?? (code === 1006 ? 'connection-lost' : 'client-closed'));
    });
  }

  get isOpen(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** Room for a batch of events. */
  get canTakeEvents(): boolean {
    return this.isOpen && this.#webSocket.bufferedAmount < maxBufferedEventBytes;
  }

  /** Whether it wants to be told of this. */
  wants(type: string, subjectId: string): boolean {
    const { types, subjectId: only } = this.subscription;
    return (types === undefined || types.has(type)) && (only === undefined || only === subjectId);
  }

  /** Sends messages in one go. */
  send(texts: readonly string[]): void {
    if (texts.length === 0 || !this.isOpen) return;
    this.#socket.cork();
    for (const text of texts) this.#write(text);
    this.#socket.uncork();
  }

  /** Sends what is worth nothing later, unless too much waits already; how many were sent. What was left out is first next time. */
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

  /** Looks after the connection; to be called about each second. */
  tick(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#framesHeard = 0;
    if (!this.isOpen) return;
    const { pingIntervalMs, maxSilenceMs, maxUnreadMs, recheckIntervalMs } = this.#times;
    const isSilent = nowMs - this.#heardMs >= maxSilenceMs;
    // Who does not read does not see pings either.
    if (this.#unflushed > 0 && (isSilent || nowMs - this.#flushedMs >= maxUnreadMs)) {
      this.close('not-reading', 4408, 'Messages were not read.');
      return;
    }
    if (isSilent) {
      this.#end ??= 'no-pong';
      this.#webSocket.terminate();
      return;
    }
    if (nowMs - this.#pingedMs >= pingIntervalMs) {
      this.#pingedMs = nowMs;
      this.#webSocket.ping();
    }
    if (nowMs - this.#checkedMs >= recheckIntervalMs) {
      this.#checkedMs = nowMs;
      this.#recheck();
    }
  }

  /** Says goodbye. A client that does not answer that is cut off a while later. */
  close(end: FeedCloseReason, code: number, reason: string): void {
    this.#end ??= end;
    this.#webSocket.close(code, reason);
  }

  /** Cuts the connection. */
  terminate(end: FeedCloseReason): void {
    this.#end ??= end;
    this.#webSocket.terminate();
  }

  readonly #flushed = () => {
    this.#unflushed -= 1;
    this.#flushedMs = this.#clock.monotonicMs();
    if (!this.isWaitingForDrain || !this.canTakeEvents) return;
    this.isWaitingForDrain = false;
    this.#events.drained();
  };

  #write(text: string): void {
    if (this.#unflushed === 0) this.#flushedMs = this.#clock.monotonicMs();
    this.#unflushed += 1;
    this.#webSocket.send(text, this.#flushed);
  }

  #hear(data: RawData, isBinary: boolean): void {
    if (!this.#countFrame()) return;
    if (isBinary || !isPing(String(data))) {
      this.close('bad-message', 1008, 'Only {"type":"ping"} is understood here.');
    } else if (this.canTakeEvents) {
      this.send([pongMessage]);
    }
  }

  /** Whether it may still send. */
  #countFrame(): boolean {
    this.#heardMs = this.#clock.monotonicMs();
    this.#framesHeard += 1;
    if (this.#framesHeard <= maxFramesPerSecond) return true;
    this.close('bad-message', 1008, 'Too many messages.');
    return false;
  }

  #recheck(): void {
    try {
      this.subscription.recheck();
    } catch (error) {
      // A database that cannot be read now says nothing about the credentials.
      if (!(error instanceof AppError)) return;
      if (error.code === 'authorization-suspended-account') {
        this.close('account-suspended', 4403, 'The account is suspended.');
      } else if (error.kind === 'denied') {
        this.close('credentials-ended', 4401, 'The credentials are not valid any more.');
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
