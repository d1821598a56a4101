import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { IngestStats } from '../health/ingest-health.ts';
import type { EndReason } from './broadcast-state.ts';
import type { BroadcastMedia, BroadcastSubscriber } from './broadcast-subscriber.ts';
import type { BroadcastJournal } from './ports.ts';

export interface BroadcastNotifierOptions {
  readonly broadcastId: string;
  readonly journal: BroadcastJournal;
  readonly subscribers: readonly BroadcastSubscriber[];
  onQualityDropped?(quality: string, reason: string): Promise<void> | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Notifies subscribers and the journal. Their failures are logged and do not affect the broadcast. */
export class BroadcastNotifier {
  readonly #options: BroadcastNotifierOptions;
  readonly #mediaSubscribers: readonly BroadcastSubscriber[];
  readonly #sampleSubscribers: readonly BroadcastSubscriber[];
  #recorded: Promise<void> = Promise.resolve();

  constructor(options: BroadcastNotifierOptions) {
    this.#options = options;
    this.#mediaSubscribers = options.subscribers.filter(({ media }) => media !== undefined);
    this.#sampleSubscribers = options.subscribers.filter(({ sample }) => sample !== undefined);
  }

  notifyMedia(media: BroadcastMedia): void {
    for (const subscriber of this.#mediaSubscribers) {
      try {
        subscriber.media?.(media);
      } catch (error) {
        this.#logFailure(subscriber, error);
      }
    }
  }

  notifySample(rendition: string, kind: TrackKind, sample: Sample, atMs: number, isSlate: boolean): void {
    for (const subscriber of this.#sampleSubscribers) {
      try {
        subscriber.sample?.(rendition, kind, sample, atMs, isSlate);
      } catch (error) {
        this.#logFailure(subscriber, error);
      }
    }
  }

  notify(call: (subscriber: BroadcastSubscriber) => void): void {
    for (const subscriber of this.#options.subscribers) {
      try {
        call(subscriber);
      } catch (error) {
        this.#logFailure(subscriber, error);
      }
    }
  }

  #logFailure({ name }: BroadcastSubscriber, error: unknown): void {
    this.#options.log.error('subscriber-failed', { subscriber: name, error });
  }

  recordChange(change: Parameters<BroadcastJournal['changed']>[1]): void {
    const { journal, broadcastId } = this.#options;
    void this.#record(() => journal.changed(broadcastId, change));
  }

  /** Resolves when the end and all that came before are stored. Never rejects. */
  recordEnd(reason: EndReason, stats: IngestStats): Promise<void> {
    const { journal, broadcastId, clock } = this.#options;
    const atMs = clock.nowMs();
    return this.#record(() => journal.ended(broadcastId, atMs, reason, stats));
  }

  qualityDropped(quality: string, reason: string): void {
    void this.#record(async () => this.#options.onQualityDropped?.(quality, reason));
  }

  /** Keeps the order of records: the media path does not wait for them. */
  #record(write: () => Promise<void>): Promise<void> {
    this.#recorded = this.#recorded
      .then(write)
      .catch(error => this.#options.log.error('journal-failed', { error }));
    return this.#recorded;
  }
}
