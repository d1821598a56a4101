import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Database } from '../../../store/database.ts';
import { columnOf, type Dimension, numberOf } from '../dimensions.ts';
import type { CounterName } from '../reports/playback.ts';
import { type Segment, type Span, segmentsOf } from '../timeframe.ts';
import { type ResolvedFilter, tupleConditions } from './analytics-filters.store.ts';
import { type IndexScan, readRowsInSlices, type ScanRange } from './read-rows-in-slices.ts';

/** For averages and rates, `over` is the divisor. */
export interface Measure {
  readonly of: CounterName;
  readonly over?: CounterName;
}

/** Values of a dimension by number, or intervals by their first second. */
export type Grouping =
  | { readonly by: 'nothing' }
  | { readonly by: 'dimension'; readonly dimension: Dimension }
  | { readonly by: 'interval'; readonly seconds: number };

interface CountsQuery {
  readonly filter: ResolvedFilter;
  readonly span: Span;
  readonly measure: Measure;
  readonly grouping: Grouping;
  readonly slice: TimeSlice;
}

export interface Summed {
  of: number;
  over: number;
}

const countSpans = [86_400, 3_600, 60];

/** Uses raw SQL, because the statements are composed for {@link readRowsInSlices}. */
export class CountsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns sums by group; without grouping, of group 0. Empty groups are missing. */
  async sums(query: CountsQuery): Promise<Map<number, Summed>> {
    const { filter, grouping } = query;
    const dimension = grouping.by === 'dimension' ? grouping.dimension : undefined;
    const filtered = filteredBy(filter);
    const only = dimension ?? filtered[0];
    // Sums by single value suffice when the query uses one dimension only.
    const isSingle = filtered.every(name => name === only);
    const longest = grouping.by === 'interval' ? grouping.seconds : 86_400;
    const spans = countSpans.filter(seconds => seconds <= longest && (isSingle || seconds !== 86_400));
    const sums = new Map<number, Summed>();
    for (const segment of segmentsOf(query.span, spans)) {
      const source =
        segment.seconds === 60 || !isSingle
          ? fromTuples(filter, segment, dimension)
          : fromSums(filter, segment, only);
      await this.#add(sums, query, source);
    }
    return sums;
  }

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
    if (page.offset >= total) return { rows: [], total };
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

  async #add(sums: Map<number, Summed>, query: CountsQuery, source: CountsSource): Promise<void> {
    const { filter, measure, grouping, slice } = query;
    const group =
      grouping.by === 'interval'
        ? `c.at - c.at % ${grouping.seconds}`
        : grouping.by === 'dimension'
          ? source.value
          : '0';
    const over = measure.over === undefined ? '0' : `sum(c.${measure.over})`;
    const { media } = filter;
    const reading = {
      ...source,
      columns: `${group} AS grouped, sum(c.${measure.of}), ${over}, ${media === undefined ? '0' : source.media} AS media`,
      end: 'GROUP BY grouped, media',
    };
    await readRowsInSlices<[number, number, number, number]>(this.#database, source.range, reading, {
      ...{ stretches: source.stretches, slice },
      take: rows => {
        for (const [key, of, divisor, mediaId] of rows) {
          if (media?.has(mediaId) === false) continue;
          const summed = sums.get(key);
          if (summed === undefined) sums.set(key, { of, over: divisor });
          else {
            summed.of += of;
            summed.over += divisor;
          }
        }
      },
    });
  }
}

interface CountsSource {
  readonly range: IndexScan;
  readonly stretches: readonly ScanRange[];
  readonly join: string;
  readonly conditions: string;
  readonly values: readonly unknown[];
  readonly value: string;
  readonly media: string;
}

function fromSums(
  filter: ResolvedFilter,
  { from, to, seconds }: Segment,
  dimension: Dimension | undefined,
): CountsSource {
  const numbers = dimension === undefined ? undefined : filter.numbers.get(dimension);
  return {
    range: {
      table: 'analytics_sums c',
      fixed: 'c.project = ? AND c.dimension = ? AND c.span = ?',
      keys: ['at', 'value'],
    },
    stretches: [{ fixed: [filter.project, numberOf(dimension), seconds], from, to }],
    join: '',
    conditions: numbers === undefined ? '' : 'AND c.value IN (SELECT value FROM json_each(?))',
    values: numbers === undefined ? [] : [JSON.stringify(numbers)],
    value: 'c.value',
    media: 'c.value',
  };
}

function fromTuples(
  filter: ResolvedFilter,
  { from, to, seconds }: Segment,
  dimension: Dimension | undefined,
): CountsSource {
  const { sql, values } = tupleConditions(filter);
  const isAlone = sql === '' && dimension === undefined && filter.media === undefined;
  const table = seconds === 60 ? 'analytics_minutes c' : 'analytics_hours c';
  const media = seconds === 60 ? undefined : filter.numbers.get('media-id');
  const ofProject = { from, to, fixed: [filter.project] };
  return {
    range: {
      table: media === undefined ? table : `${table} INDEXED BY analytics_hours_by_media`,
      fixed: media === undefined ? 'c.project = ?' : 'c.project = ? AND c.media_id = ?',
      keys: ['at', 'tuple'],
    },
    stretches: media?.map(number => ({ from, to, fixed: [filter.project, number] })) ?? [ofProject],
    join: isAlone ? '' : 'CROSS JOIN analytics_tuples t ON t.number = c.tuple',
    conditions: sql,
    values,
    value: dimension === undefined ? '0' : `t.${columnOf(dimension)}`,
    media: 't.media_id',
  };
}

function filteredBy({ numbers, media }: ResolvedFilter): Dimension[] {
  return [...new Set([...numbers.keys(), ...(media === undefined ? [] : (['media-id'] as const))])];
}
