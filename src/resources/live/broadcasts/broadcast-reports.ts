import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { CoalescedTask } from '../../../shared/scheduling/coalesced-task.ts';
import { OnDemandInterval } from '../../../shared/scheduling/on-demand-interval.ts';
import type { Database } from '../../../store/database.ts';
import type { BroadcastClaims } from './broadcast-claims.ts';
import type { BroadcastReport } from './cluster-live.ts';

interface ReportedBroadcast {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly targetDurationSeconds: number;
  /** Undefined before the first segment exists. */
  multivariant(): string | undefined;
}

interface BroadcastReportsOptions {
  readonly database: Database;
  readonly claims: BroadcastClaims;
  readonly nodeId: string;
  readonly running: () => readonly ReportedBroadcast[];
  readonly reportOf: (liveStreamId: string) => BroadcastReport | undefined;
  readonly log: Logger;
}

const reportEveryMs = 5000;

/** Stores what other servers need to answer for the broadcasts that this one packages. */
export class BroadcastReports implements Component {
  readonly name = 'broadcast-reports';
  readonly #options: BroadcastReportsOptions;
  readonly #task = new CoalescedTask(() => this.#storeAll());
  readonly #interval = new OnDemandInterval(reportEveryMs, () => {
    this.#task.request();
    return this.#options.running().length > 0;
  });
  /** Multivariant playlists, as {@link shapeOf}, of broadcasts that other servers know as playable. */
  #reported: ReadonlyMap<string, string> = new Map();

  constructor(options: BroadcastReportsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#interval.stop();
    this.#task.cancel();
    await this.#task.idle();
  }

  /** Call this when a broadcast begins, and when its state was stored. */
  request(): void {
    this.#interval.wake();
    this.#task.request();
  }

  async #storeAll(): Promise<void> {
    const { database, claims, nodeId, running, reportOf, log } = this.#options;
    const reports = running().flatMap(broadcast => {
      const { broadcastId, liveStreamId, targetDurationSeconds } = broadcast;
      const claim = claims.claimOf(broadcastId);
      const multivariant = broadcast.multivariant();
      const report = reportOf(liveStreamId);
      if (claim === undefined || multivariant === undefined || report === undefined) return [];
      const own = { broadcastId, claim, multivariant, targetDurationSeconds, report: JSON.stringify(report) };
      return [{ ...own, liveStreamId }];
    });
    if (reports.length === 0) return;
    try {
      await database.transaction(async transaction => {
        await claims.store.report(nodeId, reports, transaction);
        for (const { broadcastId, liveStreamId, multivariant } of reports) {
          if (this.#reported.get(broadcastId) === shapeOf(multivariant)) continue;
          await database.signals.send('live', liveStreamId, transaction);
        }
      });
      this.#reported = new Map(
        reports.map(({ broadcastId, multivariant }) => [broadcastId, shapeOf(multivariant)]),
      );
    } catch (error) {
      log.warn('broadcast-reports-not-stored', { error });
    }
  }
}

/** Leaves out what is measured, and may change with each segment. */
function shapeOf(multivariant: string): string {
  return multivariant.replaceAll(/(?:BANDWIDTH|FRAME-RATE)=[\d.]+/g, '');
}
