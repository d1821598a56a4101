import type { Database } from '../../../store/database.ts';
import { type SelectedVideoRow, selectedColumns } from '../video-row.ts';
import type { SqlConditions } from './video-filter.ts';

export type VideoSortField = 'title' | 'createdAt' | 'publishedAt' | 'updatedAt';

export interface ListScope {
  readonly projectId: string;
  readonly isDiscarded: boolean;
}

export interface ListPage {
  readonly sort: { readonly field: VideoSortField; readonly direction: 'asc' | 'desc' };
  /** From 1. */
  readonly currentPage: number;
  readonly pageSize: number;
}

/** Neighbors in a sort order, up to the first key of the next block. */
export interface BlockRow {
  readonly first_key: string | number;
  readonly first_id: string;
  readonly videos: number;
  /** Random, and new after each change. */
  readonly revision: number;
}

interface BlockSlice {
  readonly index: number;
  readonly skip: number;
  readonly take: number;
}

/** Rows to skip with OFFSET from either end of the order; beyond, blocks are counted. */
const maxSkippedRows = 1_000;

interface SortOrder {
  readonly name: string;
  readonly column: string;
}

const sortOrders: Readonly<Record<VideoSortField, SortOrder>> = {
  title: { name: 'title', column: 'title_folded' },
  createdAt: { name: 'creation', column: 'created_at_ms' },
  publishedAt: { name: 'publication', column: 'published_at_ms' },
  updatedAt: { name: 'update', column: 'updated_at_ms' },
};

/** Raw SQL, because the `videos-list` benchmark depends on these indexes and this join order. */
function sqlOf({ name, column }: SortOrder) {
  const blocks = `FROM video_blocks_by_${name} WHERE project_id = ? AND is_discarded = ?`;
  const inList = 'v.project_id = ? AND v.is_discarded = ?';
  const videos = `FROM videos v INDEXED BY videos_by_${name} WHERE ${inList}`;
  const key = `(v.${column}, v.id)`;
  const inBlock = (selection: string, conditions: SqlConditions, ending: string) => {
    const upTo = (end: string) =>
      `SELECT ${selection} ${videos} AND ${key} >= (?, ?)${end}${conditions.sql} ${ending}`;
    return { before: upTo(` AND ${key} < (?, ?)`), last: upTo('') };
  };
  return {
    blocks: `SELECT first_key, first_id, videos, revision ${blocks} ORDER BY first_key, first_id`,
    total: `SELECT sum(videos) ${blocks}`,
    rows: (direction: 'ASC' | 'DESC') =>
      `SELECT ${selectedColumns} ${videos} ORDER BY v.${column} ${direction}, v.id ${direction} LIMIT ? OFFSET ?`,
    filterNumbers: (conditions: SqlConditions) =>
      `SELECT v.number FROM (SELECT DISTINCT value FROM json_each(?)) c CROSS JOIN videos v ON v.number = c.value
       WHERE ${inList}${conditions.sql} ORDER BY v.${column}, v.id`,
    countInBlock: (conditions: SqlConditions) => inBlock('count(*)', conditions, ''),
    numbersInBlock: (conditions: SqlConditions) =>
      inBlock('v.number', conditions, `ORDER BY v.${column}, v.id LIMIT ? OFFSET ?`),
  };
}

export class SortedVideos {
  readonly #sqlite: Database['sqlite'];
  readonly #sql;
  readonly #blocks;
  readonly #total;
  readonly #fromStart;
  readonly #fromEnd;

  constructor({ sqlite }: Database, field: VideoSortField) {
    const sql = sqlOf(sortOrders[field]);
    this.#sqlite = sqlite;
    this.#sql = sql;
    this.#blocks = sqlite.prepare<[string, number], BlockRow>(sql.blocks);
    this.#total = sqlite.prepare<[string, number], number>(sql.total).pluck();
    const prepareRows = (direction: 'ASC' | 'DESC') =>
      sqlite.prepare<[string, number, number, number], SelectedVideoRow>(sql.rows(direction));
    this.#fromStart = prepareRows('ASC');
    this.#fromEnd = prepareRows('DESC');
  }

  total({ projectId, isDiscarded }: ListScope): number {
    return this.#total.get(projectId, Number(isDiscarded)) ?? 0;
  }

  /** Reads a range in ascending order; undefined when it is far from both ends of the order. */
  readNearEdge(
    { projectId, isDiscarded }: ListScope,
    { from, to }: { from: number; to: number },
    total: number,
  ): SelectedVideoRow[] | undefined {
    const discarded = Number(isDiscarded);
    const left = total - to;
    if (Math.min(from, left) > maxSkippedRows) return undefined;
    if (from <= left) return this.#fromStart.all(projectId, discarded, to - from, from);
    return this.#fromEnd.all(projectId, discarded, to - from, left).reverse();
  }

  blocks({ projectId, isDiscarded }: ListScope): BlockRow[] {
    return this.#blocks.all(projectId, Number(isDiscarded));
  }

  blockCounter(
    scope: ListScope,
    conditions: SqlConditions,
    blocks: readonly BlockRow[],
  ): (index: number) => number {
    const inBlock = this.#prepareInBlock(this.#sql.countInBlock(conditions), conditions);
    return index => inBlock(scope, blocks, index)[0] ?? 0;
  }

  numbersIn(
    scope: ListScope,
    conditions: SqlConditions,
    blocks: readonly BlockRow[],
    slices: readonly BlockSlice[],
  ): number[] {
    const inBlock = this.#prepareInBlock(this.#sql.numbersInBlock(conditions), conditions);
    return slices.flatMap(({ index, skip, take }) => inBlock(scope, blocks, index, take, skip));
  }

  filterNumbers(
    { projectId, isDiscarded }: ListScope,
    conditions: SqlConditions,
    numbers: readonly number[],
  ): number[] {
    return this.#sqlite
      .prepare<unknown[], number>(this.#sql.filterNumbers(conditions))
      .pluck()
      .all(JSON.stringify(numbers), projectId, Number(isDiscarded), ...conditions.values);
  }

  #prepareInBlock(sql: { before: string; last: string }, conditions: SqlConditions) {
    const before = this.#sqlite.prepare<unknown[], number>(sql.before).pluck();
    const last = this.#sqlite.prepare<unknown[], number>(sql.last).pluck();
    return (scope: ListScope, blocks: readonly BlockRow[], index: number, ...more: number[]): number[] => {
      const { first_key, first_id } = blocks[index]!;
      const next = blocks[index + 1];
      const begin = [scope.projectId, Number(scope.isDiscarded), first_key, first_id];
      return next === undefined
        ? last.all(...begin, ...conditions.values, ...more)
        : before.all(...begin, next.first_key, next.first_id, ...conditions.values, ...more);
    };
  }
}

/** The range of a page in the ascending order; `to` is exclusive. */
export function pageRange(page: ListPage, total: number): { from: number; to: number } {
  const skipped = Math.min((page.currentPage - 1) * page.pageSize, total);
  const end = Math.min(skipped + page.pageSize, total);
  return page.sort.direction === 'asc'
    ? { from: skipped, to: end }
    : { from: total - end, to: total - skipped };
}

/** @param countOf returns undefined when the time slice is over, as this function does then */
export function blockSlices(
  blocks: readonly BlockRow[],
  countOf: (block: BlockRow, index: number) => number | undefined,
  { from, to }: { from: number; to: number },
  total: number,
): BlockSlice[] | undefined {
  const slices: BlockSlice[] = [];
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
