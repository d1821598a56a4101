import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { TransportStats } from '../../shared/network/transport-stats.ts';
import { ArrivalLateness } from './arrival-lateness.ts';
import { AudioVideoDrift } from './audio-video-drift.ts';
import { BroadcastMeter, type MeanRate, type MeterStats } from './broadcast-meter.ts';
import { PacketLoss } from './packet-loss.ts';
import { RecentTimes } from './recent-times.ts';

export interface IngestStats extends MeterStats {
  /** Average without the time without a publisher. */
  readonly averageBitrateBitsPerSecond: number;
  readonly averageFramesPerSecond: number;
  readonly declaredFramesPerSecond: number | undefined;
  /** Lead of the audio over the video, beyond the order of arrival; undefined while unknown. */
  readonly audioDriftMilliseconds: number | undefined;
  readonly timestampJumps: number;
  readonly droppedConnections: number;
  /** Unix time. */
  readonly lastDroppedAtMs: number | undefined;
  readonly awaySeconds: number;
  /** Seconds since the last audio or video; undefined without a publisher. */
  readonly silentSeconds: number | undefined;
  /** Undefined for protocols over TCP and without a publisher. */
  readonly transport: TransportHealth | undefined;
}

interface TransportHealth {
  readonly roundTripMilliseconds?: number;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  readonly packetsRecovered: number;
}

export interface IngestInfo {
  readonly protocol: string;
  readonly encoder: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
}

export interface AlarmInputs {
  /** False without a publisher: only the losses are meaningful then. */
  readonly isConnected: boolean;
  /** A browser publishes over WHIP. */
  readonly isBrowser: boolean;
  readonly keyframeDistanceSeconds: number | undefined;
  /** Recovery points came in place of keyframes on this connection. */
  readonly hasRecoveryPoints: boolean;
  /** The last 5 s, and the minute before; undefined until there is enough to compare. */
  readonly recent: MeanRate | undefined;
  readonly usual: MeanRate | undefined;
  /** Rates in windows of 5 s over the last 70 s of this connection, newest first. */
  readonly rates: readonly MeanRate[];
  readonly declared: Pick<DeclaredMedia, 'bitsPerSecond' | 'framesPerSecond'>;
  /** Delay of the last seconds above the usual one. */
  readonly lateMs: number;
  /** Share of packets lost for good in the last 15 s; 0 over TCP. */
  readonly lostShare: number;
  /** Undefined for tracks that neither came nor were announced on this connection. */
  readonly silentSeconds: Readonly<Record<TrackKind, number | undefined>>;
  /** Jumps in the last minute. */
  readonly recentJumps: number;
  readonly audioDriftMilliseconds: number | undefined;
  /** Losses in the last five minutes. */
  readonly recentLosses: number;
}

const recentSeconds = 5;
const usualSeconds = 60;
const minUsualSeconds = 10;
const jumpsWithinMs = 60_000;
const lossesWithinMs = 5 * 60_000;

const noTransport = () => undefined;

type Publisher =
  | { readonly state: 'expected' }
  | {
      readonly state: 'connected';
      readonly sinceMs: number;
      readonly transport: () => TransportStats | undefined;
    }
  | { readonly state: 'away'; readonly sinceMs: number };

/** Health of a broadcast's publishers. Allocates nothing per tag. */
export class IngestHealth {
  readonly #meter = new BroadcastMeter();
  readonly #drift = new AudioVideoDrift();
  readonly #lateness = new ArrivalLateness();
  readonly #packetLoss = new PacketLoss();
  readonly #losses = new RecentTimes();
  readonly #jumps = new RecentTimes();
  readonly #lastMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #declared: DeclaredMedia | undefined;
  #publisher: Publisher = { state: 'expected' };
  #hasRecoveryPoints = false;
  #connectedMs = 0;
  #awayMs = 0;
  #lastDroppedAtMs: number | undefined;

  attached(nowMs: number, transport: () => TransportStats | undefined = noTransport): void {
    this.#awayMs += this.#timeInState('away', nowMs);
    this.#publisher = { state: 'connected', sinceMs: nowMs, transport };
    this.#declared = undefined;
    this.#hasRecoveryPoints = false;
    this.#lastMs.audio = undefined;
    this.#lastMs.video = undefined;
    this.#meter.restart(nowMs);
    this.#drift.restart();
    this.#lateness.restart();
    this.#packetLoss.restart();
  }

  /** The broadcast continues. @param nowMs monotonic @param atMs Unix time */
  lost(nowMs: number, atMs: number): void {
    this.#losses.add(nowMs);
    this.#lastDroppedAtMs = atMs;
    this.#detached(nowMs);
  }

  stopped(nowMs: number): void {
    this.#detached(nowMs);
  }

  declared(media: DeclaredMedia): void {
    this.#declared = media;
  }

