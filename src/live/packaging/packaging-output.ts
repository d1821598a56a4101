import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import type { ArrivalLog } from '../broadcast/arrival-log.ts';
import type { BroadcastNotifier } from '../broadcast/broadcast-notifier.ts';
import { parseAudioRendition } from '../transcode/audio-renditions.ts';
import type { LiveRenditions } from '../transcode/live-renditions.ts';
import type { ClaimablePart } from '../window/live-window.ts';
import type { Tracks } from './packager.ts';

export interface PackagingOutputOptions {
  readonly renditions: LiveRenditions;
  readonly notifier: BroadcastNotifier;
  readonly arrivals: Readonly<Record<TrackKind, ArrivalLog>>;
  readonly isSlate: boolean;
  readonly clock: Clock;
  onPartListed(isSlate: boolean): void;
}

export class PackagingOutput {
  readonly renditions: LiveRenditions;
  readonly #options: PackagingOutputOptions;

  constructor(options: PackagingOutputOptions) {
    this.renditions = options.renditions;
    this.#options = options;
  }

  setTracks(rendition: string, tracks: Tracks): void {
    this.tracksChanged(rendition, tracks, this.renditions.getOrCreate(rendition).setTracks(tracks));
  }

  tracksChanged(rendition: string, tracks: Tracks, init: Buffer): void {
    const { notifier, isSlate } = this.#options;
    const label = this.renditions.audioLabelOf(parseAudioRendition(rendition)?.trackId ?? 0);
    notifier.notify(subscriber => subscriber.tracks?.(rendition, tracks, init, isSlate, label));
  }

  sample(rendition: string, kind: TrackKind, sample: Sample, atMs: number): void {
    const { notifier, isSlate } = this.#options;
    notifier.notifySample(rendition, kind, sample, atMs, isSlate);
  }

  partListed(rendition: string, part: ClaimablePart): void {
    const { notifier, isSlate } = this.#options;
    notifier.notify(subscriber => subscriber.part?.({ ...part, rendition, isSlate }));
    this.#options.onPartListed(isSlate);
  }

  /** Age of the frame at `atMs`, or of the last one before it. */
  lagMs(kind: TrackKind, atMs: number): number | undefined {
    return this.#ageMs(this.#options.arrivals[kind].arrivalOf(atMs));
  }

  /** Least age of a frame at `atMs` that lasts for seconds: it may have waited for what follows it. */
  recordedLagMs(kind: TrackKind, atMs: number): number | undefined {
    const { arrivals } = this.#options;
    if (!arrivals[kind].isSlowAt(atMs)) return undefined;
    const { video, audio } = arrivals;
    return this.#ageMs(Math.min(video.recordedBy(atMs), audio.recordedBy(atMs)));
  }

  #ageMs(monotonicMs: number | undefined): number | undefined {
    if (monotonicMs === undefined || monotonicMs === Number.POSITIVE_INFINITY) return undefined;
    return Math.max(0, this.#options.clock.monotonicMs() - monotonicMs);
  }
}
