import type { DeclaredMedia } from '../../media/flv/declared-media.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { AudioVideoDrift } from './audio-video-drift.ts';
import { BroadcastMeter, type MeanRate, type MeterStats } from './broadcast-meter.ts';

/** How a broadcast does, as far as its publisher's connections and media tell. */
export interface IngestStats extends MeterStats {
  /** Over all the time that a publisher was connected. */
  readonly averageBitrateBitsPerSecond: number;
  /** Over all the time that a publisher was connected. */
  readonly averageFramesPerSecond: number;
  /** What the encoder says that it sends. */
  readonly declaredFramesPerSecond: number | undefined;
  /** Milliseconds that sound is ahead of the picture, beyond what the order of arrival explains; undefined while not known. */
  readonly audioDriftMilliseconds: number | undefined;
  /** How often the encoder's timestamps were set anew. */
  readonly timestampJumps: number;
  /** How often a publisher was lost before the end. */
  readonly droppedConnections: number;
  /** Milliseconds since 1970; undefined when none was lost. */
  readonly lastDroppedAtMs: number | undefined;
  /** For how long there was no publisher. */
  readonly awaySeconds: number;
  /** Since the last audio or video came; undefined while no publisher is connected. */
  readonly silentSeconds: number | undefined;
}

/** Who publishes, and what. */
export interface IngestInfo {
  readonly protocol: string;
  /** What the encoder calls itself, or `''`. */
  readonly encoder: string;
  /** RFC 6381 names. */
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
}

/** What alarms are judged by. */
export interface AlarmInputs {
  /** A publisher is connected; without one, only its losses tell something. */
  readonly isConnected: boolean;
  /** See {@link BroadcastMeter.keyframeDistanceSeconds}; undefined without picture. */
  readonly keyframeDistanceSeconds: number | undefined;
  /** The last 5 s, and the minute before them; undefined before there is enough to compare. */
  readonly recent: MeanRate | undefined;
  readonly usual: MeanRate | undefined;
  /** Of this connection, in windows of 5 s over the last 70 s, newest first. */
  readonly rates: readonly MeanRate[];
  /** Rates that the encoder announced in its metadata. */
  readonly declared: Pick<DeclaredMedia, 'bitsPerSecond' | 'framesPerSecond'>;
  /** For how long none came of a track that came before, or was announced, on this connection; undefined for one that is not expected. */
  readonly silentSeconds: Readonly<Record<TrackKind, number | undefined>>;
  /** In the last minute. */
  readonly recentJumps: number;
  readonly audioDriftMilliseconds: number | undefined;
  /** In the last five minutes. */
  readonly recentLosses: number;
}

const recentSeconds = 5;
const usualSeconds = 60;
const leastUsualSeconds = 10;
const jumpsWithinMs = 60_000;
const lossesWithinMs = 5 * 60_000;
/** More than any alarm asks for. */
const mostTimes = 16;

/** What is known of the publishers of one broadcast. It is told of every tag, and allocates nothing for it. */
export class IngestHealth {
  readonly #meter = new BroadcastMeter();
  readonly #drift = new AudioVideoDrift();
  readonly #lastMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #declared: DeclaredMedia | undefined;
  #attachedMs: number | undefined;
  #lostMs: number | undefined;
  #connectedMs = 0;
  #awayMs = 0;
  #losses = 0;
  #jumps = 0;
  #lastDroppedAtMs: number | undefined;
  /** Monotonic times of the newest. */
  #lossTimes: number[] = [];
  #jumpTimes: number[] = [];

