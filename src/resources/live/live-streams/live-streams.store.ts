import { sql } from 'kysely';
import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import { type PlaybackPolicy, restrictingPolicy } from '../../../shared/playback-policy.ts';
import type { Connection } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { foldText } from '../../../store/folded-text.ts';
import { listTotal } from '../../../store/list-total.ts';
import { asText, prepareQuery } from '../../../store/prepared-query.ts';
import { readListPage } from '../../../store/read-list-page.ts';
import type { Row } from '../../../store/tables.ts';
import { holdAccess, passOnAccess } from '../../playback/playback-policies/inherited-access.ts';
import { policyFrom } from '../../playback/playback-policies/playback-policy.store.ts';
import {
  destinationsOf,
  type LiveSource,
  type LiveStream,
  type LiveStreamChanges,
  type RestreamDestination,
  type SourceStatus,
} from './live-stream.ts';

interface LiveStreamFilter {
  readonly streamKey?: string | undefined;
  readonly liveStreamId?: string | undefined;
  readonly name?: string | undefined;
}

export interface StreamKeyOwner {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  readonly accountSuspended: boolean;
  readonly accountUpgraded: boolean;
  readonly name: string;
  readonly restreams: readonly RestreamDestination[];
  readonly qualities: LiveStream['qualities'];
  readonly record: LiveStream['record'];
  readonly audioTracks: LiveStream['audioTracks'];
  readonly ultraLowLatency: boolean;
  readonly cutOff: LiveStream['cutOff'];
}

export interface LiveStreamActivity {
  /** Unix time at which the newest broadcast began. */
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly recordings: number;
}

interface LiveStreamForViewers {
  readonly projectId: string;
  readonly name: string;
  readonly public: boolean;
  readonly hasThumbnail: boolean;
  readonly playerId: string | undefined;
  readonly ultraLowLatency: boolean;
  readonly viewerClips: boolean;
  readonly listed: boolean;
  readonly showViewers: boolean;
  readonly startsAtMs: number | undefined;
  /** Start of the newest broadcast. */
  readonly lastStartedAtMs: number | undefined;
  readonly isSandbox: boolean;
  readonly policy: PlaybackPolicy | undefined;
}

/** Far more than all servers together can pull. */
const maxListedSources = 10_000;
const sortColumns = { name: 'name_folded', createdAt: 'created_at_ms', updatedAt: 'updated_at_ms' } as const;

export class LiveStreamsStore {
  readonly #database: Database;
  readonly #findForViewers;

  constructor(database: Database) {
    this.#database = database;
    this.#findForViewers = prepareQuery<
      { id: string },
      Pick<
        Row<'live_streams'>,
        | 'project_id'
        | 'name'
        | 'is_public'
        | 'thumbnail_type'
        | 'player_id'
        | 'is_ultra_low_latency'
        | 'has_viewer_clips'
        | 'playback_policy'
      > &
        Pick<Row<'projects'>, 'environment'> & {
          is_listed: number;
          shows_viewers: number;
          starts_at_ms: number | null;
          last_started_at_ms: number | null;
        }
    >(({ id }) =>
      database.queries
        .selectFrom('live_streams as s')
        .innerJoin('projects as p', 'p.id', 's.project_id')
        .select(['s.project_id', 's.name', 's.is_public', 's.thumbnail_type', 's.player_id'])
        .select(['s.is_ultra_low_latency', 's.has_viewer_clips', 's.is_listed', 's.shows_viewers'])
        .select(['p.environment', 's.starts_at_ms'])
        .select(({ selectFrom }) =>
          selectFrom('broadcasts as b')
            .select('b.started_at_ms')
            .whereRef('b.live_stream_id', '=', 's.id')
            .orderBy('b.started_at_ms', 'desc')
            .limit(sql.lit(1))
            .as('last_started_at_ms'),
        )
        .select(({ fn }) => fn.coalesce('s.playback_policy', 'p.playback_policy').as('playback_policy'))
        .where('s.id', '=', asText(id)),
    );
  }

