import type { Database } from '../../store/database.ts';
import { type NumberedFilter, tupleConditions } from './analytics-filters.store.ts';
import { columnOf, type Dimension, numberOf } from './dimensions.ts';
import { readInTurns } from './in-turns.ts';
import type { CounterName } from './playback.ts';
import { type Segment, type Span, segmentsOf } from './timeframe.ts';

/** What is added up: `over` divides `of` where a mean or a rate is asked for. */
export interface Measure {
  readonly of: CounterName;
  readonly over?: CounterName;
}

/** By what a result is told apart: values of a dimension, by number, or intervals, by their first second. */
export type Grouping =
  | { readonly by: 'nothing' }
  | { readonly by: 'dimension'; readonly dimension: Dimension }
  | { readonly by: 'interval'; readonly seconds: number };

/** Sums of a measure's two counts. */
export interface Summed {
  of: number;
  over: number;
}

const everySpan = [86_400, 3_600, 60];

/** Adds up what was counted. */
export class AnalyticsCounts {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Sums by group; with no grouping, of the group 0. Groups without anything are missing. */
  async sums(
    filter: NumberedFilter,
    span: Span,
    measure: Measure,
    grouping: Grouping,
  ): Promise<Map<number, Summed>> {
    const dimension = grouping.by === 'dimension' ? grouping.dimension : undefined;
    const filtered = [...filter.numbers.keys()];
    const only = dimension ?? filtered[0];
    // Counts of single values do when nothing but that dimension matters.
    const isSingle = filtered.every(name => name === only);
    const longest = grouping.by === 'interval' ? grouping.seconds : 86_400;
    const spans = everySpan.filter(seconds => seconds <= longest && (isSingle || seconds !== 86_400));
    const sums = new Map<number, Summed>();
    for (const segment of segmentsOf(span, spans)) {
      const source =
        segment.seconds === 60 || !isSingle
          ? this.#fromTuples(filter, segment, dimension)
          : this.#fromSums(filter, segment, only);
      await this.#add(sums, segment, source, measure, grouping);
    }
    return sums;
  }

  /** How often media were played since they are here. */
  total(project: number, mediaIds: readonly string[] | undefined, mediaType: string | undefined): number {
    const { sqlite } = this.#database;
    if (mediaIds !== undefined) {
      return sqlite
        .prepare<unknown[], number>(
          `SELECT total(plays) FROM analytics_totals
           WHERE project = ? AND media_id IN (SELECT value FROM json_each(?)) AND media_type LIKE ?`,
        )
        .pluck()
        .get(project, JSON.stringify(mediaIds), mediaType ?? '%')!;
    }
    return sqlite
      .prepare<unknown[], number>(
        'SELECT total(plays) FROM analytics_project_totals WHERE project = ? AND media_type LIKE ?',
      )
      .pluck()
      .get(project, mediaType ?? '%')!;
  }

  /** One page of the plays of each media since it is here, and how many media there are on all pages. */
  totals(
    project: number,
    filter: { readonly mediaIds: readonly string[] | undefined; readonly mediaType: string | undefined },
    page: {
      readonly field: 'metricValue' | 'dimensionValue';
      readonly direction: 'asc' | 'desc';
      readonly limit: number;
      readonly offset: number;
    },
  ): { rows: { dimensionValue: string; metricValue: number }[]; total: number } {
    const { sqlite } = this.#database;
    const { mediaIds, mediaType } = filter;
    const ids = mediaIds === undefined ? '' : ' AND media_id IN (SELECT value FROM json_each(?))';
    const type = mediaType === undefined ? '' : ' AND media_type = ?';
    const values = [
      project,
      ...(mediaIds === undefined ? [] : [JSON.stringify(mediaIds)]),
      ...(mediaType === undefined ? [] : [mediaType]),
    ];
    const total = sqlite
      .prepare<unknown[], number>(
        mediaIds === undefined
          ? `SELECT coalesce(sum(media), 0) FROM analytics_project_totals WHERE project = ?${type}`
          : `SELECT count(*) FROM analytics_totals WHERE project = ?${ids}${type}`,
      )
      .pluck()
      .get(...values)!;
    const { direction } = page;
    const order =
      page.field === 'metricValue' ? `plays ${direction}, media_id ${direction}` : `media_id ${direction}`;
    const rows = sqlite
      .prepare<unknown[], { dimensionValue: string; metricValue: number }>(
        `SELECT media_id AS dimensionValue, plays AS metricValue FROM analytics_totals
         WHERE project = ?${ids}${type} ORDER BY ${order} LIMIT ? OFFSET ?`,
      )
      .all(...values, page.limit, page.offset);
    return { rows, total };
  }

  #fromSums(filter: NumberedFilter, segment: Segment, dimension: Dimension | undefined): Source {
    const numbers = dimension === undefined ? undefined : filter.numbers.get(dimension);
    return {
      from: `analytics_sums c WHERE c.project = ? AND c.dimension = ? AND c.span = ?${
        numbers === undefined ? '' : ' AND c.value IN (SELECT value FROM json_each(?))'
      }`,
      values: [
        filter.project,
        numberOf(dimension),
        segment.seconds,
        ...(numbers === undefined ? [] : [numbers]),
      ],
      value: 'c.value',
    };
  }

  #fromTuples(filter: NumberedFilter, segment: Segment, dimension: Dimension | undefined): Source {
    const conditions = tupleConditions(filter);
    const media = segment.seconds === 60 ? undefined : filter.numbers.get('media-id');
    const table = segment.seconds === 60 ? 'analytics_minutes' : 'analytics_hours';
    const index = media === undefined ? '' : ' INDEXED BY analytics_hours_by_media';
    const isAlone = conditions.sql === '' && dimension === undefined;
    return {
      from: `${table} c${index}${isAlone ? '' : ' CROSS JOIN analytics_tuples t ON t.number = c.tuple'}
        WHERE c.project = ?${media === undefined ? '' : ' AND c.media_id IN (SELECT value FROM json_each(?))'}${conditions.sql}`,
      values: [filter.project, ...(media === undefined ? [] : [media]), ...conditions.values],
      value: dimension === undefined ? '0' : `t.${columnOf(dimension)}`,
    };
  }

  async #add(
    sums: Map<number, Summed>,
    segment: Segment,
    source: Source,
    measure: Measure,
    grouping: Grouping,
  ): Promise<void> {
    const group =
      grouping.by === 'interval'
        ? `c.at - c.at % ${grouping.seconds}`
        : grouping.by === 'dimension'
          ? source.value
          : '0';
    const over = measure.over === undefined ? '0' : `sum(c.${measure.over})`;
    const read = this.#database.sqlite
      .prepare<unknown[], [number, number, number]>(
        `SELECT ${group} AS grouped, sum(c.${measure.of}), ${over} FROM ${source.from}
         AND c.at >= ? AND c.at < ? GROUP BY grouped`,
      )
      .raw();
    await readInTurns({ ...segment, step: segment.seconds }, (from, to) => {
      for (const [key, of, divisor] of read.all(...source.values, from, to)) {
        const summed = sums.get(key);
        if (summed === undefined) sums.set(key, { of, over: divisor });
        else {
          summed.of += of;
          summed.over += divisor;
        }
      }
    });
  }
}

/** Where counts are read from: what follows `FROM`, what is bound in it, and where the value of the dimension stands. */
interface Source {
  readonly from: string;
  readonly values: readonly unknown[];
  readonly value: string;
}
