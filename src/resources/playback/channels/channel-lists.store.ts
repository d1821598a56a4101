import { sql } from 'kysely';
import { announcedStart, maxLatenessMs } from '../../../shared/announced-start.ts';
import { restrictingPolicy } from '../../../shared/playback-policy.ts';
import type { Database } from '../../../store/database.ts';
import { foldText } from '../../../store/folded-text.ts';
import type { Row } from '../../../store/tables.ts';
import type { ChannelLogo } from './channel.ts';

interface ShownChannel {
  readonly projectId: string;
  /** The project as users see it: a sandbox and a production. */
  readonly pairId: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  readonly accentColor: string | undefined;
  readonly hasLogo: boolean;
  readonly updatedAtMs: number;
  /** The policy of the project restricts videos and live streams without their own. */
  readonly isRestricted: boolean;
}

interface ListedVideo {
  readonly videoId: string;
  readonly title: string;
  /** The first characters. */
  readonly description: string;
  readonly publishedAtMs: number;
  readonly durationSeconds: number | undefined;
}

interface ListedStream {
  readonly liveStreamId: string;
  readonly name: string;
  readonly showViewers: boolean;
}

interface AnnouncedStream {
  readonly liveStreamId: string;
  readonly name: string;
  readonly startsAtMs: number;
}

/** A place in the list, from the newest video to the oldest: those after it are older. */
interface ListPosition {
  readonly publishedAtMs: number;
  readonly videoId: string;
}

interface ListRequest {
  readonly after?: ListPosition | undefined;
  /** Words to find in titles; case and accents do not matter. */
  readonly search?: string | undefined;
  readonly limit: number;
}

type ListOf = Pick<ShownChannel, 'projectId' | 'isRestricted'>;

/** A search looks through so many videos. */
const maxSearchedVideos = 10_000;
const maxListedStreams = 500;
const maxLiveStreams = 24;
const maxAnnouncedStreams = 12;
const maxDescriptionChars = 1_000;

/** Parts of a stored policy that restricts nobody. */
const unrestricted = ['"allowedDomains":[]', '"allowedCountries":[]', '"blockedCountries":[]'];

const isShown = sql<boolean>`c.is_enabled = 1 AND p.environment = 'production' AND a.is_suspended = 0`;

function isForEverybody({ isRestricted }: ListOf) {
  const policy = sql.ref('playback_policy');
  const own = unrestricted.map(part => sql`${policy} LIKE ${sql.lit(`%${part}%`)}`);
  const isOwn = sql<boolean>`(${policy} IS NOT NULL AND ${sql.join(own, sql` AND `)})`;
  return isRestricted ? isOwn : sql<boolean>`(${policy} IS NULL OR ${isOwn})`;
}

/** Reads what everybody sees of channels: of videos, those that are listed, public, playable and restricted for nobody. */
export class ChannelListsStore {
  readonly #database: Database;
  readonly #duration;
  readonly #position: string;

