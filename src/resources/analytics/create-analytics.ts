import type { AddressOf } from '../../http/peer.ts';
import type { Route } from '../../http/route.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { PeriodicTask } from '../../shared/periodic-tasks.ts';
import type { Database } from '../../store/database.ts';
import { analyticsRoutes } from './analytics.routes.ts';
import { AnalyticsService } from './analytics.service.ts';
import { AnalyticsFilters } from './analytics-filters.store.ts';
import { AnalyticsWrites } from './analytics-writes.store.ts';
import { AnalyticsCounts } from './counts.store.ts';
import { intakeRoutes } from './intake.routes.ts';
import { Places } from './places.ts';
import { Playbacks } from './playbacks.ts';
import { Stays } from './stays.store.ts';
import { TokenBuckets } from './token-buckets.ts';
import { WatchedMediaStore } from './watched-media.store.ts';

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
  readonly playbacks: Playbacks;
  /** To be done now and then. */
  readonly cleaning: PeriodicTask;
}

const dayMs = 86_400_000;
const daysKept = 31;
/** How long a playback is known again when it goes on after a pause. */
const playbackDaysKept = 2;
const newValues = { perMinute: 20, atOnce: 20_000, kept: 10_000 };

/** Puts the analytics together. */
export function createAnalytics(
  options: { database: Database; clock: Clock; log: Logger } & AnalyticsSettings,
): Analytics {
  const { database, clock, addressOf, reportsPerMinute } = options;
  const log = options.log.child('analytics');
  const writes = new AnalyticsWrites(database, new TokenBuckets({ ...newValues, clock }));
  const media = new WatchedMediaStore(database);
  const playbacks = new Playbacks({
    writes,
    places: new Places(options.geoDatabase, log),
    findMedia: mediaId => media.find(mediaId),
    reportsPerMinute,
    clock,
    log,
  });
  const service = new AnalyticsService({
    filters: new AnalyticsFilters(database),
    counts: new AnalyticsCounts(database),
    stays: new Stays(database),
    clock,
  });
  return {
    routes: [...intakeRoutes({ playbacks, addressOf, clock }), ...analyticsRoutes(service)],
    playbacks,
    cleaning: {
      name: 'old-analytics',
      run: signal => {
        const nowMs = clock.nowMs();
        const before = { countsMs: nowMs - daysKept * dayMs, playbacksMs: nowMs - playbackDaysKept * dayMs };
        return writes.removeBefore(before, nowMs, signal);
      },
    },
  };
}
