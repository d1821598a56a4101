import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Database } from '../../../store/database.ts';

/** Rows of a table that follow one another in an index: those whose `fixed` columns have the values that are bound, in the order of `keys`. */
export interface IndexScan {
  /** With its short name `c`, and `INDEXED BY` where it matters. */
  readonly table: string;
  /** Conditions on `c` that all rows meet. */
  readonly fixed: string;
  /** The columns that follow in the index; the first one is what the range is told by. */
  readonly keys: readonly [string, string];
}

/** A part of a range: what is bound for its fixed columns, and the first key's first value and the one after its last. */
export interface ScanRange {
  readonly fixed: readonly unknown[];
  readonly from: number;
  readonly to: number;
}

/** What is read of the rows: columns, what they are joined with and must meet, what is bound in that, and the end of the statement. */
export interface ScanQuery {
  readonly columns: string;
  readonly join: string;
  readonly conditions: string;
  readonly values: readonly unknown[];
  readonly end: string;
}

/** How long one reading is meant to take. */
const targetReadMs = 1;
const initialRows = 128;
const minRows = 32;
const maxRows = 4_096;
/** Numbers of rows and values are larger. */
const belowAnyNumber = -1;

/**
 * Reads stretches of a range in pieces of so many rows as can be read in a moment, however many of them there are at a time; `take`
 * gets what each piece gives, as arrays.
 */
export async function readRowsInSlices<Row extends unknown[]>(
  { sqlite }: Pick<Database, 'sqlite'>,
  { table, fixed, keys: [first, second] }: IndexScan,
  { columns, join, conditions, values, end }: ScanQuery,
  {
    stretches,
    turn,
    take,
  }: {
    readonly stretches: readonly ScanRange[];
    readonly turn: TimeSlice;
    readonly take: (rows: Row[]) => void;
  },
): Promise<void> {
  const key = `c.${first}, c.${second}`;
  const findEnd = sqlite
    .prepare<unknown[], [number, number]>(
      `SELECT ${key} FROM ${table} WHERE ${fixed} AND (${key}) >= (?, ?) AND c.${first} < ?
       ORDER BY ${key} LIMIT 1 OFFSET ?`,
    )
    .raw();
  const read = sqlite
    .prepare<unknown[], Row>(
      `SELECT ${columns} FROM ${table} ${join} WHERE ${fixed} AND (${key}) >= (?, ?) AND (${key}) < (?, ?)
       ${conditions} ${end}`,
    )
    .raw();
  let rows = initialRows;
  for (const { fixed: fixedValues, from, to } of stretches) {
    let at: readonly [number, number] | undefined = [from, belowAnyNumber];
    while (at !== undefined) {
      const beganAt = performance.now();
      const next = findEnd.get(...fixedValues, ...at, to, rows);
      take(read.all(...fixedValues, ...at, ...(next ?? [to, belowAnyNumber]), ...values));
      at = next;
      const tookMs = performance.now() - beganAt;
      if (tookMs < targetReadMs / 2) rows = Math.min(maxRows, rows * 2);
      else if (tookMs > targetReadMs) rows = Math.max(minRows, rows >> 1);
      await turn.yieldIfOver();
    }
  }
}