  /** @param atMs on the broadcast's clock @param nowMs monotonic @returns video frames missing before it */
  arrived(
    kind: TrackKind,
    atMs: number,
    timestampMs: number,
    bytes: number,
    isKeyframe: boolean,
    nowMs: number,
  ): number {
    if (kind === 'video') this.#lastMs.video = nowMs;
    else this.#lastMs.audio = nowMs;
    this.#meter.arrived(kind, bytes, nowMs);
    this.#drift.arrived(kind, atMs, nowMs);
    this.#lateness.arrived(timestampMs, nowMs);
    return kind === 'audio' ? 0 : this.#meter.videoFrame(timestampMs, atMs, isKeyframe);
  }

  recoveryPointArrived(): void {
    this.#hasRecoveryPoints = true;
  }

  dropped(): void {
    this.#meter.dropped();
  }

  /** Returns the total. @param nowMs monotonic */
  clockJumped(nowMs: number): number {
    this.#jumps.add(nowMs);
    // The tracks jump one after the other.
    this.#drift.restart();
    this.#lateness.restart();
    return this.#jumps.total;
  }

  stats(nowMs: number): IngestStats {
    const publisher = this.#publisher;
    const connectedSeconds = (this.#connectedMs + this.#timeInState('connected', nowMs)) / 1000;
    const awayMs = this.#awayMs + this.#timeInState('away', nowMs);
    const perSecond = (total: number) => (connectedSeconds < 1 ? total : total / connectedSeconds);
    return {
      ...this.#meter.stats(nowMs),
      averageBitrateBitsPerSecond: Math.round(perSecond(this.#meter.totalBytes * 8)),
      averageFramesPerSecond: Math.round(perSecond(this.#meter.totalFrames) * 100) / 100,
      declaredFramesPerSecond: this.#declared?.framesPerSecond,
      audioDriftMilliseconds: this.#drift.driftMs,
      timestampJumps: this.#jumps.total,
      droppedConnections: this.#losses.total,
      lastDroppedAtMs: this.#lastDroppedAtMs,
      awaySeconds: Math.round(awayMs / 100) / 10,
      silentSeconds:
        publisher.state === 'connected'
          ? Math.round(
              (nowMs - Math.max(publisher.sinceMs, this.#lastMs.audio ?? 0, this.#lastMs.video ?? 0)) / 100,
            ) / 10
          : undefined,
      transport: publisher.state === 'connected' ? transportHealth(publisher.transport()) : undefined,
    };
  }

  alarmInputs(nowMs: number): Omit<AlarmInputs, 'isBrowser'> {
    return {
      isConnected: this.#publisher.state === 'connected',
      keyframeDistanceSeconds: this.#meter.keyframeDistanceSeconds,
      hasRecoveryPoints: this.#hasRecoveryPoints,
      recent: this.#meter.meanOf(nowMs, 0, recentSeconds),
      usual: this.#meter.meanOf(nowMs, recentSeconds, usualSeconds, minUsualSeconds),
      rates: this.#meter.rates(nowMs, recentSeconds),
      declared: {
        bitsPerSecond: this.#declared?.bitsPerSecond,
        framesPerSecond: this.#declared?.framesPerSecond,
      },
      lateMs: this.#lateness.lateMs(nowMs),
      lostShare: this.#lostShare(nowMs),
      silentSeconds: {
        audio: this.#silentSeconds('audio', this.#declared?.hasAudio, nowMs),
        video: this.#silentSeconds('video', this.#declared?.hasVideo, nowMs),
      },
      recentJumps: this.#jumps.countWithin(jumpsWithinMs, nowMs),
      audioDriftMilliseconds: this.#drift.driftMs,
      recentLosses: this.#losses.countWithin(lossesWithinMs, nowMs),
    };
  }

  #timeInState(state: 'connected' | 'away', nowMs: number): number {
    return this.#publisher.state === state ? nowMs - this.#publisher.sinceMs : 0;
  }

  #lostShare(nowMs: number): number {
    const publisher = this.#publisher;
    const stats = publisher.state === 'connected' ? publisher.transport() : undefined;
    return stats === undefined ? 0 : this.#packetLoss.share(stats, nowMs);
  }

  #silentSeconds(kind: TrackKind, isAnnounced: boolean | undefined, nowMs: number): number | undefined {
    const publisher = this.#publisher;
    const attachedMs =
      publisher.state === 'connected' && isAnnounced === true ? publisher.sinceMs : undefined;
    const sinceMs = this.#lastMs[kind] ?? attachedMs;
    return sinceMs === undefined ? undefined : (nowMs - sinceMs) / 1000;
  }

  #detached(nowMs: number): void {
    if (this.#publisher.state !== 'connected') return;
    this.#connectedMs += nowMs - this.#publisher.sinceMs;
    this.#publisher = { state: 'away', sinceMs: nowMs };
    this.#meter.restart(nowMs);
  }
}

function transportHealth(stats: TransportStats | undefined): TransportHealth | undefined {
  if (stats === undefined) return undefined;
  const { roundTripMs, ...packets } = stats;
  const isMeasured = roundTripMs !== undefined;
  return { ...(isMeasured ? { roundTripMilliseconds: Math.round(roundTripMs * 10) / 10 } : {}), ...packets };
}
