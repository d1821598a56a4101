import type { Socket } from 'node:net';
import type { RestreamTag } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { redactServerUrl } from '../../shared/network/redact-server-url.ts';
import type { RestreamConfig } from '../broadcast/broadcast-subscriber.ts';
import { ByteRate } from './byte-rate.ts';
import { PendingMedia } from './pending-media.ts';
import { RestreamConnection, type RestreamConnectionOptions } from './restream-connection.ts';
import { failureFromError, type RestreamFailure, type RestreamReason } from './restream-failure.ts';
import type { RestreamFormat } from './restream-format.ts';
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
  /** Without secrets. */
  readonly serverUrl: string;
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
  /** ffmpeg or the connection ended unasked. */
  failed(reason: RestreamReason): void;
}

interface RestreamDestinationOptions {
  readonly restream: RestreamConfig;
  readonly format: RestreamFormat;
  readonly dial: (target: RestreamTarget, signal: AbortSignal) => Promise<Socket>;
  readonly owner: RestreamConnectionOptions['owner'];
  readonly ids: Readonly<Record<string, unknown>>;
  readonly ffmpegPath: string;
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

export class RestreamDestination {
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
  #droppedFrames = 0;
  #isDialing = false;
  #isPublisherGone = false;
  #connection: RestreamConnection | undefined;
  #connectionFingerprint = '';
  #connectionBeganMs = 0;
  #acceptedMs: number | undefined;
  /** The last progress, or the last time that nothing was waiting. */
  #progressMs = 0;
  #needsKeyframe = false;
  #isDropping = false;
  #limitTimer: NodeJS.Timeout | undefined;
  #isOver = false;
  #name: string;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(options: RestreamDestinationOptions) {
    this.#options = options;
    this.#target = parseTarget(options.restream.serverUrl);
    this.#retries = new RestreamRetries(options.times, options.random);
    this.#sinceMs = options.clock.nowMs();
    this.#name = options.restream.name;
  }

  get state(): RestreamState {
    return this.#state;
  }

