import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../shared/clock.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { Outbox } from '../outbox.store.ts';
import { type EncodedRendition, EncodeProgress } from './encode-progress.ts';
import { EventReader } from './event-reader.ts';
import { FeedClient, type FeedCloseReason, type FeedSubscription, type FeedTimes } from './feed-client.ts';
import {
  type BroadcastStatsMessage,
  broadcastStatsType,
  encodingProgressType,
  gapMessage,
  helloMessage,
  type RestreamStateMessage,
  restreamMessage,
  restreamStateType,
  statsMessage,
} from './feed-message.ts';

/** What the feed tells of itself, for metrics. */
export interface FeedObserver {
  clientOpened(): void;
  clientClosed(end: FeedCloseReason): void;
  /** `transient`: statistics and progress. */
  sent(kind: 'event' | 'transient', count: number): void;
  /** Statistics and progress that a slow client was not sent. */
  dropped(count: number): void;
}

/** What the feed is made with. */
export interface EventFeedOptions {
  readonly outbox: Outbox;
  /** How broadcasts do now, of the projects that `wants` names. Asked each second while somebody wants to know. */
  readonly broadcasts: (wants: (projectId: string) => boolean) => readonly BroadcastStatsMessage[];
  /** How destinations of broadcasts do now, likewise; there are none unless given. */
  readonly restreams?: (wants: (projectId: string) => boolean) => readonly RestreamStateMessage[];
  /** Whose a video is; undefined when it is gone. */
  readonly projectOfVideo: (videoId: string) => string | undefined;
  readonly observer: FeedObserver;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between looks at the clients, and between statistics; 1,000 ms unless given. */
  readonly tickMs?: number;
  readonly times?: Partial<FeedTimes>;
  readonly maxClients?: number;
  readonly maxClientsPerProject?: number;
}

/** What is told of a moment, and of what. */
interface TransientMessage {
  readonly type: string;
  readonly subjectId: string;
  readonly text: string;
}

/** The subprotocol that browsers name, beside the one that holds their token. */
export const feedProtocol = 'millrace.events.v1';

const usualTimes: FeedTimes = {
  pingIntervalMs: 15_000,
  maxSilenceMs: 30_000,
  maxUnreadMs: 30_000,
  recheckIntervalMs: 5_000,
};
/** Each may make 128 KiB wait: 128 MiB at the worst. */
const defaultMaxClients = 1_000;
/** Dashboards and workers of one customer; no customer takes the places of all. */
const defaultMaxClientsPerProject = 50;
/** A client has a ping to say, nothing longer. */
const maxMessageBytes = 1_024;
const closeTimeoutMs = 2_000;
/** What one turn of the event loop may be used for. */
const sliceMs = 4;

