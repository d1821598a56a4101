import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { TransportStats } from '../../shared/network/transport-stats.ts';
import { ArrivalLateness } from './arrival-lateness.ts';
import { AudioVideoDrift } from './audio-video-drift.ts';
import { BroadcastMeter, type MeanRate, type MeterStats } from './broadcast-meter.ts';

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
const maxTimes = 16;
const lossWindowMs = 15_000;

const noTransport = () => undefined;

/** Health of a broadcast's publishers. Allocates nothing per tag. */
export class IngestHealth {
  readonly #meter = new BroadcastMeter();
  readonly #drift = new AudioVideoDrift();
  readonly #lateness = new ArrivalLateness();
  /** Packet counts, about one a second, oldest first. */
  #packetCounts: { readonly nowMs: number; readonly lost: number; readonly received: number }[] = [];
  readonly #lastMs: Record<TrackKind, number | undefined> = { audio: undefined, video: undefined };
  #declared: DeclaredMedia | undefined;
  #transport: () => TransportStats | undefined = noTransport;
  #attachedMs: number | undefined;
  #hasRecoveryPoints = false;
  #lostMs: number | undefined;
  #connectedMs = 0;
  #awayMs = 0;
  #losses = 0;
  #jumps = 0;
  #lastDroppedAtMs: number | undefined;
  #lossTimes: number[] = [];
  #jumpTimes: number[] = [];

  attached(nowMs: number, transport: () => TransportStats | undefined = noTransport): void {
    this.#transport = transport;
    if (this.#lostMs !== undefined) this.#awayMs += nowMs - this.#lostMs;
    this.#lostMs = undefined;
    this.#attachedMs = nowMs;
    this.#declared = undefined;
    this.#hasRecoveryPoints = false;
    this.#lastMs.audio = undefined;
    this.#lastMs.video = undefined;
    this.#meter.restart(nowMs);
    this.#drift.restart();
    this.#lateness.restart();
    this.#packetCounts = [];
  }

  /** The broadcast continues. @param nowMs monotonic @param atMs Unix time */
  lost(nowMs: number, atMs: number): void {
    this.#losses += 1;
    this.#lastDroppedAtMs = atMs;
    this.#lossTimes = [...this.#lossTimes, nowMs].slice(-maxTimes);
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

  dropped(count: number): void {
    this.#meter.dropped(count);
  }

  /** Returns the total. @param nowMs monotonic */
  clockJumped(nowMs: number): number {
    this.#jumps += 1;
    this.#jumpTimes.push(nowMs);
    if (this.#jumpTimes.length > maxTimes) this.#jumpTimes.shift();
    // The tracks jump one after the other.
    this.#drift.restart();
    this.#lateness.restart();
    return this.#jumps;
  }

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
      transport: attachedMs === undefined ? undefined : transportHealth(this.#transport()),
    };
  }

  alarmInputs(nowMs: number): AlarmInputs {
    return {
      isConnected: this.#attachedMs !== undefined,
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
      recentJumps: this.#jumpTimes.filter(timeMs => nowMs - timeMs < jumpsWithinMs).length,
      audioDriftMilliseconds: this.#drift.driftMs,
      recentLosses: this.#lossTimes.filter(timeMs => nowMs - timeMs < lossesWithinMs).length,
    };
  }

  #lostShare(nowMs: number): number {
    const stats = this.#attachedMs === undefined ? undefined : this.#transport();
    if (stats === undefined) return 0;
    const { packetsLost, packetsRecovered, packetsReceived } = stats;
    const newest = { nowMs, lost: packetsLost - packetsRecovered, received: packetsReceived };
    this.#packetCounts = [...this.#packetCounts.filter(old => nowMs - old.nowMs <= lossWindowMs), newest];
    const oldest = this.#packetCounts[0]!;
    const lost = Math.max(0, newest.lost - oldest.lost);
    return lost === 0 ? 0 : lost / (lost + newest.received - oldest.received);
  }

  #silentSeconds(kind: TrackKind, isAnnounced: boolean | undefined, nowMs: number): number | undefined {
    const sinceMs = this.#lastMs[kind] ?? (isAnnounced === true ? this.#attachedMs : undefined);
    return sinceMs === undefined ? undefined : (nowMs - sinceMs) / 1000;
  }

  #detached(nowMs: number): void {
    if (this.#attachedMs === undefined) return;
    this.#connectedMs += nowMs - this.#attachedMs;
    this.#attachedMs = undefined;
    // An ended broadcast would keep its connection.
    this.#transport = noTransport;
    this.#lostMs = nowMs;
    this.#meter.restart(nowMs);
  }
}

function transportHealth(stats: TransportStats | undefined): TransportHealth | undefined {
  if (stats === undefined) return undefined;
  const { roundTripMs, ...packets } = stats;
  const isMeasured = roundTripMs !== undefined;
  return { ...(isMeasured ? { roundTripMilliseconds: Math.round(roundTripMs * 10) / 10 } : {}), ...packets };
}
