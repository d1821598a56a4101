import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import { displaySize } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FrameSize } from '../../media/codecs/parameter-set.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';
import { compositionOffsetMs, describeVideoTag } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import {
  audioRendition,
  type BroadcastSubscriber,
  sourceRendition,
} from '../broadcast/broadcast-subscriber.ts';
import type { LiveObserver, LiveSettings } from '../broadcast/ports.ts';
import { isResolutionTooLarge } from '../broadcast/resolution-guard.ts';
import { evenSize, type LadderConfig, planRungs } from '../transcode/ladder-config.ts';
import { LadderTranscoder, type RungDropReason } from '../transcode/ladder-transcoder.ts';
import type { LiveRendition } from '../transcode/live-rendition.ts';
import { RenditionFeed } from '../transcode/rendition-feed.ts';
import { AlignedSegmenter } from './aligned-segmenter.ts';
import type { Packager, PackagerEvents } from './packager.ts';
import { Segmenter, type SegmentSink } from './segmenter.ts';

/** Tracks of a rendition or a packager. */
export type Tracks = Partial<Record<TrackKind, TrackDescription>>;

/** What the media of one packager is part of. */
export interface PackagingContext {
  readonly source: LiveRendition;
  /** All that there are beside the source. */
  others(): readonly LiveRendition[];
  /** The rendition of this name, made when there is none. */
  rendition(name: string): LiveRendition;
  /** Rungs that were given up. */
  readonly givenUp: ReadonlySet<string>;
  /** A rung is made no more in this broadcast. */
  giveUpRung(name: string, reason: RungDropReason): void;
  /** It takes no more media. */
  readonly isOver: () => boolean;
  /** The picture has more pixels than it may. */
  tooLarge(size: FrameSize): void;
  /** Media of a packager begins: what was before is a line that ends here. */
  begins(tracks: Tracks): void;
  /** What can be chosen among has changed. */
  changed(): void;
  /** A part can be fetched. */
  listed(): void;
  /** Monotonic time at which the frame of `atMs`, or the last one before it, came in. */
  arrivalOf(kind: TrackKind, atMs: number): number | undefined;
  follow(tell: (follower: BroadcastSubscriber) => void): void;
  /** The packager died or hung. */
  failed(report: string): void;
  /** What came cannot be cut. */
  broke(error: unknown): void;
}

/** What a generation is made with. */
export interface PackagingSessionOptions {
  readonly context: PackagingContext;
  /** Copied as it comes in unless given. */
  readonly form: LadderConfig | undefined;
  /** Resolves when the packager before has given all it had. */
  readonly previousDone: Promise<void>;
  readonly isSlate: boolean;
  readonly settings: Pick<LiveSettings, 'partTargetMs' | 'segmentTargetMs' | 'maxPixels'>;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Picture that waits for its turn: more than this, and whoever can wait should. */
const maxWaitingBytes = 12 * 1024 * 1024;
/** Media that waits for the source's encoder to begin. */
const maxEarlySamples = 4000;
/** Times of the same frame differ by roundings only. */
const frameToleranceMs = 4;
/** Sound waits for a picture that is encoded, for longer than any lag. */
const transcodedVideoLateSeconds = 30;

/**
 * The media of one packager, cut into the renditions. What it gives is kept back until the one before has given its last sample.
 *
 * The source's segmenter decides where segments begin; all other renditions follow it.
 */
export class PackagingSession {
  readonly #options: PackagingSessionOptions;
  readonly #done = Promise.withResolvers<void>();
  #isDone = false;
  #waitingActions: (() => void)[] | undefined = [];
  /** Tracks as they come in. */
  #inputTracks: Tracks = {};
  #segmenter: Segmenter | undefined;
  #earlySamples: [TrackKind, Sample, number][] = [];
  #ladder: LadderTranscoder | undefined;
  #earlyTags: Parameters<LadderTranscoder['write']>[] = [];
  #earlyTagBytes = 0;
  /** Decoding times of the keyframes that were written and are not cut yet. */
  #keyframesMs: number[] = [];
  #isLadderFed: boolean;
  #isKilled = false;
  #audioSegmenter: AlignedSegmenter | undefined;
  #presentationOffsetMs = 0;
  readonly #feeds: RenditionFeed[] = [];
  readonly #rungTracks = new Map<string, TrackDescription>();