/** WebSockets that are told the events of their project, each from where it wishes, and how broadcasts and encodes do. */
export class EventFeed implements Component {
  readonly name = 'event-feed';
  readonly #options: EventFeedOptions;
  readonly #times: FeedTimes;
  readonly #server: WebSocketServer;
  readonly #reader: EventReader;
  readonly #progress = new EncodeProgress();
  /** By project. */
  readonly #clients = new Map<string, Set<FeedClient>>();
  readonly #forgetOutbox: () => void;
  #clientCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #isInRound = false;
  #isDraining = false;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#times = { ...usualTimes, ...options.times };
    const settings = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      // Answered by the client's own hand, which knows whether there is room.
      autoPong: false,
      closeTimeout: closeTimeoutMs,
      handleProtocols: (offered: Set<string>) => offered.has(feedProtocol) && feedProtocol,
    };
    this.#server = new WebSocketServer(settings);
    this.#server.on('wsClientError', (error: Error) => {
      throw new AppError('invalid-payload', undefined, { details: { detail: `${error.message}.` } });
    });
    this.#reader = new EventReader({
      outbox: options.outbox,
      clock: options.clock,
      sent: count => options.observer.sent('event', count),
      failed: error => options.log.error('feed-events-unread', { message: messageOf(error), error }),
    });
    this.#forgetOutbox = options.outbox.onAppended(() => this.#reader.addAll(this.#all()));
  }

  /** Open connections. */
  get clientCount(): number {
    return this.#clientCount;
  }

  async start(): Promise<void> {}

  /** Sends what there is, then says goodbye to all. Nobody is taken any more. */
  async drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    // Events of a moment ago are told of only now.
    await yieldToEventLoop();
    this.#reader.addAll(this.#all());
    await this.#reader.idle(Math.min(deadlineMs, Date.now() + closeTimeoutMs));
    for (const client of this.#all()) client.close('server-stopping', 1001, 'The server is stopping.');
    while (this.#clientCount > 0 && Date.now() < deadlineMs) await sleep(20);
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    this.#forgetOutbox();
    this.#reader.stop();
    clearInterval(this.#timer);
    for (const client of this.#all()) client.terminate('server-stopping');
  }

  /** @throws AppError `server-draining` */
  assertOpen(): void {
    if (this.#isDraining) throw new AppError('server-draining');
  }

  /** @throws AppError `too-many-requests` when all places are taken */
  assertCapacity(projectId: string): void {
    const { maxClients = defaultMaxClients, maxClientsPerProject = defaultMaxClientsPerProject } =
      this.#options;
    const isFull = this.#clientCount >= maxClients;
    if (!isFull && (this.#clients.get(projectId)?.size ?? 0) < maxClientsPerProject) return;
    const whose = isFull ? 'this server' : 'this project';
    throw new AppError('too-many-requests', undefined, {
      details: { detail: `Too many connections of ${whose} listen to events.` },
    });
  }

  /** The newest event of a project; 0 when there was none. */
  lastNumber(projectId: string): number {
    return this.#options.outbox.lastNumber(projectId);
  }

  /**
   * Answers the upgrade and tells the client what it wants from now on.
   *
   * @throws AppError `invalid-payload` when the request is no proper one; nothing has been answered then
   */
  open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    subscription: FeedSubscription & { readonly environment: string },
  ): void {
    const { projectId, afterNumber } = subscription;
    const next = this.#options.outbox.listOfProject(projectId, afterNumber, 1)[0];
    const oldest = next?.number ?? this.lastNumber(projectId) + 1;
    this.#server.handleUpgrade(request, socket, head, webSocket => {
      const { clock, observer, log } = this.#options;
      const client: FeedClient = new FeedClient({
        webSocket,
        socket,
        subscription,
        times: this.#times,
        events: {
          drained: () => this.#reader.add(client),
          ended: end => {
            this.#forget(client);
            observer.clientClosed(end);
            log.debug('feed-client-closed', { projectId, end });
          },
        },
        clock,
      });
      this.#remember(client);
      observer.clientOpened();
      log.debug('feed-client-opened', { projectId, afterNumber });
      client.send([
        helloMessage(afterNumber, subscription.environment),
        ...(oldest > afterNumber + 1 ? [gapMessage(oldest)] : []),
      ]);
      this.#reader.add(client);
    });
  }

  /** Notes how far an encode is. Costs nothing while nobody listens. @param percent 0..100, which is done and no longer told */
  encodingProgressed(videoId: string, renditions: readonly EncodedRendition[], percent: number): void {
    if (this.#clientCount === 0) return;
    if (percent >= 100) {
      this.#progress.forget(videoId, renditions);
      return;
    }
    const projectId = this.#options.projectOfVideo(videoId);
    if (projectId === undefined || !this.#isWanted(encodingProgressType, projectId)) return;
    this.#progress.record(projectId, videoId, renditions, percent, this.#options.clock.monotonicMs());
  }

  #remember(client: FeedClient): void {
    const { projectId } = client.subscription;
    const clients = this.#clients.get(projectId) ?? new Set();
    this.#clients.set(projectId, clients.add(client));
    this.#clientCount += 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs ?? 1_000);
  }

  #forget(client: FeedClient): void {
    const { projectId } = client.subscription;
    const clients = this.#clients.get(projectId);
    if (!clients?.delete(client)) return;
    this.#clientCount -= 1;
    this.#reader.remove(client);
    if (clients.size === 0) this.#clients.delete(projectId);
    if (this.#clientCount > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#progress.clear();
  }

  *#all(): Generator<FeedClient> {
    for (const clients of this.#clients.values()) yield* clients;
  }

  #isWanted(type: string, projectId: string): boolean {
    for (const { subscription } of this.#clients.get(projectId) ?? []) {
      if (subscription.types?.has(type) ?? true) return true;
    }
    return false;
  }

  #tick(): void {
    // A round that takes longer than a second is left to end.
    if (this.#isInRound || this.#isDraining) return;
    this.#isInRound = true;
    void this.#goRound()
      .catch((error: unknown) => this.#options.log.error('feed-round-failed', { error }))
      .finally(() => {
        this.#isInRound = false;
      });
  }

  /** Looks after all clients, and tells them what is true of this moment: a slice of them, then others' turn. */
  async #goRound(): Promise<void> {
    const { clock } = this.#options;
    let sliceEndsMs = clock.monotonicMs() + sliceMs;
    const endSlice = async () => {
      await yieldToEventLoop();
      sliceEndsMs = clock.monotonicMs() + sliceMs;
    };
    for (const client of [...this.#all()]) {
      client.tick();
      if (clock.monotonicMs() >= sliceEndsMs) await endSlice();
    }
    for (const [projectId, messages] of this.#moment()) {
      for (const client of [...(this.#clients.get(projectId) ?? [])]) {
        this.#tell(client, messages);
        if (clock.monotonicMs() >= sliceEndsMs) await endSlice();
      }
    }
  }

  /** What is true of this moment and wanted, by project. */
  #moment(): Map<string, TransientMessage[]> {
    const { clock, broadcasts, restreams } = this.#options;
    const atMs = clock.nowMs();
    const told = new Map<string, TransientMessage[]>();
    const add = (projectId: string, message: TransientMessage) => {
      const messages = told.get(projectId);
      if (messages === undefined) told.set(projectId, [message]);
      else messages.push(message);
    };
    for (const facts of broadcasts(projectId => this.#isWanted(broadcastStatsType, projectId))) {
      const text = statsMessage(facts, atMs);
      add(facts.projectId, { type: broadcastStatsType, subjectId: facts.liveStreamId, text });
    }
    for (const moment of restreams?.(projectId => this.#isWanted(restreamStateType, projectId)) ?? []) {
      const text = restreamMessage(moment, atMs);
      add(moment.projectId, { type: restreamStateType, subjectId: moment.liveStreamId, text });
    }
    for (const { projectId, videoId, text } of this.#progress.takeChanged(clock.monotonicMs(), atMs)) {
      add(projectId, { type: encodingProgressType, subjectId: videoId, text });
    }
    return told;
  }

  #tell(client: FeedClient, messages: readonly TransientMessage[]): void {
    const { observer } = this.#options;
    const texts = messages
      .filter(({ type, subjectId }) => client.wants(type, subjectId))
      .map(({ text }) => text);
    const sent = client.sendTransient(texts);
    if (sent > 0) observer.sent('transient', sent);
    if (sent < texts.length && client.isOpen) observer.dropped(texts.length - sent);
  }
}
