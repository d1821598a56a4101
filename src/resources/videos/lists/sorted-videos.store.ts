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

export interface BlockSlice {
  readonly index: number;
  readonly skip: number;
  readonly take: number;
}

/** Rows to skip with OFFSET from either end of the order; beyond, blocks are counted. */
const maxSkippedRows = 1_000;

const sortOrders: Readonly<Record<VideoSortField, { name: string; column: string }>> = {
  title: { name: 'title', column: 'title_folded' },
  createdAt: { name: 'creation', column: 'created_at_ms' },
  publishedAt: { name: 'publication', column: 'published_at_ms' },
  updatedAt: { name: 'update', column: 'updated_at_ms' },
};

export class SortedVideos {
  readonly #sqlite: Database['sqlite'];
  readonly #sortOrder: { readonly name: string; readonly column: string };
  readonly #blocks;
  readonly #total;
  readonly #fromStart;
  readonly #fromEnd;

  constructor({ sqlite }: Database, field: VideoSortField) {
    const order = sortOrders[field];
    this.#sqlite = sqlite;
    this.#sortOrder = order;
    this.#blocks = sqlite.prepare<[string, number], BlockRow>(
      `SELECT first_key, first_id, videos, revision FROM video_blocks_by_${order.name}
       WHERE project_id = ? AND is_discarded = ? ORDER BY first_key, first_id`,
    );
    this.#total = sqlite
      .prepare<[string, number], number>(
        `SELECT sum(videos) FROM video_blocks_by_${order.name} WHERE project_id = ? AND is_discarded = ?`,
      )
      .pluck();
    const stepped = (direction: 'ASC' | 'DESC') =>
      sqlite.prepare<[string, number, number, number], SelectedVideoRow>(
        `SELECT ${selectedColumns} FROM videos v INDEXED BY videos_by_${order.name} WHERE v.project_id = ? AND v.is_discarded = ?
         ORDER BY v.${order.column} ${direction}, v.id ${direction} LIMIT ? OFFSET ?`,
      );
    this.#fromStart = stepped('ASC');
    this.#fromEnd = stepped('DESC');
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
    const inBlock = this.#prepareBlockQuery<number>('count(*)', conditions, '');
    return index => inBlock(scope, blocks, index)[0] ?? 0;
  }

  numbersIn(
    scope: ListScope,
    conditions: SqlConditions,
    blocks: readonly BlockRow[],
    slices: readonly BlockSlice[],
  ): number[] {
    const { column } = this.#sortOrder;
    const inBlock = this.#prepareBlockQuery<number>(
      'v.number',
      conditions,
      `ORDER BY v.${column}, v.id LIMIT ? OFFSET ?`,
    );
    return slices.flatMap(({ index, skip, take }) => inBlock(scope, blocks, index, take, skip));
  }

  filterNumbers(
    { projectId, isDiscarded }: ListScope,
    conditions: SqlConditions,
    numbers: readonly number[],
  ): number[] {
    return this.#sqlite
      .prepare<unknown[], number>(
        `SELECT v.number FROM (SELECT DISTINCT value FROM json_each(?)) c CROSS JOIN videos v ON v.number = c.value
         WHERE v.project_id = ? AND v.is_discarded = ?${conditions.sql} ORDER BY v.${this.#sortOrder.column}, v.id`,
      )
      .pluck()
      .all(JSON.stringify(numbers), projectId, Number(isDiscarded), ...conditions.values);
  }

  #prepareBlockQuery<Value>(what: string, conditions: SqlConditions, ending: string) {
    const { name, column } = this.#sortOrder;
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
