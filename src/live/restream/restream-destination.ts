import type { Socket } from 'node:net';
import type { RestreamTag } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { redactServerUrl } from '../../shared/network/redact-server-url.ts';
import { ByteRate } from './byte-rate.ts';
import { RestreamConnection, type RestreamConnectionOptions } from './restream-connection.ts';
import { failureFromError, type RestreamFailure, type RestreamReason } from './restream-failure.ts';
import type { RestreamFormat } from './restream-format.ts';
import { parseTarget, type RestreamTarget } from './restream-target.ts';

/** `connecting` until it takes the stream for the first time, `retrying` after a failure, `stopped` when it gets no more. */
export type RestreamState = 'connecting' | 'live' | 'retrying' | 'stopped';

/** How a destination does. */
export interface RestreamStatus {
  readonly name: string;
  /** Without what may be secret in it. */
  readonly serverUrl: string;
  readonly state: RestreamState;
  /** Since when it is in this state; milliseconds since 1970. */
  readonly sinceMs: number;
  /** Why it is retrying or stopped. */
  readonly reason: RestreamReason | undefined;
  /** Bytes that the destination took over the last seconds. */
  readonly bitrateBitsPerSecond: number;
  /** Frames of picture that were not sent since it was too slow. */
  readonly droppedFrames: number;
  /** How often it was connected to anew after a failure. */
  readonly retries: number;
  /** The last failure, for a person; it may be over. */
  readonly lastError: string | undefined;
}

/** Waits between tries, and what is too long. */
export interface RestreamTimeouts {
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** After so long without a failure the waits begin from the first again. */
  readonly healthyMs: number;
  /** From the beginning of ffmpeg to the destination's word that it takes the stream. */
  readonly acceptMs: number;
  /** A destination that takes nothing of what waits for it for so long is connected to anew. */
  readonly stallMs: number;
}

/** The times of every server. */
export const restreamTimeouts: RestreamTimeouts = {
  firstRetryMs: 1_000,
  maxRetryMs: 60_000,
  healthyMs: 30_000,
  acceptMs: 15_000,
  stallMs: 10_000,
};

/** What is kept at most for a connection that is being made: media time, and bytes. All destinations of a broadcast share them. */
const mostAheadMs = 3_000;
const mostAheadBytes = 4 * 1024 * 1024;

/** A destination that still holds a connection of before, of this broadcast or the last one, refuses the next one for a while. */
const mostSoonAfterRefusal = 3;

/** What a destination reports. */
export interface RestreamObserver {
  bytesOut(count: number): void;
  framesDropped(count: number): void;
  retried(): void;
  /** ffmpeg, or the connection, ended without being asked to. */
  failed(reason: RestreamReason): void;
}

/** What a destination is made with. */
export interface RestreamDestinationOptions {
  readonly restream: { readonly name: string; readonly serverUrl: string; readonly streamKey: string };
  /** What the media consists of; kept by the caller. */
  readonly format: RestreamFormat;
  readonly dial: (target: RestreamTarget, signal: AbortSignal) => Promise<Socket>;
  readonly owner: RestreamConnectionOptions['owner'];
  readonly ids: Readonly<Record<string, unknown>>;
  /** The ffmpeg that copies what goes out. */
  readonly ffmpegPath: string;
  /** It is stopped so long after it was live first; never unless given. */
  readonly limitMs: number | undefined;
  readonly times: RestreamTimeouts;
  readonly observer: RestreamObserver;
  /** It gets no more, though the broadcast goes on. */
  readonly onStopped: (reason: RestreamReason) => void;
  readonly clock: Clock;
  readonly log: Logger;
  /** 0..1; spreads the tries of many destinations. */
  readonly random?: () => number;
}

