import { formatAtom } from '../../shared/clock.ts';
import type { BroadcastRow } from '../../store/tables.ts';
import type { BroadcastHistoryStore } from './broadcast-history.store.ts';
import type { BroadcastView, HealthHistoryView, IngestHealthView } from './broadcasts.schema.ts';

/** What is known of the ingest of a broadcast that goes on. */
export interface IngestHealth {
  readonly broadcastId: string;
  readonly state: 'live' | 'waiting' | 'stopping';
  readonly durationSeconds: number;
  readonly protocol: string;
  readonly encoder: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
  readonly bitrateBitsPerSecond: number;
  readonly averageBitrateBitsPerSecond: number;
  readonly peakBitrateBitsPerSecond: number;
  readonly framesPerSecond: number;
  readonly averageFramesPerSecond: number;
  readonly declaredFramesPerSecond: number | undefined;
  readonly keyframeIntervalSeconds: number | undefined;
  readonly longestKeyframeIntervalSeconds: number | undefined;
  readonly audioDriftMilliseconds: number | undefined;
  readonly timestampJumps: number;
  readonly droppedFrames: number;
  readonly missingFrames: number;
  readonly droppedConnections: number;
  readonly lastDroppedAtMs: number | undefined;
  readonly awaySeconds: number;
  readonly silentSeconds: number | undefined;
  /** Those that are on. */
  readonly alarms: readonly {
    readonly kind: string;
    readonly message: string;
    readonly raisedAtMs: number;
  }[];
}

/** What the live room tells of the ingest of a stream; undefined when it does not broadcast. */
export type FindIngestHealth = (liveStreamId: string) => IngestHealth | undefined;

/** Health of the newest broadcast of a live stream. */
export interface IngestHealthHistory {
  readonly broadcastId: string;
  readonly startedAtMs: number;
  /** Undefined while it goes on. */
  readonly endedAtMs: number | undefined;
  readonly stepSeconds: number;
  /** Oldest first; rates are undefined while no publisher was connected. */
  readonly samples: readonly {
    readonly atMs: number;
    readonly bitrateBitsPerSecond: number | undefined;
    readonly framesPerSecond: number | undefined;
    readonly audioDriftMilliseconds: number | undefined;
    readonly viewers: number | undefined;
  }[];
}

/** Finds how the newest broadcast of a stream did over so many seconds; undefined when none is remembered. */
export type FindHealthHistory = (liveStreamId: string, seconds: number) => IngestHealthHistory | undefined;

/** The health of broadcasts, as the live room knows it. */
export interface IngestHealthSources {
  readonly health: FindIngestHealth;
  readonly history: FindHealthHistory;
}

/** What the owner of a live stream can see of its broadcasts. */
export class BroadcastsService {
  readonly #store: BroadcastHistoryStore;
  readonly #health: FindIngestHealth;
  readonly #history: FindHealthHistory;

  constructor(options: { store: BroadcastHistoryStore } & IngestHealthSources) {
    this.#store = options.store;
    this.#health = options.health;
    this.#history = options.history;
  }

  /** One page of a live stream's broadcasts, and how many there are on all pages. */
  list(...query: Parameters<BroadcastHistoryStore['list']>): { views: BroadcastView[]; total: number } {
    const { broadcasts, total } = this.#store.list(...query);
    return { views: broadcasts.map(viewOf), total };
  }

  /** How what a live stream broadcasts comes in. */
  health(liveStreamId: string): IngestHealthView {
    const health = this.#health(liveStreamId);
    if (health === undefined) return { broadcasting: false, alarms: [] };
    const { broadcastId, state, durationSeconds, protocol, encoder, videoCodec, audioCodec } = health;
    return omitUnset({
      broadcasting: true,
      alarms: health.alarms.map(({ kind, message, raisedAtMs }) => ({
        alarm: kind,
        message,
        raisedAt: formatAtom(raisedAtMs),
      })),
      ...{ broadcastId, state, durationSeconds, protocol },
      encoder: encoder === '' ? undefined : encoder,
      ...{ videoCodec, audioCodec, width: health.width, height: health.height },
      bitrateBitsPerSecond: health.bitrateBitsPerSecond,
      averageBitrateBitsPerSecond: health.averageBitrateBitsPerSecond,
      peakBitrateBitsPerSecond: health.peakBitrateBitsPerSecond,
      framesPerSecond: health.framesPerSecond,
      averageFramesPerSecond: health.averageFramesPerSecond,
      declaredFramesPerSecond: health.declaredFramesPerSecond,
      keyframeIntervalSeconds: health.keyframeIntervalSeconds,
      longestKeyframeIntervalSeconds: health.longestKeyframeIntervalSeconds,
      audioDriftMilliseconds: health.audioDriftMilliseconds,
      timestampJumps: health.timestampJumps,
      droppedFrames: health.droppedFrames,
      missingFrames: health.missingFrames,
      droppedConnections: health.droppedConnections,
      lastDroppedAt: health.lastDroppedAtMs === undefined ? undefined : formatAtom(health.lastDroppedAtMs),
      awaySeconds: health.awaySeconds,
      silentSeconds: health.silentSeconds,
    });
  }

  /** Health of the newest broadcast of a live stream over the last minutes. */
  healthHistory(liveStreamId: string, minutes: number): HealthHistoryView {
    const history = this.#history(liveStreamId, minutes * 60);
    if (history === undefined) return { broadcasting: false, data: [] };
    const { broadcastId, startedAtMs, endedAtMs, stepSeconds, samples } = history;
    return omitUnset({
      broadcasting: endedAtMs === undefined,
      broadcastId,
      startedAt: formatAtom(startedAtMs),
      endedAt: endedAtMs === undefined ? undefined : formatAtom(endedAtMs),
      stepSeconds,
      data: samples.map(({ atMs, ...values }) => omitUnset({ measuredAt: formatAtom(atMs), ...values })),
    });
  }
}

function viewOf(row: BroadcastRow): BroadcastView {
  return omitUnset({
    broadcastId: row.id,
    state: row.state as BroadcastView['state'],
    startedAt: formatAtom(row.started_at_ms),
    liveAt: row.live_at_ms === null ? undefined : formatAtom(row.live_at_ms),
    endedAt: row.ended_at_ms === null ? undefined : formatAtom(row.ended_at_ms),
    endReason: row.end_reason,
    protocol: row.protocol,
    encoder: row.encoder === '' ? undefined : row.encoder,
    videoCodec: row.video_codec,
    audioCodec: row.audio_codec,
    width: row.width,
    height: row.height,
    averageBitrateBitsPerSecond: row.average_bits_per_second,
    peakBitrateBitsPerSecond: row.peak_bits_per_second,
    averageFramesPerSecond: row.average_frames_per_second,
    longestKeyframeIntervalSeconds: row.longest_gop_ms === null ? undefined : row.longest_gop_ms / 1000,
    droppedFrames: row.dropped_frames,
    missingFrames: row.missing_frames,
    droppedConnections: row.dropped_connections,
    awaySeconds: row.away_ms === null ? undefined : row.away_ms / 1000,
  });
}

/** Keys without a value are left out. */
function omitUnset<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]: Exclude<Fields[Key], null | undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as { [Key in keyof Fields]: Exclude<Fields[Key], null | undefined> };
}
