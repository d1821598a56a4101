import { LRUCache } from 'lru-cache';
import { maxEntries } from '../../../../shared/lru-limit.ts';
import { yieldToEventLoop } from '../../../../shared/scheduling/yield-to-event-loop.ts';
import type { Connection } from '../../../../store/connection.ts';
import type { SqliteConnection } from '../../../../store/sqlite-connection.ts';
import type { SqliteDatabase } from '../../../../store/sqlite-database.ts';
import { type SelectedVideoRow, selectedColumns } from '../video-row.ts';
import { BlockCountCache, type FilterCounts } from './block-count-cache.ts';
import { type BlockRow, blockSlices, SortedVideos } from './sorted-videos.store.ts';
import {
  type FoldedFilter,
  foldFilter,
  type SqlConditions,
  singleConditionOf,
  sqlConditionsOf,
  trigramQuery,
  type VideoFilter,
} from './video-filter.ts';
import type { ListPage, ListScope, VideoListPage, VideoLists, VideoSortField } from './video-lists.ts';
import { VideoTextIndex } from './video-text-index.store.ts';

interface BlockSearch {
  readonly scope: ListScope;
  readonly filter: FoldedFilter;
  readonly conditions: SqlConditions;
  readonly page: ListPage;
  readonly counts: FilterCounts;
}
interface CountedSortOrder {
  readonly order: SortedVideos;
  readonly blocks: readonly BlockRow[];
  /** Undefined when the time slice is over. */
  readonly count: (connection: SqliteConnection, index: number, timeSlice: TimeSlice) => number | undefined;
}
/** Up to this many candidates are compared with the filter; above, blocks are counted. */
const maxCandidates = 2_000;
const maxCachedRows = 500;
/** Above this, subtracting the videos of other lists from a count of all lists is too slow. */
const maxVideosInOtherLists = 20_000;
/** Longest counting without yielding to the event loop. */
const timeSliceMs = 8;
/** Time after which a count that changes keep restarting finishes without yielding. */
const maxYieldingMs = 5_000;
const noConditions: SqlConditions = { sql: '', values: [] };

const inList = 'WHERE project_id = ? AND is_discarded = ?';
/** Raw SQL, because the `videos-list` benchmark depends on these indexes and this join order. */
const sql = {
  tagTotal: `SELECT videos FROM tags ${inList} AND tag = ?`,
  allVideos: 'SELECT total(videos) FROM video_blocks_by_creation',
  rowsByNumber: `SELECT ${selectedColumns} FROM json_each(?) page CROSS JOIN videos v ON v.number = page.value
    ORDER BY page.key`,
  countInOtherLists: (which: string, conditions: SqlConditions) =>
    `SELECT count(*) FROM videos v INDEXED BY videos_by_title WHERE ${which}${conditions.sql}`,
  numbersWithTag: `SELECT video_number FROM video_tags ${inList} AND tag = ? LIMIT ${maxCandidates + 1}`,
  numbersWithMetadata: `SELECT video_number FROM video_metadata ${inList} AND key = ? AND value = ?
    LIMIT ${maxCandidates + 1}`,
  numbersInState: `SELECT number FROM videos ${inList} AND state = ? LIMIT ${maxCandidates + 1}`,
  // A literal, because SQLite uses the partial index only then.
  numbersOfPrivate: `SELECT number FROM videos ${inList} AND is_public = 0 LIMIT ${maxCandidates + 1}`,
  numbersCreated: `SELECT number FROM videos INDEXED BY videos_by_creation ${inList}
    AND created_at_ms >= ? AND created_at_ms < ? LIMIT ${maxCandidates + 1}`,
  numbersOfLiveStream: `SELECT number FROM videos ${inList} AND live_stream_id = ? LIMIT ${maxCandidates + 1}`,
};

/**
 * Lists videos, exact at the moment of the response. Block counts locate a page without a filter or with one
 * that many videos match; counts are cached until the block changes. When an index leaves few candidates,
 * each is compared with the filter.
 */