  constructor(database: Database) {
    const isSqlite = database.dialect === 'sqlite';
    this.#database = database;
    this.#duration = sql.raw<number | null>(
      isSqlite ? `e.facts ->> '$.duration'` : `(e.facts::jsonb ->> 'duration')::float8`,
    );
    this.#position = isSqlite ? 'instr' : 'strpos';
  }

  findBySlug(slug: string): Promise<ShownChannel | undefined> {
    return this.#find('c.slug', slug);
  }

  findByProject(projectId: string): Promise<ShownChannel | undefined> {
    return this.#find('c.project_id', projectId);
  }

  findByPair(pairId: string): Promise<ShownChannel | undefined> {
    return this.#find('p.pair_id', pairId);
  }

  async logo(slug: string): Promise<ChannelLogo | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('channels as c')
        .innerJoin('projects as p', 'p.id', 'c.project_id')
        .innerJoin('accounts as a', 'a.id', 'p.account_id')
        .select(['c.logo', 'c.logo_type'])
        .where('c.slug', '=', slug)
        .where(isShown),
    );
    if (!row?.logo || row.logo_type === null) return undefined;
    return { body: row.logo, contentType: row.logo_type };
  }

  /** The newest first. */
  async videos(channel: ListOf, request: ListRequest, nowMs: number): Promise<ListedVideo[]> {
    const rows = await this.#database.all(
      this.#listed(channel, request)
        .innerJoin('videos as v', 'v.id', 'listed.id')
        .innerJoin('video_encodings as e', join =>
          join.onRef('e.video_id', '=', 'v.id').on('e.is_playable', '=', sql.lit(1)),
        )
        .select(['v.id', 'v.title', 'v.published_at_ms', this.#duration.as('duration')])
        .select(sql<string>`substr(v.description, 1, ${sql.lit(maxDescriptionChars)})`.as('description'))
        .where(isForEverybody(channel))
        .where(({ or, eb }) => or([eb('v.expires_at_ms', 'is', null), eb('v.expires_at_ms', '>', nowMs)]))
        .orderBy('listed.published_at_ms', 'desc')
        .orderBy('listed.id', 'desc')
        .limit(request.limit),
    );
    return rows.map(row => ({
      videoId: row.id,
      title: row.title,
      description: row.description,
      publishedAtMs: row.published_at_ms,
      durationSeconds: row.duration ?? undefined,
    }));
  }

  /** Reads the index alone: a search looks at thousands of titles. */
  #listed({ projectId }: ListOf, { after, search = '' }: ListRequest) {
    const { queries } = this.#database;
    let listed = queries
      .selectFrom('videos')
      .select(['id', 'published_at_ms', 'title_folded'])
      .where('project_id', '=', projectId)
      .where('is_listed', '=', sql.lit(1))
      .where('is_public', '=', sql.lit(1))
      .where('discarded_at_ms', 'is', null)
      .orderBy('published_at_ms', 'desc')
      .orderBy('id', 'desc')
      .limit(sql.lit(maxSearchedVideos));
    if (after !== undefined)
      listed = listed.where(sql<boolean>`(published_at_ms, id) < (${after.publishedAtMs}, ${after.videoId})`);
    const found = queries.selectFrom(listed.as('listed'));
    const folded = foldText(search);
    if (folded === '') return found;
    return found.where(({ eb, fn, val, ref }) =>
      eb(fn<number>(this.#position, [ref('listed.title_folded'), val(folded)]), '>', 0),
    );
  }

  /** Lists those whose newest broadcast has not ended, the one that began last first. */
  async liveStreams(channel: ListOf): Promise<ListedStream[]> {
    const rows = await this.#database.all(
      this.#streams(channel)
        .select('s.shows_viewers')
        .where('s.is_live', '=', 1)
        .orderBy('s.last_started_at_ms', 'desc')
        .limit(sql.lit(maxLiveStreams)),
    );
    return rows.map(({ id, name, shows_viewers }) => ({
      liveStreamId: id,
      name,
      showViewers: shows_viewers === 1,
    }));
  }

  /** Lists those that are offline and have a planned start, the next one first. */
  async announcedStreams(channel: ListOf, nowMs: number): Promise<AnnouncedStream[]> {
    const rows = await this.#database.all(
      this.#streams(channel)
        .select(['s.starts_at_ms', 's.last_started_at_ms'])
        .where('s.starts_at_ms', '>=', nowMs - maxLatenessMs)
        .where(({ or, eb }) => or([eb('s.is_live', 'is', null), eb('s.is_live', '=', 0)]))
        .orderBy('s.starts_at_ms')
        .orderBy('s.id'),
    );
    // Any number of them may have begun and ended already.
    return rows
      .flatMap(({ id, name, starts_at_ms, last_started_at_ms }) => {
        const times = {
          startsAtMs: starts_at_ms ?? undefined,
          lastStartedAtMs: last_started_at_ms ?? undefined,
        };
        const startsAtMs = announcedStart(times, nowMs);
        return startsAtMs === undefined ? [] : [{ liveStreamId: id, name, startsAtMs }];
      })
      .slice(0, maxAnnouncedStreams);
  }

  /** Listed live streams that everybody may watch, with their newest broadcast. */
  #streams(channel: ListOf) {
    const { queries } = this.#database;
    const newest = <Value>(value: ReturnType<typeof sql<Value>>) =>
      queries
        .selectFrom('broadcasts as b')
        .select(value.as('value'))
        .where(sql<boolean>`b.live_stream_id = live_streams.id`)
        .orderBy('b.started_at_ms', 'desc')
        .limit(sql.lit(1));
    const listed = queries
      .selectFrom('live_streams')
      .select(['id', 'name', 'shows_viewers', 'playback_policy', 'starts_at_ms'])
      .select([
        newest(sql<number>`b.started_at_ms`).as('last_started_at_ms'),
        newest(sql<number>`CASE WHEN b.ended_at_ms IS NULL THEN 1 ELSE 0 END`).as('is_live'),
      ])
      .where('project_id', '=', channel.projectId)
      .where('is_listed', '=', sql.lit(1))
      .where('is_public', '=', sql.lit(1))
      .orderBy('created_at_ms', 'desc')
      .limit(sql.lit(maxListedStreams));
    return queries.selectFrom(listed.as('s')).select(['s.id', 's.name']).where(isForEverybody(channel));
  }

  async #find(
    column: 'c.slug' | 'c.project_id' | 'p.pair_id',
    value: string,
  ): Promise<ShownChannel | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('channels as c')
        .innerJoin('projects as p', 'p.id', 'c.project_id')
        .innerJoin('accounts as a', 'a.id', 'p.account_id')
        .select(['c.project_id', 'c.slug', 'c.name', 'c.description', 'c.accent_color', 'c.logo_type'])
        .select(['c.updated_at_ms', 'p.pair_id', 'p.playback_policy'])
        .where(column, '=', value)
        .where(isShown),
    );
    return row === undefined ? undefined : channelFrom(row);
  }
}

type ChannelRow = Pick<
  Row<'channels'>,
  'project_id' | 'slug' | 'name' | 'description' | 'accent_color' | 'logo_type' | 'updated_at_ms'
> &
  Pick<Row<'projects'>, 'pair_id' | 'playback_policy'>;

function channelFrom(row: ChannelRow): ShownChannel | undefined {
  if (row.slug === null) return undefined;
  return {
    projectId: row.project_id,
    pairId: row.pair_id,
    slug: row.slug,
    name: row.name,
    description: row.description,
    accentColor: row.accent_color ?? undefined,
    hasLogo: row.logo_type !== null,
    updatedAtMs: row.updated_at_ms,
    isRestricted: restrictingPolicy(row.playback_policy) !== undefined,
  };
}
