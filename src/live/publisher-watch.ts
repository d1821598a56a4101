import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { ArrivalLog } from './arrival-log.ts';
import type { DeclaredMedia } from './flv-metadata.ts';
import { type HealthReading, type HealthSigns, type IngestFacts, IngestHealth } from './ingest-health.ts';
import type { LiveObserver, PublisherLink } from './ports.ts';
import type { PublisherRunEvents } from './publisher-run.ts';
import type { TrackKind } from './timeline.ts';

/** What a watch is made with. */
export interface PublisherWatchOptions {
  readonly clock: Clock;
  readonly observer: Pick<LiveObserver, 'framesLost'>;
  readonly log: Logger;
}

/** Knows who publishes a broadcast, since when nothing came, and what the media is like that came, across reconnects. */
export class PublisherWatch {
  readonly #options: PublisherWatchOptions;
  readonly #health = new IngestHealth();
  #ingest: IngestFacts = { protocol: '', encoder: '' };
  #declared: DeclaredMedia | undefined;
  #lastTagMs: number;
  /** When media came in, by its time on the broadcast's clock. */
  readonly arrivals: Readonly<Record<TrackKind, ArrivalLog>> = {
    video: new ArrivalLog(),
    audio: new ArrivalLog(),
  };

  constructor(options: PublisherWatchOptions) {
    this.#options = options;
    this.#lastTagMs = options.clock.monotonicMs();
  }

  /** Who publishes, and what: of the newest publisher. */
  get ingest(): IngestFacts {
    return this.#ingest;
  }

  /** What the newest publisher says of its media. */
  get declared(): DeclaredMedia | undefined {
    return this.#declared;
  }

  /** Monotonic time at which the newest publisher, or its last tag, came. */
  get lastTagMs(): number {
    return this.#lastTagMs;
  }

  /** What the media is like now. */
  get reading(): HealthReading {
    return this.#health.read(this.#options.clock.monotonicMs());
  }

  /** What alarms are judged by. */
  get signs(): HealthSigns {
    return this.#health.signs(this.#options.clock.monotonicMs());
  }

  attached({ protocol, encoder }: PublisherLink): void {
    this.#ingest = { protocol, encoder };
    this.tagCame();
    this.#health.attached(this.#lastTagMs);
  }

  /** Something came of the publisher. */
  tagCame(): void {
    this.#lastTagMs = this.#options.clock.monotonicMs();
  }

  /** What its media consists of now. */
  describe(facts: Omit<IngestFacts, 'protocol' | 'encoder'>): void {
    const { protocol, encoder } = this.#ingest;
    this.#ingest = { protocol, encoder, ...facts };
  }

  /** The publisher's connection was lost. */
  lost(): void {
    const { clock } = this.#options;
    this.#health.lost(clock.monotonicMs(), clock.nowMs());
  }

  /** The publisher stopped, or the broadcast is over. */
  stopped(): void {
    this.#health.stopped(this.#options.clock.monotonicMs());
  }

  /** For the publisher's run. */
  readonly hears: Pick<PublisherRunEvents, 'declared' | 'arrived' | 'dropped' | 'clockJumped'> = {
    declared: media => {
      this.#declared = media;
      this.#health.declared(media);
    },
    arrived: (kind, atMs, timestampMs, bytes, isKeyframe) => {
      const arrivedMs = this.#lastTagMs;
      this.arrivals[kind].add(atMs, arrivedMs);
      const missing = this.#health.arrived(kind, atMs, timestampMs, bytes, isKeyframe, arrivedMs);
      if (missing > 0) this.#options.observer.framesLost('missing', missing);
    },
    dropped: count => {
      this.#health.dropped(count);
      this.#options.observer.framesLost('dropped', count);
    },
    clockJumped: () => {
      const times = this.#health.clockJumped(this.#lastTagMs);
      // A broken encoder jumps at every frame: a few lines tell the story.
      if (times <= 3) this.#options.log.warn('publisher-clock-jumped', { times });
    },
  };
}
