import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { DeliveryObserver } from '../delivery-observer.ts';
import { abortResponse, isOrphaned, type ViewerReply } from '../responses/exchange.ts';
import type { LiveSource } from './live-source.ts';

/** More than this unsent: the client does not read its events. */
const maxUnsentBytes = 16 * 1024;
/** Clients that hear in one turn of the event loop that their connection is alive: less than a millisecond's work. */
const heartbeatsPerTurn = 100;

/** Whether a client may still hear of the stream. */
type IsStillAdmitted = () => boolean;

interface Channel {
  readonly clients: Map<ViewerReply, IsStillAdmitted>;
  readonly unsubscribe: () => void;
}

/** The state of a live stream as the player page reads it. */
export function describeState(live: LiveSource, liveStreamId: string): string {
  const state = live.state(liveStreamId);
  return JSON.stringify({ live: state.live, broadcastId: state.broadcastId ?? null });
}

/** Tells open player pages when their stream starts or ends, as server-sent events. */
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
    // Keeps proxies from closing a connection on which nothing happens.
    this.#heartbeat = new OnDemandInterval(options.heartbeatMs, () => {
      void this.#sendHeartbeats();
      return this.#clients > 0;
    });
  }

  /** Whether one more client of this stream may be added. */
  hasRoom(liveStreamId: string): boolean {
    if (this.#isDraining || this.#clients >= this.#maxClients) return false;
    return (this.#channels.get(liveStreamId)?.clients.size ?? 0) < this.#maxClientsPerStream;
  }

  /**
   * Sends the state now and at each change, until the client leaves or may hear nothing more. The head of the response is written
   * already.
   */
  add(liveStreamId: string, reply: ViewerReply, mayHear: IsStillAdmitted): void {
    const channel = this.#channels.get(liveStreamId) ?? this.#open(liveStreamId);
    channel.clients.set(reply, () => isAdmitted(mayHear));
    this.#clients += 1;
    this.#heartbeat.wake();
    reply.once('close', () => this.#remove(liveStreamId, channel, reply));
    this.#send(reply, `retry: 1000\n\n${this.#message(liveStreamId)}`);
  }

  /** Ends all streams of events and lets no new one begin. */
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

  /** Who may hear nothing more learns that here, when nothing happens. */
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

/** A client of whom it cannot be said, since the database does not answer, hears nothing: it asks again. */
function isAdmitted(mayHear: IsStillAdmitted): boolean {
  try {
    return mayHear();
  } catch {
    return false;
  }
}
