import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Database } from '../../../store/database.ts';
import { columnOf } from '../dimensions.ts';
import { maxIntervalSlots, slotSeconds } from '../reports/playback.ts';
import { intervalsOf, type Span } from '../timeframe.ts';
import { type ResolvedFilter, tupleConditions, tupleJoin } from './analytics-filters.store.ts';
import { ConcurrentViewers } from './concurrent-viewers.ts';
import type { Grouping } from './counts.store.ts';
import { mapInSlices } from './map-in-slices.ts';
import { readRowsInSlices } from './read-rows-in-slices.ts';

interface ViewingIntervalsQuery {
  readonly filter: ResolvedFilter;
  readonly span: Span;
  readonly grouping: Grouping;
  readonly slice: TimeSlice;
}

interface IntervalRow {
  readonly begins: number;
  readonly ends: number;
  readonly viewer: number;
  readonly grouped: number;
  readonly media: number;
}

const intervalScan = {
  table: 'analytics_stays c',
  fixed: 'c.project = ?',
  keys: ['begins', 'playback'],
} as const;
const slotsPerDay = 86_400 / slotSeconds;

/** Rounds spans to slots of ten seconds. */
export class ViewingIntervalsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Counts concurrent viewers by group; without grouping, in group 0. Empty groups are missing. */
  async concurrentViewers(
    query: ViewingIntervalsQuery,
    value: 'peak' | 'average',
    isUnique: boolean,
  ): Promise<Map<number, number>> {
    const { span, grouping, slice } = query;
    const from = Math.floor(span.from / slotSeconds);
    const to = Math.max(from + 1, Math.ceil(span.to / slotSeconds));
    const groups = new Map<number, ConcurrentViewers>();
    const add = (group: number, begins: number, ends: number, viewer: number) => {
      let viewers = groups.get(group);
      if (viewers === undefined) {
        viewers = new ConcurrentViewers(isUnique);
        groups.set(group, viewers);
      }
      viewers.add(begins, ends, viewer);
    };
    const interval = grouping.by === 'interval' ? grouping.seconds : undefined;
    await this.#read(
      query,
      { from: from - maxIntervalSlots, to },
      ({ begins, ends, viewer, grouped: group }) => {
        if (ends < from) return;
        const first = Math.max(begins, from);
        const last = Math.min(ends, to - 1);
        if (interval === undefined) {
          add(group, first, last, viewer);
          return;
        }
        for (const at of intervalsOf({ from: first * slotSeconds, to: (last + 1) * slotSeconds }, interval)) {
          const atFirst = at / slotSeconds;
          const atLast = atFirst + interval / slotSeconds - 1;
          add(at, Math.max(first, atFirst), Math.min(last, atLast), viewer);
        }
      },
    );
    const slotsOf = (group: number) => {
      if (interval === undefined) return to - from;
      const groupFirst = group / slotSeconds;
      return Math.min(to, groupFirst + interval / slotSeconds) - Math.max(from, groupFirst);
    };
    return new Map(
      await mapInSlices(groups, slice, ([group, viewers]) => [
        group,
        value === 'peak' ? viewers.peak : viewers.averageOver(slotsOf(group)),
      ]),
    );
  }

  /** Counts each viewer with a view once a day. `bit`: the view's length. */
  async uniqueViews(query: ViewingIntervalsQuery, bit: number): Promise<Map<number, number>> {
    const { span, grouping } = query;
    const range = { from: Math.floor(span.from / slotSeconds), to: Math.ceil(span.to / slotSeconds) };
    const interval = grouping.by === 'interval' ? grouping.seconds : undefined;
    const periodSlots = interval === undefined ? slotsPerDay : interval / slotSeconds;
    const counts = new Map<number, number>();
    let seen = new Map<number, Set<number>>();
    let period = Number.NaN;
    await this.#read(
      query,
      range,
      ({ begins, viewer, grouped: value }) => {
        const current = Math.floor(begins / periodSlots);
        if (current !== period) seen = new Map();
        period = current;
        const group = interval === undefined ? value : current * interval;
        const viewers = seen.get(group);
        if (viewers?.has(viewer)) return;
        if (viewers === undefined) seen.set(group, new Set([viewer]));
        else viewers.add(viewer);
        counts.set(group, (counts.get(group) ?? 0) + 1);
      },
      1 << bit,
    );
    return counts;
  }

  async #read(
    { filter, grouping, slice }: ViewingIntervalsQuery,
    { from, to }: Span,
    take: (interval: Omit<IntervalRow, 'media'>) => void,
    views?: number,
  ): Promise<void> {
    const { media, project } = filter;
    const { dialect } = this.#database;
    const { sql, values } = tupleConditions(filter, dialect);
    const isAlone = sql === '' && grouping.by !== 'dimension' && media === undefined;
    const group = grouping.by === 'dimension' ? `t.${columnOf(grouping.dimension)}` : '0';
    const reading = {
      columns: `c.begins, c.ends, c.viewer, ${group} AS grouped, ${media === undefined ? '0' : 't.media_id'} AS media`,
      join: isAlone ? '' : tupleJoin(dialect),
      conditions: views === undefined ? sql : `${sql} AND (c.views & ${views}) <> 0`,
      values,
      end: 'ORDER BY c.begins, c.playback',
    };
    await readRowsInSlices<IntervalRow>(this.#database, intervalScan, reading, {
      stretches: [{ fixed: [project], from, to }],
      slice,
      take: rows => {
        for (const row of rows) if (media?.has(row.media) !== false) take(row);
      },
    });
  }
}
