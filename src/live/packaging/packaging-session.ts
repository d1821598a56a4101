import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { displaySize } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { findCaptionChannels } from '../../media/codecs/closed-captions.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import type { TrackKind } from '../../media/samples/media-sample.ts';
import type { Logger } from '../../shared/logger.ts';
import {
  audioRendition,
  type BroadcastSubscriber,
  originalAudioRendition,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import type { LiveObserver, LiveSettings } from '../broadcast/ports.ts';
import { isResolutionTooLarge } from '../broadcast/resolution-guard.ts';
import { encodesSource, evenSize, type LadderConfig, planRenditions } from '../transcode/ladder-config.ts';
import {
  LadderTranscoder,
  type LadderTranscoderEvents,
  type RenditionDropReason,
} from '../transcode/ladder-transcoder.ts';
import type { CurrentPackaging, LiveRenditions } from '../transcode/live-renditions.ts';
import { AdditionalRenditions } from './additional-renditions.ts';
import type { AdditionalTrack, StartTrackPackager } from './additional-tracks.ts';
import { AlignedRenditions } from './aligned-renditions.ts';
import { LadderInput } from './ladder-input.ts';
import type { PackagedMedia, PackagedTracks, Packager, Tracks } from './packager.ts';
import { PackagingOutput, type PackagingOutputOptions } from './packaging-output.ts';
import { Segmenter } from './segmenter.ts';
import { SourceSink } from './source-sink.ts';

export interface PackagingHost {
  readonly isEnded: boolean;
  /** Earlier media ends here. */
  mediaStarted(session: PackagingSession, tracks: PackagedTracks): void;
  partListed(isSlate: boolean): void;
  renditionDropped(name: string, reason: RenditionDropReason): void;
  trackDelivered(track: AdditionalTrack, original: TrackDescription | undefined): void;
  trackLeftOut(kind: TrackKind, trackId: number, reason: string): void;
  videoTooLarge(size: FrameSize): void;
  packagerFailed(session: PackagingSession, report: string): void;
  failed(session: PackagingSession): void;
}

export interface PackagingSessionOptions extends Omit<PackagingOutputOptions, 'onPartListed'> {
  readonly host: PackagingHost;
  readonly renditions: LiveRenditions;
  readonly ladder: LadderConfig | undefined;
  readonly startTrackPackager: StartTrackPackager;
  readonly previousDone: Promise<void>;
  readonly settings: Pick<LiveSettings, 'partTargetMs' | 'segmentTargetMs' | 'maxPixels'>;
  readonly observer: LiveObserver;
  readonly log: Logger;
}

const maxEarlySamples = 4000;
/** Longer than any encoder lags. */
const transcodedVideoLateSeconds = 30;

/** Segments one packager's media once the previous session is done. Other renditions align with the source. */
export class PackagingSession {
  readonly isSlate: boolean;
  readonly #options: PackagingSessionOptions;
  readonly #output: PackagingOutput;
  readonly #aligned: AlignedRenditions;
  readonly #additional: AdditionalRenditions;
  readonly #ladderInput: LadderInput;
  readonly #done = Promise.withResolvers<void>();
  #isDone = false;
  #waitingActions: (() => void)[] | undefined = [];
  #inputTracks: PackagedTracks = {};
  #segmenter: Segmenter | undefined;
  #earlySamples: [TrackKind, Sample, number][] = [];
  #ladder: LadderTranscoder | undefined;
  #isDemuxed = false;
  #isKilled = false;
  #onDrained: () => void = () => {};

  constructor(options: PackagingSessionOptions) {
    this.#options = options;
    this.isSlate = options.isSlate;
    this.#output = new PackagingOutput({
      ...options,
      onPartListed: isSlate => options.host.partListed(isSlate),
    });
    this.#aligned = new AlignedRenditions(this.#output, options.observer, (name, isAligned) =>
      this.#additional.segmentBegan(name, isAligned),
    );
    this.#additional = this.#createAdditional();
    this.#ladderInput = new LadderInput(options.ladder !== undefined);
    void this.#done.promise.then(() => {
      this.#isDone = true;
    });
    void options.previousDone.then(() => {
      const queue = this.#waitingActions ?? [];
      this.#waitingActions = undefined;
      this.#runGuarded(() => {
        for (const action of queue) action();
      });
      if (this.#ladderInput.endWait()) this.#onDrained();
    });
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get done(): Promise<void> {
    return this.#done.promise;
  }

  get gopSeconds(): number {
    return this.#segmenter?.gopSeconds ?? 0;
  }

  /** Video frame duration; without video, that of an audio frame. */
  get frameSeconds(): number | undefined {
    return this.#segmenter?.frameSeconds;
  }

  /** Lowest first: of the encoder's tracks, else of the ladder. */
  get renditions(): CurrentPackaging['renditions'] {
    return this.#ladder?.renditions ?? (this.#isDemuxed ? this.#additional.videos : []);
  }

  get hasDemuxedAudio(): boolean {
    return this.#aligned.hasAudio;
  }

  /** Rendition of the main audio. */
  get audioRendition(): string {
    return this.#isDemuxed ? audioRendition : sourceRendition;
  }

  readonly events: PackagedMedia = {
    tracks: tracks => this.#afterPrevious(() => this.#begin(tracks)),
    sample: (kind, sample, atMs) => {
      if (this.#waitingActions === undefined) this.#takeSample(kind, sample, atMs);
      else this.#waitingActions.push(() => this.#takeSample(kind, sample, atMs));
    },
    originalAudio: (sample, atMs) =>
      this.#afterPrevious(() => this.#aligned.addAudioSample(originalAudioRendition, sample, atMs)),
    additional: sample => this.#afterPrevious(() => this.#runGuarded(() => this.#additional.write(sample))),
    exited: exit =>
      this.#afterPrevious(() => void this.#finish(exit.kind === 'failed' ? exit.report : undefined)),
  };

  withEncoderTap(packager: Packager, onDrained: () => void): Packager {
    if (this.#options.ladder === undefined) return packager;
    this.#onDrained = onDrained;
    return {
      write: (media, atMs) => {
        // The ladder asks about a keyframe before the segmenter has it.
        if (media.kind === 'video') this.#ladderInput.write(media, atMs);
        const isOpen = packager.write(media, atMs);
        const isBacklogged = this.#encodesSource && this.#ladder?.isBacklogged === true;
        return isOpen && !isBacklogged && !this.#ladderInput.isFull;
      },
      finish: () => packager.finish(),
      kill: () => {
        this.#isKilled = true;
        return packager.kill();
      },
    };
  }

  #takeSample(kind: TrackKind, sample: Sample, atMs: number): void {
    if (kind === 'video' && this.#encodesSource) return;
    if (this.#segmenter !== undefined) this.#addSample(kind, sample, atMs);
    else if (this.#earlySamples.length < maxEarlySamples) this.#earlySamples.push([kind, sample, atMs]);
  }

  #afterPrevious(action: () => void): void {
    if (this.#waitingActions === undefined) action();
    else this.#waitingActions.push(action);
  }

  #runGuarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.log.error('packaging-failed', { error });
      void this.#ladder?.kill();
      this.#done.resolve();
      this.#options.host.failed(this);
    }
  }

  get #encodesSource(): boolean {
    return encodesSource(this.#options.ladder) && this.#inputTracks.video !== undefined;
  }

  #begin(tracks: PackagedTracks): void {
    const { host, settings } = this.#options;
    if (host.isEnded) return;
    const { width = 0, height = 0 } = tracks.video ?? {};
    if (isResolutionTooLarge({ width, height }, settings.maxPixels)) {
      host.videoTooLarge({ width, height });
      return;
    }
    this.#inputTracks = tracks;
    this.#isDemuxed = tracks.video !== undefined && this.#demuxesAudio;
    this.#startLadder(tracks);
    if (!this.#encodesSource) this.#startSegmenter(tracks);
  }

  #startLadder({ video }: Tracks): void {
    const { ladder, renditions, clock } = this.#options;
    const size = video === undefined ? undefined : evenSize(displaySize(video));
    const encoded =
      ladder === undefined || size === undefined || this.#hasOwnRenditions
        ? []
        : planRenditions(ladder, size, renditions.droppedRenditions);
    if (ladder === undefined || size === undefined || encoded.length === 0) {
      this.#ladderInput.close();
      this.#notifyEncoded(subscriber => subscriber.encodedRenditions?.(this.#alignedRenditions));
      return;
    }
    const names = encoded.map(({ name }) => name).filter(name => name !== sourceRendition);
    this.#notifyEncoded(subscriber => subscriber.encodedRenditions?.(names));
    this.#ladder = new LadderTranscoder({
      video: { ...size, overlay: ladder.watermark?.(size) },
      renditions: encoded,
      startEncoder: (config, events) => ladder.startEncoder(config, events),
      canDropRenditions: ladder.canDropQualities ?? true,
      clock,
      events: this.#ladderEvents,
      willBeginSegment: () => this.#segmenter?.willBeginSegmentAt(this.#ladderInput.keyframesMs) ?? true,
    });
    this.#ladderInput.start(this.#ladder);
  }

  readonly #ladderEvents: LadderTranscoderEvents = {
    track: (name, track) => {
      this.#notifyEncoded(subscriber => subscriber.encodedTrack?.(name, track));
      this.#runGuarded(() => this.#setRenditionTrack(name, track));
    },
    sample: (name, sample, atMs) =>
      this.#runGuarded(() => {
        if (name === sourceRendition) this.#addSample('video', sample, atMs);
        else {
          this.#notifyEncoded(subscriber => subscriber.encodedSample?.(name, sample, atMs));
          this.#aligned.addRungSample(name, sample, atMs);
        }
      }),
    dropped: (name, fromMs, reason) => {
      const left = this.#alignedRenditions.filter(rendition => rendition !== name);
      this.#options.host.renditionDropped(name, reason);
      this.#notifyEncoded(subscriber => subscriber.encodedRenditions?.(left));
      this.#aligned.replaceRendition(name, left, fromMs);
    },
    dropCompleted: () => this.#runGuarded(() => this.#aligned.completeSwitches()),
    frameRateChanged: frameDivisor => {
      if (frameDivisor > 1) this.#options.log.warn('live-frame-rate-reduced', { frameDivisor });
      else this.#options.log.info('live-frame-rate-restored');
    },
    failed: report => {
      this.#options.observer.packagerFailed();
      this.#options.log.warn('live-encoder-failed', { report });
    },
    gaveUp: () => this.#options.host.failed(this),
    backlogCleared: () => this.#onDrained(),
  };

  #notifyEncoded(call: (subscriber: BroadcastSubscriber) => void): void {
    if (!this.isSlate) this.#options.notifier.notify(call);
  }

  get #alignedRenditions(): string[] {
    return this.renditions.map(({ name }) => name).filter(name => name !== sourceRendition);
  }

  #startSegmenter({ video, audio }: Tracks): void {
    const { settings, log, host, observer, clock } = this.#options;
    host.mediaStarted(this, this.#inputTracks);
    const isDemuxed = this.#isDemuxed;
    const sourceTracks: Tracks = {
      video,
      ...(audio === undefined || isDemuxed ? {} : { audio }),
    };
    this.#output.setTracks(sourceRendition, sourceTracks);
    if (video !== undefined) this.#aligned.setRenditionTrack(sourceRendition, video);
    const { originalAudio } = this.#inputTracks;
    const original = originalAudio === undefined ? [] : [originalAudioRendition];
    const ownTracks = isDemuxed ? [...original, ...this.#additional.renditions] : [];
    this.#notifyEncoded(subscriber => subscriber.additionalAudio?.(isDemuxed ? this.#additional.audio : []));
    this.#aligned.add(this.#alignedRenditions, audio, isDemuxed, ownTracks);
    if (originalAudio !== undefined) this.#aligned.setAudioTrack(originalAudioRendition, originalAudio);
    this.#segmenter = new Segmenter({
      tracks: sourceTracks,
      sink: new SourceSink({
        output: this.#output,
        aligned: this.#aligned.segmenters,
        leader: video === undefined ? 'audio' : 'video',
        observer,
        clock,
      }),
      partSeconds: settings.partTargetMs / 1000,
      segmentSeconds: settings.segmentTargetMs / 1000,
      isEncoded: this.#encodesSource,
      ...(this.#encodesSource ? { videoLateSeconds: transcodedVideoLateSeconds } : {}),
      onLongGop: seconds =>
        log.warn('keyframe-interval-too-long', {
          seconds: Math.round(seconds * 10) / 10,
          advice: 'set the keyframe interval to 2 s in the encoder',
        }),
    });
    const early = this.#earlySamples;
    this.#earlySamples = [];
    for (const [kind, sample, atMs] of early) this.#addSample(kind, sample, atMs);
    this.#additional.start(
      isDemuxed ? undefined : 'The broadcast started without this track, or has no video.',
    );
  }

  /**
   * Video never waits for audio that is encoded. Players cannot leave audio that is inside the video: those of a
   * broadcast that began so keep it there.
   */
  get #demuxesAudio(): boolean {
    const { ladder, renditions } = this.#options;
    if (ladder?.isLadder === true || renditions.others.length > 0) return true;
    const needsRenditions = this.#inputTracks.isAudioEncoded === true || this.#additional.hasAny;
    return needsRenditions && !renditions.source.window.isPlayable;
  }

  /**
   * True for renditions of the encoder, which win over the ladder. A watermark is burned into what is encoded
   * here.
   */
  get #hasOwnRenditions(): boolean {
    return this.#isDemuxed && this.#additional.videos.length > 0;
  }

  #createAdditional(): AdditionalRenditions {
    const { host, renditions, settings, ladder, startTrackPackager } = this.#options;
    return new AdditionalRenditions({
      aligned: this.#aligned,
      startPackager: startTrackPackager,
      maxPixels: settings.maxPixels,
      delivered: (track, original) => host.trackDelivered(track, original),
      leftOut: (kind, trackId, reason) => host.trackLeftOut(kind, trackId, reason),
      isLeftOut: name => ladder?.watermark !== undefined || renditions.droppedRenditions.has(name),
      notifyEncoded: call => this.#notifyEncoded(call),
      dropped: (name, reason, fromMs) => {
        const left = this.#alignedRenditions;
        host.renditionDropped(name, reason);
        this.#notifyEncoded(subscriber => subscriber.encodedRenditions?.(left));
        this.#aligned.replaceRendition(name, left, fromMs);
        this.#aligned.completeSwitches();
      },
    });
  }

  #addSample(kind: TrackKind, sample: Sample, atMs: number): void {
    const { tracks } = this.#output.renditions.source;
    const isDemuxed = kind === 'audio' && this.hasDemuxedAudio;
    if (kind === 'video' && sample.isSync) {
      const timescale = tracks.video?.timescale ?? 1000;
      const offsetMs = (sample.compositionOffsetTicks * 1000) / timescale;
      this.#aligned.setPresentationOffset(offsetMs);
      this.#additional.sourceKeyframe(atMs, offsetMs);
      this.#ladderInput.keyframeEncoded(atMs);
    }
    this.#output.sample(isDemuxed ? audioRendition : sourceRendition, kind, sample, atMs);
    if (isDemuxed) this.#aligned.addMainAudioSample(sample, atMs);
    if (!isDemuxed || tracks.audio !== undefined) this.#segmenter?.add(kind, sample, atMs);
    if (kind !== 'video') return;
    this.#aligned.addRungSample(sourceRendition, sample, atMs);
    this.#additional.sourceFrame(atMs);
    this.#output.renditions.captionsFound(findCaptionChannels(tracks.video?.codec, sample.data));
  }

  #setRenditionTrack(name: string, track: TrackDescription): void {
    if (!this.#aligned.setRenditionTrack(name, track)) return;
    if (name === sourceRendition && this.#segmenter === undefined) {
      this.#startSegmenter({ ...this.#inputTracks, video: track });
    }
  }

  async #finish(failure: string | undefined): Promise<void> {
    this.#ladderInput.close();
    const additional = this.#isKilled ? this.#additional.kill() : this.#additional.finish();
    if (!this.#encodesSource) this.#runGuarded(() => this.#segmenter?.finish());
    await Promise.all([additional, this.#isKilled ? this.#ladder?.kill() : this.#ladder?.finish()]);
    this.#runGuarded(() => {
      if (this.#encodesSource) this.#segmenter?.finish();
      this.#aligned.finish();
    });
    this.#done.resolve();
    if (failure !== undefined) this.#options.host.packagerFailed(this, failure);
  }
}