/** One destination of a broadcast: connects, sends, tries again, and never makes anybody wait. */
export class RestreamDestination {
  readonly #options: RestreamDestinationOptions;
  readonly #target: RestreamTarget | undefined;
  readonly #rate = new ByteRate();
  readonly #abort = new AbortController();
  #state: RestreamState = 'connecting';
  #sinceMs: number;
  #reason: RestreamReason | undefined;
  #lastError: string | undefined;
  #droppedFrames = 0;
  #retries = 0;
  /** Failures since it was healthy. */
  #failures = 0;
  /** How often it refused, one time after the other. */
  #refusals = 0;
  #isRetry = false;
  /** The next media begins a try. */
  #isDue = true;
  #isDialling = false;
  /** Media since the last keyframe, for a connection that is being made. */
  #ahead: RestreamTag[] = [];
  #aheadBytes = 0;
  /** The publisher is gone, and may come back. */
  #isAway = false;
  #run: RestreamConnection | undefined;
  /** What the run was begun with. */
  #runSign = '';
  #runBeganMs = 0;
  /** When the destination took the run; undefined until then. */
  #acceptedMs: number | undefined;
  /** When something was last taken, or nothing waited. */
  #movedMs = 0;
  /** Nothing goes out until the next keyframe. */
  #needsStart = false;
  #isDropping = false;
  #retryTimer: NodeJS.Timeout | undefined;
  #limitTimer: NodeJS.Timeout | undefined;
  #isOver = false;
  #ended: PromiseWithResolvers<void> | undefined;

  constructor(options: RestreamDestinationOptions) {
    this.#options = options;
    this.#target = parseTarget(options.restream.serverUrl);
    this.#sinceMs = options.clock.nowMs();
  }

  get state(): RestreamState {
    return this.#state;
  }

  get status(): RestreamStatus {
    const { name, serverUrl } = this.#options.restream;
    return {
      name,
      serverUrl: redactServerUrl(serverUrl),
      state: this.#state,
      sinceMs: this.#sinceMs,
      reason: this.#reason,
      bitrateBitsPerSecond:
        this.#state === 'live' ? this.#rate.bitsPerSecond(this.#options.clock.monotonicMs()) : 0,
      droppedFrames: this.#droppedFrames,
      retries: this.#retries,
      lastError: this.#lastError,
    };
  }

  // ------------------------------------------------------------------------------------------------ media

