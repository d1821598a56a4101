import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { IngestStats } from '../health/ingest-health.ts';
import type { EndReason } from './broadcast-state.ts';
import type { BroadcastSubscriber } from './broadcast-subscriber.ts';
import type { BroadcastJournal } from './ports.ts';

/** What reports are made with. */
export interface BroadcastNotifierOptions {
  readonly broadcastId: string;
  readonly journal: BroadcastJournal;
  readonly subscribers: readonly BroadcastSubscriber[];
  /** Told of each quality that is made no more. */
  onQualityDropped?(quality: string, reason: string): void;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Tells of one broadcast whoever goes along with it, and writes it down. What goes wrong there costs its log line, not the broadcast. */
export class BroadcastNotifier {
  readonly #options: BroadcastNotifierOptions;

  constructor(options: BroadcastNotifierOptions) {
    this.#options = options;
  }

  notify(tell: (follower: BroadcastSubscriber) => void): void {
    for (const follower of this.#options.subscribers) {
      try {
        tell(follower);
      } catch (error) {
        this.#options.log.error('follower-failed', { follower: follower.name, error });
      }
    }
  }

  recordChange(change: Parameters<BroadcastJournal['changed']>[1]): void {
    const { journal, broadcastId } = this.#options;
    this.#logErrors(() => journal.changed(broadcastId, change));
  }

  recordEnd(reason: EndReason, reading: IngestStats): void {
    const { journal, broadcastId, clock } = this.#options;
    this.#logErrors(() => journal.ended(broadcastId, clock.nowMs(), reason, reading));
  }

  qualityDropped(quality: string, reason: string): void {
    this.#logErrors(() => this.#options.onQualityDropped?.(quality, reason));
  }

  #logErrors(write: () => void): void {
    try {
      write();
    } catch (error) {
      this.#options.log.error('journal-failed', { error });
    }
  }
}
