import { pageOf } from '../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import {
  bucketsQuerySchema,
  bucketsSchema,
  metricSchema,
  metricsQuerySchema,
  timeseriesQuerySchema,
  timeseriesSchema,
} from './analytics.schema.ts';
import type { AnalyticsService } from './analytics.service.ts';
import { type Dimension, dimensions } from './dimensions.ts';
import { aggregationsOf, bucketMetrics, isBreakdown, timeseriesMetrics } from './metric-plan.ts';

const named = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ');
const aggregations = Object.entries(aggregationsOf).map(
  ([metric, names]) => `\`${metric}\` (${named(names)})`,
);
const minutes =
  'Timeframes are read in whole minutes: both ends are rounded down, and the current minute belongs to a frame that reaches into it.';

export function analyticsRoutes(analytics: AnalyticsService): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/data/metrics/{metric}/{aggregation}',
      tag: 'Analytics',
      summary: 'Get a total',
      description: `Metrics and their aggregations: ${aggregations.join('; ')}. ${minutes} \`play/total\` has no timeframe and can be filtered by \`mediaId\` and \`mediaType\` only.`,
      auth: 'key',
      params: { metric: 'The metric.', aggregation: 'The aggregation.' },
      query: metricsQuerySchema,
      errors: [404],
      success: { status: 200, description: 'The number.', schema: metricSchema },
      find: ({ params }: { params: { metric: string; aggregation: string } }) =>
        known(
          Object.hasOwn(aggregationsOf, params.metric) &&
            aggregationsOf[params.metric]!.includes(params.aggregation),
        ),
      handle: ({ caller, params, query }) => analytics.number({ caller, ...params, query }),
    }),
    defineRoute({
      method: 'GET',
      path: '/data/buckets/{metric}/{breakdown}',
      tag: 'Analytics',
      summary: 'Get a breakdown by dimension',
      description: `Metrics: ${named(bucketMetrics)}; \`play-total\` only by \`media-id\`. Dimensions: ${named(dimensions)}. ${minutes}`,
      auth: 'key',
      params: { metric: 'The metric.', breakdown: 'The dimension.' },
      query: bucketsQuerySchema,
      errors: [404],
      success: {
        status: 200,
        description: 'A page of numbers, highest first unless sorted.',
        schema: bucketsSchema,
      },
      find: ({ params }: { params: { metric: string; breakdown: string } }) =>
        known(isBreakdown(params.metric, params.breakdown)),
      handle: async ({ caller, params, query, path, queryText }) => {
        const { metric, breakdown } = params;
        const answer = await analytics.buckets({ caller, metric, query }, breakdown as Dimension, query);
        const { context, data, total } = answer;
        return { context, ...pageOf({ path, queryText, query }, { items: data, total }) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/data/timeseries/{metric}',
      tag: 'Analytics',
      summary: 'Get values over time',
      description: `Metrics: ${named(timeseriesMetrics)}. Every interval of the timeframe has a point, even an empty one. Intervals begin at whole minutes, hours or days in UTC. ${minutes}`,
      auth: 'key',
      params: { metric: 'The metric.' },
      query: timeseriesQuerySchema,
      errors: [404],
      success: {
        status: 200,
        description: 'A page of numbers, oldest first unless sorted.',
        schema: timeseriesSchema,
      },
      find: ({ params }: { params: { metric: string } }) => known(timeseriesMetrics.includes(params.metric)),
      handle: async ({ caller, params, query, path, queryText }) => {
        const { metric } = params;
        const { context, data, total } = await analytics.timeseries(
          { caller, metric, query },
          query.interval,
          query,
        );
        return { context, ...pageOf({ path, queryText, query }, { items: data, total }) };
      },
    }),
  ];
}

function known(isKnown: boolean): true {
  if (!isKnown) throw new AppError('unrecognized-request-url');
  return true;
}
