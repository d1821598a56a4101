import type { Database } from '../../store/database.ts';
import { type NumberedFilter, tupleConditions } from './analytics-filters.store.ts';
import { Attendance } from './attendance.ts';
import type { Grouping } from './counts.store.ts';
import { columnOf } from './dimensions.ts';
import { readInTurns } from './in-turns.ts';
import { slotSeconds, staySlotsAtMost } from './playback.ts';
import { intervalsOf, type Span } from './timeframe.ts';

/** How many were there in a group. */
export interface Attended {
  readonly peak: number;
  readonly average: number;
}

const slotsInADay = 86_400 / slotSeconds;

/** Reads who was there when. Spans are cut down to whole slots of ten seconds. */
export class Stays {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** How many were there at a time, by group; with no grouping, in the group 0. Groups where nobody was are missing. */
  async attendance(
    filter: NumberedFilter,
    span: Span,
    grouping: Grouping,
    isUnique: boolean,
  ): Promise<Map<number, Attended>> {
    const from = Math.floor(span.from / slotSeconds);
    const to = Math.max(from + 1, Math.ceil(span.to / slotSeconds));
    const groups = new Map<number, Attendance>();
    const add = (group: number, begins: number, ends: number, viewer: number) => {
      let attendance = groups.get(group);
      if (attendance === undefined) {
        attendance = new Attendance(isUnique);
        groups.set(group, attendance);
      }
      attendance.add(begins, ends, viewer);
    };
    const interval = grouping.by === 'interval' ? grouping.seconds : undefined;
    await this.#read(
      filter,
      { from: from - staySlotsAtMost, to },
      grouping,
      ([begins, ends, viewer, value]) => {
        if (ends < from) return;
        const first = Math.max(begins, from);
        const last = Math.min(ends, to - 1);
        if (interval === undefined) {
          add(value, first, last, viewer);
          return;
        }
        for (const group of intervalsOf(
          { from: first * slotSeconds, to: (last + 1) * slotSeconds },
          interval,
        )) {
          const groupFirst = group / slotSeconds;
          const groupLast = groupFirst + interval / slotSeconds - 1;
          add(group, Math.max(first, groupFirst), Math.min(last, groupLast), viewer);
        }
      },
    );
    const slotsOf = (group: number) => {
      if (interval === undefined) return to - from;
      const groupFirst = group / slotSeconds;
      return Math.min(to, groupFirst + interval / slotSeconds) - Math.max(from, groupFirst);
    };
    return new Map(
      [...groups].map(([group, attendance]) => [
        group,
        { peak: attendance.peak, average: attendance.averageOver(slotsOf(group)) },
      ]),
    );
  }

  /** How many viewers had a view, each once a day, by group. `bit`: place of the view's length. */
  async uniqueViews(
    filter: NumberedFilter,
    span: Span,
    grouping: Grouping,
    bit: number,
  ): Promise<Map<number, number>> {
    const range = { from: Math.floor(span.from / slotSeconds), to: Math.ceil(span.to / slotSeconds) };
    const interval = grouping.by === 'interval' ? grouping.seconds : undefined;
    const periodSlots = interval === undefined ? slotsInADay : interval / slotSeconds;
    const counts = new Map<number, number>();
    const seen = new Map<number, Set<number>>();
    let period = Number.NaN;
    const closePeriod = () => {
      for (const [group, viewers] of seen) counts.set(group, (counts.get(group) ?? 0) + viewers.size);
      seen.clear();
    };
    await this.#read(
      filter,
      range,
      grouping,
      ([begins, , viewer, value]) => {
        const current = Math.floor(begins / periodSlots);
        if (current !== period) closePeriod();
        period = current;
        const group = interval === undefined ? value : current * interval;
        const viewers = seen.get(group);
        if (viewers === undefined) seen.set(group, new Set([viewer]));
        else viewers.add(viewer);
      },
      1 << bit,
    );
    closePeriod();
    return counts;
  }

  /** Hands over begin, end, viewer and value of each stay that begins in a range of slots, in their order. */
  async #read(
    filter: NumberedFilter,
    range: { readonly from: number; readonly to: number },
    grouping: Grouping,
    take: (row: [number, number, number, number]) => void,
    views?: number,
  ): Promise<void> {
    const conditions = tupleConditions(filter);
    const value = grouping.by === 'dimension' ? `t.${columnOf(grouping.dimension)}` : '0';
    const isAlone = conditions.sql === '' && grouping.by !== 'dimension';
    const read = this.#database.sqlite
      .prepare<unknown[], [number, number, number, number]>(
        `SELECT s.begins, s.ends, s.viewer, ${value} FROM analytics_stays s
         ${isAlone ? '' : 'CROSS JOIN analytics_tuples t ON t.number = s.tuple'}
         WHERE s.project = ?${conditions.sql} AND s.begins >= ? AND s.begins < ?
         ${views === undefined ? '' : `AND s.views & ${views} <> 0`} ORDER BY s.begins`,
      )
      .raw();
    await readInTurns({ ...range, step: 1 }, (from, to) => {
      for (const row of read.all(filter.project, ...conditions.values, from, to)) take(row);
    });
  }
}
