import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Selectable } from 'kysely';
import type { Database } from '../../store/database.ts';
import type { VideoRow } from '../../store/tables.ts';
import { BlockCounts, type CountsOfFilter } from './block-counts.ts';
import {
  type Conditions,
  conditionsOf,
  type FoldedFilter,
  foldFilter,
  soleConditionOf,
  trigramQuery,
  type VideoFilter,
} from './video-filter.ts';
import type { VideoTexts } from './video-texts.store.ts';

/** Fields that lists of videos can be sorted by. */
export type VideoSortField = 'title' | 'createdAt' | 'publishedAt' | 'updatedAt';

/** Which list: the videos of a project, or those of them that are discarded. */
export interface ListScope {
  readonly projectId: string;
  readonly isDiscarded: boolean;
}

/** Which part of a list, and in which order. */
export interface ListPage {
  readonly sort: { readonly field: VideoSortField; readonly direction: 'asc' | 'desc' };
  /** From 1. */
  readonly currentPage: number;
  readonly pageSize: number;
}

/** One page of a list, and how many videos are on all pages. */
export interface ListedVideos {
  readonly rows: Selectable<VideoRow>[];
  readonly total: number;
}

interface Order {
  readonly name: string;
  readonly column: string;
}
interface BlockRow {
  first_key: string | number;
  first_id: string;
  videos: number;
  revision: number;
}
/** Part of a block: `take` of its matching videos after the first `skip`. */
interface Slice {
  readonly index: number;
  readonly skip: number;
  readonly take: number;
}

const orders: Readonly<Record<VideoSortField, Order>> = {
  title: { name: 'title', column: 'title_folded' },
  createdAt: { name: 'creation', column: 'created_at_ms' },
  publishedAt: { name: 'publication', column: 'published_at_ms' },
  updatedAt: { name: 'update', column: 'updated_at_ms' },
};
/** Up to so many videos that come into question are all looked at; of more, blocks are counted. */
const candidatesAtMost = 2_000;
/** How long counting goes on before others have their turn. */
const sliceMs = 8;
/** When so many videos change meanwhile that counting never gets done, it gets done in one go. */
const patienceMs = 5_000;

/**
 * Pages of lists of videos, exact at the moment of their answer. Without a filter, and with one that many videos meet, a page is
 * found by the counts of the blocks in its sort order; what was counted is kept and holds until the block changes. Where only few
 * videos come into question, by an index, these are looked at one by one.
 */
export class VideoLists {
  readonly #database: Database;
  readonly #texts: VideoTexts;
  readonly #kept = new BlockCounts();
  readonly #tagTotal;
  readonly #read;
  readonly #orders: Readonly<Record<VideoSortField, OrderedVideos>>;
  #lastCounting: Promise<unknown> = Promise.resolve();

