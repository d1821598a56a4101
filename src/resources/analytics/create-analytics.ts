import type { AddressOf } from '../../http/listener/client-address.ts';
import type { Route } from '../../http/routing/route.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PeriodicTask } from '../../shared/scheduling/periodic-tasks.ts';
import type { Database } from '../../store/database.ts';
import { analyticsRoutes } from './analytics.routes.ts';
import { AnalyticsService } from './analytics.service.ts';
import { AnalyticsFiltersStore } from './queries/analytics-filters.store.ts';
import { CountsStore } from './queries/counts.store.ts';
import { ViewingIntervalsStore } from './queries/viewing-intervals.store.ts';
import { AnalyticsWritesStore } from './reports/analytics-writes.store.ts';
import { GeoLookup } from './reports/geo-lookup.ts';
import { playbackReportRoutes } from './reports/playback-reports.routes.ts';
import { PlaybackTracker } from './reports/playback-tracker.ts';
import { TokenBuckets } from './reports/token-buckets.ts';
import { WatchedMediaStore } from './reports/watched-media.store.ts';

/** What an operator sets of the analytics. */
export interface AnalyticsSettings {
  /** Reports a minute that one address may send; 0 is no limit. */
  readonly reportsPerMinute: number;
  /** File that tells countries; the one that comes with the server where it is undefined. */
  readonly geoDatabase: string | undefined;
  readonly addressOf: AddressOf;
}

/** Intake and answers of the analytics. */
export interface Analytics {
  readonly routes: readonly Route[];
  /** To be started and stopped with the server: after it, everything is in the database. */
  readonly tracker: PlaybackTracker;
  /** To be done now and then. */
  readonly cleanup: PeriodicTask;
}

const dayMs = 86_400_000;
const retentionDays = 31;
/** How long a playback is known again when it goes on after a pause. */
const playbackRetentionDays = 2;
const newValues = { perMinute: 20, atOnce: 20_000, kept: 10_000 };

/** Puts the analytics together. */
export function createAnalytics(
  options: { database: Database; clock: Clock; log: Logger } & AnalyticsSettings,
): Analytics {
  const { database, clock, addressOf, reportsPerMinute } = options;
  const log = options.log.child('analytics');
  const writes = new AnalyticsWritesStore(database, new TokenBuckets({ ...newValues, clock }));
  const media = new WatchedMediaStore(database);
  const tracker = new PlaybackTracker({
    writes,
    geo: new GeoLookup(options.geoDatabase, log),
    findMedia: mediaId => media.find(mediaId),
    reportsPerMinute,
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
