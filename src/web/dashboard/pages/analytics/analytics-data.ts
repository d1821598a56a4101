import { call } from '../../api/client.ts';
import type { TimeFrame } from './time-range.ts';

export interface AnalyticsQuery {
  readonly fromMs: number;
  readonly toMs: number;
  readonly mediaId: string | undefined;
}

export interface Totals {
  readonly plays: number;
  readonly watchSeconds: number;
  /** People who watched for 5 seconds or more, each once a day. */
  readonly viewers: number;
  /** Plays per 100 loaded players. */
  readonly playPercent: number;
  readonly peakViewers: number;
  readonly startSeconds: number;
}

/** Lists are as long as `times`, which is in seconds since 1970. null: no player was loaded. */
export interface TimeSeries {
  readonly times: readonly number[];
  readonly plays: readonly number[];
  readonly impressions: readonly number[];
  readonly playPercents: readonly (number | null)[];
  readonly watchSeconds: readonly number[];
  readonly peakViewers: readonly number[];
  readonly averageViewers: readonly number[];
}

export interface Row {
  readonly value: string;
  readonly count: number;
}

const maxPoints = 100;

export async function loadTotals(question: AnalyticsQuery, signal: AbortSignal): Promise<Totals> {
  const number = async (metric: string, aggregation: string, more: { unique?: boolean } = {}) => {
    const query = { ...queryOf(question), ...more };
    const path = 'GET /data/metrics/{metric}/{aggregation}';
    return (await call(path, { params: { metric, aggregation }, query, signal })).data;
  };
  const [plays, watchSeconds, viewers, rate, peakViewers, startMs] = await Promise.all([
    number('play', 'count'),
    number('watch-time', 'sum'),
    number('view', 'count', { unique: true }),
    number('play', 'rate'),
    number('ccv', 'peak'),
    number('impression-time', 'average'),
  ]);
  return {
    plays,
    watchSeconds,
    viewers,
    peakViewers,
    playPercent: rate * 100,
    startSeconds: startMs / 1000,
  };
}

export async function loadTimeSeries(
  question: AnalyticsQuery,
  interval: TimeFrame['interval'],
  signal: AbortSignal,
): Promise<TimeSeries> {
  const points = async (metric: string) => {
    const query = { ...queryOf(question), interval, pageSize: maxPoints };
    return (await call('GET /data/timeseries/{metric}', { params: { metric }, query, signal })).data;
  };
  const [plays, impressions, rates, watch, peaks, averages] = await Promise.all(
    ['play', 'impression', 'play-rate', 'watch-time', 'ccv-peak', 'ccv-average'].map(points),
  );
  const valuesOf = (list: typeof plays = []) => list.map(({ metricValue }) => metricValue);
  return {
    times: (plays ?? []).map(({ emittedAt }) => Date.parse(emittedAt) / 1000),
    plays: valuesOf(plays),
    impressions: valuesOf(impressions),
    playPercents: valuesOf(rates).map((rate, index) =>
      (impressions?.[index]?.metricValue ?? 0) === 0 ? null : rate * 100,
    ),
    watchSeconds: valuesOf(watch),
    peakViewers: valuesOf(peaks),
    averageViewers: valuesOf(averages),
  };
}

export async function loadBreakdown(
  question: AnalyticsQuery,
  breakdown: string,
  page: { readonly pageSize: number; readonly currentPage?: number },
  signal?: AbortSignal,
): Promise<{ rows: readonly Row[]; total: number }> {
  const { data, pagination } = await call('GET /data/buckets/{metric}/{breakdown}', {
    params: { metric: 'play', breakdown },
    query: { ...queryOf(question), ...page },
    signal,
  });
  const rows = data.map(({ dimensionValue, metricValue }) => ({ value: dimensionValue, count: metricValue }));
  return { rows, total: pagination.itemsTotal ?? rows.length };
}

export async function loadCurrentViewers(mediaId: string | undefined, signal: AbortSignal): Promise<number> {
  const { data } = await call('GET /data/metrics/{metric}/{aggregation}', {
    params: { metric: 'ccv', aggregation: 'live' },
    query: mediaId === undefined ? {} : { filterBy: { mediaId: [mediaId] } },
    signal,
  });
  return data;
}

function queryOf({ fromMs, toMs, mediaId }: AnalyticsQuery) {
  return {
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    filterBy: mediaId === undefined ? undefined : { mediaId: [mediaId] },
  };
}
