import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { EndReason } from './broadcast.ts';
import type { BroadcastFollower } from './broadcast-follower.ts';
import type { HealthReading } from './ingest-health.ts';
import type { BroadcastJournal } from './ports.ts';

/** What reports are made with. */
export interface BroadcastReportsOptions {
  readonly broadcastId: string;
  readonly journal: BroadcastJournal;
  readonly followers: readonly BroadcastFollower[];
  /** Told of each quality that is made no more. */
  onQualityDropped?(quality: string, reason: string): void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tells of one broadcast whoever goes along with it, and writes it down. What goes wrong there costs its log line, not the broadcast. */
export class BroadcastReports {
  readonly #options: BroadcastReportsOptions;

  constructor(options: BroadcastReportsOptions) {
    this.#options = options;
  }

  follow(tell: (follower: BroadcastFollower) => void): void {
    for (const follower of this.#options.followers) {
      try {
        tell(follower);
      } catch (error) {
        this.#options.log.error('follower-failed', { follower: follower.name, error });
      }
    }
  }

  writeDown(change: Parameters<BroadcastJournal['changed']>[1]): void {
    const { journal, broadcastId } = this.#options;
    this.#try(() => journal.changed(broadcastId, change));
  }

  writeEnd(reason: EndReason, reading: HealthReading): void {
    const { journal, broadcastId, clock } = this.#options;
    this.#try(() => journal.ended(broadcastId, clock.nowMs(), reason, reading));
  }

  qualityDropped(quality: string, reason: string): void {
    this.#try(() => this.#options.onQualityDropped?.(quality, reason));
  }

  #try(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.log.error('journal-failed', { error });
    }
  }
}
