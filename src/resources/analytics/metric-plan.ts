import type { CommonQuery } from './analytics.schema.ts';
import { dimensions } from './dimensions.ts';
import type { Measure } from './queries/counts.store.ts';
import { type CounterName, viewSeconds } from './reports/playback.ts';

export const aggregationsOf: Readonly<Record<string, readonly string[]>> = {
  play: ['count', 'sum', 'rate', 'total'],
  start: ['count'],
  end: ['count'],
  impression: ['count'],
  'impression-time': ['average', 'sum'],
  'watch-time': ['average', 'sum'],
  ccv: ['average', 'peak', 'live'],
  view: ['count'],
};

const groupableMetrics = [
  'play',
  'play-rate',
  'start',
  'end',
  'impression',
  'ccv-peak',
  'ccv-average',
  'view',
];

export const timeseriesMetrics = [...groupableMetrics, 'watch-time'];

export const bucketMetrics = [...groupableMetrics, 'play-total'];

export function isBreakdown(metric: string, breakdown: string): boolean {
  if (!bucketMetrics.includes(metric)) return false;
  if (metric === 'play-total') return breakdown === 'media-id';
  return (dimensions as readonly string[]).includes(breakdown);
}

/** `unit`: divisor of sums. */
export type MetricPlan =
  | { readonly kind: 'counts'; readonly measure: Measure; readonly unit: number }
  | { readonly kind: 'unique-views'; readonly bit: number }
  | {
      readonly kind: 'concurrent-viewers';
      readonly value: 'peak' | 'average' | 'live';
      readonly isUnique: boolean;
    }
  | { readonly kind: 'total' };

const counterByMetric: Readonly<Record<string, CounterName>> = {
  play: 'plays',
  start: 'starts',
  end: 'ends',
  impression: 'impressions',
};

export function planOf(metric: string, aggregation: string | undefined, query: CommonQuery): MetricPlan {
  const isUnique = query.unique === true;
  const counts = (measure: Measure, unit = 1): MetricPlan => ({ kind: 'counts', measure, unit });
  if (metric === 'play-total' || aggregation === 'total') return { kind: 'total' };
  if (metric === 'play-rate' || aggregation === 'rate') return counts({ of: 'plays', over: 'impressions' });
  if (metric === 'impression-time') {
    return counts({
      of: 'impression_ms',
      ...(aggregation === 'average' ? { over: 'impression_times' as const } : {}),
    });
  }
  if (metric === 'watch-time')
    return counts(
      { of: 'watch_ms', ...(aggregation === 'average' ? { over: 'watches' as const } : {}) },
      1_000,
    );
  if (metric === 'view') {
    const bit = viewBit(query);
    return isUnique
      ? { kind: 'unique-views', bit }
      : counts({ of: `views${viewSeconds[bit]!}` as CounterName });
  }
  if (metric.startsWith('ccv')) {
    const value = aggregation ?? metric.slice('ccv-'.length);
    return { kind: 'concurrent-viewers', value: value as 'peak' | 'average' | 'live', isUnique };
  }
  return counts({ of: counterByMetric[metric]! });
}

export function displayName(metric: string, query: CommonQuery): string {
  const name = metric === 'view' ? `view-${viewSeconds[viewBit(query)]!}` : metric;
  return query.unique === true ? `unique-${name}` : name;
}

function viewBit(query: CommonQuery): number {
  return (viewSeconds as readonly number[]).indexOf(Number.parseInt(query.viewDuration ?? '5s', 10));
}
