import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import { type Counts, counterNames } from './playback.ts';

/** One combination of the values of all dimensions. */
export interface CountedTuple {
  readonly number: number;
  readonly project: number;
  /** Values in the order of the dimensions: the media first. */
  readonly values: readonly number[];
}

interface CountedMedia {
  readonly id: string;
  readonly type: string;
}

/** Tables of counts, those with the most common rows last: they stay locked until the commit. */
const countTables = ['minutes', 'hours', 'sums', 'totals'] as const;
type CountTable = (typeof countTables)[number];

export interface CountRows {
  readonly table: CountTable;
  readonly rows: readonly (readonly unknown[])[];
}

const hourSeconds = 3_600;
const daySeconds = 86_400;
const playsIndex = counterNames.indexOf('plays');

interface TupleMinute {
  readonly tuple: CountedTuple;
  readonly media: CountedMedia;
  readonly minute: number;
  readonly counts: Counts;
}

/** Counts of playbacks, added up by tuple and minute. */
export class CountSums {
  readonly #minutes = new Map<string, TupleMinute>();

  get size(): number {
    return this.#minutes.size;
  }

  add(tuple: CountedTuple, media: CountedMedia, minute: number, counts: Counts): void {
    const name = `${minute} ${tuple.number}`;
    const sum = this.#minutes.get(name);
    if (sum === undefined) this.#minutes.set(name, { tuple, media, minute, counts: [...counts] });
    else addCounts(sum.counts, counts);
  }

  addAll(others: CountSums): void {
    for (const { tuple, media, minute, counts } of others.#minutes.values())
      this.add(tuple, media, minute, counts);
  }

  /** Returns the rows to add to each table, at most `maxRows` at a time. Those of each batch are in the order of their keys. */
  async rows(maxRows: number, slice?: TimeSlice): Promise<CountRows[]> {
    const tables: Record<CountTable, RowSums> = {
      minutes: new RowSums(),
      hours: new RowSums(),
      sums: new RowSums(),
      totals: new RowSums(),
    };
    for (const { tuple, media, minute, counts } of this.#minutes.values()) {
      const { project, number, values } = tuple;
      const hour = minute - (minute % hourSeconds);
      tables.minutes.add([project, minute, number], counts);
      tables.hours.add([project, hour, number, values[0]!], counts);
      for (const [span, at] of [
        [hourSeconds, hour],
        [daySeconds, minute - (minute % daySeconds)],
      ] as const) {
        tables.sums.add([project, 0, span, at, 0], counts);
        for (const [index, value] of values.entries())
          tables.sums.add([project, index + 1, span, at, value], counts);
      }
      const plays = counts[playsIndex]!;
      if (plays > 0) tables.totals.add([project, media.id, media.type], [plays]);
      await slice?.yieldIfOver();
    }
    return countTables.flatMap(table =>
      tables[table].batches(maxRows).map((rows): CountRows => ({ table, rows })),
    );
  }
}

class RowSums {
  readonly #rows = new Map<string, { readonly key: readonly unknown[]; readonly counts: Counts }>();

  add(key: readonly unknown[], counts: Counts): void {
    const name = key.join(' ');
    const row = this.#rows.get(name);
    if (row === undefined) this.#rows.set(name, { key, counts: [...counts] });
    else addCounts(row.counts, counts);
  }

  /** The keys in one order, so that transactions of several nodes do not lock each other out. */
  batches(maxRows: number): unknown[][][] {
    const rows = [...this.#rows];
    const batches: unknown[][][] = [];
    for (let first = 0; first < rows.length; first += maxRows) {
      const batch = rows.slice(first, first + maxRows).sort(([a], [b]) => (a < b ? -1 : 1));
      batches.push(batch.map(([, { key, counts }]) => [...key, ...counts]));
    }
    return batches;
  }
}

function addCounts(sum: Counts, counts: Counts): void {
  for (const [index, count] of counts.entries()) sum[index]! += count;
}
