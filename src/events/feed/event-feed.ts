import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../shared/clock.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { Signals } from '../../store/signals.ts';
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

interface FeedObserver {
  clientOpened(): void;
  clientClosed(end: FeedCloseReason): void;
  /** `transient`: statistics and progress. */
  sent(kind: 'event' | 'transient', count: number): void;
  dropped(count: number): void;
}

export interface EventFeedOptions {
  readonly outbox: Outbox;
  readonly signals: Pick<Signals, 'send' | 'listen'>;
  /** Called each second while a client wants them. */
  readonly broadcasts: (wants: (projectId: string) => boolean) => readonly BroadcastStatsMessage[];
  readonly restreams?: (wants: (projectId: string) => boolean) => readonly RestreamStateMessage[];
  /** Returns undefined for a deleted video. */
  readonly projectOfVideo: (videoId: string) => Promise<string | undefined>;
  readonly observer: FeedObserver;
  readonly clock: Clock;
  readonly log: Logger;
  /** Interval of client checks and statistics; 1,000 by default. */
  readonly tickMs?: number;
  readonly times?: Partial<FeedTimes>;
  readonly maxClients?: number;
  readonly maxClientsPerProject?: number;
}

interface EncodingProgress {
  readonly videoId: string;
  readonly renditions: readonly EncodedRendition[];
  readonly percent: number;
}

interface TransientMessage {
  readonly type: string;
  readonly subjectId: string;
  readonly text: string;
}

/** Browsers request it beside the subprotocol with their token. */
const feedProtocol = 'millrace.events.v1';

const defaultTimes: FeedTimes = {
  pingIntervalMs: 15_000,
  maxSilenceMs: 30_000,
  maxUnreadMs: 30_000,
  recheckIntervalMs: 5_000,
};
/** Maximum clients. Each may buffer 128 KiB, so 128 MiB in total. */
const defaultMaxClients = 1_000;
const defaultMaxClientsPerProject = 50;
const maxMessageBytes = 1_024;
const closeTimeoutMs = 2_000;
const sliceMs = 4;
/** Maximum cached videos; fewer are encoded at once. */
const maxKnownVideos = 1_000;

/** Sends a project's events, from the position of each client, and the state of broadcasts and encodes. */
export class EventFeed implements Component {
  readonly name = 'event-feed';
  readonly #options: EventFeedOptions;
  readonly #times: FeedTimes;
  readonly #server: WebSocketServer;
  readonly #reader: EventReader;
  readonly #progress = new EncodeProgress();
  readonly #projectsOfVideos = new LRUCache<string, string>({ max: maxKnownVideos });
  readonly #clients = new Map<string, Set<FeedClient>>();
  readonly #unsubscribes: readonly (() => void)[];
  #clientCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #ticking: Promise<void> | undefined;
  #isDraining = false;

