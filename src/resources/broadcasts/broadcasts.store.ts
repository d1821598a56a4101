import type { EventType } from '../../events/event-catalogue.ts';
import type { Outbox } from '../../events/outbox.store.ts';
import { type Clock, systemClock } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import type { Database } from '../../store/database.ts';

/** What is known when a broadcast begins. `State` is the live room's union of states. */
export interface OpenedBroadcast<State extends string> {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly state: State;
  readonly startedAtMs: number;
  readonly protocol: string;
  readonly remoteAddress: string;
  /** The encoder's name of itself, or `''`. */
  readonly encoder: string;
}

/** What becomes known later. */
export interface BroadcastChanges<State extends string> {
  readonly state?: State;
  readonly remoteAddress?: string;
  readonly encoder?: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
}

/** How its ingest was, known at its end. */
export interface BroadcastHealth {
  readonly averageBitrateBitsPerSecond: number;
  readonly peakBitrateBitsPerSecond: number;
  readonly averageFramesPerSecond: number;
  readonly longestKeyframeIntervalSeconds: number | undefined;
  readonly droppedFrames: number;
  readonly missingFrames: number;
  readonly droppedConnections: number;
  readonly awaySeconds: number;
}

/** Of each live stream. */
const maxKeptBroadcasts = 500;
/** In these it is shown as broadcasting. */
const broadcastingStates: readonly string[] = ['live', 'waiting', 'stopping'];

/** The history of broadcasts, which also tells when one can be played, and when one that could be played has ended. */
export class BroadcastsStore<State extends string = string, EndReason extends string = string> {
  readonly #database: Database;
  readonly #outbox: Outbox;
  readonly #clock: Clock;

  constructor(database: Database, outbox: Outbox, clock: Clock = systemClock) {
    this.#database = database;
    this.#outbox = outbox;
    this.#clock = clock;
  }