  get status(): RestreamStatus {
    const { serverUrl } = this.#options.restream;
    return {
      name: this.#name,
      serverUrl: redactServerUrl(serverUrl),
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
    return this.#isOver || this.#state === 'stopped';
  }

  /** Update the format with the tag first. */
  take(tag: RestreamTag): void {
    if (this.#isStopped || tag.role === 'config') return;
    const { format } = this.#options;
    this.#isPublisherGone = false;
    const isStart = tag.role === 'keyframe' || (tag.kind === 'audio' && format.isAudioOnly);
    const connection = this.#connection;
    if (connection === undefined) {
      if (this.#retries.isDue && isStart) void this.#connect();
      if (this.#isDialing) this.#pending.add(tag, isStart);
    } else if (connection.isEnding) this.#pending.add(tag, isStart);
    else if (!isStart && (this.#needsKeyframe || !connection.hasBegun)) {
      if (this.#isDropping) this.#drop(tag);
    } else if (!connection.hasBegun) this.#begin(connection, tag);
    else if (isStart && this.#connectionFingerprint !== format.fingerprint) this.#reconnect(connection, tag);
    else if (connection.isFull || (this.#isDropping && !connection.isHalfEmpty)) {
      this.#needsKeyframe = true;
      this.#isDropping = true;
      this.#drop(tag);
    } else {
      this.#needsKeyframe = false;
      this.#isDropping = false;
      connection.write(tag.kind, tag.atMs, tag.body);
    }
  }

  interrupted(): void {
    this.#needsKeyframe = true;
    this.#pending.take();
  }

  /** A destination that disconnects before the publisher returns has not failed. */
  publisherGone(): void {
    this.#isPublisherGone = true;
    this.interrupted();
  }

  #drop(tag: RestreamTag): void {
    if (tag.kind !== 'video') return;
    this.#droppedFrames += 1;
    this.#options.observer.framesDropped(1);
  }

  async #connect(): Promise<void> {
    this.#isDialing = true;
    if (this.#retries.begin()) this.#options.observer.retried();
    try {
      const connection = await this.#open();
      if (this.#isStopped) connection.kill();
      else for (const tag of this.#pending.take()) this.take(tag);
    } catch (error) {
      this.#isDialing = false;
      this.#pending.take();
      if (this.#isStopped) this.#settle();
      else this.#failed(this.#failureFrom(error));
    }
  }

  async #open(): Promise<RestreamConnection> {
    const { dial, owner, ids, restream } = this.#options;
    const target = this.#target;
    if (target === undefined) throw new Error('the address has no host or no app, or is too long');
    const socket = await dial(target, this.#abort.signal);
    let connection: RestreamConnection | undefined;
    let endedEarly: { readonly failure: RestreamFailure | undefined } | undefined;
    connection = await RestreamConnection.open({
      ...{ target, streamKey: restream.streamKey, socket, owner, ids: { ...ids, purpose: 'restream' } },
      events: {
        accepted: () => this.#accepted(connection),
        taken: bytes => this.#taken(bytes),
        ended: failure => {
          if (connection === undefined) endedEarly = { failure };
          else this.#connectionEnded(connection, failure);
        },
      },
    });
    this.#isDialing = false;
    this.#connection = connection;
    this.#acceptedMs = undefined;
    if (endedEarly !== undefined) {
      this.#pending.take();
      this.#connectionEnded(connection, endedEarly.failure);
    }
    return connection;
  }

  #failureFrom(error: unknown): RestreamFailure {
    if (this.#target !== undefined) return failureFromError(error, this.#target);
    return { reason: 'failed', detail: messageOf(error), isLasting: true };
  }

  #begin(connection: RestreamConnection, tag: RestreamTag): void {
    const { format, ffmpegPath, clock } = this.#options;
    const { hasAudio, hasVideo, fingerprint, configs } = format;
    try {
      connection.begin({ ffmpegPath, hasAudio, hasVideo, startMs: tag.atMs });
    } catch (error) {
      connection.kill({ reason: 'failed', detail: messageOf(error), isLasting: false });
      return;
    }
    this.#connectionFingerprint = fingerprint;
    this.#connectionBeganMs = clock.monotonicMs();
    this.#progressMs = this.#connectionBeganMs;
    this.#needsKeyframe = false;
    this.#isDropping = false;
    for (const [kind, body] of configs) connection.write(kind, tag.atMs, body);
    connection.write(tag.kind, tag.atMs, tag.body);
  }

  #reconnect(connection: RestreamConnection, tag: RestreamTag): void {
    this.#options.log.info('restream-format-changed');
    this.#needsKeyframe = true;
    this.#isDropping = false;
    this.#pending.add(tag, true);
    connection.finish();
  }

  #accepted(connection: RestreamConnection | undefined): void {
    if (connection === undefined || this.#connection !== connection || this.#isStopped) return;
    const { clock, log, restream, sandboxTime } = this.#options;
    this.#acceptedMs = clock.monotonicMs();
    this.#retries.accepted();
    this.#reason = undefined;
    this.#setState('live');
    log.info('restream-live', { retries: this.#retries.count });
    if (sandboxTime === undefined || this.#limitTimer !== undefined) return;
    this.#limitTimer = setTimeout(() => this.stop('sandbox-limit'), sandboxTime.leftMs(restream));
  }

  #taken(bytes: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#progressMs = nowMs;
    this.#rate.add(bytes, nowMs);
    this.#options.observer.bytesOut(bytes);
  }

  #connectionEnded(connection: RestreamConnection, failure: RestreamFailure | undefined): void {
    if (this.#connection !== connection) return;
    const { clock, times } = this.#options;
    const liveMs = this.#acceptedMs === undefined ? 0 : clock.monotonicMs() - this.#acceptedMs;
    const wasIdle = this.#isPublisherGone && this.#acceptedMs !== undefined;
    if (liveMs >= times.healthyMs || wasIdle) this.#retries.reset();
    this.#connection = undefined;
    this.#acceptedMs = undefined;
    this.#isDropping = false;
    if (this.#isStopped) this.#settle();
    else if (failure !== undefined) this.#failed(failure);
    // It ended for another format.
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
    const connection = this.#connection;
    const { clock, times } = this.#options;
    const nowMs = clock.monotonicMs();
    if (connection === undefined || !connection.hasBegun) return;
    if (this.#acceptedMs === undefined) {
      if (nowMs - this.#connectionBeganMs < times.acceptMs) return;
      const seconds = Math.round(times.acceptMs / 1000);
      const detail = `The destination did not accept the stream within ${seconds} s.`;
      connection.kill({ reason: 'timed-out', detail, isLasting: false });
      return;
    }
    if (!connection.isWaiting) this.#progressMs = nowMs;
    if (nowMs - this.#progressMs < times.stallMs) return;
    const detail = `The destination read nothing for ${Math.round(times.stallMs / 1000)} s.`;
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

  /** Sends what is waiting unless `atOnce`. Resolves when process and connection are gone. */
  end(atOnce: boolean): Promise<void> {
    this.#isOver = true;
    this.#disconnect(!atOnce);
    this.#ended ??= Promise.withResolvers<void>();
    const { promise } = this.#ended;
    this.#settle();
    return promise;
  }

  #disconnect(isGraceful: boolean): void {
    this.#retries.stop();
    clearTimeout(this.#limitTimer);
    this.#abort.abort(new Error('the broadcast ended'));
    if (isGraceful) this.#connection?.finish();
    else this.#connection?.kill();
  }

  #settle(): void {
    if (this.#connection === undefined && !this.#isDialing) this.#ended?.resolve();
  }

  #setState(state: RestreamState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#sinceMs = this.#options.clock.nowMs();
  }
}
