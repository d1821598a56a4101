import { call } from '../../api/client.ts';
import { environment, projectKey } from '../../state/session.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { parseRange, resolveRange, type TimeFrame } from '../analytics/time-range.ts';

interface Trend {
  readonly values: readonly number[];
  readonly total: number;
  /** Total of the period before, if the server still has it. */
  readonly before: number | undefined;
}

export interface Stats {
  readonly period: 'day' | 'week';
  readonly plays: Trend;
  /** Seconds. */
  readonly watchTime: Trend;
  /** Viewers at the same time in each minute of the last hour. */
  readonly viewers: readonly number[];
}

type Bounds = Pick<TimeFrame, 'fromMs' | 'toMs'>;

const refreshMs = 60_000;
/** Points of a minute are for less than an hour. */
const recentMs = 59 * 60_000;
const maxPoints = 100;

export function useStats(): Loaded<Stats> {
  const loaded = useLoad(projectKey.value, load);
  useInterval(refreshMs, loaded.reload);
  return loaded;
}

async function load(signal: AbortSignal): Promise<Stats> {
  const nowMs = Date.now();
  const isSandbox = environment.peek() === 'sandbox';
  const frame = resolveRange(parseRange({}, isSandbox, nowMs), isSandbox, nowMs);
  const recent = { fromMs: nowMs - recentMs, toMs: nowMs };
  const [plays, watchTime, viewers] = await Promise.all([
    loadTrend('play', 'count', frame, signal),
    loadTrend('watch-time', 'sum', frame, signal),
    loadPoints('ccv-peak', recent, 'minute', signal),
  ]);
  return { period: isSandbox ? 'day' : 'week', plays, watchTime, viewers };
}

async function loadTrend(
  metric: string,
  aggregation: string,
  { before, interval, ...frame }: TimeFrame,
  signal: AbortSignal,
): Promise<Trend> {
  const [values, total] = await Promise.all([
    loadPoints(metric, frame, interval, signal),
    before && loadTotal(metric, aggregation, before, signal),
  ]);
  return { values, total: values.reduce((sum, value) => sum + value, 0), before: total };
}

async function loadPoints(
  metric: string,
  frame: Bounds,
  interval: TimeFrame['interval'] | 'minute',
  signal: AbortSignal,
): Promise<readonly number[]> {
  const query = { ...queryOf(frame), interval, pageSize: maxPoints };
  const { data } = await call('GET /data/timeseries/{metric}', { params: { metric }, query, signal });
  return data.map(({ metricValue }) => metricValue);
}

async function loadTotal(
  metric: string,
  aggregation: string,
  frame: Bounds,
  signal: AbortSignal,
): Promise<number> {
  const params = { metric, aggregation };
  const query = queryOf(frame);
  return (await call('GET /data/metrics/{metric}/{aggregation}', { params, query, signal })).data;
}

function queryOf({ fromMs, toMs }: Bounds) {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}