  async find(projectId: string, liveStreamId: string): Promise<LiveStream | undefined> {
    const row = await this.#database.first(
      this.#ofProject(projectId).selectAll().where('id', '=', liveStreamId),
    );
    return row === undefined ? undefined : liveStreamFrom(row);
  }

  async findByStreamKey(streamKey: string): Promise<StreamKeyOwner | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('live_streams as stream')
        .innerJoin('projects as project', 'project.id', 'stream.project_id')
        .innerJoin('accounts as account', 'account.id', 'project.account_id')
        .select(['stream.id', 'stream.project_id', 'project.environment'])
        .select(['account.is_suspended', 'account.is_upgraded'])
        .select([
          'stream.name',
          'stream.restreams',
          'stream.qualities',
          'stream.is_recorded',
          'stream.audio_tracks',
          'stream.is_ultra_low_latency',
          'stream.cut_off_publisher',
        ])
        .where('stream.stream_key', '=', streamKey),
    );
    if (row === undefined) return undefined;
    return {
      liveStreamId: row.id,
      projectId: row.project_id,
      environment: row.environment,
      accountSuspended: row.is_suspended === 1,
      accountUpgraded: row.is_upgraded === 1,
      name: row.name,
      restreams: destinationsOf(JSON.parse(row.restreams) as LiveStream['restreams']),
      qualities: row.qualities ?? undefined,
      record: isRecordedFrom(row),
      audioTracks: audioTracksFrom(row),
      ultraLowLatency: row.is_ultra_low_latency === 1,
      cutOff: cutOffFrom(row),
    };
  }

  async findRestreams(liveStreamId: string): Promise<RestreamDestination[] | undefined> {
    const row = await this.#database.first(
      this.#database.queries.selectFrom('live_streams').select('restreams').where('id', '=', liveStreamId),
    );
    return row && destinationsOf(JSON.parse(row.restreams) as LiveStream['restreams']);
  }

  /** Lists live streams that are pulled, of accounts that may broadcast. */
  async listSources(): Promise<
    { liveStreamId: string; projectId: string; streamKey: string; url: string }[]
  > {
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('live_streams as stream')
        .innerJoin('projects as project', 'project.id', 'stream.project_id')
        .innerJoin('accounts as account', 'account.id', 'project.account_id')
        .select(['stream.id', 'stream.project_id', 'stream.stream_key', 'stream.source_url'])
        .where('stream.is_source_enabled', '=', 1)
        .where('account.is_suspended', '=', 0)
        .orderBy('stream.created_at_ms')
        .orderBy('stream.id')
        .limit(maxListedSources),
    );
    return rows.map(row => ({
      liveStreamId: row.id,
      projectId: row.project_id,
      streamKey: row.stream_key,
      url: row.source_url ?? '',
    }));
  }

  /** Stores the status; does nothing while the source is turned off. */
  async setSourceStatus(liveStreamId: string, status: SourceStatus): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('live_streams')
        .set({ source_status: JSON.stringify(status) })
        .where('id', '=', liveStreamId)
        .where('is_source_enabled', '=', 1),
    );
  }

  async setCutOff(liveStreamId: string, cutOff: LiveStream['cutOff']): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('live_streams')
        .set({ cut_off_publisher: cutOff === undefined ? null : JSON.stringify(cutOff) })
        .where('id', '=', liveStreamId),
    );
  }

  async findForViewers(liveStreamId: string): Promise<LiveStreamForViewers | undefined> {
    const row = await this.#database.first(this.#findForViewers({ id: liveStreamId }));
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      name: row.name,
      public: row.is_public === 1,
      hasThumbnail: row.thumbnail_type !== null,
      playerId: row.player_id ?? undefined,
      ultraLowLatency: row.is_ultra_low_latency === 1,
      viewerClips: row.has_viewer_clips === 1,
      listed: row.is_listed === 1,
      showViewers: row.shows_viewers === 1,
      startsAtMs: row.starts_at_ms ?? undefined,
      lastStartedAtMs: row.last_started_at_ms ?? undefined,
      isSandbox: row.environment === 'sandbox',
      policy: restrictingPolicy(row.playback_policy),
    };
  }

  async list(
    projectId: string,
    filter: LiveStreamFilter,
    { field, direction }: Sort<keyof typeof sortColumns>,
    page: PageRequest,
  ): Promise<ListResult<LiveStream>> {
    return readListPage(this.#database, {
      table: 'live_streams',
      matching: this.#matching(projectId, filter),
      id: 'id',
      sort: { field: sortColumns[field], direction },
      page,
      total: await this.#total(projectId, filter),
      toItem: liveStreamFrom,
    });
  }

  /** The newest broadcast and the number of recordings of live streams, each read from an index. */
  async activityOf(liveStreamIds: readonly string[]): Promise<ReadonlyMap<string, LiveStreamActivity>> {
    if (liveStreamIds.length === 0) return new Map();
    const rows = await this.#database.all(
      this.#database.queries
        .selectFrom('live_streams as s')
        .select('s.id')
        .select(({ selectFrom }) => [
          selectFrom('broadcasts as b')
            .select('b.started_at_ms')
            .whereRef('b.live_stream_id', '=', 's.id')
            .orderBy('b.started_at_ms', 'desc')
            .limit(1)
            .as('started_at_ms'),
          selectFrom('broadcasts as b')
            .select('b.ended_at_ms')
            .whereRef('b.live_stream_id', '=', 's.id')
            .orderBy('b.started_at_ms', 'desc')
            .limit(1)
            .as('ended_at_ms'),
          selectFrom('videos as v')
            .select(({ fn }) => fn.countAll<number>().as('recordings'))
            .whereRef('v.project_id', '=', 's.project_id')
            .where('v.is_discarded', '=', 0)
            .whereRef('v.live_stream_id', '=', 's.id')
            .as('recordings'),
        ])
        .where('s.id', 'in', liveStreamIds),
    );
    return new Map(
      rows.map(row => [
        row.id,
        {
          startedAtMs: row.started_at_ms ?? undefined,
          endedAtMs: row.ended_at_ms ?? undefined,
          recordings: row.recordings ?? 0,
        },
      ]),
    );
  }

  async add(stream: LiveStream, connection: Connection = this.#database): Promise<void> {
    await connection.run(
      connection.queries.insertInto('live_streams').values({
        id: stream.liveStreamId,
        project_id: stream.projectId,
        name: stream.name,
        name_folded: foldText(stream.name),
        stream_key: stream.streamKey,
        is_public: Number(stream.public),
        player_id: stream.playerId ?? null,
        restreams: JSON.stringify(stream.restreams),
        qualities: stream.qualities ?? null,
        is_recorded: stream.record === undefined ? null : Number(stream.record),
        keep_recordings_days: stream.keepRecordingsDays ?? null,
        playback_policy: stream.playbackPolicy === undefined ? null : JSON.stringify(stream.playbackPolicy),
        audio_tracks: stream.audioTracks === undefined ? null : JSON.stringify(stream.audioTracks),
        source_url: stream.source?.url ?? null,
        is_source_enabled: stream.source === undefined ? null : Number(stream.source.isEnabled),
        is_ultra_low_latency: Number(stream.ultraLowLatency),
        has_viewer_clips: Number(stream.viewerClips),
        is_listed: Number(stream.listed ?? false),
        shows_viewers: Number(stream.showViewers ?? false),
        starts_at_ms: stream.startsAtMs ?? null,
        thumbnail_type: stream.thumbnailType ?? null,
        created_at_ms: stream.createdAtMs,
        updated_at_ms: stream.updatedAtMs,
      }),
    );
  }

  /** Changes a live stream, and the videos that inherit from it. */
  async change(
    projectId: string,
    liveStreamId: string,
    changes: LiveStreamChanges,
    atMs: number,
    connection: Connection = this.#database,
  ): Promise<void> {
    const { name, playerId, restreams, qualities, record, audioTracks, source, ultraLowLatency } = changes;
    const { keepRecordingsDays, playbackPolicy, viewerClips, listed, showViewers, startsAt } = changes;
    const access = {
      ...(changes.public === undefined ? {} : { is_public: Number(changes.public) }),
      ...(playbackPolicy === undefined
        ? {}
        : { playback_policy: playbackPolicy && JSON.stringify(playbackPolicy) }),
    };
    const values = {
      ...access,
      ...(name === undefined ? {} : { name, name_folded: foldText(name) }),
      ...(playerId === undefined ? {} : { player_id: playerId }),
      ...(restreams === undefined ? {} : { restreams: JSON.stringify(restreams) }),
      ...(qualities === undefined ? {} : { qualities }),
      ...(record === undefined ? {} : { is_recorded: record === null ? null : Number(record) }),
      ...(keepRecordingsDays === undefined ? {} : { keep_recordings_days: keepRecordingsDays }),
      ...(audioTracks === undefined ? {} : { audio_tracks: audioTracks && JSON.stringify(audioTracks) }),
      ...(source === undefined
        ? {}
        : {
            source_url: source?.url ?? null,
            is_source_enabled: source === null ? null : Number(source.enabled ?? true),
            source_status: null,
          }),
      ...(ultraLowLatency === undefined ? {} : { is_ultra_low_latency: Number(ultraLowLatency) }),
      ...(viewerClips === undefined ? {} : { has_viewer_clips: Number(viewerClips) }),
      ...(listed === undefined ? {} : { is_listed: Number(listed) }),
      ...(showViewers === undefined ? {} : { shows_viewers: Number(showViewers) }),
      ...(startsAt === undefined ? {} : { starts_at_ms: startsAt }),
      updated_at_ms: atMs,
    };
    await connection.transaction(async transaction => {
      if (Object.keys(access).length > 0) await holdAccess(projectId, transaction);
      await this.#update(projectId, liveStreamId, values, transaction);
      await passOnAccess(projectId, liveStreamId, access, transaction);
    });
  }

  /** Returns false when the live stream was deleted. */
  setThumbnail(projectId: string, liveStreamId: string, type: string | null, atMs: number): Promise<boolean> {
    return this.#update(projectId, liveStreamId, { thumbnail_type: type, updated_at_ms: atMs });
  }

  async clearThumbnail(liveStreamId: string): Promise<void> {
    const cleared = this.#database.queries.updateTable('live_streams').set({ thumbnail_type: null });
    await this.#database.run(cleared.where('id', '=', liveStreamId));
  }

  async setStreamKey(
    projectId: string,
    liveStreamId: string,
    streamKey: string,
    atMs: number,
  ): Promise<void> {
    await this.#update(projectId, liveStreamId, { stream_key: streamKey, updated_at_ms: atMs });
  }

  async remove(projectId: string, liveStreamId: string): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('live_streams')
        .where('id', '=', liveStreamId)
        .where('project_id', '=', projectId),
    );
  }

  detachPlayer(playerId: string, limit: number, connection: Connection = this.#database): Promise<number> {
    const { queries } = connection;
    const some = queries
      .selectFrom('live_streams')
      .select('id')
      .where('player_id', '=', playerId)
      .limit(limit);
    return connection.run(
      queries.updateTable('live_streams').set({ player_id: null }).where('id', 'in', some),
    );
  }

  async #update(
    projectId: string,
    liveStreamId: string,
    changes: Partial<Row<'live_streams'>>,
    connection: Connection = this.#database,
  ): Promise<boolean> {
    const changed = await connection.run(
      connection.queries
        .updateTable('live_streams')
        .set(changes)
        .where('id', '=', liveStreamId)
        .where('project_id', '=', projectId),
    );
    return changed === 1;
  }

  #ofProject(projectId: string) {
    return this.#database.queries.selectFrom('live_streams').where('project_id', '=', projectId);
  }

  #matching(projectId: string, filter: LiveStreamFilter) {
    let query = this.#ofProject(projectId);
    if (filter.streamKey !== undefined) query = query.where('stream_key', '=', filter.streamKey);
    if (filter.liveStreamId !== undefined) query = query.where('id', '=', filter.liveStreamId);
    const { name } = filter;
    if (name !== undefined) {
      const position = this.#database.dialect === 'postgres' ? 'strpos' : 'instr';
      query = query.where(expression =>
        expression(expression.fn<number>(position, ['name_folded', expression.val(foldText(name))]), '>', 0),
      );
    }
    return query;
  }

  async #total(projectId: string, filter: LiveStreamFilter): Promise<number> {
    const { streamKey, liveStreamId, name } = filter;
    if (streamKey === undefined && liveStreamId === undefined && name === undefined) {
      return listTotal(this.#database, projectId, 'live-streams');
    }
    const row = await this.#database.first(
      this.#matching(projectId, filter).select(expression => expression.fn.countAll<number>().as('total')),
    );
    return row?.total ?? 0;
  }
}