  /** Takes a tag; the format has learned from it already. */
  take(tag: RestreamTag): void {
    if (this.#isOver || this.#state === 'stopped' || tag.role === 'config') return;
    const { format } = this.#options;
    this.#isAway = false;
    const isStart = tag.role === 'keyframe' || (tag.kind === 'audio' && format.isAudioOnly);
    if (this.#run === undefined) {
      if (this.#isDue && isStart) void this.#dial();
      if (this.#isDialling) this.#keepAhead(tag, isStart);
      return;
    }
    if (this.#run.isEnding) {
      this.#keepAhead(tag, isStart);
      return;
    }
    if (!isStart && (this.#needsStart || !this.#run.hasBegun)) {
      if (this.#isDropping) this.#drop(tag);
      return;
    }
    if (!this.#run.hasBegun) {
      this.#begin(this.#run, tag);
      return;
    }
    if (isStart && this.#runSign !== format.fingerprint) {
      this.#beginAnew(this.#run, tag);
      return;
    }
    if (this.#run.isFull || (this.#isDropping && !this.#run.isHalfEmpty)) {
      this.#needsStart = true;
      this.#isDropping = true;
      this.#drop(tag);
      return;
    }
    this.#needsStart = false;
    this.#isDropping = false;
    this.#run.write(tag.kind, tag.atMs, tag.body);
  }

  /** What comes next has no connection with what came. */
  interrupted(): void {
    this.#needsStart = true;
    this.#takeAhead();
  }

  /** Nothing comes for a while; a destination that does not wait for it is no destination that fails. */
  publisherGone(): void {
    this.#isAway = true;
    this.interrupted();
  }

  /** A connection begins with what is shown at once: servers do not wait long for somebody who says nothing. */
  #keepAhead(tag: RestreamTag, isStart: boolean): void {
    const [first] = this.#ahead;
    if (isStart && (tag.kind === 'video' || first === undefined)) this.#takeAhead();
    else if (first === undefined) return;
    this.#ahead.push(tag);
    this.#aheadBytes += tag.body.length;
    const isLate = tag.atMs - (first ?? tag).atMs > mostAheadMs;
    if (isLate || this.#aheadBytes > mostAheadBytes) this.#takeAhead();
  }

  #takeAhead(): readonly RestreamTag[] {
    const ahead = this.#ahead;
    this.#ahead = [];
    this.#aheadBytes = 0;
    return ahead;
  }

  #drop(tag: RestreamTag): void {
    if (tag.kind !== 'video') return;
    this.#droppedFrames += 1;
    this.#options.observer.framesDropped(1);
  }

  // ------------------------------------------------------------------------------------------------ connection

  async #dial(): Promise<void> {
    const { dial, owner, ids, restream, observer } = this.#options;
    this.#isDue = false;
    this.#isDialling = true;
    if (this.#isRetry) {
      this.#isRetry = false;
      this.#retries += 1;
      observer.retried();
    }
    try {
      const target = this.#target;
      if (target === undefined) throw new Error('the address has no host or no app, or is too long');
      const socket = await dial(target, this.#abort.signal);
      let run: RestreamConnection | undefined;
      let endedEarly: { readonly failure: RestreamFailure | undefined } | undefined;
      run = await RestreamConnection.open({
        ...{ target, streamKey: restream.streamKey, socket, owner, ids: { ...ids, purpose: 'restream' } },
        events: {
          accepted: () => this.#accepted(run),
          taken: bytes => this.#taken(bytes),
          ended: failure => {
            if (run === undefined) endedEarly = { failure };
            else this.#runEnded(run, failure);
          },
        },
      });
      this.#isDialling = false;
      this.#run = run;
      this.#acceptedMs = undefined;
      const ahead = this.#takeAhead();
      if (endedEarly !== undefined) this.#runEnded(run, endedEarly.failure);
      else if (this.#isOver || this.#state === 'stopped') run.kill();
      else for (const tag of ahead) this.take(tag);
    } catch (error) {
      this.#isDialling = false;
      this.#takeAhead();
      if (this.#isOver || this.#state === 'stopped') this.#settle();
      else this.#failed(this.#failureOf(error));
    }
  }

  #failureOf(error: unknown): RestreamFailure {
    if (this.#target !== undefined) return failureFromError(error, this.#target);
    return { reason: 'failed', detail: messageOf(error), isLasting: true };
  }

  #begin(run: RestreamConnection, tag: RestreamTag): void {
    const { format, ffmpegPath, clock } = this.#options;
    const { hasAudio, hasVideo, fingerprint, configs } = format;
    try {
      run.begin({ ffmpegPath, hasAudio, hasVideo, startMs: tag.atMs });
    } catch (error) {
      run.kill({ reason: 'failed', detail: messageOf(error), isLasting: false });
      return;
    }
    this.#runSign = fingerprint;
    this.#runBeganMs = clock.monotonicMs();
    this.#movedMs = this.#runBeganMs;
    this.#needsStart = false;
    this.#isDropping = false;
    for (const [kind, body] of configs) run.write(kind, tag.atMs, body);
    run.write(tag.kind, tag.atMs, tag.body);
  }

  /** What comes is another kind of media: what waits goes out, and another connection begins. */
  #beginAnew(run: RestreamConnection, tag: RestreamTag): void {
    this.#options.log.info('restream-format-changed');
    this.#needsStart = true;
    this.#isDropping = false;
    this.#keepAhead(tag, true);
    run.finish();
  }

  #accepted(run: RestreamConnection | undefined): void {
    if (run === undefined || this.#run !== run || this.#isOver || this.#state === 'stopped') return;
    const { clock, limitMs, log } = this.#options;
    this.#acceptedMs = clock.monotonicMs();
    this.#refusals = 0;
    this.#reason = undefined;
    this.#setState('live');
    log.info('restream-live', { retries: this.#retries });
    if (limitMs === undefined || this.#limitTimer !== undefined) return;
    this.#limitTimer = setTimeout(() => this.stop('sandbox-limit'), limitMs);
  }

  #taken(bytes: number): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#movedMs = nowMs;
    this.#rate.add(bytes, nowMs);
    this.#options.observer.bytesOut(bytes);
  }

  #runEnded(run: RestreamConnection, failure: RestreamFailure | undefined): void {
    if (this.#run !== run) return;
    const { clock, times } = this.#options;
    const wasLiveMs = this.#acceptedMs === undefined ? 0 : clock.monotonicMs() - this.#acceptedMs;
    const wasLeftAlone = this.#isAway && this.#acceptedMs !== undefined;
    if (wasLiveMs >= times.healthyMs || wasLeftAlone) this.#failures = 0;
    this.#run = undefined;
    this.#acceptedMs = undefined;
    this.#isDropping = false;
    if (this.#isOver || this.#state === 'stopped') this.#settle();
    else if (failure !== undefined) this.#failed(failure);
    // It ended since other media comes.
    else void this.#dial();
  }

  #failed(failure: RestreamFailure): void {
    const { times, log, observer, random = Math.random } = this.#options;
    this.#failures += 1;
    this.#isRetry = true;
    this.#reason = failure.reason;
    this.#lastError = failure.detail;
    this.#setState('retrying');
    observer.failed(failure.reason);
    const doubled = times.firstRetryMs * 2 ** Math.min(this.#failures - 1, 20);
    if (failure.reason === 'refused') this.#refusals += 1;
    const isLasting =
      failure.isLasting && (failure.reason !== 'refused' || this.#refusals > mostSoonAfterRefusal);
    const usualMs = isLasting ? times.maxRetryMs : Math.min(times.maxRetryMs, doubled);
    const retryMs = Math.round(usualMs * (0.75 + random() / 2));
    log.warn('restream-failed', { reason: failure.reason, detail: failure.detail, retryMs });
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => {
      this.#isDue = true;
    }, retryMs);
  }

  /** Looks for what stands still; to be called about each second. */
  tick(): void {
    const run = this.#run;
    const { clock, times } = this.#options;
    const nowMs = clock.monotonicMs();
    if (run === undefined || !run.hasBegun) return;
    if (this.#acceptedMs === undefined) {
      if (nowMs - this.#runBeganMs < times.acceptMs) return;
      const seconds = Math.round(times.acceptMs / 1000);
      const detail = `The destination did not take the stream within ${seconds} s.`;
      run.kill({ reason: 'timed-out', detail, isLasting: false });
      return;
    }
    if (!run.isWaiting) this.#movedMs = nowMs;
    if (nowMs - this.#movedMs < times.stallMs) return;
    const detail = `The destination took nothing for ${Math.round(times.stallMs / 1000)} s.`;
    run.kill({ reason: 'stalled', detail, isLasting: false });
  }

  // ------------------------------------------------------------------------------------------------ end

  /** It gets no more, while the broadcast goes on. */
  stop(reason: RestreamReason, detail?: string): void {
    if (this.#isOver || this.#state === 'stopped') return;
    this.#reason = reason;
    if (detail !== undefined) this.#lastError = detail;
    this.#setState('stopped');
    this.#options.log.info('restream-stopped', { reason });
    this.#leave(true);
    this.#options.onStopped(reason);
  }

  /** The broadcast is over. What waits goes out unless it is `atOnce`; resolves when process and connection are gone. */
  end(atOnce: boolean): Promise<void> {
    this.#isOver = true;
    this.#leave(!atOnce);
    this.#ended ??= Promise.withResolvers<void>();
    const { promise } = this.#ended;
    this.#settle();
    return promise;
  }

  #leave(isGentle: boolean): void {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#limitTimer);
    this.#isDue = false;
    this.#abort.abort(new Error('it is over'));
    if (isGentle) this.#run?.finish();
    else this.#run?.kill();
  }

  #settle(): void {
    if (this.#run === undefined && !this.#isDialling) this.#ended?.resolve();
  }

  #setState(state: RestreamState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#sinceMs = this.#options.clock.nowMs();
  }
}