  constructor(options: EventFeedOptions) {
    this.#options = options;
    this.#times = { ...defaultTimes, ...options.times };
    const settings = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: maxMessageBytes,
      // The client answers pings itself, only while its buffer has room.
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
      failed: error => options.log.error('feed-read-failed', { message: messageOf(error), error }),
    });
    this.#unsubscribes = [
      options.outbox.onAppended(projectId =>
        this.#reader.addAll(projectId === undefined ? this.#all() : (this.#clients.get(projectId) ?? [])),
      ),
      options.signals.listen('encoding-progress', payload => {
        if (payload !== undefined) this.#recordProgress(payload);
      }),
    ];
  }

  get clientCount(): number {
    return this.#clientCount;
  }

  async start(): Promise<void> {}

  async drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    // Events of this event loop iteration are announced only now.
    await yieldToEventLoop();
    this.#reader.addAll(this.#all());
    await this.#reader.idle(Math.min(deadlineMs, Date.now() + closeTimeoutMs));
    for (const client of this.#all()) client.close('server-stopping', 1001, 'The server is stopping.');
    while (this.#clientCount > 0 && Date.now() < deadlineMs) await sleep(20);
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    clearInterval(this.#timer);
    for (const client of this.#all()) client.terminate('server-stopping');
    await Promise.all([this.#reader.stop(), this.#ticking]);
  }

  /** @throws AppError `server-draining` */
  assertOpen(): void {
    if (this.#isDraining) throw new AppError('server-draining');
  }

  /** @throws AppError `too-many-requests` */
  assertCapacity(projectId: string): void {
    const { maxClients = defaultMaxClients, maxClientsPerProject = defaultMaxClientsPerProject } =
      this.#options;
    const isFull = this.#clientCount >= maxClients;
    if (!isFull && (this.#clients.get(projectId)?.size ?? 0) < maxClientsPerProject) return;
    const whose = isFull ? 'this server' : 'this project';
    throw new AppError('too-many-requests', undefined, {
      details: { detail: `Too many connections to the event feed of ${whose}.` },
    });
  }

  /** Returns 0 when there was no event. */
  lastNumber(projectId: string): Promise<number> {
    return this.#options.outbox.lastNumber(projectId);
  }

  /** @throws AppError `server-draining`, `too-many-requests` or `invalid-payload` before any response */
  async open(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    subscription: FeedSubscription & { readonly environment: string },
  ): Promise<void> {
    const { projectId, afterNumber } = subscription;
    // Queries in this order: an event between the two is not taken for a gap.
    const lastNumber = await this.lastNumber(projectId);
    const [next] = await this.#options.outbox.listOfProject(projectId, afterNumber, 1);
    const oldest = next?.number ?? lastNumber + 1;
    // Checks again: others may have connected during the queries.
    this.assertOpen();
    this.assertCapacity(projectId);
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
            this.#removeClient(client);
            observer.clientClosed(end);
            log.debug('feed-client-closed', { projectId, end });
          },
        },
        clock,
      });
      client.cursor = oldest - 1;
      this.#addClient(client);
      observer.clientOpened();
      log.debug('feed-client-opened', { projectId, afterNumber });
      client.send([
        helloMessage(afterNumber, subscription.environment),
        ...(oldest > afterNumber + 1 ? [gapMessage(oldest)] : []),
      ]);
      this.#reader.add(client);
    });
  }

  /** Tells the clients of all servers. @param percent 0..100; 100 is finished and not sent */
  encodingProgressed(videoId: string, renditions: readonly EncodedRendition[], percent: number): void {
    const names = renditions.map(({ type, quality }) => ({ type, quality }));
    const progress: EncodingProgress = { videoId, renditions: names, percent };
    this.#options.signals
      .send('encoding-progress', JSON.stringify(progress))
      .catch((error: unknown) => this.#options.log.debug('progress-not-sent', { error }));
  }

  /** Costs nothing without clients. */
  #recordProgress(payload: string): void {
    if (this.#clientCount === 0) return;
    const { videoId, renditions, percent } = JSON.parse(payload) as EncodingProgress;
    if (percent >= 100) {
      this.#progress.forget(videoId, renditions);
      return;
    }
    this.#progress.record(videoId, renditions, percent, this.#options.clock.monotonicMs());
  }

  #addClient(client: FeedClient): void {
    const { projectId } = client.subscription;
    const clients = this.#clients.get(projectId) ?? new Set();
    this.#clients.set(projectId, clients.add(client));
    this.#clientCount += 1;
    this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs ?? 1_000);
  }

  #removeClient(client: FeedClient): void {
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
    // Skips ticks while the previous one is running.
    if (this.#isDraining) return;
    this.#ticking ??= this.#runTick()
      .catch((error: unknown) => this.#options.log.error('feed-tick-failed', { error }))
      .finally(() => {
        this.#ticking = undefined;
      });
  }

  async #runTick(): Promise<void> {
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
    for (const [projectId, messages] of await this.#collectTransient()) {
      for (const client of [...(this.#clients.get(projectId) ?? [])]) {
        this.#sendTransient(client, messages);
        if (clock.monotonicMs() >= sliceEndsMs) await endSlice();
      }
    }
    await this.#findNewEvents();
  }

  /** Signals of other servers may be lost. */
  async #findNewEvents(): Promise<void> {
    if (this.#clientCount === 0) return;
    const lastNumbers = await this.#options.outbox.lastNumbers([...this.#clients.keys()]);
    const isBehind = ({ cursor, subscription: { projectId } }: FeedClient) =>
      cursor < (lastNumbers.get(projectId) ?? 0);
    const behind = [...this.#all()].filter(isBehind);
    if (behind.length > 0) this.#reader.addAll(behind);
  }

  async #collectTransient(): Promise<Map<string, TransientMessage[]>> {
    const { clock, broadcasts, restreams } = this.#options;
    const atMs = clock.nowMs();
    const byProject = new Map<string, TransientMessage[]>();
    const add = (projectId: string, message: TransientMessage) => {
      const messages = byProject.get(projectId);
      if (messages === undefined) byProject.set(projectId, [message]);
      else messages.push(message);
    };
    for (const stats of broadcasts(projectId => this.#isWanted(broadcastStatsType, projectId))) {
      const text = statsMessage(stats, atMs);
      add(stats.projectId, { type: broadcastStatsType, subjectId: stats.liveStreamId, text });
    }
    for (const moment of restreams?.(projectId => this.#isWanted(restreamStateType, projectId)) ?? []) {
      const text = restreamMessage(moment, atMs);
      add(moment.projectId, { type: restreamStateType, subjectId: moment.liveStreamId, text });
    }
    for (const { videoId, text } of this.#progress.takeChanged(clock.monotonicMs(), atMs)) {
      const projectId = await this.#projectOfVideo(videoId);
      if (projectId !== undefined) add(projectId, { type: encodingProgressType, subjectId: videoId, text });
    }
    return byProject;
  }

  async #projectOfVideo(videoId: string): Promise<string | undefined> {
    const known = this.#projectsOfVideos.get(videoId);
    if (known !== undefined) return known;
    const projectId = await this.#options.projectOfVideo(videoId);
    if (projectId !== undefined) this.#projectsOfVideos.set(videoId, projectId);
    return projectId;
  }

  #sendTransient(client: FeedClient, messages: readonly TransientMessage[]): void {
    const { observer } = this.#options;
    const texts = messages
      .filter(({ type, subjectId }) => client.wants(type, subjectId))
      .map(({ text }) => text);
    const sent = client.sendTransient(texts);
    if (sent > 0) observer.sent('transient', sent);
    if (sent < texts.length && client.isOpen) observer.dropped(texts.length - sent);
  }
}
