import type { AddressOf } from '../../http/listener/client-address.ts';
import type { Route } from '../../http/routing/route.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PeriodicTask } from '../../shared/scheduling/periodic-tasks.ts';
import { TokenBuckets } from '../../shared/token-buckets.ts';
import type { Database } from '../../store/database.ts';
import { analyticsRoutes } from './analytics.routes.ts';
import { AnalyticsService } from './analytics.service.ts';
import { AnalyticsFiltersStore } from './queries/analytics-filters.store.ts';
import { CountsStore } from './queries/counts.store.ts';
import { ViewingIntervalsStore } from './queries/viewing-intervals.store.ts';
import { AnalyticsWritesStore } from './reports/analytics-writes.store.ts';
import { GeoLookup } from './reports/geo-lookup.ts';
import { playbackReportRoutes } from './reports/playback-reports.routes.ts';
import { PlaybackTracker, type ViewerOf } from './reports/playback-tracker.ts';
import { WatchedMediaStore } from './reports/watched-media.store.ts';

export interface AnalyticsSettings {
  /** Reports per minute and client network; 0 for no limit. */
  readonly reportsPerMinute: number;
  /** MaxMind DB file with countries; the bundled one unless given. */
  readonly geoDatabase: string | undefined;
  readonly addressOf: AddressOf;
}

export interface Analytics {
  readonly routes: readonly Route[];
  readonly geo: GeoLookup;
  /** Start and stop this with the server: its stop writes everything. */
  readonly tracker: PlaybackTracker;
  readonly cleanup: PeriodicTask;
}

const dayMs = 86_400_000;
const retentionDays = 31;
/** Recognizes a playback that continues after a pause. */
const playbackRetentionDays = 2;
const newNames = {
  ofViewers: { perMinute: 2_000, burst: 50_000, maxNames: 10_000 },
  ofOthers: { perMinute: 20, burst: 20_000, maxNames: 10_000 },
};

export function createAnalytics(
  options: {
    database: Database;
    clock: Clock;
    log: Logger;
    /** See {@link PlaybackTracker}. */
    viewerOf: ViewerOf;
  } & AnalyticsSettings,
): Analytics {
  const { database, clock, addressOf, reportsPerMinute } = options;
  const log = options.log.child('analytics');
  const writes = new AnalyticsWritesStore(database, {
    ofViewers: new TokenBuckets({ ...newNames.ofViewers, clock }),
    ofOthers: new TokenBuckets({ ...newNames.ofOthers, clock }),
  });
  const media = new WatchedMediaStore(database);
  const geo = new GeoLookup(options.geoDatabase, log);
  const tracker = new PlaybackTracker({
    writes,
    geo,
    findMedia: mediaId => media.find(mediaId),
    viewerOf: options.viewerOf,
    reportsPerMinute,
    isShared: database.dialect === 'postgres',
    clock,
    log,
  });
  const service = new AnalyticsService({
    filters: new AnalyticsFiltersStore(database),
    counts: new CountsStore(database),
    viewingIntervals: new ViewingIntervalsStore(database),
    clock,
  });
  return {
    routes: [...playbackReportRoutes({ tracker, addressOf, clock }), ...analyticsRoutes(service)],
    geo,
    tracker,
    cleanup: {
      name: 'old-analytics',
      run: signal => {
        const nowMs = clock.nowMs();
        const before = {
          countsMs: nowMs - retentionDays * dayMs,
          playbacksMs: nowMs - playbackRetentionDays * dayMs,
        };
        return writes.removeBefore(before, nowMs, signal);
      },
    },
  };
}
