import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { redactServerUrl } from '../../shared/network/redact-server-url.ts';
import type { RestreamConfig } from '../broadcast/broadcast-subscriber.ts';
import { ByteRate } from './byte-rate.ts';
import type { dial } from './dial.ts';
import { openOutput } from './open-output.ts';
import { PendingMedia } from './pending-media.ts';
import type { RestreamBatch } from './restream-batch.ts';
import type { RestreamOutput } from './restream-connection.ts';
import { failureFromError, type RestreamFailure, type RestreamReason } from './restream-failure.ts';
import type { FeedReceiver, RestreamFeed } from './restream-feed.ts';
import { RestreamRetries, type RestreamTimeouts } from './restream-retries.ts';
import { parseTarget, type RestreamTarget } from './restream-target.ts';
import type { SandboxTime } from './sandbox-time.ts';

/**
 * `connecting` until first accepted, `retrying` after a failure, `stopped` for the rest of the broadcast, `disabled` until it is
 * enabled.
 */
export type RestreamState = 'connecting' | 'live' | 'retrying' | 'stopped' | 'disabled';

export interface RestreamStatus {
  readonly name: string;
  /** URL without secrets. */
  readonly serverUrl: string;
  /** The one that is sent: the source where the chosen one does not exist. */
  readonly rendition: string;
  readonly state: RestreamState;
  readonly sinceMs: number;
  readonly reason: RestreamReason | undefined;
  readonly bitrateBitsPerSecond: number;
  /** Dropped because the destination was too slow. */
  readonly droppedFrames: number;
  readonly retries: number;
  /** The last failure, for a person; it may be over. */
  readonly lastError: string | undefined;
}

export interface RestreamObserver {
  bytesOut(count: number): void;
  framesDropped(count: number): void;
  retried(): void;
  /** The connection ended unasked. */
  failed(reason: RestreamReason): void;
}

interface RestreamDestinationOptions {
  readonly restream: RestreamConfig;
  readonly feed: RestreamFeed;
  readonly dial: (target: RestreamTarget, signal: AbortSignal) => ReturnType<typeof dial>;
  /** Undefined is unlimited. */
  readonly sandboxTime: SandboxTime | undefined;
  readonly times: RestreamTimeouts;
  readonly observer: RestreamObserver;
  /** The destination stopped while the broadcast continues. */
  readonly onStopped: (name: string, reason: RestreamReason) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0..1; spreads the retries of many destinations. */
  readonly random?: () => number;
}

type Link =
  | { readonly state: 'none' }
  | { readonly state: 'dialing' }
  | { readonly state: 'connected'; readonly connection: RestreamOutput; readonly sinceMs: number }
  | {
      readonly state: 'accepted';
      readonly connection: RestreamOutput;
      readonly sinceMs: number;
      /** The last progress, or the last time that nothing was waiting. */
      progressMs: number;
    };

/** `dropping` until half of what waits is sent, then `waiting-for-keyframe`. */
type Delivery = 'continuous' | 'waiting-for-keyframe' | 'dropping';

export class RestreamDestination implements FeedReceiver {
  readonly #options: RestreamDestinationOptions;
  readonly #target: RestreamTarget | undefined;
  readonly #rate = new ByteRate();
  readonly #abort = new AbortController();
  readonly #retries: RestreamRetries;
  readonly #pending = new PendingMedia();
  #state: RestreamState = 'connecting';
  #sinceMs: number;
  #reason: RestreamReason | undefined;
  #lastError: string | undefined;
  #link: Link = { state: 'none' };
  #delivery: Delivery = 'continuous';
  #droppedFrames = 0;
  #isPublisherGone = false;
  #limitTimer: NodeJS.Timeout | undefined;
  #name: string;
  #feed: RestreamFeed;
  /** Set once the broadcast ends; resolved when the connection is closed. */
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(options: RestreamDestinationOptions) {
    this.#options = options;
    this.#target = parseTarget(options.restream.serverUrl);
    this.#retries = new RestreamRetries(options.times, options.random);
    this.#sinceMs = options.clock.nowMs();
    this.#name = options.restream.name;
    this.#feed = options.feed;
    this.#feed.add(this);
  }

  get state(): RestreamState {
    return this.#state;
  }

  /** The one that is sent. */
  get rendition(): string {
    return this.#feed.rendition;
  }