  /** A publisher is taken. @param nowMs monotonic */
  attached(nowMs: number): void {
    if (this.#lostMs !== undefined) this.#awayMs += nowMs - this.#lostMs;
    this.#lostMs = undefined;
    this.#attachedMs = nowMs;
    this.#declared = undefined;
    this.#lastMs.audio = undefined;
    this.#lastMs.video = undefined;
    this.#meter.restart(nowMs);
    this.#drift.restart();
  }

  /**
   * The publisher is gone, and the broadcast goes on.
   *
   * @param nowMs monotonic
   * @param atMs milliseconds since 1970
   */
  lost(nowMs: number, atMs: number): void {
    this.#losses += 1;
    this.#lastDroppedAtMs = atMs;
    this.#lossTimes = [...this.#lossTimes, nowMs].slice(-mostTimes);
    this.#detached(nowMs);
  }

  /** The publisher stopped, or the broadcast is over: no connection was lost. @param nowMs monotonic */
  stopped(nowMs: number): void {
    this.#detached(nowMs);
  }

  /** What the encoder says of itself. */
  declared(media: DeclaredMedia): void {
    this.#declared = media;
  }

  /**
   * A frame came in.
   *
   * @param atMs on the broadcast's clock
   * @param timestampMs as sent
   * @param nowMs monotonic
   * @returns how many frames of picture are missing before it
   */
  arrived(
    kind: TrackKind,
    atMs: number,
    timestampMs: number,
    bytes: number,
    isKeyframe: boolean,
    nowMs: number,
  ): number {
    this.#lastMs[kind] = nowMs;
    this.#meter.arrived(kind, bytes, nowMs);
    this.#drift.arrived(kind, atMs, nowMs);
    return kind === 'audio' ? 0 : this.#meter.videoFrame(timestampMs, atMs, isKeyframe);
  }

  /** Frames of picture that came in are not packaged. */
  dropped(count: number): void {
    this.#meter.dropped(count);
  }

  /** The publisher's clock was set anew; how often that was. @param nowMs monotonic */
  clockJumped(nowMs: number): number {
    this.#jumps += 1;
    this.#jumpTimes.push(nowMs);
    if (this.#jumpTimes.length > mostTimes) this.#jumpTimes.shift();
    // The tracks jump one after the other, and are apart until then.
    this.#drift.restart();
    return this.#jumps;
  }

  /** @param nowMs monotonic */
  stats(nowMs: number): IngestStats {
    const attachedMs = this.#attachedMs;
    const connectedSeconds = (this.#connectedMs + (attachedMs === undefined ? 0 : nowMs - attachedMs)) / 1000;
    const awayMs = this.#awayMs + (this.#lostMs === undefined ? 0 : nowMs - this.#lostMs);
    const perSecond = (total: number) => (connectedSeconds < 1 ? total : total / connectedSeconds);
    return {
      ...this.#meter.stats(nowMs),
      averageBitrateBitsPerSecond: Math.round(perSecond(this.#meter.totalBytes * 8)),
      averageFramesPerSecond: Math.round(perSecond(this.#meter.totalFrames) * 100) / 100,
      declaredFramesPerSecond: this.#declared?.framesPerSecond,
      audioDriftMilliseconds: this.#drift.driftMs,
      timestampJumps: this.#jumps,
      droppedConnections: this.#losses,
      lastDroppedAtMs: this.#lastDroppedAtMs,
      awaySeconds: Math.round(awayMs / 100) / 10,
      silentSeconds:
        attachedMs === undefined
          ? undefined
          : Math.round(
              (nowMs - Math.max(attachedMs, this.#lastMs.audio ?? 0, this.#lastMs.video ?? 0)) / 100,
            ) / 10,
    };
  }

  /** What alarms are judged by. @param nowMs monotonic */
  alarmInputs(nowMs: number): AlarmInputs {
    return {
      isConnected: this.#attachedMs !== undefined,
      keyframeDistanceSeconds: this.#meter.keyframeDistanceSeconds,
      recent: this.#meter.meanOf(nowMs, 0, recentSeconds),
      usual: this.#meter.meanOf(nowMs, recentSeconds, usualSeconds, leastUsualSeconds),
      rates: this.#meter.rates(nowMs, recentSeconds),
      declared: {
        bitsPerSecond: this.#declared?.bitsPerSecond,
        framesPerSecond: this.#declared?.framesPerSecond,
      },
      silentSeconds: {
        audio: this.#silentSeconds('audio', this.#declared?.hasAudio, nowMs),
        video: this.#silentSeconds('video', this.#declared?.hasVideo, nowMs),
      },
      recentJumps: this.#jumpTimes.filter(timeMs => nowMs - timeMs < jumpsWithinMs).length,
      audioDriftMilliseconds: this.#drift.driftMs,
      recentLosses: this.#lossTimes.filter(timeMs => nowMs - timeMs < lossesWithinMs).length,
    };
  }

  #silentSeconds(kind: TrackKind, isAnnounced: boolean | undefined, nowMs: number): number | undefined {
    const sinceMs = this.#lastMs[kind] ?? (isAnnounced === true ? this.#attachedMs : undefined);
    return sinceMs === undefined ? undefined : (nowMs - sinceMs) / 1000;
  }

  #detached(nowMs: number): void {
    if (this.#attachedMs === undefined) return;
    this.#connectedMs += nowMs - this.#attachedMs;
    this.#attachedMs = undefined;
    this.#lostMs = nowMs;
    this.#meter.restart(nowMs);
  }
}
