import { formatAtom } from '../../../shared/clock.ts';
import { type ListResult, mapList } from '../../../shared/list-page.ts';
import type {
  BroadcastView,
  HealthHistoryView,
  IngestHealthView,
  IngestLogView,
} from './broadcasts.schema.ts';
import type { BroadcastsStore, StoredBroadcast } from './broadcasts.store.ts';

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
  /** Undefined in reports of servers of an earlier version. */
  readonly tracks?: readonly NonNullable<IngestHealthView['tracks']>[number][];
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
  readonly transport:
    | {
        readonly roundTripMilliseconds?: number;
        readonly packetsReceived: number;
        readonly packetsLost: number;
        readonly packetsRecovered: number;
      }
    | undefined;
  readonly alarms: readonly {
    readonly kind: string;
    readonly message: string;
    readonly raisedAtMs: number;
  }[];
}

interface IngestHealthHistory {
  readonly broadcastId: string;
  readonly startedAtMs: number;
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

interface IngestLog {
  readonly connecting:
    | {
        readonly protocol: string;
        readonly encoder: string;
        readonly waitingFor: 'media' | 'keyframe';
      }
    | undefined;
  /** Oldest first. */
  readonly entries: readonly (Omit<IngestLogView['data'][number], 'happenedAt'> & {
    readonly atMs: number;
  })[];
}

export interface IngestHealthSources {
  readonly health: (liveStreamId: string) => Promise<IngestHealth | undefined> | IngestHealth | undefined;
  /** The last `seconds` of the newest broadcast; undefined when none is in memory. */
  readonly history: (liveStreamId: string, seconds: number) => IngestHealthHistory | undefined;
  /** @param address of the person who asks */
  readonly log?: (liveStreamId: string, address: string) => IngestLog;
}

export class BroadcastsService {
  readonly #store: BroadcastsStore;
  readonly #health: IngestHealthSources['health'];
  readonly #history: IngestHealthSources['history'];
  readonly #log: IngestHealthSources['log'];

  constructor(options: { store: BroadcastsStore } & IngestHealthSources) {
    this.#store = options.store;
    this.#health = options.health;
    this.#history = options.history;
    this.#log = options.log;
  }

  async list(...query: Parameters<BroadcastsStore['list']>): Promise<ListResult<BroadcastView>> {
    return mapList(await this.#store.list(...query), viewOf);
  }

  async health(liveStreamId: string): Promise<IngestHealthView> {
    const health = await this.#health(liveStreamId);
    if (health === undefined) return { broadcasting: false, alarms: [] };
    const { broadcastId, state, durationSeconds, protocol, encoder, videoCodec, audioCodec } = health;
    return omitUnset({
      broadcasting: true,
      alarms: health.alarms.map(({ kind, message, raisedAtMs }) => ({
        alarm: kind,
        message,
        raisedAt: formatAtom(raisedAtMs),
      })),
      broadcastId,
      state,
      durationSeconds,
      protocol,
      encoder: encoder === '' ? undefined : encoder,
      videoCodec,
      audioCodec,
      width: health.width,
      height: health.height,
      tracks: health.tracks && [...health.tracks],
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
      transport: health.transport,
    });
  }

  /**
   * @param address of the person who asks
   * @param canPublish others see no addresses, as in `refusedEncoder` of a live stream
   */
  ingestLog(liveStreamId: string, address: string, canPublish: boolean): IngestLogView {
    const { connecting, entries = [] } = this.#log?.(liveStreamId, address) ?? {};
    return omitUnset({
      connecting: connecting && omitUnset({ ...connecting, encoder: connecting.encoder || undefined }),
      data: entries.map(({ atMs, encoder, address, ...entry }) =>
        omitUnset({
          happenedAt: formatAtom(atMs),
          ...entry,
          encoder: encoder || undefined,
          address: canPublish ? address : undefined,
        }),
      ),
    });
  }

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

function viewOf(row: StoredBroadcast): BroadcastView {
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

function omitUnset<Fields extends object>(
  fields: Fields,
): { [Key in keyof Fields]: Exclude<Fields[Key], null | undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as { [Key in keyof Fields]: Exclude<Fields[Key], null | undefined> };
}
