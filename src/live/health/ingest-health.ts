import type { DeclaredMedia } from '../../media/flv/declared-media.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { AudioVideoDrift } from './audio-video-drift.ts';
import { BroadcastMeter, type MeanRate, type MeterStats } from './broadcast-meter.ts';

export interface IngestStats extends MeterStats {
  /** Averages over the time that a publisher was connected. */
  readonly averageBitrateBitsPerSecond: number;
  readonly averageFramesPerSecond: number;
  /** Declared by the encoder. */
  readonly declaredFramesPerSecond: number | undefined;
  /** Lead of the audio over the video, beyond the order of arrival; undefined while not known. */
  readonly audioDriftMilliseconds: number | undefined;
  /** Resets of the encoder's clock. */
  readonly timestampJumps: number;
  /** Publishers lost before the end. */
  readonly droppedConnections: number;
  /** Milliseconds since 1970; undefined when none was lost. */
  readonly lastDroppedAtMs: number | undefined;
  /** Total time without a publisher. */
  readonly awaySeconds: number;
  /** Time since the last audio or video; undefined while no publisher is connected. */
  readonly silentSeconds: number | undefined;
}

/** The publisher and the format of its media. */
export interface IngestInfo {
  readonly protocol: string;
  /** Name of the encoder, or `''`. */
  readonly encoder: string;
  /** RFC 6381 names. */
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
}

/** Measurements that alarms are evaluated with. */
export interface AlarmInputs {
  /** Without a publisher only the losses are meaningful. */
  readonly isConnected: boolean;
  /** As in {@link BroadcastMeter.keyframeDistanceSeconds}. */
  readonly keyframeDistanceSeconds: number | undefined;
  /** The last 5 s, and the minute before; undefined until there is enough to compare. */
  readonly recent: MeanRate | undefined;
  readonly usual: MeanRate | undefined;
  /** Rates of this connection in windows of 5 s over the last 70 s, newest first. */
  readonly rates: readonly MeanRate[];
  /** Rates in the encoder's metadata. */
  readonly declared: Pick<DeclaredMedia, 'bitsPerSecond' | 'framesPerSecond'>;
  /** Time since the last tag of a track that came or was announced on this connection; undefined for other tracks. */
  readonly silentSeconds: Readonly<Record<TrackKind, number | undefined>>;
  /** Of the last minute. */
  readonly recentJumps: number;
  readonly audioDriftMilliseconds: number | undefined;
  /** Of the last five minutes. */
  readonly recentLosses: number;
}

const recentSeconds = 5;
const usualSeconds = 60;
const minUsualSeconds = 10;
const jumpsWithinMs = 60_000;
const lossesWithinMs = 5 * 60_000;
/** More than any alarm counts. */
const maxTimes = 16;

/** Health of the publishers of one broadcast. Allocates nothing per tag. */
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
  /** Newest monotonic times. */
  #lossTimes: number[] = [];
  #jumpTimes: number[] = [];

  /** A publisher is connected. @param nowMs monotonic */
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
   * The publisher is lost, and the broadcast continues.
   *
   * @param nowMs monotonic
   * @param atMs milliseconds since 1970
   */
  lost(nowMs: number, atMs: number): void {
    this.#losses += 1;
    this.#lastDroppedAtMs = atMs;
    this.#lossTimes = [...this.#lossTimes, nowMs].slice(-maxTimes);
    this.#detached(nowMs);
  }

  /** The publisher stopped, or the broadcast ended. @param nowMs monotonic */
  stopped(nowMs: number): void {
    this.#detached(nowMs);
  }

  declared(media: DeclaredMedia): void {
    this.#declared = media;
  }

  /**
   * Counts a frame.
   *
   * @param atMs on the broadcast's clock
   * @param timestampMs as sent
   * @param nowMs monotonic
   * @returns the number of video frames missing before it
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

  /** Counts video frames that arrived and were not packaged. */
  dropped(count: number): void {
    this.#meter.dropped(count);
  }

  /** Counts a reset of the publisher's clock; returns the total. @param nowMs monotonic */
  clockJumped(nowMs: number): number {
    this.#jumps += 1;
    this.#jumpTimes.push(nowMs);
    if (this.#jumpTimes.length > maxTimes) this.#jumpTimes.shift();
    // The tracks jump one after the other.
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

  /** @param nowMs monotonic */
  alarmInputs(nowMs: number): AlarmInputs {
    return {
      isConnected: this.#attachedMs !== undefined,
      keyframeDistanceSeconds: this.#meter.keyframeDistanceSeconds,
      recent: this.#meter.meanOf(nowMs, 0, recentSeconds),
      usual: this.#meter.meanOf(nowMs, recentSeconds, usualSeconds, minUsualSeconds),
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
