import type { DeclaredMedia } from '../../media/samples/declared-media.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import { isBrowserPublisher } from '../health/alarm-advice.ts';
import {
  type AlarmInputs,
  IngestHealth,
  type IngestInfo,
  type IngestStats,
} from '../health/ingest-health.ts';
import { IngestTracks } from '../health/ingest-tracks.ts';
import { ArrivalLog } from './arrival-log.ts';
import type { LiveObserver, PublisherConnection } from './ports.ts';
import type { PublisherSessionEvents } from './publisher-session.ts';

interface PublisherMonitorOptions {
  readonly clock: Clock;
  readonly observer: Pick<LiveObserver, 'framesLost'>;
  readonly log: Logger;
}

export class PublisherMonitor {
  readonly #options: PublisherMonitorOptions;
  readonly #health = new IngestHealth();
  readonly tracks = new IngestTracks();
  #ingest: IngestInfo = { protocol: '', encoder: '' };
  #declared: DeclaredMedia | undefined;
  #lastMediaAtMs: number;
  #hasSent = false;
  readonly arrivals: Readonly<Record<TrackKind, ArrivalLog>> = {
    video: new ArrivalLog(),
    audio: new ArrivalLog(),
  };

  constructor(options: PublisherMonitorOptions) {
    this.#options = options;
    this.#lastMediaAtMs = options.clock.monotonicMs();
  }

  get ingest(): IngestInfo {
    return this.#ingest;
  }

  get declared(): DeclaredMedia | undefined {
    return this.#declared;
  }

  /** Monotonic. */
  get lastMediaAtMs(): number {
    return this.#lastMediaAtMs;
  }

  /** The connection has sent something. */
  get hasSent(): boolean {
    return this.#hasSent;
  }

  get ingestStats(): IngestStats {
    return this.#health.stats(this.#options.clock.monotonicMs());
  }

  get alarmInputs(): AlarmInputs {
    const inputs = this.#health.alarmInputs(this.#options.clock.monotonicMs());
    return { ...inputs, isBrowser: isBrowserPublisher(this.#ingest) };
  }

  attached(connection: PublisherConnection): void {
    const { protocol, encoder } = connection;
    this.#ingest = { protocol, encoder };
    this.tracks.clear();
    this.mediaArrived();
    this.#hasSent = false;
    this.#health.attached(this.#lastMediaAtMs, () => connection.transport?.());
  }

  mediaArrived(): void {
    this.#lastMediaAtMs = this.#options.clock.monotonicMs();
    this.#hasSent = true;
  }

  setMediaInfo(info: Omit<IngestInfo, 'protocol' | 'encoder'>): void {
    const { protocol, encoder } = this.#ingest;
    this.#ingest = { protocol, encoder, ...info };
  }

  lost(): void {
    const { clock } = this.#options;
    this.#health.lost(clock.monotonicMs(), clock.nowMs());
  }

  stopped(): void {
    this.#health.stopped(this.#options.clock.monotonicMs());
  }

  readonly sessionEvents: Pick<
    PublisherSessionEvents,
    'declared' | 'arrived' | 'recoveryPointArrived' | 'trackArrived' | 'dropped' | 'clockJumped'
  > = {
    trackArrived: (kind, trackId, codec) => this.tracks.arrived(kind, trackId, codec),
    declared: media => {
      this.#declared = media;
      if (media.encoder !== undefined) this.#ingest = { ...this.#ingest, encoder: media.encoder };
      this.#health.declared(media);
    },
    arrived: (kind, atMs, timestampMs, bytes, isKeyframe) => {
      const arrivedMs = this.#lastMediaAtMs;
      (kind === 'video' ? this.arrivals.video : this.arrivals.audio).add(atMs, arrivedMs);
      const missing = this.#health.arrived(kind, atMs, timestampMs, bytes, isKeyframe, arrivedMs);
      if (missing > 0) this.#options.observer.framesLost('missing', missing);
    },
    recoveryPointArrived: () => this.#health.recoveryPointArrived(),
    dropped: () => {
      this.#health.dropped();
      this.#options.observer.framesLost('dropped', 1);
    },
    clockJumped: () => {
      const times = this.#health.clockJumped(this.#lastMediaAtMs);
      // A broken encoder jumps at every frame.
      if (times <= 3) this.#options.log.warn('publisher-clock-jumped', { times });
    },
  };
}