  constructor(options: PackagingSessionOptions) {
    this.#options = options;
    this.#isLadderFed = options.form !== undefined;
    void this.#done.promise.then(() => {
      this.#isDone = true;
    });
    void options.previousDone.then(() => {
      const queue = this.#waitingActions ?? [];
      this.#waitingActions = undefined;
      this.#runGuarded(() => {
        for (const action of queue) action();
      });
      if (this.#earlyTagBytes > maxWaitingBytes) this.#drained();
      this.#earlyTagBytes = 0;
    });
  }

  /** It has given all it had. */
  get isDone(): boolean {
    return this.#isDone;
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

  /** What is encoded now, lowest first. */
  get rungs(): LadderTranscoder['rungs'] {
    return this.#ladder?.rungs ?? [];
  }

  /** The sound is apart from the picture. */
  get hasDemuxedAudio(): boolean {
    return this.#audioSegmenter !== undefined;
  }

  /** For its packager. */
  readonly events: Omit<PackagerEvents, 'drained'> = {
    tracks: tracks => this.#afterPrevious(() => this.#begin(tracks)),
    sample: (kind, sample, atMs) =>
      this.#afterPrevious(() => {
        if (kind === 'video' && this.#encodesSource) return;
        if (this.#segmenter !== undefined) this.#addSample(kind, sample, atMs);
        else if (this.#earlySamples.length < maxEarlySamples) this.#earlySamples.push([kind, sample, atMs]);
      }),
    exited: exit =>
      this.#afterPrevious(() => void this.#finish(exit.kind === 'failed' ? exit.report : undefined)),
  };

  /** The packager, with what is written to it taken along for the encoders. */
  withEncoderTap(packager: Packager, drained: () => void): Packager {
    if (this.#options.form === undefined) return packager;
    this.#drained = drained;
    return {
      write: (kind, atMs, body, isConfig) => {
        const isOpen = packager.write(kind, atMs, body, isConfig);
        if (kind === 'video') this.#writeToLadder(atMs, body, isConfig);
        const isCrowded = this.#encodesSource && this.#ladder?.isBacklogged === true;
        return isOpen && !isCrowded && this.#earlyTagBytes <= maxWaitingBytes;
      },
      finish: () => packager.finish(),
      kill: () => {
        this.#isKilled = true;
        return packager.kill();
      },
    };
  }
  #drained: () => void = () => {};

  #afterPrevious(action: () => void): void {
    if (this.#waitingActions === undefined) action();
    else this.#waitingActions.push(action);
  }

  #runGuarded(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.log.error('packaging-broke', { error });
      void this.#ladder?.kill();
      this.#done.resolve();
      this.#options.context.broke(error);
    }
  }

  // ------------------------------------------------------------------------------------------------ beginning

  get #encodesSource(): boolean {
    return this.#options.form?.mark !== undefined && this.#inputTracks.video !== undefined;
  }

  #writeToLadder(atMs: number, body: Buffer, isConfig: boolean): void {
    if (!this.#isLadderFed) return;
    const role = isConfig ? 'config' : describeVideoTag(body)?.role;
    if (role === undefined || role === 'other') return;
    if (role === 'keyframe') this.#keyframesMs.push(atMs);
    const tag: Parameters<LadderTranscoder['write']> = [role, atMs, compositionOffsetMs(body), body];
    if (this.#ladder === undefined) {
      this.#earlyTags.push(tag);
      if (this.#waitingActions !== undefined) this.#earlyTagBytes += body.length;
    } else this.#ladder.write(...tag);
  }

  #begin(tracks: Tracks): void {
    if (this.#options.context.isOver()) return;
    const { width = 0, height = 0 } = tracks.video ?? {};
    if (isResolutionTooLarge({ width, height }, this.#options.settings.maxPixels)) {
      this.#options.context.tooLarge({ width, height });
      return;
    }
    this.#inputTracks = tracks;
    this.#startLadder(tracks);
    if (!this.#encodesSource) this.#startSegmenter(tracks);
  }

  #startLadder({ video }: Tracks): void {
    const { form, context, clock, log } = this.#options;
    const tags = this.#earlyTags;
    this.#earlyTags = [];
    const picture = video === undefined ? undefined : evenSize(displaySize(video));
    const rungs =
      form === undefined || picture === undefined ? [] : planRungs(form, picture, context.givenUp);
    if (form === undefined || picture === undefined || rungs.length === 0) {
      this.#isLadderFed = false;
      return;
    }
    this.#ladder = new LadderTranscoder({
      picture: { ...picture, overlay: form.mark?.(picture) },
      rungs,
      startEncoder: (order, events) => form.startEncoder(order, events),
      canDropRungs: form.canDropQualities ?? true,
      clock,
      events: {
        track: (name, track) => this.#runGuarded(() => this.#useRungTrack(name, track)),
        sample: (name, sample, atMs) =>
          this.#runGuarded(() => {
            if (name === sourceRendition) this.#addSample('video', sample, atMs);
            else this.#feedSample(name, sample, atMs);
          }),
        dropped: (name, fromMs, reason) => this.#dropRung(name, fromMs, reason),
        settled: () => this.#runGuarded(() => this.#completeSwitches()),
        thinned: frameDivisor => {
          if (frameDivisor > 1) log.warn('live-frames-thinned', { frameDivisor });
          else log.info('live-frames-whole');
        },
        failed: report => {
          this.#options.observer.packagerFailed();
          log.warn('live-encoder-failed', { report });
        },
        gaveUp: report => context.broke(new Error(report)),
        drained: () => this.#drained(),
      },
      willBeginSegment: () => this.#segmenter?.willBeginSegmentAt(this.#keyframesMs) ?? true,
    });
    for (const tag of tags) this.#ladder.write(...tag);
  }

  /** @param tracks of the source, as it is delivered */
  #startSegmenter(tracks: Tracks): void {
    const { context, settings, log, isSlate, form } = this.#options;
    context.begins(this.#inputTracks);
    const isApart = form?.isLadder === true && tracks.video !== undefined;
    const own: Tracks = isApart && tracks.video !== undefined ? { video: tracks.video } : tracks;
    const init = context.source.setTracks(own);
    context.follow(follower => follower.tracks?.(sourceRendition, own, init, isSlate));
    if (own.video !== undefined) this.#rungTracks.set(sourceRendition, own.video);
    this.#addAlignedRenditions(tracks, isApart);
    this.#segmenter = new Segmenter({
      tracks: own,
      sink: this.#measuredSink(tracks.video === undefined ? 'audio' : 'video'),
      partSeconds: settings.partTargetMs / 1000,
      segmentSeconds: settings.segmentTargetMs / 1000,
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
  }

  /** Renditions beside the source: those that are planned, and those that were there before and have viewers. */
  #addAlignedRenditions({ audio }: Tracks, isApart: boolean): void {
    const { context } = this.#options;
    const names = new Set(context.others().map(({ name }) => name));
    if (isApart && audio !== undefined) names.add(audioRendition);
    for (const { name } of this.rungs) if (name !== sourceRendition) names.add(name);
    for (const name of names) {
      if (name === audioRendition) {
        const before = context.rendition(name).tracks.audio;
        this.#audioSegmenter = this.#alignedSegmenter(name, 'audio');
        const track = audio ?? before;
        if (track === undefined) continue;
        this.#audioSegmenter.useTrack(track);
        // Its samples are told from now on, before the first part is full.
        const tracks = { audio: track };
        const init = context.rendition(name).setTracks(tracks);
        context.follow(follower => follower.tracks?.(name, tracks, init, this.#options.isSlate));
        continue;
      }
      const feed = new RenditionFeed(this.#alignedSegmenter(name, 'video'), this.#replacementOf(name));
      this.#feeds.push(feed);
      const track = this.#rungTracks.get(feed.currentRung);
      if (track !== undefined) feed.segmenter.useTrack(track);
    }
  }

  #alignedSegmenter(name: string, kind: TrackKind): AlignedSegmenter {
    const { context, isSlate, observer, clock } = this.#options;
    return new AlignedSegmenter({
      rendition: context.rendition(name),
      kind,
      ...(kind === 'audio' ? { presentationOffsetMs: () => this.#presentationOffsetMs } : {}),
      onTrack: (track, init) => {
        context.changed();
        context.follow(follower => follower.tracks?.(name, { [kind]: track }, init, isSlate));
      },
      onPart: part => {
        context.follow(follower => follower.part?.({ ...part, rendition: name, isSlate }));
        context.listed();
        if (kind === 'audio') return;
        const arrived = context.arrivalOf('video', part.newestFrameMs);
        if (arrived !== undefined) observer.renditionPartListed?.(clock.monotonicMs() - arrived);
      },
    });
  }

  /** What a rung's viewers get: it, else the best of those below it, else the lowest one, else the source. */
  #replacementOf(name: string): string {
    const made = this.rungs.map(rung => rung.name).filter(rung => rung !== sourceRendition);
    if (made.includes(name)) return name;
    const lines = Number.parseInt(name, 10);
    return made.findLast(rung => Number.parseInt(rung, 10) <= lines) ?? made[0] ?? sourceRendition;
  }

  // ------------------------------------------------------------------------------------------------ media

  #addSample(kind: TrackKind, sample: Sample, atMs: number): void {
    const { context, isSlate } = this.#options;
    const isApart = kind === 'audio' && this.#audioSegmenter !== undefined;
    if (kind === 'video' && sample.isSync) {
      const timescale = context.source.tracks.video?.timescale ?? 1000;
      this.#presentationOffsetMs = (sample.compositionOffsetTicks * 1000) / timescale;
      this.#keyframesMs = this.#keyframesMs.filter(keyframeMs => keyframeMs > atMs + frameToleranceMs);
    }
    const rendition = isApart ? audioRendition : sourceRendition;
    context.follow(follower => follower.sample?.(rendition, kind, sample, atMs, isSlate));
    if (isApart) this.#audioSegmenter?.add(sample, atMs);
    if (!isApart || context.source.tracks.audio !== undefined) this.#segmenter?.add(kind, sample, atMs);
    if (kind === 'video') this.#feedSample(sourceRendition, sample, atMs);
  }

  #feedSample(name: string, sample: Sample, atMs: number): void {
    for (const feed of this.#feeds) feed.deliver(name, sample, atMs);
  }

  #useRungTrack(name: string, track: TrackDescription): void {
    const former = this.#rungTracks.get(name);
    // Another encoder of the same rung.
    if (former?.sampleEntry.equals(track.sampleEntry) === true && former.timescale === track.timescale)
      return;
    this.#rungTracks.set(name, track);
    if (name === sourceRendition && this.#segmenter === undefined) {
      this.#startSegmenter({ ...this.#inputTracks, video: track });
      return;
    }
    for (const feed of this.#feeds) if (feed.currentRung === name) feed.segmenter.useTrack(track);
  }

  #dropRung(name: string, fromMs: number, reason: RungDropReason): void {
    this.#options.context.giveUpRung(name, reason);
    const left = this.rungs.map(rung => rung.name).filter(rung => rung !== sourceRendition && rung !== name);
    const lower = left.at(-1) ?? sourceRendition;
    for (const feed of this.#feeds) if (feed.nextRung === name) feed.switchTo(lower, fromMs);
  }

  #completeSwitches(): void {
    for (const feed of this.#feeds) {
      const { heldSamples } = feed;
      if (!feed.completeSwitch()) continue;
      const track = this.#rungTracks.get(feed.currentRung);
      if (track !== undefined) feed.segmenter.useTrack(track);
      for (const [sample, atMs] of heldSamples) feed.segmenter.add(sample, atMs);
    }
    this.#options.context.changed();
  }

  // ------------------------------------------------------------------------------------------------ end

  async #finish(failure: string | undefined): Promise<void> {
    this.#isLadderFed = false;
    if (!this.#encodesSource) this.#runGuarded(() => this.#segmenter?.finish());
    await (this.#isKilled ? this.#ladder?.kill() : this.#ladder?.finish());
    this.#runGuarded(() => {
      if (this.#encodesSource) this.#segmenter?.finish();
      this.#audioSegmenter?.finish();
      for (const { segmenter } of this.#feeds) segmenter.finish();
    });
    this.#done.resolve();
    if (failure !== undefined) this.#options.context.failed(failure);
  }

  /** The window of the source, with a note of how long each part and segment took; what follows is told of each step. */
  #measuredSink(leader: TrackKind): SegmentSink {
    const { context, clock, observer, isSlate } = this.#options;
    const { window } = context.source;
    let lastLagMs: number | undefined;
    let endMs = 0;
    const following = [
      ...(this.#audioSegmenter === undefined ? [] : [this.#audioSegmenter]),
      ...this.#feeds.map(feed => feed.segmenter),
    ];
    const lagAt = (frameMs: number) => {
      const arrived = context.arrivalOf(leader, frameMs);
      return arrived === undefined ? undefined : clock.monotonicMs() - arrived;
    };
    return {
      get partTargetSeconds() {
        return window.partTargetSeconds;
      },
      targetDurationSeconds: window.targetDurationSeconds,
      fixPartTarget: seconds => {
        window.fixPartTarget(seconds);
        for (const other of context.others()) other.window.fixPartTarget(seconds);
      },
      openSegment: segment => {
        const arrivedAtMs = clock.nowMs() - (lagAt(segment.startMs) ?? 0);
        const facts = window.openSegment({ ...segment, arrivedAtMs });
        endMs = segment.startMs;
        for (const each of following) each.segmentOpened(facts);
      },
      nextSequenceNumber: () => window.nextSequenceNumber(),
      addPart: part => {
        window.addPart(part);
        context.follow(follower => follower.part?.({ ...part, rendition: sourceRendition, isSlate }));
        context.listed();
        lastLagMs = lagAt(part.newestFrameMs);
        if (lastLagMs !== undefined) observer.partListed(lastLagMs);
        endMs += part.durationSeconds * 1000;
        for (const each of following) each.partListed(endMs);
      },
      closeSegment: () => {
        window.closeSegment();
        if (lastLagMs !== undefined) observer.segmentListed(lastLagMs);
        for (const each of following) each.segmentClosed();
      },
    };
  }
}
