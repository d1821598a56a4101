import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { DeliveryObserver } from '../delivery-observer.ts';
import { abortResponse, type ViewerReply } from '../responses/exchange.ts';
import type { LiveSource } from './live-source.ts';

/** A client with more unsent bytes does not read its events. */
const maxUnsentBytes = 16 * 1024;
/** Takes less than a millisecond. */
const heartbeatsPerTurn = 100;

type IsStillAdmitted = () => Promise<boolean>;

interface Channel {
  /** Undefined for those that are not admitted yet. */
  readonly clients: Map<ViewerReply, IsStillAdmitted | undefined>;
  readonly unsubscribe: () => void;
  /** The message that everybody has or is about to get. */
  last: string;
  isNotifying: boolean;
}

/** @param viewers where the owner shows them */
export function describeState(live: LiveSource, liveStreamId: string, viewers?: number): string {
  const state = live.state(liveStreamId);
  return JSON.stringify({ live: state.live, broadcastId: state.broadcastId ?? null, viewers });
}

export class StateEvents {
  readonly #live: LiveSource;
  readonly #observer: DeliveryObserver;
  readonly #maxClients: number;
  readonly #maxClientsPerStream: number;
  readonly #channels = new Map<string, Channel>();
  readonly #heartbeat: OnDemandInterval;
  #clients = 0;
  #isDraining = false;
  #isSendingHeartbeats = false;

  constructor(options: {
    live: LiveSource;
    observer: DeliveryObserver;
    maxClients: number;
    maxClientsPerStream: number;
    heartbeatMs: number;
  }) {
    this.#live = options.live;
    this.#observer = options.observer;
    this.#maxClients = options.maxClients;
    this.#maxClientsPerStream = options.maxClientsPerStream;
    // Keeps proxies from closing idle connections.
    this.#heartbeat = new OnDemandInterval(options.heartbeatMs, () => {
      void this.#sendHeartbeats();
      return this.#clients > 0;
    });
  }

  /**
   * Reserves a place until the response closes. Undefined when there is none.
   * @returns a function that sends the state then and at each change. Call it when the head of the response was sent
   */
  reserve(liveStreamId: string, reply: ViewerReply): ((mayHear: IsStillAdmitted) => void) | undefined {
    if (this.#isDraining || this.#clients >= this.#maxClients) return undefined;
    const channel = this.#channels.get(liveStreamId) ?? this.#open(liveStreamId);
    if (channel.clients.size >= this.#maxClientsPerStream) return undefined;
    channel.clients.set(reply, undefined);
    this.#clients += 1;
    reply.once('close', () => this.#remove(liveStreamId, channel, reply));
    return mayHear => {
      if (this.#isDraining) {
        reply.end();
        return;
      }
      if (channel.clients.has(reply)) channel.clients.set(reply, () => isAdmitted(mayHear));
      this.#heartbeat.wake();
      this.#send(reply, `retry: 1000\n\n${this.#message(liveStreamId)}`);
    };
  }

  drain(): void {
    this.#isDraining = true;
    for (const channel of this.#channels.values()) {
      for (const [reply, mayHear] of channel.clients) if (mayHear !== undefined) reply.end();
    }
  }

  stop(): void {
    this.drain();
    this.#heartbeat.stop();
    for (const [liveStreamId, channel] of this.#channels) {
      channel.unsubscribe();
      this.#channels.delete(liveStreamId);
    }
  }

  #open(liveStreamId: string): Channel {
    const clients: Channel['clients'] = new Map();
    const channel: Channel = {
      clients,
      unsubscribe: this.#live.onStateChange(liveStreamId, () => void this.#notify(liveStreamId, channel)),
      last: this.#message(liveStreamId),
      isNotifying: false,
    };
    this.#channels.set(liveStreamId, channel);
    return channel;
  }

  /** One change after the other, so that every client ends with the newest state. */
  async #notify(liveStreamId: string, channel: Channel): Promise<void> {
    if (channel.isNotifying) return;
    channel.isNotifying = true;
    for (;;) {
      const message = this.#message(liveStreamId);
      if (message === channel.last) break;
      channel.last = message;
      // Sends to the clients of this moment: those who join meanwhile got the state.
      for (const [reply, mayHear] of [...channel.clients]) {
        if (mayHear === undefined) continue;
        if (await mayHear()) this.#send(reply, message);
        else reply.end();
      }
    }
    channel.isNotifying = false;
  }

  #remove(liveStreamId: string, channel: Channel, reply: ViewerReply): void {
    if (!channel.clients.delete(reply)) return;
    this.#clients -= 1;
    if (channel.clients.size > 0 || this.#channels.get(liveStreamId) !== channel) return;
    channel.unsubscribe();
    this.#channels.delete(liveStreamId);
  }

  #message(liveStreamId: string): string {
    return `event: state\ndata: ${describeState(this.#live, liveStreamId)}\n\n`;
  }

  /** Sends heartbeats, and ends the streams of clients that lost access. */
  async #sendHeartbeats(): Promise<void> {
    if (this.#isSendingHeartbeats) return;
    this.#isSendingHeartbeats = true;
    let count = 0;
    for (const channel of this.#channels.values()) {
      for (const [reply, mayHear] of channel.clients) {
        count += 1;
        if (count % heartbeatsPerTurn === 0) await yieldToEventLoop();
        if (mayHear === undefined) continue;
        if (await mayHear()) this.#send(reply, ':\n\n');
        else reply.end();
      }
    }
    this.#isSendingHeartbeats = false;
  }

  #send(reply: ViewerReply, text: string): void {
    if (reply.writableEnded || reply.destroyed) return;
    if (reply.writableLength > maxUnsentBytes) {
      this.#observer.viewerDropped('events-stalled');
      abortResponse(reply);
      return;
    }
    reply.write(text);
    this.#observer.bytesOut(text.length);
  }
}

/** Denies access while the database does not answer; the client reconnects. */
async function isAdmitted(mayHear: IsStillAdmitted): Promise<boolean> {
  try {
    return await mayHear();
  } catch {
    return false;
  }
}
