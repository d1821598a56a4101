import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { DeliveryObserver } from '../delivery-observer.ts';
import { abortResponse, isOrphaned, type ViewerReply } from '../responses/exchange.ts';
import type { LiveSource } from './live-source.ts';

/** A client with more unsent bytes does not read its events. */
const maxUnsentBytes = 16 * 1024;
/** Takes less than a millisecond. */
const heartbeatsPerTurn = 100;

type IsStillAdmitted = () => boolean;

interface Channel {
  readonly clients: Map<ViewerReply, IsStillAdmitted>;
  readonly unsubscribe: () => void;
}

export function describeState(live: LiveSource, liveStreamId: string): string {
  const state = live.state(liveStreamId);
  return JSON.stringify({ live: state.live, broadcastId: state.broadcastId ?? null });
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

  hasRoom(liveStreamId: string): boolean {
    if (this.#isDraining || this.#clients >= this.#maxClients) return false;
    return (this.#channels.get(liveStreamId)?.clients.size ?? 0) < this.#maxClientsPerStream;
  }

  /** Sends the state now and at each change. Expects that the head of the response was sent. */
  add(liveStreamId: string, reply: ViewerReply, mayHear: IsStillAdmitted): void {
    const channel = this.#channels.get(liveStreamId) ?? this.#open(liveStreamId);
    channel.clients.set(reply, () => isAdmitted(mayHear));
    this.#clients += 1;
    this.#heartbeat.wake();
    reply.once('close', () => this.#remove(liveStreamId, channel, reply));
    this.#send(reply, `retry: 1000\n\n${this.#message(liveStreamId)}`);
  }

  drain(): void {
    this.#isDraining = true;
    for (const channel of this.#channels.values()) {
      for (const reply of channel.clients.keys()) reply.end();
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
    let last = this.#message(liveStreamId);
    const unsubscribe = this.#live.onStateChange(liveStreamId, () => {
      const message = this.#message(liveStreamId);
      if (message === last) return;
      last = message;
      for (const [reply, mayHear] of clients) {
        if (mayHear()) this.#send(reply, message);
        else reply.end();
      }
    });
    const channel: Channel = { clients, unsubscribe };
    this.#channels.set(liveStreamId, channel);
    return channel;
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

  /** Also ends the streams of clients that lost access. */
  async #sendHeartbeats(): Promise<void> {
    if (this.#isSendingHeartbeats) return;
    this.#isSendingHeartbeats = true;
    let count = 0;
    for (const [liveStreamId, channel] of this.#channels) {
      for (const [reply, mayHear] of channel.clients) {
        count += 1;
        if (count % heartbeatsPerTurn === 0) await yieldToEventLoop();
        if (isOrphaned(reply)) this.#remove(liveStreamId, channel, reply);
        else if (mayHear()) this.#send(reply, ':\n\n');
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
function isAdmitted(mayHear: IsStillAdmitted): boolean {
  try {
    return mayHear();
  } catch {
    return false;
  }
}
