import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { bootstrapAccount } from '../../src/resources/accounts/bootstrap.ts';
import { AnalyticsService } from '../../src/resources/analytics/analytics.service.ts';
import { AnalyticsFilters } from '../../src/resources/analytics/analytics-filters.store.ts';
import { AnalyticsWrites, type PlaybackFacts } from '../../src/resources/analytics/analytics-writes.store.ts';
import { AnalyticsCounts } from '../../src/resources/analytics/counts.store.ts';
import { Stays } from '../../src/resources/analytics/stays.store.ts';
import { TokenBuckets } from '../../src/resources/analytics/token-buckets.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { Bench } from './bench-context.ts';
import { judge, percentile, type Row } from './report.ts';

const name = 'analytics';
const dayMs = 86_400_000;
const batch = 15;
const tries = 5;

/** How fast questions over 30 days with a million playbacks are answered, how long others wait meanwhile, and what writing costs. */
export const benchAnalytics: Bench = async context => {
  const playbacks = context.isShort ? 50_000 : 1_000_000;
  const dataDir = await mkdtemp(join(context.folder, 'data-'));
  const database = openDatabase({ dataDir });
  try {
    await bootstrapAccount(database, { isUpgraded: true, adminEmail: 'admin@localhost' });
    const projectId = database.sqlite
      .prepare<[], string>("SELECT id FROM projects WHERE environment = 'production'")
      .pluck()
      .get()!;
    await database.start();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const writeMs = await fill(database, projectId, playbacks);
    delay.disable();
    return [
      judge(name, { what: `writing ${batch} playbacks, p50`, value: percentile(writeMs, 0.5), unit: 'ms' }),
      judge(name, {
        what: `writing ${batch} playbacks: others wait, p99`,
        value: delay.percentile(99) / 1e6,
        unit: 'ms',
        atMost: 10,
      }),
      ...(await ask(database, projectId)),
    ];
  } finally {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};

/** Playbacks of a thousand media over 30 days, some of them much more often than others; how long each writing took. */
async function fill(database: Database, projectId: string, playbacks: number): Promise<number[]> {
  const writes = new AnalyticsWrites(
    database,
    new TokenBuckets({ perMinute: 0, atOnce: 0, kept: 1, clock: systemClock }),
  );
  const countries = [
    'FR',
    'DE',
    'US',
    'GB',
    'ES',
    'IT',
    'CA',
    'AU',
    'BR',
    'JP',
    'IN',
    'PL',
    'NL',
    'BE',
    'CH',
  ];
  const few = <Item>(items: readonly Item[]) => items[Math.floor(Math.random() ** 2 * items.length)]!;
  const media = Array.from({ length: 1_000 }, (_, index) => `viBench${String(index).padStart(17, '0')}`);
  const referrers = Array.from({ length: 100 }, (_, index) => `https://site${index}.example.org/page`);
  const beganAtMs = Date.now() - 30 * dayMs;
  const timesMs: number[] = [];
  for (let written = 0; written < playbacks; written += batch) {
    const facts = Array.from({ length: batch }, (_, index): PlaybackFacts => {
      const atMs = beganAtMs + ((written + index) / playbacks) * 30 * dayMs;
      const begins = Math.floor(atMs / 10_000);
      const watched = Math.floor(Math.random() * 300);
      const viewed = [3, 5, 10, 30].map(seconds => Number(watched >= seconds));
      return {
        key: randomBytes(16),
        circumstances: {
          projectId,
          viewer: Math.floor(Math.random() * 2 ** 40),
          'media-id': few(media),
          'media-type': 'video',
          continent: 'EU',
          country: few(countries),
          'device-type': few(['computer', 'phone', 'tablet', 'tv']),
          'operating-system': few(['windows', 'android', 'ios', 'mac osx', 'linux']),
          browser: few(['chrome', 'safari', 'firefox', 'edge', 'opera']),
          referrer: few(referrers),
        },
        memory: { seen: 7, watchedMs: watched * 1000, lastEventMs: atMs },
        counts: new Map([
          [Math.floor(atMs / 60_000) * 60, [1, 1, 1, 1, 200, 1, watched * 1000, 1, ...viewed]],
        ]),
        stays: [{ begins, ends: begins + Math.floor(watched / 10), views: watched > 30 ? 15 : 1 }],
      };
    });
    const startedAt = performance.now();
    await writes.write(facts, beganAtMs + (written / playbacks) * 30 * dayMs);
    timesMs.push(performance.now() - startedAt);
  }
  return timesMs;
}

async function ask(database: Database, projectId: string): Promise<Row[]> {
  const service = new AnalyticsService({
    filters: new AnalyticsFilters(database),
    counts: new AnalyticsCounts(database),
    stays: new Stays(database),
    clock: systemClock,
  });
  const caller = { projectId, environment: 'production' as const };
  const from = new Date(Date.now() - 30 * dayMs + 1_000).toISOString();
  const page = { currentPage: 1, pageSize: 25 };
  const one = { mediaId: ['viBench00000000000000003'] };
  const all = { from };
  const questions: Readonly<Record<string, { atMost: number; ask: () => Promise<unknown> }>> = {
    'plays of 30 days': {
      atMost: 50,
      ask: () => service.number({ caller, metric: 'play', aggregation: 'count', query: all }),
    },
    'plays by country': {
      atMost: 50,
      ask: () => service.buckets({ caller, metric: 'play', query: all }, 'country', page),
    },
    'plays by media': {
      atMost: 100,
      ask: () => service.buckets({ caller, metric: 'play', query: all }, 'media-id', page),
    },
    'plays by day': {
      atMost: 50,
      ask: () => service.timeseries({ caller, metric: 'play', query: all }, 'day', page),
    },
    'plays by hour': {
      atMost: 50,
      ask: () => service.timeseries({ caller, metric: 'play', query: all }, 'hour', page),
    },
    'plays of one media by browser': {
      atMost: 100,
      ask: () =>
        service.buckets({ caller, metric: 'play', query: { ...all, filterBy: one } }, 'browser', page),
    },
    'plays from one country by browser': {
      atMost: 3_000,
      ask: () =>
        service.buckets(
          { caller, metric: 'play', query: { ...all, filterBy: { country: ['FR'] } } },
          'browser',
          page,
        ),
    },
    'views by media': {
      atMost: 100,
      ask: () => service.buckets({ caller, metric: 'view', query: all }, 'media-id', page),
    },
    'unique views': {
      atMost: 3_000,
      ask: () =>
        service.number({ caller, metric: 'view', aggregation: 'count', query: { ...all, unique: true } }),
    },
    'peak of viewers': {
      atMost: 3_000,
      ask: () => service.number({ caller, metric: 'ccv', aggregation: 'peak', query: all }),
    },
    'peak of viewers of the last day': {
      atMost: 200,
      ask: () => service.number({ caller, metric: 'ccv', aggregation: 'peak', query: {} }),
    },
  };
  const rows: Row[] = [];
  for (const [what, { atMost, ask: question }] of Object.entries(questions)) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const timesMs: number[] = [];
    for (let index = 0; index < tries; index += 1) {
      const startedAt = performance.now();
      await question();
      timesMs.push(performance.now() - startedAt);
    }
    delay.disable();
    rows.push(judge(name, { what: `${what}, p50`, value: percentile(timesMs, 0.5), unit: 'ms', atMost }));
    rows.push(
      judge(name, { what: `${what}: others wait at most`, value: delay.max / 1e6, unit: 'ms', atMost: 10 }),
    );
  }
  return rows;
}