  get status(): RestreamStatus {
    const { serverUrl } = this.#options.restream;
    return {
      name: this.#name,
      serverUrl: redactServerUrl(serverUrl),
      rendition: this.rendition,
      state: this.#state,
      sinceMs: this.#sinceMs,
      reason: this.#reason,
      bitrateBitsPerSecond:
        this.#state === 'live' ? this.#rate.bitsPerSecond(this.#options.clock.monotonicMs()) : 0,
      droppedFrames: this.#droppedFrames,
      retries: this.#retries.count,
      lastError: this.#lastError,
    };
  }

  rename(name: string): void {
    this.#name = name;
  }

  get #isStopped(): boolean {
    return this.#ended !== undefined || this.#state === 'stopped';
  }

  get #connection(): RestreamOutput | undefined {
    return 'connection' in this.#link ? this.#link.connection : undefined;
  }

  useFeed(feed: RestreamFeed): void {
    if (feed === this.#feed) return;
    this.#feed.remove(this);
    this.#feed = feed;
    if (!this.#isStopped) feed.add(this);
    this.interrupted();
    this.#options.log.info('restream-rendition', { rendition: feed.rendition });
  }

  /** Never throws: feeds call it from a timer. */
  take(batch: RestreamBatch): void {
    if (this.#isStopped) return;
    try {
      this.#take(batch);
    } catch (error) {
      this.#options.log.error('restream-media-failed', { error });
      this.#connection?.kill({ reason: 'failed', detail: messageOf(error), isLasting: false });
    }
  }

  #take(batch: RestreamBatch): void {
    this.#isPublisherGone = false;
    const connection = this.#connection;
    if (connection === undefined) {
      if (this.#retries.isDue && batch.hasStart) void this.#connect();
      if (this.#link.state === 'dialing') this.#pending.add(batch);
    } else if (connection.isEnding || !connection.isAccepted) this.#pending.add(batch);
    else this.#send(connection, batch);
  }

  #send(connection: RestreamOutput, batch: RestreamBatch, from = 0): void {
    const { samples, format } = batch;
    const found = samples.findIndex(({ isStart }, index) => index >= from && isStart);
    const start = found === -1 ? samples.length : found;
    const hasStart = start < samples.length;
    if (!connection.hasBegun) {
      if (!hasStart) return;
      connection.begin(format, samples[start]!.atMs);
      this.#continueFrom(connection, batch, start);
    } else if (connection.format !== format) {
      if (this.#delivery === 'continuous' && !connection.isFull) connection.write(batch, from, start);
      if (hasStart) this.#reconnect(connection, batch, start);
    } else if (connection.isFull || (this.#delivery === 'dropping' && !connection.isHalfEmpty)) {
      this.#delivery = 'dropping';
      this.#drop(batch, from, samples.length);
    } else if (this.#delivery === 'continuous') connection.write(batch, from);
    else {
      if (this.#delivery === 'dropping') this.#drop(batch, from, start);
      if (hasStart) this.#continueFrom(connection, batch, start);
    }
  }

  #continueFrom(connection: RestreamOutput, batch: RestreamBatch, start: number): void {
    this.#delivery = 'continuous';
    connection.write(batch, start);
  }

  interrupted(): void {
    if (this.#delivery === 'continuous') this.#delivery = 'waiting-for-keyframe';
    this.#pending.take();
  }

  /** A destination that disconnects before the publisher returns has not failed. */
  publisherGone(): void {
    this.#isPublisherGone = true;
    this.interrupted();
  }

  #drop({ samples }: RestreamBatch, from: number, to: number): void {
    const frames = samples.slice(from, to).filter(({ media }) => media.kind === 'video').length;
    if (frames === 0) return;
    this.#droppedFrames += frames;
    this.#options.observer.framesDropped(frames);
  }

  async #connect(): Promise<void> {
    this.#link = { state: 'dialing' };
    if (this.#retries.begin()) this.#options.observer.retried();
    try {
      const connection = await this.#open();
      if (this.#isStopped) connection.kill();
    } catch (error) {
      this.#link = { state: 'none' };
      this.#pending.take();
      if (this.#isStopped) this.#settle();
      else this.#failed(this.#failureFrom(error));
    }
  }

  async #open(): Promise<RestreamOutput> {
    const { dial, restream, clock } = this.#options;
    const target = this.#target;
    if (target === undefined) throw new Error('the address has no host or no app, or is too long');
    const dialed = await dial(target, this.#abort.signal);
    const connection: RestreamOutput = openOutput(dialed, {
      target,
      streamKey: restream.streamKey,
      format: this.#feed.format,
      events: {
        accepted: () => this.#accepted(connection),
        taken: bytes => this.#taken(bytes),
        ended: failure => this.#connectionEnded(connection, failure),
      },
    });
    this.#link = { state: 'connected', connection, sinceMs: clock.monotonicMs() };
    return connection;
  }

  #failureFrom(error: unknown): RestreamFailure {
    if (this.#target !== undefined) return failureFromError(error, this.#target);
    return { reason: 'failed', detail: messageOf(error), isLasting: true };
  }

  #reconnect(connection: RestreamOutput, batch: RestreamBatch, start: number): void {
    this.#options.log.info('restream-format-changed');
    this.#delivery = 'waiting-for-keyframe';
    this.#pending.add(batch, start);
    connection.finish();
  }

  #accepted(connection: RestreamOutput): void {
    if (this.#connection !== connection || this.#isStopped) return;
    const { clock, log, restream, sandboxTime } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#link = { state: 'accepted', connection, sinceMs: nowMs, progressMs: nowMs };
    this.#retries.accepted();
    this.#reason = undefined;
    this.#setState('live');
    log.info('restream-live', { retries: this.#retries.count });
    for (const { batch, from } of this.#pending.take()) this.#send(connection, batch, from);
    if (sandboxTime === undefined || this.#limitTimer !== undefined) return;
    this.#limitTimer = setTimeout(() => this.stop('sandbox-limit'), sandboxTime.leftMs(restream));
  }

  #taken(bytes: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#link.state === 'accepted') this.#link.progressMs = nowMs;
    this.#rate.add(bytes, nowMs);
    this.#options.observer.bytesOut(bytes);
  }

  #connectionEnded(connection: RestreamOutput, failure: RestreamFailure | undefined): void {
    const link = this.#link;
    if (this.#connection !== connection) return;
    if (failure !== undefined) this.#pending.take();
    const { clock, times } = this.#options;
    if (link.state === 'accepted') {
      const isHealthy = clock.monotonicMs() - link.sinceMs >= times.healthyMs;
      if (isHealthy || this.#isPublisherGone) this.#retries.reset();
    }
    this.#link = { state: 'none' };
    if (this.#delivery === 'dropping') this.#delivery = 'waiting-for-keyframe';
    if (this.#isStopped) this.#settle();
    else if (failure !== undefined) this.#failed(failure);
    // Reconnects when it ended for another format.
    else void this.#connect();
  }

  #failed(failure: RestreamFailure): void {
    const { reason, detail } = failure;
    const { log, observer } = this.#options;
    this.#reason = reason;
    this.#lastError = detail;
    this.#setState('retrying');
    observer.failed(reason);
    const retryMs = this.#retries.failed(failure);
    log.warn('restream-failed', { reason, detail, retryMs });
  }

  /** Ends stalled connections. Call about once a second. */
  tick(): void {
    const link = this.#link;
    if (link.state === 'none' || link.state === 'dialing') return;
    const { connection } = link;
    const { clock, times } = this.#options;
    const nowMs = clock.monotonicMs();
    connection.tick();
    if (link.state === 'connected') {
      if (nowMs - link.sinceMs < times.acceptMs) return;
      const seconds = Math.round(times.acceptMs / 1000);
      const detail = `The destination did not accept the stream within ${seconds} s.`;
      connection.kill({ reason: 'timed-out', detail, isLasting: false });
      return;
    }
    if (!connection.isWaiting) link.progressMs = nowMs;
    if (nowMs - link.progressMs < times.stallMs) return;
    const detail = `The destination accepted no data for ${Math.round(times.stallMs / 1000)} s.`;
    connection.kill({ reason: 'stalled', detail, isLasting: false });
  }

  stop(reason: RestreamReason, detail?: string): void {
    if (this.#isStopped) return;
    this.#reason = reason;
    if (detail !== undefined) this.#lastError = detail;
    this.#setState('stopped');
    this.#options.log.info('restream-stopped', { reason });
    this.#disconnect(true);
    this.#options.onStopped(this.#name, reason);
  }

  /** Sends what is waiting unless `atOnce`. Resolves when the connection is closed. */
  end(atOnce: boolean): Promise<void> {
    this.#ended ??= Promise.withResolvers<void>();
    this.#disconnect(!atOnce);
    const { promise } = this.#ended;
    this.#settle();
    return promise;
  }

  #disconnect(isGraceful: boolean): void {
    this.#feed.remove(this);
    this.#retries.stop();
    this.#pending.take();
    clearTimeout(this.#limitTimer);
    this.#abort.abort(new Error('the broadcast ended'));
    if (isGraceful) this.#connection?.finish();
    else this.#connection?.kill();
  }

  #settle(): void {
    if (this.#link.state === 'none') this.#ended?.resolve();
  }

  #setState(state: RestreamState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#sinceMs = this.#options.clock.nowMs();
  }
}
