import type { TrackDescription } from '../cmaf/init-segment.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { type BroadcastFollower, sourceRendition } from './broadcast-follower.ts';
import type { LiveRendition } from './live-rendition.ts';
import type { PackagerEvents } from './packager.ts';
import type { LiveObserver, LiveSettings } from './ports.ts';
import { Segmenter, type SegmentSink } from './segmenter.ts';
import type { TrackKind } from './timeline.ts';

/** What the media of one packager is part of. */
export interface GenerationStage {
  readonly source: LiveRendition;
  /** It takes no more media. */
  readonly isOver: () => boolean;
  /** Media of a packager begins: what was before is a line that ends here. */
  begins(tracks: Partial<Record<TrackKind, TrackDescription>>): void;
  /** A part can be fetched. */
  listed(): void;
  /** Monotonic time at which the frame of `atMs`, or the last one before it, came in. */
  arrivalOf(kind: TrackKind, atMs: number): number | undefined;
  follow(tell: (follower: BroadcastFollower) => void): void;
  /** The packager died or hung. */
  failed(report: string): void;
  /** What came cannot be cut. */
  broke(error: unknown): void;
}

/** What a generation is made with. */
export interface GenerationOptions {
  readonly stage: GenerationStage;
  /** Resolves when the packager before has given all it had. */
  readonly before: Promise<void>;
  readonly isStandIn: boolean;
  readonly settings: Pick<LiveSettings, 'partTargetMs' | 'segmentTargetMs'>;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The media of one packager, cut into the renditions. What it gives is kept back until the one before has given its last sample. */
export class Generation {
  readonly #options: GenerationOptions;
  readonly #done = Promise.withResolvers<void>();
  #waiting: (() => void)[] | undefined = [];
  #segmenter: Segmenter | undefined;

  constructor(options: GenerationOptions) {
    this.#options = options;
    void options.before.then(() => {
      const queue = this.#waiting ?? [];
      this.#waiting = undefined;
      try {
        for (const action of queue) action();
      } catch (error) {
        this.#broke(error);
      }
    });
  }

  /** Resolves when it has given all it had. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /** The longest distance between keyframes so far, in seconds. */
  get gopSeconds(): number {
    return this.#segmenter?.gopSeconds ?? 0;
  }

  /** Usual duration of a video frame (or audio frame), in seconds. */
  get frameSeconds(): number | undefined {
    return this.#segmenter?.frameSeconds;
  }

  /** For its packager. */
  readonly events: Omit<PackagerEvents, 'drained'> = {
    tracks: tracks => this.#inTurn(() => this.#begin(tracks)),
    sample: (kind, sample, atMs) =>
      this.#inTurn(() => {
        const { stage, isStandIn } = this.#options;
        stage.follow(follower => follower.sample?.(sourceRendition, kind, sample, atMs, isStandIn));
        this.#segmenter?.add(kind, sample, atMs);
      }),
    exited: exit =>
      this.#inTurn(() => {
        try {
          this.#segmenter?.finish();
        } catch (error) {
          this.#broke(error);
          return;
        }
        this.#done.resolve();
        if (exit.kind === 'failed') this.#options.stage.failed(exit.report);
      }),
  };

  #inTurn(action: () => void): void {
    if (this.#waiting === undefined) action();
    else this.#waiting.push(action);
  }

  #broke(error: unknown): void {
    this.#options.log.error('packaging-broke', { error });
    this.#done.resolve();
    this.#options.stage.broke(error);
  }

  #begin(tracks: Partial<Record<TrackKind, TrackDescription>>): void {
    const { stage, settings, log, isStandIn } = this.#options;
    if (stage.isOver()) return;
    stage.begins(tracks);
    const init = stage.source.useTracks(tracks);
    stage.follow(follower => follower.tracks?.(sourceRendition, tracks, init, isStandIn));
    this.#segmenter = new Segmenter({
      tracks,
      sink: this.#measuredSink(tracks.video === undefined ? 'audio' : 'video'),
      partSeconds: settings.partTargetMs / 1000,
      segmentSeconds: settings.segmentTargetMs / 1000,
      onLongGop: seconds =>
        log.warn('keyframe-interval-too-long', {
          seconds: Math.round(seconds * 10) / 10,
          advice: 'set the keyframe interval to 2 s in the encoder',
        }),
    });
  }

  /** The window of the source, with a note of how long each part and segment took. */
  #measuredSink(leader: TrackKind): SegmentSink {
    const { stage, clock, observer, isStandIn } = this.#options;
    const { window } = stage.source;
    let lastLagMs: number | undefined;
    const lagAt = (frameMs: number) => {
      const arrived = stage.arrivalOf(leader, frameMs);
      return arrived === undefined ? undefined : clock.monotonicMs() - arrived;
    };
    return {
      get partTargetSeconds() {
        return window.partTargetSeconds;
      },
      targetDurationSeconds: window.targetDurationSeconds,
      fixPartTarget: seconds => window.fixPartTarget(seconds),
      openSegment: segment =>
        window.openSegment({ ...segment, arrivedAtMs: clock.nowMs() - (lagAt(segment.startMs) ?? 0) }),
      nextSequenceNumber: () => window.nextSequenceNumber(),
      addPart: part => {
        window.addPart(part);
        stage.follow(follower => follower.part?.({ ...part, rendition: sourceRendition, isStandIn }));
        stage.listed();
        lastLagMs = lagAt(part.newestFrameMs);
        if (lastLagMs !== undefined) observer.partListed(lastLagMs);
      },
      closeSegment: () => {
        window.closeSegment();
        if (lastLagMs !== undefined) observer.segmentListed(lastLagMs);
      },
    };
  }
}
