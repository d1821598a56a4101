import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { Clock } from '../../shared/clock.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';
import type { Logger } from '../../shared/logger.ts';
import type { AdditionalTrack, StartTrackPackager } from '../packaging/additional-tracks.ts';
import type { PackagedMedia, PackagedTracks, Packager } from '../packaging/packager.ts';
import { type PackagingHost, PackagingSession } from '../packaging/packaging-session.ts';
import { encodesAlways, type LadderConfig } from '../transcode/ladder-config.ts';
import type { RenditionDropReason } from '../transcode/ladder-transcoder.ts';
import {
  type CurrentPackaging,
  LiveRenditions,
  type LiveRenditionsOptions,
} from '../transcode/live-renditions.ts';
import { codecsOf, pickFrameRate } from '../window/live-multivariant.ts';
import type { BroadcastNotifier } from './broadcast-notifier.ts';
import type { EndReason } from './broadcast-state.ts';
import { sourceRendition } from './broadcast-subscriber.ts';
import type { LiveObserver, LiveSettings } from './ports.ts';
import type { PublisherMonitor } from './publisher-monitor.ts';
import type { PublisherSession } from './publisher-session.ts';
import { resolutionTooLargeText } from './resolution-guard.ts';

export interface PackagedBroadcast {
  isEnded(): boolean;
  isPublisherGone(): boolean;
  mediaStarted(): void;
  partListed(isSlate: boolean): void;
  isCurrentPublisher(session: PublisherSession): boolean;
  endAndRefuse(reason: EndReason, description: string): void;
  slateFailed(report: string): void;
}

export interface BroadcastPackagingOptions extends LiveRenditionsOptions {
  readonly settings: LiveSettings;
  /** Undefined where nothing can be encoded. */
  readonly ladder?: LadderConfig | undefined;
  /** Starts a packager of an additional track, each on its own. */
  readonly startTrackPackager: StartTrackPackager;
  /** Fills the time without a publisher with filler segments instead of gaps. */
  readonly usesFillerSegments?: boolean;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

const maxPackagerFailures = 4;
/** A packager that hangs is noticed only after some seconds. */
const failureWindowMs = 90_000;
/** Maximum starts: each configuration that an encoder sends and each reconnect takes one. */
const maxPackagerStarts = 20;
const startWindowMs = 30_000;
const packagerFailedText =
  'The server could not package the stream. Try again, or ask the operator to check the server log.';

export class BroadcastPackaging implements PackagingHost {
  readonly renditions: LiveRenditions;
  readonly #options: BroadcastPackagingOptions;
  readonly #broadcast: PackagedBroadcast;
  readonly #monitor: PublisherMonitor;
  readonly #notifier: BroadcastNotifier;
  readonly #failures: FixedWindows;
  readonly #starts: FixedWindows;
  readonly #publishers = new WeakMap<PackagingSession, PublisherSession>();
  #current: PackagingSession | undefined;
  #newest: PackagingSession | undefined;
  #described: CurrentPackaging | undefined;
  #maxGopSeconds = 0;
  #done: Promise<void> = Promise.resolve();

  constructor(
    options: BroadcastPackagingOptions,
    broadcast: PackagedBroadcast,
    monitor: PublisherMonitor,
    notifier: BroadcastNotifier,
  ) {
    this.#options = options;
    this.#broadcast = broadcast;
    this.#monitor = monitor;
    this.#notifier = notifier;
    this.#failures = new FixedWindows({ windowMs: failureWindowMs, maxKeys: 1, clock: options.clock });
    this.#starts = new FixedWindows({ windowMs: startWindowMs, maxKeys: 1, clock: options.clock });
    const ladder = encodesAlways(options.ladder) ? options.ladder : undefined;
    this.renditions = new LiveRenditions(
      { ...options, ladder },
      {
        packaging: () => this.#current ?? this.#described,
        declared: () => monitor.declared,
      },
    );
  }

  get isEnded(): boolean {
    return this.#broadcast.isEnded();
  }

  get done(): Promise<void> {
    return this.#done;
  }

  /** An encoder still holds media. A packager that has not begun holds none. */
  get hasPendingMedia(): boolean {
    return this.#current?.isDone === false;
  }

