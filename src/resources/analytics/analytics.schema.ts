import * as z from 'zod';
import { isoDate } from '../../http/routing/iso-date.ts';
import { pageOf, paginationSchema, pagingLimits } from '../../http/routing/pagination.ts';
import { deviceTypes } from './reports/device-parser.ts';
import { continentCodes } from './reports/geo-lookup.ts';
import { intervals } from './timeframe.ts';

const viewDurations = ['3s', '5s', '10s', '30s'] as const;

const intervalNames = Object.keys(intervals) as (keyof typeof intervals)[];
const listed = (values: readonly string[]) => values.map(value => `"${value}"`).join(', ');
const maxValues = 100;

const texts = (value: z.ZodType<string>) => z.array(value).max(maxValues).optional();
const name = z.string().max(100).toLowerCase();

const filterSchema = z.strictObject({
  mediaId: texts(z.string().max(100)).describe('Ids of videos and live streams.'),
  mediaType: z.enum(['video', 'live-stream']).optional(),
  continent: texts(z.enum(continentCodes)).describe('Continents; `AZ` is Oceania.'),
  country: texts(
    z
      .string()
      .regex(/^(?:[A-Za-z]{2})?$/, 'This value should be a code of two letters.')
      .toUpperCase(),
  ).describe('Countries by ISO 3166-1 alpha-2; an empty text for unknown ones.'),
  deviceType: texts(z.enum(deviceTypes)),
  operatingSystem: texts(name).describe('Such as `windows`, `mac osx`, `android`, `ios`, `linux`.'),
  browser: texts(name).describe('Such as `chrome`, `firefox`, `edge`, `opera`.'),
  tag: z.string().max(1_000).optional().describe('A current tag of the video. Case matters.'),
  referrer: texts(z.string().max(2_048)).describe(
    'Addresses of pages that embed a player; an empty text for none.',
  ),
  viewerId: texts(z.string().max(128)).describe('Ids of viewers in signed tokens; an empty text for none.'),
});

export type FilterBy = z.output<typeof filterSchema>;

const common = {
  from: isoDate.optional().describe('Beginning, at most 30 days ago. A day before `to` when absent.'),
  to: isoDate.optional().describe('End, not included. Now when absent.'),
  unique: z
    .boolean()
    .optional()
    .describe('Count viewers once a day, by address and user agent. Only for `ccv` and `view`.'),
  viewDuration: z
    .string()
    .refine(
      text => (viewDurations as readonly string[]).includes(text),
      `This view duration is invalid. Use one of ${listed(viewDurations)}.`,
    )
    .optional()
    .meta({ enum: [...viewDurations] })
    .describe('Minimum watch time of a view. Only for `view`; `5s` when absent.'),
  filterBy: filterSchema
    .optional()
    .meta({ description: 'Filters, which must all match.', examples: [{ mediaType: 'video' }] }),
};

const page = {
  sortOrder: z.enum(['asc', 'desc']).optional().describe('Sort direction.'),
  currentPage: z.int().min(1).max(pagingLimits.maxCurrentPage).default(1).describe('Page number, from 1.'),
  pageSize: z
    .int()
    .min(1)
    .max(pagingLimits.maxPageSize)
    .default(pagingLimits.defaultPageSize)
    .describe('Items per page.'),
};

const ownProblemType = { problemType: 'request-invalid-query-parameter' };

export const metricsQuerySchema = z.strictObject(common).meta(ownProblemType);

export const bucketsQuerySchema = z
  .strictObject({
    ...common,
    sortBy: z
      .enum(['metricValue', 'dimensionValue'])
      .optional()
      .describe('What to sort by. Highest values first when absent.'),
    ...page,
  })
  .meta(ownProblemType);

export const timeseriesQuerySchema = z
  .strictObject({
    ...common,
    interval: z
      .string()
      .refine(
        text => (intervalNames as readonly string[]).includes(text),
        `This interval is invalid. Use one of ${listed(intervalNames)}.`,
      )
      .optional()
      .meta({ enum: intervalNames })
      .describe(
        'Interval between points. `minute` for less than an hour; `hour` for up to two days when absent, else `day`.',
      ),
    sortBy: z
      .enum(['metricValue', 'emittedAt'])
      .optional()
      .describe('What to sort by. Oldest first when absent.'),
    ...page,
  })
  .meta(ownProblemType);

export type CommonQuery = z.output<typeof metricsQuerySchema>;

const dateTime = z.iso.datetime({ offset: true });
const metric = z.string().describe('The metric with its options, such as `play` or `unique-view-5`.');
const timeframe = z
  .object({ from: dateTime, to: dateTime })
  .describe('The timeframe. Absent for all-time metrics.');
const exampleFrame = { from: '2026-03-03T05:06:07+00:00', to: '2026-03-04T05:06:07+00:00' };
const examplePagination = pageOf(
  {
    path: '/data/buckets/play/country',
    queryText: '',
    query: { currentPage: 1, pageSize: pagingLimits.defaultPageSize },
  },
  { items: [{}], total: 1 },
).pagination;

export const metricSchema = z
  .object({
    context: z.object({ metric, aggregation: z.string(), timeframe: timeframe.optional() }),
    data: z.number(),
  })
  .meta({
    id: 'AnalyticsMetric',
    examples: [{ context: { metric: 'play', aggregation: 'count', timeframe: exampleFrame }, data: 7 }],
  });

export const bucketsSchema = z
  .object({
    context: z.object({ metric, breakdown: z.string(), timeframe: timeframe.optional() }),
    data: z.array(z.object({ dimensionValue: z.string(), metricValue: z.number() })),
    pagination: paginationSchema,
  })
  .meta({
    id: 'AnalyticsBuckets',
    examples: [
      {
        context: { metric: 'play', breakdown: 'country', timeframe: exampleFrame },
        data: [{ dimensionValue: 'FR', metricValue: 7 }],
        pagination: examplePagination,
      },
    ],
  });

export const timeseriesSchema = z
  .object({
    context: z.object({ metric, interval: z.enum(['minute', 'hour', 'day']), timeframe }),
    data: z.array(z.object({ emittedAt: dateTime, metricValue: z.number() })),
    pagination: paginationSchema,
  })
  .meta({
    id: 'AnalyticsTimeseries',
    examples: [
      {
        context: { metric: 'play', interval: 'hour', timeframe: exampleFrame },
        data: [{ emittedAt: '2026-03-03T05:00:00+00:00', metricValue: 7 }],
        pagination: pageOf(
          {
            path: '/data/timeseries/play',
            queryText: '',
            query: { currentPage: 1, pageSize: pagingLimits.defaultPageSize },
          },
          { items: [{}], total: 1 },
        ).pagination,
      },
    ],
  });
