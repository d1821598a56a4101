import type { SqliteConnection } from '../../../../store/sqlite-connection.ts';
import { type SelectedVideoRow, selectedColumns } from '../video-row.ts';
import type { SqlConditions } from './video-filter.ts';
import type { ListScope, VideoSortField } from './video-lists.ts';

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
  plays: { name: 'plays', column: 'plays' },
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

/** Reads one sort order through a connection of SQLite. */
export class SortedVideos {
  readonly #sql;

  constructor(field: VideoSortField) {
    this.#sql = sqlOf(sortOrders[field]);
  }

  total(connection: SqliteConnection, { projectId, isDiscarded }: ListScope): number {
    return (connection.value(this.#sql.total, [projectId, Number(isDiscarded)]) as number | null) ?? 0;
  }

  /** Reads a range in ascending order; undefined when it is far from both ends of the order. */
  readNearEdge(
    connection: SqliteConnection,
    { projectId, isDiscarded }: ListScope,
    { from, to }: { from: number; to: number },
    total: number,
  ): SelectedVideoRow[] | undefined {
    const left = total - to;
    if (Math.min(from, left) > maxSkippedRows) return undefined;
    const read = (direction: 'ASC' | 'DESC', skipped: number) =>
      connection
        .prepare(this.#sql.rows(direction))
        .all(projectId, Number(isDiscarded), to - from, skipped) as SelectedVideoRow[];
    return from <= left ? read('ASC', from) : read('DESC', left).reverse();
  }

  blocks(connection: SqliteConnection, { projectId, isDiscarded }: ListScope): BlockRow[] {
    return connection.prepare(this.#sql.blocks).all(projectId, Number(isDiscarded)) as BlockRow[];
  }

  countInBlock(
    connection: SqliteConnection,
    scope: ListScope,
    conditions: SqlConditions,
    blocks: readonly BlockRow[],
    index: number,
  ): number {
    const sql = this.#sql.countInBlock(conditions);
    return (
      (valuesInBlock(connection, sql, { scope, conditions, blocks, index })[0] as number | undefined) ?? 0
    );
  }

  numbersIn(
    connection: SqliteConnection,
    scope: ListScope,
    conditions: SqlConditions,
    blocks: readonly BlockRow[],
    slices: readonly BlockSlice[],
  ): number[] {
    const sql = this.#sql.numbersInBlock(conditions);
    return slices.flatMap(
      ({ index, skip, take }) =>
        valuesInBlock(connection, sql, { scope, conditions, blocks, index }, take, skip) as number[],
    );
  }

  filterNumbers(
    connection: SqliteConnection,
    { projectId, isDiscarded }: ListScope,
    conditions: SqlConditions,
    numbers: readonly number[],
  ): number[] {
    const values = [JSON.stringify(numbers), projectId, Number(isDiscarded), ...conditions.values];
    return connection.values(this.#sql.filterNumbers(conditions), values) as number[];
  }
}

function valuesInBlock(
  connection: SqliteConnection,
  sql: { readonly before: string; readonly last: string },
  block: {
    readonly scope: ListScope;
    readonly conditions: SqlConditions;
    readonly blocks: readonly BlockRow[];
    readonly index: number;
  },
  ...more: number[]
): unknown[] {
  const { scope, conditions, blocks, index } = block;
  const { first_key, first_id } = blocks[index]!;
  const next = blocks[index + 1];
  const begin = [scope.projectId, Number(scope.isDiscarded), first_key, first_id];
  return next === undefined
    ? connection.values(sql.last, [...begin, ...conditions.values, ...more])
    : connection.values(sql.before, [...begin, next.first_key, next.first_id, ...conditions.values, ...more]);
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