  constructor(database: Database, texts: VideoTexts) {
    this.#database = database;
    this.#texts = texts;
    this.#tagTotal = database.sqlite
      .prepare<[string, number, string], number>(
        'SELECT videos FROM tags WHERE project_id = ? AND is_discarded = ? AND tag = ?',
      )
      .pluck();
    this.#read = database.sqlite.prepare<[string], Selectable<VideoRow>>(
      'SELECT v.* FROM json_each(?) page CROSS JOIN videos v ON v.number = page.value ORDER BY page.key',
    );
    const ordered = (field: VideoSortField) => new OrderedVideos(database, orders[field]);
    this.#orders = {
      title: ordered('title'),
      createdAt: ordered('createdAt'),
      publishedAt: ordered('publishedAt'),
      updatedAt: ordered('updatedAt'),
    };
  }

  /** One page of a list, and how many videos there are on all pages. */
  async list(scope: ListScope, filter: VideoFilter, page: ListPage): Promise<ListedVideos> {
    const folded = foldFilter(filter);
    const conditions = conditionsOf(folded);
    if (conditions.sql === '') return this.#unfiltered(scope, page);
    const candidates = this.#candidates(scope, folded);
    if (candidates !== undefined) return this.#amongFew(scope, conditions, candidates, page);
    // One after the other, so that however many are asked for, others have their turn in between.
    const counting = this.#lastCounting.then(() => this.#amongMany(scope, folded, conditions, page));
    this.#lastCounting = counting.catch(() => {}).then(() => nextTurn());
    return counting;
  }

  #unfiltered(scope: ListScope, page: ListPage): ListedVideos {
    const order = this.#orders[page.sort.field];
    const blocks = order.blocks(scope);
    const total = blocks.reduce((sum, block) => sum + block.videos, 0);
    const slices = slicesOf(blocks, block => block.videos, rangeOf(page, total), total)!;
    const numbers = order.numbers(scope, noConditions, blocks, slices);
    return { rows: this.#rows(numbers, page), total };
  }

  #amongFew(scope: ListScope, conditions: Conditions, candidates: number[], page: ListPage): ListedVideos {
    const matching = this.#orders[page.sort.field].among(scope, conditions, candidates);
    const { from, to } = rangeOf(page, matching.length);
    return { rows: this.#rows(matching.slice(from, to), page), total: matching.length };
  }

  async #amongMany(
    scope: ListScope,
    filter: FoldedFilter,
    conditions: Conditions,
    page: ListPage,
  ): Promise<ListedVideos> {
    const counts = this.#kept.of(JSON.stringify([scope, filter]));
    const giveUpAtMs = performance.now() + patienceMs;
    for (;;) {
      const nowMs = performance.now();
      const deadlineMs = nowMs < giveUpAtMs ? nowMs + sliceMs : Number.POSITIVE_INFINITY;
      const found = this.#tryAmongMany({ scope, filter, conditions, page, counts, deadlineMs });
      if (found !== undefined) {
        this.#kept.trim();
        return found;
      }
      await nextTurn();
    }
  }

  /** Counts on until the page is found or the time is up; without an `await`, so that all it sees is of one moment. */
  #tryAmongMany(search: {
    scope: ListScope;
    filter: FoldedFilter;
    conditions: Conditions;
    page: ListPage;
    counts: CountsOfFilter;
    deadlineMs: number;
  }): ListedVideos | undefined {
    const { scope, filter, conditions, page, counts, deadlineMs } = search;
    const counter = (field: VideoSortField) => {
      const order = this.#orders[field];
      const blocks = order.blocks(scope);
      const count = order.counter(scope, conditions, blocks);
      const known = counts.of(field);
      known.keepOnly(blocks);
      return {
        order,
        blocks,
        countOf: (block: BlockRow, index: number) =>
          known.get(block) ?? (performance.now() > deadlineMs ? undefined : known.set(block, count(index))),
      };
    };
    // Titles alone stand in an index, so there they are counted fastest, whatever the order of the page.
    const sole = soleConditionOf(filter);
    const asked = counter(page.sort.field);
    const counted = sole?.title !== undefined && page.sort.field !== 'title' ? counter('title') : asked;
    let total = sole?.tag === undefined ? undefined : this.#tagged(scope, sole.tag);
    if (total === undefined) {
      total = 0;
      for (const [index, block] of counted.blocks.entries()) {
        const count = counted.countOf(block, index);
        if (count === undefined) return undefined;
        total += count;
      }
    }
    const slices = slicesOf(asked.blocks, asked.countOf, rangeOf(page, total), total);
    if (slices === undefined) return undefined;
    const numbers = asked.order.numbers(scope, conditions, asked.blocks, slices);
    return { rows: this.#rows(numbers, page), total };
  }

  #tagged({ projectId, isDiscarded }: ListScope, tag: string): number {
    return this.#tagTotal.get(projectId, Number(isDiscarded), tag) ?? 0;
  }

  /** Numbers of all videos that come into question, and maybe others; undefined when there are too many. */
  #candidates(scope: ListScope, filter: FoldedFilter): number[] | undefined {
    const { projectId, isDiscarded } = scope;
    const discarded = Number(isDiscarded);
    const { sqlite } = this.#database;
    const find = (sql: string, ...values: string[]) => {
      const found = sqlite
        .prepare<unknown[], number>(`${sql} LIMIT ${candidatesAtMost + 1}`)
        .pluck()
        .all(projectId, discarded, ...values);
      return found.length > candidatesAtMost ? undefined : found;
    };
    const where = 'WHERE project_id = ? AND is_discarded = ?';
    for (const tag of filter.tags) {
      if (this.#tagged(scope, tag) > candidatesAtMost) continue;
      return find(`SELECT video_number FROM video_tags ${where} AND tag = ?`, tag);
    }
    for (const [key, value] of filter.metadata) {
      const found = find(
        `SELECT video_number FROM video_metadata ${where} AND key = ? AND value = ?`,
        key,
        value,
      );
      if (found !== undefined) return found;
    }
    if (filter.liveStreamId !== undefined) {
      const found = find(`SELECT number FROM videos ${where} AND live_stream_id = ?`, filter.liveStreamId);
      if (found !== undefined) return found;
    }
    const query = trigramQuery(filter);
    return query === undefined ? undefined : this.#texts.candidates(query, candidatesAtMost);
  }

  #rows(ascending: number[], page: ListPage): Selectable<VideoRow>[] {
    const numbers = page.sort.direction === 'asc' ? ascending : ascending.toReversed();
    return this.#read.all(JSON.stringify(numbers));
  }
}

const noConditions: Conditions = { sql: '', values: [] };

/** The videos of a list in ascending order of one field, then of their ids. */
class OrderedVideos {
  readonly #sqlite: Database['sqlite'];
  readonly #order: Order;
  readonly #blocks;