  get maxGopSeconds(): number {
    return Math.max(this.#maxGopSeconds, this.#current?.gopSeconds ?? 0);
  }

  get framesPerSecond(): number | undefined {
    return pickFrameRate(this.#monitor.declared?.framesPerSecond, this.#current?.frameSeconds);
  }

  /** Releases memory after the end. Keeps what describes the media. */
  releaseMemory(): void {
    const current = this.#current;
    if (current === undefined) return;
    const { renditions, hasDemuxedAudio, frameSeconds } = current;
    this.#described = { renditions, hasDemuxedAudio, frameSeconds };
    this.#maxGopSeconds = this.maxGopSeconds;
    this.#current = undefined;
    this.#newest = undefined;
  }

  takeStart(): boolean {
    return this.#starts.take('starts', maxPackagerStarts);
  }

  /** @param encodesVideo players cannot play its codec */
  start(
    publisher: PublisherSession,
    { isSlate, encodesVideo }: { isSlate: boolean; encodesVideo: boolean },
  ): PackagedMedia {
    const { startTrackPackager, settings, observer, clock, log } = this.#options;
    const ladder = this.#ladderOf(encodesVideo);
    const session = new PackagingSession({
      host: this,
      renditions: this.renditions,
      notifier: this.#notifier,
      arrivals: this.#monitor.arrivals,
      ladder,
      startTrackPackager,
      previousDone: this.#done,
      isSlate,
      settings,
      observer,
      clock,
      log,
    });
    this.#publishers.set(session, publisher);
    this.#done = session.done;
    this.#newest = session;
    return session.events;
  }

  #ladderOf(encodesVideo: boolean): LadderConfig | undefined {
    const { ladder } = this.#options;
    if (ladder !== undefined && encodesVideo) return { ...ladder, encodesSource: true };
    return encodesAlways(ladder) ? ladder : undefined;
  }

  withEncoderTap(packager: Packager, onDrained: () => void): Packager {
    return this.#newest?.withEncoderTap(packager, onDrained) ?? packager;
  }

  mediaStarted(session: PackagingSession, tracks: PackagedTracks): void {
    const canContinue = this.#canContinueTimeline(session, tracks);
    this.#maxGopSeconds = this.maxGopSeconds;
    this.#current = session;
    this.#broadcast.mediaStarted();
    this.renditions.invalidate();
    for (const window of this.renditions.windows) {
      if (canContinue) window.continueTimeline();
      else window.markDiscontinuity();
    }
    if (session.isSlate) return;
    const { audio, video } = tracks;
    const info = {
      audioCodec: audio?.codec,
      videoCodec: video?.codec,
      width: video?.width,
      height: video?.height,
    };
    this.#monitor.setMediaInfo(info);
    this.#reportMainTracks(session, tracks);
    this.#notifier.recordChange(info);
    this.#options.log.info('packaging-started', {
      codecs: codecsOf(tracks),
      size: video === undefined ? undefined : `${video.width}x${video.height}`,
    });
  }

  #reportMainTracks(
    session: PackagingSession,
    { video, audio, originalAudio, isAudioEncoded }: PackagedTracks,
  ): void {
    const { tracks } = this.#monitor;
    if (video !== undefined) tracks.delivered('video', 0, sourceRendition, video);
    const original = isAudioEncoded ? originalAudio : audio;
    if (audio !== undefined) tracks.delivered('audio', 0, session.audioRendition, original);
  }

  trackDelivered({ kind, trackId, name }: AdditionalTrack, original: TrackDescription | undefined): void {
    this.#monitor.tracks.delivered(kind, trackId, name, original);
  }

  trackLeftOut(kind: TrackKind, trackId: number, reason: string): void {
    this.#monitor.tracks.leftOut(kind, trackId, reason);
    this.#options.log.warn('track-left-out', { kind, trackId, reason });
  }

  /** VLC 3 does not play a discontinuity in fragmented MP4. Encoded renditions restart at their own times. */
  #canContinueTimeline(session: PackagingSession, tracks: PackagedTracks): boolean {
    if (this.#options.usesFillerSegments !== true || !this.#broadcast.isPublisherGone()) return false;
    if (session.isSlate || this.#current?.isSlate || this.renditions.others.length > 0) return false;
    return this.renditions.source.hasSameInit(tracks);
  }

  partListed(isSlate: boolean): void {
    this.renditions.partListed();
    this.#broadcast.partListed(isSlate);
  }

  renditionDropped(name: string, reason: RenditionDropReason): void {
    this.renditions.dropRendition(name);
    this.#options.log.warn('quality-dropped', { quality: name, reason });
    this.#options.observer.qualityDropped?.(name, reason);
    this.#notifier.qualityDropped(name, reason);
  }

  videoTooLarge(size: FrameSize): void {
    const text = resolutionTooLargeText(size, this.#options.settings.maxPixels);
    this.#broadcast.endAndRefuse('picture-too-large', text);
  }

  packagerFailed(session: PackagingSession, report: string): void {
    if (session.isSlate) {
      this.#broadcast.slateFailed(report);
      return;
    }
    const publisher = this.#publishers.get(session);
    if (publisher === undefined || !this.#broadcast.isCurrentPublisher(publisher)) return;
    this.#options.observer.packagerFailed();
    this.#options.log.warn('packager-failed', { report });
    if (!this.#failures.take('failures', maxPackagerFailures))
      this.#broadcast.endAndRefuse('packager-failed', packagerFailedText);
  }

  failed(session: PackagingSession): void {
    if (session.isSlate) this.#broadcast.slateFailed('its media cannot be segmented');
    else this.#broadcast.endAndRefuse('packager-failed', packagerFailedText);
  }
}