function liveStreamFrom(row: Row<'live_streams'>): LiveStream {
  return {
    liveStreamId: row.id,
    projectId: row.project_id,
    name: row.name,
    streamKey: row.stream_key,
    public: row.is_public === 1,
    playerId: row.player_id ?? undefined,
    restreams: JSON.parse(row.restreams) as LiveStream['restreams'],
    qualities: row.qualities ?? undefined,
    record: isRecordedFrom(row),
    keepRecordingsDays: row.keep_recordings_days ?? undefined,
    playbackPolicy: policyFrom(row.playback_policy),
    audioTracks: audioTracksFrom(row),
    source: sourceFrom(row),
    ultraLowLatency: row.is_ultra_low_latency === 1,
    viewerClips: row.has_viewer_clips === 1,
    listed: row.is_listed === 1,
    showViewers: row.shows_viewers === 1,
    startsAtMs: row.starts_at_ms ?? undefined,
    thumbnailType: row.thumbnail_type ?? undefined,
    cutOff: cutOffFrom(row),
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  };
}

function cutOffFrom({
  cut_off_publisher,
}: Pick<Row<'live_streams'>, 'cut_off_publisher'>): LiveStream['cutOff'] {
  return cut_off_publisher === null ? undefined : (JSON.parse(cut_off_publisher) as LiveStream['cutOff']);
}

function audioTracksFrom({
  audio_tracks,
}: Pick<Row<'live_streams'>, 'audio_tracks'>): LiveStream['audioTracks'] {
  return audio_tracks === null ? undefined : (JSON.parse(audio_tracks) as LiveStream['audioTracks']);
}

function isRecordedFrom({ is_recorded }: Pick<Row<'live_streams'>, 'is_recorded'>): boolean | undefined {
  return is_recorded === null ? undefined : is_recorded === 1;
}

function sourceFrom(row: Row<'live_streams'>): LiveSource | undefined {
  if (row.source_url === null) return undefined;
  const status = row.source_status === null ? undefined : (JSON.parse(row.source_status) as SourceStatus);
  return { url: row.source_url, isEnabled: row.is_source_enabled === 1, status };
}