export class SqliteVideoLists implements VideoLists {
  readonly #database: SqliteDatabase;
  readonly #texts: VideoTextIndex;
  readonly #blockCounts = new BlockCountCache();
  readonly #orders: Readonly<Record<VideoSortField, SortedVideos>> = {
    title: new SortedVideos('title'),
    createdAt: new SortedVideos('createdAt'),
    publishedAt: new SortedVideos('publishedAt'),
    updatedAt: new SortedVideos('updatedAt'),
    plays: new SortedVideos('plays'),
  };
  #cache = emptyCache(Number.NaN);
  #lastCounting: Promise<unknown> = Promise.resolve();

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#texts = new VideoTextIndex(database);
  }

  noteWrite(characters: number, connection: Connection): Promise<void> {
    return this.#texts.noteWrite(characters, connection);
  }

  async list(scope: ListScope, filter: VideoFilter, page: ListPage): Promise<VideoListPage> {
    const folded = foldFilter(filter);
    const conditions = sqlConditionsOf(folded);
    if (conditions.sql === '') {
      return this.#database.readNow(connection => this.#listUnfiltered(connection, scope, page));
    }
    if (trigramQuery(folded) !== undefined) await this.#texts.indexIfMany();
    const listed = this.#database.readNow(connection => {
      const candidates = this.#findCandidates(connection, scope, folded);
      return candidates && this.#listCandidates(connection, scope, { conditions, candidates, page });
    });
    if (listed !== undefined) return listed;
    // One list at a time, so that the event loop runs in between however many are requested.
    const counts = this.#blockCounts.of(JSON.stringify([scope, folded]));
    const search = { scope, filter: folded, conditions, page, counts };
    const counting = this.#lastCounting.then(() => this.#listByBlocks(search));
    this.#lastCounting = counting.catch(() => {}).then(() => yieldToEventLoop());
    return counting;
  }

  #listUnfiltered(connection: SqliteConnection, scope: ListScope, page: ListPage): VideoListPage {
    const cache = this.#currentCache();
    const name = `${cacheKeyOf(scope)} ${page.sort.field} ${page.sort.direction} ${page.currentPage} ${page.pageSize}`;
    const cached = cache.pages.get(name);
    if (cached !== undefined) return cached;
    const listed = this.#readUnfiltered(connection, scope, page);
    const room = Math.max(1, listed.rows.length);
    if (cache.rows + room > maxCachedRows) {
      cache.pages.clear();
      cache.rows = 0;
    }
    cache.pages.set(name, listed);
    cache.rows += room;
    return listed;
  }

  #readUnfiltered(connection: SqliteConnection, scope: ListScope, page: ListPage): VideoListPage {
    const order = this.#orders[page.sort.field];
    const total = this.#total(connection, scope, order);
    const range = pageRange(page, total);
    const rowsNearEdge = order.readNearEdge(connection, scope, range, total);
    if (rowsNearEdge !== undefined)
      return { rows: page.sort.direction === 'asc' ? rowsNearEdge : rowsNearEdge.reverse(), total };
    const blocks = order.blocks(connection, scope);
    const slices = blockSlices(blocks, block => block.videos, range, total)!;
    const numbers = order.numbersIn(connection, scope, noConditions, blocks, slices);
    return { rows: this.#readRows(connection, numbers, page), total };
  }

  #total(connection: SqliteConnection, scope: ListScope, order: SortedVideos): number {
    const { totals } = this.#currentCache();
    const list = cacheKeyOf(scope);
    let total = totals.get(list);
    if (total === undefined) {
      total = order.total(connection, scope);
      totals.set(list, total);
    }
    return total;
  }

  #currentCache() {
    // All changes of videos are made through this database.
    const { commits } = this.#database;
    if (commits !== this.#cache.commits) this.#cache = emptyCache(commits);
    return this.#cache;
  }

  #listCandidates(
    connection: SqliteConnection,
    scope: ListScope,
    {
      conditions,
      candidates,
      page,
    }: { conditions: SqlConditions; candidates: readonly number[]; page: ListPage },
  ): VideoListPage {
    const matching = this.#orders[page.sort.field].filterNumbers(connection, scope, conditions, candidates);
    const { from, to } = pageRange(page, matching.length);
    return { rows: this.#readRows(connection, matching.slice(from, to), page), total: matching.length };
  }

  async #listByBlocks(search: BlockSearch): Promise<VideoListPage> {
    const yieldUntilMs = performance.now() + maxYieldingMs;
    let orders: { commits: number; pageOrder: CountedSortOrder; countedOrder: CountedSortOrder } | undefined;
    const usesTexts = trigramQuery(search.filter)?.isExact === true;
    for (;;) {
      const timeSlice = new TimeSlice(
        performance.now() < yieldUntilMs ? timeSliceMs : Number.POSITIVE_INFINITY,
      );
      if (usesTexts) await this.#texts.index();
      const found = this.#database.readNow(connection => {
        // All changes are made through this database: blocks change only when this number does.
        const { commits } = this.#database;
        if (orders === undefined || orders.commits !== commits)
          orders = { commits, ...this.#openSortOrders(connection, search) };
        return this.#tryListByBlocks(connection, search, orders, timeSlice);
      });
      if (found !== undefined) {
        this.#blockCounts.trim();
        return found;
      }
      await yieldToEventLoop();
    }
  }

  #openSortOrders(
    connection: SqliteConnection,
    { scope, filter, conditions, page, counts }: BlockSearch,
  ): {
    pageOrder: CountedSortOrder;
    countedOrder: CountedSortOrder;
  } {
    const open = (field: VideoSortField): CountedSortOrder => {
      const order = this.#orders[field];
      const blocks = order.blocks(connection, scope);
      const known = counts.of(field);
      known.keepOnly(blocks);
      return {
        order,
        blocks,
        count: (reader, index, timeSlice) =>
          known.get(blocks[index]!) ??
          (timeSlice.hasTime()
            ? known.set(blocks[index]!, order.countInBlock(reader, scope, conditions, blocks, index))
            : undefined),
      };
    };
    const pageOrder = open(page.sort.field);
    // The index of the title order contains titles.
    const isTitleOnly = singleConditionOf(filter)?.title !== undefined;
    return {
      pageOrder,
      countedOrder: isTitleOnly && page.sort.field !== 'title' ? open('title') : pageOrder,
    };
  }

  /** Synchronous, so that it sees the database at one moment. */
  #tryListByBlocks(
    connection: SqliteConnection,
    search: BlockSearch,
    { pageOrder, countedOrder }: { pageOrder: CountedSortOrder; countedOrder: CountedSortOrder },
    timeSlice: TimeSlice,
  ): VideoListPage | undefined {
    const { scope, filter, conditions, page } = search;
    const tag = singleConditionOf(filter)?.tag;
    let total =
      tag === undefined
        ? this.#countByTrigrams(connection, search, pageOrder.blocks, timeSlice)
        : this.#countTagged(connection, scope, tag);
    if (total === 'later') return undefined;
    if (total === undefined) {
      total = 0;
      for (const index of countedOrder.blocks.keys()) {
        const count = countedOrder.count(connection, index, timeSlice);
        if (count === undefined) return undefined;
        total += count;
      }
    }
    const slices = blockSlices(
      pageOrder.blocks,
      (_, index) => pageOrder.count(connection, index, timeSlice),
      pageRange(page, total),
      total,
    );
    if (slices === undefined) return undefined;
    const numbers = pageOrder.order.numbersIn(connection, scope, conditions, pageOrder.blocks, slices);
    return { rows: this.#readRows(connection, numbers, page), total };
  }

  /**
   * Counts matches by the trigram index: faster than by blocks, but over all lists, so others are subtracted.
   * @returns `later` when the time is up; undefined when the index cannot tell
   */
  #countByTrigrams(
    connection: SqliteConnection,
    { scope, filter, conditions, counts }: BlockSearch,
    blocks: readonly BlockRow[],
    timeSlice: TimeSlice,
  ): number | 'later' | undefined {
    const query = trigramQuery(filter);
    if (query?.isExact !== true) return undefined;
    const own = blocks.reduce((sum, block) => sum + block.videos, 0);
    if (((connection.value(sql.allVideos, []) as number | null) ?? 0) - own > maxVideosInOtherLists)
      return undefined;
    const slices = this.#texts.slices(connection);
    if (slices === undefined) return 'later';
    const known = counts.of('trigrams');
    known.keepOnly(slices);
    let total = 0;
    for (const slice of slices) {
      const count = known.get(slice);
      if (count === undefined && !timeSlice.hasTime()) return 'later';
      total += count ?? known.set(slice, this.#texts.countIn(connection, slice, query.match));
    }
    return total - this.#countInOtherLists(connection, scope, conditions);
  }

  #countInOtherLists(
    connection: SqliteConnection,
    { projectId, isDiscarded }: ListScope,
    conditions: SqlConditions,
  ): number {
    const count = (which: string, ...values: (string | number)[]) =>
      (connection.value(sql.countInOtherLists(which, conditions), [...values, ...conditions.values]) as
        | number
        | undefined) ?? 0;
    return (
      count('v.project_id < ?', projectId) +
      count('v.project_id > ?', projectId) +
      count('v.project_id = ? AND v.is_discarded = ?', projectId, Number(!isDiscarded))
    );
  }

  #countTagged(connection: SqliteConnection, { projectId, isDiscarded }: ListScope, tag: string): number {
    const total = connection.value(sql.tagTotal, [projectId, Number(isDiscarded), tag]);
    return (total as number | undefined) ?? 0;
  }

  /** May include videos that do not match; undefined when there are too many. */
  #findCandidates(
    connection: SqliteConnection,
    scope: ListScope,
    filter: FoldedFilter,
  ): number[] | undefined {
    const { projectId, isDiscarded } = scope;
    const discarded = Number(isDiscarded);
    const find = (query: string, ...values: (string | number)[]) => {
      const found = connection.values(query, [projectId, discarded, ...values]) as number[];
      return found.length > maxCandidates ? undefined : found;
    };
    for (const tag of filter.tags) {
      if (this.#countTagged(connection, scope, tag) > maxCandidates) continue;
      return find(sql.numbersWithTag, tag);
    }
    for (const [key, value] of filter.metadata) {
      const found = find(sql.numbersWithMetadata, key, value);
      if (found !== undefined) return found;
    }
    if (filter.liveStreamId !== undefined) {
      const found = find(sql.numbersOfLiveStream, filter.liveStreamId);
      if (found !== undefined) return found;
    }
    const { status, public: isPublic, createdFromMs, createdToMs } = filter.columns;
    // Mostly, videos are ready and public.
    const few =
      (status !== undefined && status !== 'ready' ? find(sql.numbersInState, status) : undefined) ??
      (isPublic === false ? find(sql.numbersOfPrivate) : undefined) ??
      (createdFromMs === undefined && createdToMs === undefined
        ? undefined
        : find(sql.numbersCreated, createdFromMs ?? 0, createdToMs ?? Number.MAX_SAFE_INTEGER));
    if (few !== undefined) return few;
    const query = trigramQuery(filter);
    return query === undefined ? undefined : this.#texts.candidates(connection, query.match, maxCandidates);
  }

  #readRows(connection: SqliteConnection, ascending: readonly number[], page: ListPage): SelectedVideoRow[] {
    const numbers = page.sort.direction === 'asc' ? ascending : ascending.toReversed();
    return connection.prepare(sql.rowsByNumber).all(JSON.stringify(numbers)) as SelectedVideoRow[];
  }
}

function emptyCache(commits: number) {
  return {
    commits,
    totals: new LRUCache<string, number>(maxEntries(10_000)),
    pages: new Map<string, VideoListPage>(),
    rows: 0,
  };
}

function cacheKeyOf({ projectId, isDiscarded }: ListScope): string {
  return `${projectId} ${isDiscarded}`;
}

/** Allows at least one count, so that counting always progresses. */
class TimeSlice {
  readonly #endMs: number;
  #hasCounted = false;

  constructor(lengthMs: number) {
    this.#endMs = performance.now() + lengthMs;
  }

  hasTime(): boolean {
    const hasTime = !this.#hasCounted || performance.now() < this.#endMs;
    this.#hasCounted = true;
    return hasTime;
  }
}

/** The range of a page in the ascending order; `to` is exclusive. */
function pageRange(page: ListPage, total: number): { from: number; to: number } {
  const skipped = Math.min((page.currentPage - 1) * page.pageSize, total);
  const end = Math.min(skipped + page.pageSize, total);
  return page.sort.direction === 'asc'
    ? { from: skipped, to: end }
    : { from: total - end, to: total - skipped };
}