  /** The live streams of suspended accounts that are on air. */
  streamsOfSuspended(): string[] {
    const rows = this.#database.all(
      this.#database.queries
        .selectFrom('broadcasts')
        .innerJoin('projects', 'projects.id', 'broadcasts.project_id')
        .innerJoin('accounts', 'accounts.id', 'projects.account_id')
        .select('broadcasts.live_stream_id')
        .where('broadcasts.ended_at_ms', 'is', null)
        .where('accounts.is_suspended', '=', 1),
    );
    return rows.map(row => row.live_stream_id);
  }

  /** Notes that a broadcast began; its id. */
  opened(broadcast: OpenedBroadcast<State>): string {
    const id = newId('br');
    this.#database.run(
      this.#database.queries.insertInto('broadcasts').values({
        id,
        project_id: broadcast.projectId,
        live_stream_id: broadcast.liveStreamId,
        state: broadcast.state,
        started_at_ms: broadcast.startedAtMs,
        ended_at_ms: null,
        end_reason: null,
        protocol: broadcast.protocol,
        remote_address: broadcast.remoteAddress,
        encoder: broadcast.encoder,
        video_codec: null,
        audio_codec: null,
        width: null,
        height: null,
        live_at_ms: null,
        average_bits_per_second: null,
        peak_bits_per_second: null,
        average_frames_per_second: null,
        longest_gop_ms: null,
        dropped_frames: null,
        missing_frames: null,
        dropped_connections: null,
        away_ms: null,
      }),
    );
    this.#removeOldest(broadcast.liveStreamId);
    return id;
  }

  /** Notes what is given and leaves the rest. */
  changed(broadcastId: string, changes: BroadcastChanges<State>): void {
    const row = {
      state: changes.state,
      remote_address: changes.remoteAddress,
      encoder: changes.encoder,
      video_codec: changes.videoCodec,
      audio_codec: changes.audioCodec,
      width: changes.width,
      height: changes.height,
    };
    this.#database.transaction(() => {
      // Kysely leaves undefined columns out; with none left there is nothing to say.
      if (Object.values(row).some(value => value !== undefined)) {
        this.#database.run(
          this.#database.queries
            .updateTable('broadcasts')
            .set(row as { [Column in keyof typeof row]: NonNullable<(typeof row)[Column]> })
            .where('id', '=', broadcastId),
        );
      }
      if (changes.state !== undefined && broadcastingStates.includes(changes.state))
        this.#markLive(broadcastId);
    });
  }

  /** Notes the end of a broadcast, once: a later end of the same one changes nothing. */
  ended(broadcastId: string, atMs: number, reason: EndReason, health?: BroadcastHealth): void {
    this.#database.transaction(() => {
      const changed = this.#database.run(
        this.#database.queries
          .updateTable('broadcasts')
          .set({
            state: 'ended',
            ended_at_ms: atMs,
            end_reason: reason,
            ...(health === undefined ? {} : healthColumns(health)),
          })
          .where('id', '=', broadcastId)
          .where('ended_at_ms', 'is', null),
      );
      if (changed > 0) this.#appendEvent(broadcastId, 'live-stream.broadcast.ended', atMs);
    });
  }

  /** Ends whatever a crash left open; how many there were. */
  endUnfinished(atMs: number, reason: EndReason): number {
    return this.#database.transaction(() => {
      const open = this.#database.all(
        this.#database.queries.selectFrom('broadcasts').select('id').where('ended_at_ms', 'is', null),
      );
      for (const { id } of open) this.ended(id, atMs, reason);
      return open.length;
    });
  }

  /** An encoder that begins anew all day fills no disk. */
  #removeOldest(liveStreamId: string): void {
    const { queries } = this.#database;
    const older = queries
      .selectFrom('broadcasts')
      .select('id')
      .where('live_stream_id', '=', liveStreamId)
      .orderBy('started_at_ms', 'desc')
      .limit(maxKeptBroadcasts)
      .offset(maxKeptBroadcasts);
    this.#database.run(
      queries.deleteFrom('broadcasts').where('id', 'in', older).where('ended_at_ms', 'is not', null),
    );
  }

  /** A publisher that comes back makes it live again, which is no other beginning. */
  #markLive(broadcastId: string): void {
    const nowMs = this.#clock.nowMs();
    const changed = this.#database.run(
      this.#database.queries
        .updateTable('broadcasts')
        .set({ live_at_ms: nowMs })
        .where('id', '=', broadcastId)
        .where('live_at_ms', 'is', null),
    );
    if (changed > 0) this.#appendEvent(broadcastId, 'live-stream.broadcast.started', nowMs);
  }

  /** Nothing is told of one that could never be played. */
  #appendEvent(broadcastId: string, type: EventType, atMs: number): void {
    const broadcast = this.#database.first(
      this.#database.queries
        .selectFrom('broadcasts')
        .select(['project_id', 'live_stream_id'])
        .where('id', '=', broadcastId)
        .where('live_at_ms', 'is not', null),
    );
    if (broadcast === undefined) return;
    const { project_id: projectId, live_stream_id: liveStreamId } = broadcast;
    this.#outbox.appendLiveStreamEvent({ projectId, liveStreamId }, type, {}, atMs);
  }
}

function healthColumns(health: BroadcastHealth) {
  const gopSeconds = health.longestKeyframeIntervalSeconds;
  return {
    average_bits_per_second: health.averageBitrateBitsPerSecond,
    peak_bits_per_second: health.peakBitrateBitsPerSecond,
    average_frames_per_second: health.averageFramesPerSecond,
    longest_gop_ms: gopSeconds === undefined ? null : Math.round(gopSeconds * 1000),
    dropped_frames: health.droppedFrames,
    missing_frames: health.missingFrames,
    dropped_connections: health.droppedConnections,
    away_ms: Math.round(health.awaySeconds * 1000),
  };
}