  constructor({ sqlite }: Database, order: Order) {
    this.#sqlite = sqlite;
    this.#order = order;
    this.#blocks = sqlite.prepare<[string, number], BlockRow>(
      `SELECT first_key, first_id, videos, revision FROM video_blocks_by_${order.name}
       WHERE project_id = ? AND is_discarded = ? ORDER BY first_key, first_id`,
    );
  }

  /** All blocks in their order. */
  blocks({ projectId, isDiscarded }: ListScope): BlockRow[] {
    return this.#blocks.all(projectId, Number(isDiscarded));
  }

  /** What counts how many videos of the block at an index meet the conditions. */
  counter(scope: ListScope, conditions: Conditions, blocks: readonly BlockRow[]): (index: number) => number {
    const inBlock = this.#prepareInBlocks<number>('count(*)', conditions, '');
    return index => inBlock(scope, blocks, index)[0] ?? 0;
  }

  /** Numbers of the videos in slices of blocks. */
  numbers(
    scope: ListScope,
    conditions: Conditions,
    blocks: readonly BlockRow[],
    slices: readonly Slice[],
  ): number[] {
    const { column } = this.#order;
    const inBlock = this.#prepareInBlocks<number>(
      'v.number',
      conditions,
      `ORDER BY v.${column}, v.id LIMIT ? OFFSET ?`,
    );
    return slices.flatMap(({ index, skip, take }) => inBlock(scope, blocks, index, take, skip));
  }

  /** Those of `numbers` that are in the list and meet the conditions. */
  among({ projectId, isDiscarded }: ListScope, conditions: Conditions, numbers: readonly number[]): number[] {
    return this.#sqlite
      .prepare<unknown[], number>(
        `SELECT v.number FROM (SELECT DISTINCT value FROM json_each(?)) c CROSS JOIN videos v ON v.number = c.value
         WHERE v.project_id = ? AND v.is_discarded = ?${conditions.sql} ORDER BY v.${this.#order.column}, v.id`,
      )
      .pluck()
      .all(JSON.stringify(numbers), projectId, Number(isDiscarded), ...conditions.values);
  }

  #prepareInBlocks<Value>(what: string, conditions: Conditions, ending: string) {
    const { name, column } = this.#order;
    const key = `(v.${column}, v.id)`;
    const prepare = (bound: string) =>
      this.#sqlite
        .prepare<unknown[], Value>(
          `SELECT ${what} FROM videos v INDEXED BY videos_by_${name}
           WHERE v.project_id = ? AND v.is_discarded = ? AND ${key} >= (?, ?)${bound}${conditions.sql} ${ending}`,
        )
        .pluck();
    const before = prepare(` AND ${key} < (?, ?)`);
    const last = prepare('');
    return (scope: ListScope, blocks: readonly BlockRow[], index: number, ...more: number[]): Value[] => {
      const { first_key, first_id } = blocks[index]!;
      const next = blocks[index + 1];
      const begin = [scope.projectId, Number(scope.isDiscarded), first_key, first_id];
      return next === undefined
        ? last.all(...begin, ...conditions.values, ...more)
        : before.all(...begin, next.first_key, next.first_id, ...conditions.values, ...more);
    };
  }
}

/** Where a page lies in the ascending order: from `from`, up to but without `to`. */
function rangeOf(page: ListPage, total: number): { from: number; to: number } {
  const skipped = Math.min((page.currentPage - 1) * page.pageSize, total);
  const end = Math.min(skipped + page.pageSize, total);
  return page.sort.direction === 'asc'
    ? { from: skipped, to: end }
    : { from: total - end, to: total - skipped };
}

/**
 * Which parts of which blocks are in a range, ascending, counting from the nearer end.
 *
 * @param countOf undefined for a block that there is no time to count
 * @returns undefined when there was no time
 */
function slicesOf(
  blocks: readonly BlockRow[],
  countOf: (block: BlockRow, index: number) => number | undefined,
  { from, to }: { from: number; to: number },
  total: number,
): Slice[] | undefined {
  const slices: Slice[] = [];
  if (from >= to) return slices;
  const isForward = from + to <= total;
  let passed = 0;
  for (let step = 0; step < blocks.length; step += 1) {
    const index = isForward ? step : blocks.length - 1 - step;
    const count = countOf(blocks[index]!, index);
    if (count === undefined) return undefined;
    const begin = isForward ? passed : total - passed - count;
    const first = Math.max(from, begin);
    const end = Math.min(to, begin + count);
    if (first < end) slices.push({ index, skip: first - begin, take: end - first });
    passed += count;
    if (isForward ? passed >= to : total - passed <= from) break;
  }
  return isForward ? slices : slices.reverse();
}
