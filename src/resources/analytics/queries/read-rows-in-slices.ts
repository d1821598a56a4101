import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Connection } from '../../../store/connection.ts';
import { textQuery } from '../../../store/raw-query.ts';

/** Consecutive rows of an index: with the bound values in `fixed` columns, ordered by `keys`. */
export interface IndexScan {
  /** The table with the alias `c`, and its index where that matters. */
  readonly table: string;
  readonly fixed: string;
  /** The columns that follow in the index. Ranges are given in the first one. */
  readonly keys: readonly [string, string];
}

/** Values of the fixed columns, and the range of the first key. */
export interface ScanRange {
  readonly fixed: readonly unknown[];
  readonly from: number;
  readonly to: number;
}

interface ScanQuery {
  readonly columns: string;
  readonly join: string;
  readonly conditions: string;
  readonly values: readonly unknown[];
  readonly end: string;
}

const targetReadMs = 1;
const initialRows = 128;
const minRows = 32;
const maxRows = 4_096;
const belowAnyNumber = -1;

/**
 * Scans an index in chunks of about a millisecond, however dense the rows are. `take` receives each chunk.
 *
 * Raw SQL: Kysely has no `INDEXED BY`. `analytics` in `docs/benchmarks.md` holds the speed.
 */
export async function readRowsInSlices<Row>(
  connection: Pick<Connection, 'all' | 'first' | 'dialect'>,
  { table, fixed, keys: [first, second] }: IndexScan,
  { columns, join, conditions, values, end }: ScanQuery,
  {
    stretches,
    slice,
    take,
  }: {
    readonly stretches: readonly ScanRange[];
    readonly slice: TimeSlice;
    readonly take: (rows: Row[]) => void;
  },
): Promise<void> {
  const key = `c.${first}, c.${second}`;
  const findEnd = `SELECT c.${first} AS first, c.${second} AS second FROM ${table}
    WHERE ${fixed} AND (${key}) >= (?, ?) AND c.${first} < ? ORDER BY ${key} LIMIT 1 OFFSET ?`;
  const read = `SELECT ${columns} FROM ${table} ${join}
    WHERE ${fixed} AND (${key}) >= (?, ?) AND (${key}) < (?, ?) ${conditions} ${end}`;
  let rows = initialRows;
  for (const { fixed: fixedValues, from, to } of stretches) {
    let at: readonly [number, number] | undefined = [from, belowAnyNumber];
    while (at !== undefined) {
      const beganAt = performance.now();
      const next: { first: number; second: number } | undefined = await connection.first(
        textQuery(connection, findEnd, [...fixedValues, ...at, to, rows]),
      );
      const until: readonly [number, number] =
        next === undefined ? [to, belowAnyNumber] : [next.first, next.second];
      take(
        await connection.all(textQuery<Row>(connection, read, [...fixedValues, ...at, ...until, ...values])),
      );
      at = next === undefined ? undefined : until;
      const tookMs = performance.now() - beganAt;
      if (tookMs < targetReadMs / 2) rows = Math.min(maxRows, rows * 2);
      else if (tookMs > targetReadMs) rows = Math.max(minRows, rows >> 1);
      await slice.yieldIfOver();
    }
  }
}
