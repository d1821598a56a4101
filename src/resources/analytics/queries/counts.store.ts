import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Connection } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { indexedBy, jsonItems, textQuery } from '../../../store/raw-query.ts';
import { columnOf, type Dimension, numberOf } from '../dimensions.ts';
import type { CounterName } from '../reports/playback.ts';
import { type Segment, type Span, segmentsOf } from '../timeframe.ts';
import { type ResolvedFilter, tupleConditions, tupleJoin } from './analytics-filters.store.ts';
import { type IndexScan, readRowsInSlices, type ScanRange } from './read-rows-in-slices.ts';

/** One measure. Averages and rates are divided by `over`. */
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

interface TotalsFilter {
  readonly mediaIds: readonly string[] | undefined;
  readonly mediaType: string | undefined;
}

interface SummedRow {
  readonly grouped: number;
  readonly counted: number;
  readonly divisor: number;
  readonly media: number;
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
    const { dialect } = this.#database;
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
          ? fromTuples(dialect, filter, segment, dimension)
          : fromSums(dialect, filter, segment, only);
      await this.#add(sums, query, source);
    }
    return sums;
  }

  total(
    project: number,
    mediaIds: readonly string[] | undefined,
    mediaType: string | undefined,
  ): Promise<number> {
    const { ids, type, values } = this.#totalsFilter(project, { mediaIds, mediaType });
    const table = mediaIds === undefined ? 'analytics_project_totals' : 'analytics_totals';
    return this.#number(
      `SELECT coalesce(sum(plays), 0) AS number FROM ${table} WHERE project = ?${ids}${type}`,
      values,
    );
  }

  async totals(
    project: number,
    filter: TotalsFilter,
    page: {
      readonly field: 'metricValue' | 'dimensionValue';
      readonly direction: 'asc' | 'desc';
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<{ rows: { dimensionValue: string; metricValue: number }[]; total: number }> {
    const { ids, type, values } = this.#totalsFilter(project, filter);
    const total = await this.#number(
      filter.mediaIds === undefined
        ? `SELECT coalesce(sum(media), 0) AS number FROM analytics_project_totals WHERE project = ?${type}`
        : `SELECT count(*) AS number FROM analytics_totals WHERE project = ?${ids}${type}`,
      values,
    );
    if (page.offset >= total) return { rows: [], total };
    const { direction } = page;
    const order =
      page.field === 'metricValue' ? `plays ${direction}, media_id ${direction}` : `media_id ${direction}`;
    const rows = await this.#database.all(
      textQuery<{ dimensionValue: string; metricValue: number }>(
        this.#database,
        `SELECT media_id AS "dimensionValue", plays AS "metricValue" FROM analytics_totals
         WHERE project = ?${ids}${type} ORDER BY ${order} LIMIT ? OFFSET ?`,
        [...values, page.limit, page.offset],
      ),
    );
    return { rows, total };
  }

  #totalsFilter(project: number, { mediaIds, mediaType }: TotalsFilter) {
    const { dialect } = this.#database;
    return {
      ids: mediaIds === undefined ? '' : ` AND media_id IN ${jsonItems(dialect, 'text')}`,
      type: mediaType === undefined ? '' : ' AND media_type = ?',
      values: [
        project,
        ...(mediaIds === undefined ? [] : [JSON.stringify(mediaIds)]),
        ...(mediaType === undefined ? [] : [mediaType]),
      ],
    };
  }

  async #number(text: string, values: readonly unknown[]): Promise<number> {
    const row = await this.#database.first(textQuery<{ number: number }>(this.#database, text, values));
    return row?.number ?? 0;
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
      columns: `${group} AS grouped, sum(c.${measure.of}) AS counted, ${over} AS divisor, ${media === undefined ? '0' : source.media} AS media`,
      end: 'GROUP BY grouped, media',
    };
    await readRowsInSlices<SummedRow>(this.#database, source.range, reading, {
      stretches: source.stretches,
      slice,
      take: rows => {
        for (const row of rows) {
          if (media?.has(row.media) === false) continue;
          const summed = sums.get(row.grouped);
          if (summed === undefined) sums.set(row.grouped, { of: row.counted, over: row.divisor });
          else {
            summed.of += row.counted;
            summed.over += row.divisor;
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
  dialect: Connection['dialect'],
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
    conditions: numbers === undefined ? '' : `AND c.value IN ${jsonItems(dialect, 'number')}`,
    values: numbers === undefined ? [] : [JSON.stringify(numbers)],
    value: 'c.value',
    media: 'c.value',
  };
}

function fromTuples(
  dialect: Connection['dialect'],
  filter: ResolvedFilter,
  { from, to, seconds }: Segment,
  dimension: Dimension | undefined,
): CountsSource {
  const { sql, values } = tupleConditions(filter, dialect);
  const isAlone = sql === '' && dimension === undefined && filter.media === undefined;
  const table = seconds === 60 ? 'analytics_minutes c' : 'analytics_hours c';
  const media = seconds === 60 ? undefined : filter.numbers.get('media-id');
  const ofProject = { from, to, fixed: [filter.project] };
  return {
    range: {
      table: media === undefined ? table : `${table} ${indexedBy(dialect, 'analytics_hours_by_media')}`,
      fixed: media === undefined ? 'c.project = ?' : 'c.project = ? AND c.media_id = ?',
      keys: ['at', 'tuple'],
    },
    stretches: media?.map(number => ({ from, to, fixed: [filter.project, number] })) ?? [ofProject],
    join: isAlone ? '' : tupleJoin(dialect),
    conditions: sql,
    values,
    value: dimension === undefined ? '0' : `t.${columnOf(dimension)}`,
    media: 't.media_id',
  };
}

function filteredBy({ numbers, media }: ResolvedFilter): Dimension[] {
  return [...new Set([...numbers.keys(), ...(media === undefined ? [] : (['media-id'] as const))])];
}
