import type { Sample } from '../cmaf/fragment-reader.ts';
import { displaySize, type TrackDescription } from '../cmaf/init-segment.ts';
import type { PictureSize } from '../cmaf/parameter-set.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import { audioRendition, type BroadcastFollower, sourceRendition } from './broadcast-follower.ts';
import { compositionOffsetMs, describeVideoTag } from './flv-tag.ts';
import { FollowingSegmenter } from './following-segmenter.ts';
import { Ladder, type LadderReason } from './ladder.ts';
import { evenOf, type LadderForm, planRungs } from './ladder-form.ts';
import type { LiveRendition } from './live-rendition.ts';
import type { Packager, PackagerEvents } from './packager.ts';
import { isPictureTooLarge } from './picture-guard.ts';
import type { LiveObserver, LiveSettings } from './ports.ts';
import { RungFeed } from './rung-feed.ts';
import { Segmenter, type SegmentSink } from './segmenter.ts';
import type { TrackKind } from './timeline.ts';

/** Tracks of a rendition or a packager. */
export type Tracks = Partial<Record<TrackKind, TrackDescription>>;

/** What the media of one packager is part of. */
export interface GenerationStage {
  readonly source: LiveRendition;
  /** All that there are beside the source. */
  others(): readonly LiveRendition[];
  /** The rendition of this name, made when there is none. */
  rendition(name: string): LiveRendition;
  /** Rungs that were given up. */
  readonly givenUp: ReadonlySet<string>;
  /** A rung is made no more in this broadcast. */
  giveUpRung(name: string, reason: LadderReason): void;
  /** It takes no more media. */
  readonly isOver: () => boolean;
  /** The picture has more pixels than it may. */
  tooLarge(size: PictureSize): void;
  /** Media of a packager begins: what was before is a line that ends here. */
  begins(tracks: Tracks): void;
  /** What can be chosen among has changed. */
  changed(): void;
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
  /** Copied as it comes in unless given. */
  readonly form: LadderForm | undefined;
  /** Resolves when the packager before has given all it had. */
  readonly before: Promise<void>;
  readonly isStandIn: boolean;
  readonly settings: Pick<LiveSettings, 'partTargetMs' | 'segmentTargetMs' | 'maxPixels'>;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Picture that waits for its turn: more than this, and whoever can wait should. */
const mostWaitingBytes = 12 * 1024 * 1024;
/** Media that waits for the source's encoder to begin. */
const mostEarly = 4000;
/** Times of the same frame differ by roundings only. */
const sameFrameMs = 4;
/** Sound waits for a picture that is encoded, for longer than any lag. */
const encodedVideoLateSeconds = 30;

/**
 * The media of one packager, cut into the renditions. What it gives is kept back until the one before has given its last sample.
 *
 * The source's segmenter decides where segments begin; all other renditions follow it.
 */
export class Generation {
  readonly #options: GenerationOptions;
  readonly #done = Promise.withResolvers<void>();
  #isDone = false;
  #waiting: (() => void)[] | undefined = [];
  /** Tracks as they come in. */
  #copied: Tracks = {};
  #segmenter: Segmenter | undefined;
  #early: [TrackKind, Sample, number][] = [];
  #ladder: Ladder | undefined;
  #tags: Parameters<Ladder['write']>[] = [];
  #tagBytes = 0;
  /** Decoding times of the keyframes that were written and are not cut yet. */
  #keyframesMs: number[] = [];
  #expectsTags: boolean;
  #isKilled = false;
  #sound: FollowingSegmenter | undefined;
  #shownLaterMs = 0;
  readonly #feeds: RungFeed[] = [];
  readonly #rungTracks = new Map<string, TrackDescription>();

  constructor(options: GenerationOptions) {
    this.#options = options;
    this.#expectsTags = options.form !== undefined;
    void this.#done.promise.then(() => {
      this.#isDone = true;
    });
    void options.before.then(() => {
      const queue = this.#waiting ?? [];
      this.#waiting = undefined;
      this.#try(() => {
        for (const action of queue) action();
      });
      if (this.#tagBytes > mostWaitingBytes) this.#drained();
      this.#tagBytes = 0;
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
  get rungs(): Ladder['rungs'] {
    return this.#ladder?.rungs ?? [];
  }

  /** The sound is apart from the picture. */
  get hasSoundApart(): boolean {
    return this.#sound !== undefined;
  }

  /** For its packager. */
  readonly events: Omit<PackagerEvents, 'drained'> = {
    tracks: tracks => this.#inTurn(() => this.#begin(tracks)),
    sample: (kind, sample, atMs) =>
      this.#inTurn(() => {
        if (kind === 'video' && this.#encodesSource) return;
        if (this.#segmenter !== undefined) this.#take(kind, sample, atMs);
        else if (this.#early.length < mostEarly) this.#early.push([kind, sample, atMs]);
      }),
    exited: exit => this.#inTurn(() => void this.#finish(exit.kind === 'failed' ? exit.report : undefined)),
  };

  /** The packager, with what is written to it taken along for the encoders. */
  tapped(packager: Packager, drained: () => void): Packager {
    if (this.#options.form === undefined) return packager;
    this.#drained = drained;
    return {
      write: (kind, atMs, body, isConfig) => {
        const isOpen = packager.write(kind, atMs, body, isConfig);
        if (kind === 'video') this.#encode(atMs, body, isConfig);
        const isCrowded = this.#encodesSource && this.#ladder?.isCrowded === true;
        return isOpen && !isCrowded && this.#tagBytes <= mostWaitingBytes;
      },
      finish: () => packager.finish(),
      kill: () => {
        this.#isKilled = true;
        return packager.kill();
      },
    };
  }
  #drained: () => void = () => {};

  #inTurn(action: () => void): void {
    if (this.#waiting === undefined) action();
    else this.#waiting.push(action);
  }

  #try(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#options.log.error('packaging-broke', { error });
      void this.#ladder?.kill();
      this.#done.resolve();
      this.#options.stage.broke(error);
    }
  }

  // ------------------------------------------------------------------------------------------------ beginning

  get #encodesSource(): boolean {
    return this.#options.form?.mark !== undefined && this.#copied.video !== undefined;
  }

  #encode(atMs: number, body: Buffer, isConfig: boolean): void {
    if (!this.#expectsTags) return;
    const role = isConfig ? 'config' : describeVideoTag(body)?.role;
    if (role === undefined || role === 'other') return;
    if (role === 'keyframe') this.#keyframesMs.push(atMs);
    const tag: Parameters<Ladder['write']> = [role, atMs, compositionOffsetMs(body), body];
    if (this.#ladder === undefined) {
      this.#tags.push(tag);
      if (this.#waiting !== undefined) this.#tagBytes += body.length;
    } else this.#ladder.write(...tag);
  }

  #begin(tracks: Tracks): void {
    if (this.#options.stage.isOver()) return;
    const { width = 0, height = 0 } = tracks.video ?? {};
    if (isPictureTooLarge({ width, height }, this.#options.settings.maxPixels)) {
      this.#options.stage.tooLarge({ width, height });
      return;
    }
    this.#copied = tracks;
    this.#startLadder(tracks);
    if (!this.#encodesSource) this.#cut(tracks);
  }

  #startLadder({ video }: Tracks): void {
    const { form, stage, clock, log } = this.#options;
    const tags = this.#tags;
    this.#tags = [];
    const picture = video === undefined ? undefined : evenOf(displaySize(video));
    const rungs = form === undefined || picture === undefined ? [] : planRungs(form, picture, stage.givenUp);
    if (form === undefined || picture === undefined || rungs.length === 0) {
      this.#expectsTags = false;
      return;
    }
    this.#ladder = new Ladder({
      picture: { ...picture, overlay: form.mark?.(picture) },
      rungs,
      startEncoder: (order, events) => form.startEncoder(order, events),
      canDropRungs: form.canDropQualities ?? true,
      clock,
      events: {
        track: (name, track) => this.#try(() => this.#useRungTrack(name, track)),
        sample: (name, sample, atMs) =>
          this.#try(() => {
            if (name === sourceRendition) this.#take('video', sample, atMs);
            else this.#deliver(name, sample, atMs);
          }),
        dropped: (name, fromMs, reason) => this.#drop(name, fromMs, reason),
        settled: () => this.#try(() => this.#settle()),
        thinned: frameDivisor => {
          if (frameDivisor > 1) log.warn('live-frames-thinned', { frameDivisor });
          else log.info('live-frames-whole');
        },
        failed: report => {
          this.#options.observer.packagerFailed();
          log.warn('live-encoder-failed', { report });
        },
        gaveUp: report => stage.broke(new Error(report)),
        drained: () => this.#drained(),
      },
      willBeginSegment: () => this.#segmenter?.willBeginSegmentAt(this.#keyframesMs) ?? true,
    });
    for (const tag of tags) this.#ladder.write(...tag);
  }

  /** @param tracks of the source, as it is delivered */
  #cut(tracks: Tracks): void {
    const { stage, settings, log, isStandIn, form } = this.#options;
    stage.begins(this.#copied);
    const isApart = form?.isLadder === true && tracks.video !== undefined;
    const own: Tracks = isApart && tracks.video !== undefined ? { video: tracks.video } : tracks;
    const init = stage.source.useTracks(own);
    stage.follow(follower => follower.tracks?.(sourceRendition, own, init, isStandIn));
    if (own.video !== undefined) this.#rungTracks.set(sourceRendition, own.video);
    this.#addFollowing(tracks, isApart);
    this.#segmenter = new Segmenter({
      tracks: own,
      sink: this.#measuredSink(tracks.video === undefined ? 'audio' : 'video'),
      partSeconds: settings.partTargetMs / 1000,
      segmentSeconds: settings.segmentTargetMs / 1000,
      ...(this.#encodesSource ? { videoLateSeconds: encodedVideoLateSeconds } : {}),
      onLongGop: seconds =>
        log.warn('keyframe-interval-too-long', {
          seconds: Math.round(seconds * 10) / 10,
          advice: 'set the keyframe interval to 2 s in the encoder',
        }),
    });
    const early = this.#early;
    this.#early = [];
    for (const [kind, sample, atMs] of early) this.#take(kind, sample, atMs);
  }

  /** Renditions beside the source: those that are planned, and those that were there before and have viewers. */
  #addFollowing({ audio }: Tracks, isApart: boolean): void {
    const { stage } = this.#options;
    const names = new Set(stage.others().map(({ name }) => name));
    if (isApart && audio !== undefined) names.add(audioRendition);
    for (const { name } of this.rungs) if (name !== sourceRendition) names.add(name);
    for (const name of names) {
      if (name === audioRendition) {
        const before = stage.rendition(name).tracks.audio;
        this.#sound = this.#following(name, 'audio');
        const track = audio ?? before;
        if (track === undefined) continue;
        this.#sound.useTrack(track);
        // Its samples are told from now on, before the first part is full.
        const tracks = { audio: track };
        const init = stage.rendition(name).useTracks(tracks);
        stage.follow(follower => follower.tracks?.(name, tracks, init, this.#options.isStandIn));
        continue;
      }
      const feed = new RungFeed(this.#following(name, 'video'), this.#replacementOf(name));
      this.#feeds.push(feed);
      const track = this.#rungTracks.get(feed.current);
      if (track !== undefined) feed.segmenter.useTrack(track);
    }
  }

  #following(name: string, kind: TrackKind): FollowingSegmenter {
    const { stage, isStandIn, observer, clock } = this.#options;
    return new FollowingSegmenter({
      rendition: stage.rendition(name),
      kind,
      ...(kind === 'audio' ? { shownLaterMs: () => this.#shownLaterMs } : {}),
      onTrack: (track, init) => {
        stage.changed();
        stage.follow(follower => follower.tracks?.(name, { [kind]: track }, init, isStandIn));
      },
      onPart: part => {
        stage.follow(follower => follower.part?.({ ...part, rendition: name, isStandIn }));
        stage.listed();
        if (kind === 'audio') return;
        const arrived = stage.arrivalOf('video', part.newestFrameMs);
        if (arrived !== undefined) observer.rungListed?.(clock.monotonicMs() - arrived);
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

  #take(kind: TrackKind, sample: Sample, atMs: number): void {
    const { stage, isStandIn } = this.#options;
    const isApart = kind === 'audio' && this.#sound !== undefined;
    if (kind === 'video' && sample.isSync) {
      const timescale = stage.source.tracks.video?.timescale ?? 1000;
      this.#shownLaterMs = (sample.compositionOffsetTicks * 1000) / timescale;
      this.#keyframesMs = this.#keyframesMs.filter(keyframeMs => keyframeMs > atMs + sameFrameMs);
    }
    const rendition = isApart ? audioRendition : sourceRendition;
    stage.follow(follower => follower.sample?.(rendition, kind, sample, atMs, isStandIn));
    if (isApart) this.#sound?.add(sample, atMs);
    if (!isApart || stage.source.tracks.audio !== undefined) this.#segmenter?.add(kind, sample, atMs);
    if (kind === 'video') this.#deliver(sourceRendition, sample, atMs);
  }

  #deliver(name: string, sample: Sample, atMs: number): void {
    for (const feed of this.#feeds) feed.deliver(name, sample, atMs);
  }

  #useRungTrack(name: string, track: TrackDescription): void {
    const former = this.#rungTracks.get(name);
    // Another encoder of the same rung.
    if (former?.sampleEntry.equals(track.sampleEntry) === true && former.timescale === track.timescale)
      return;
    this.#rungTracks.set(name, track);
    if (name === sourceRendition && this.#segmenter === undefined) {
      this.#cut({ ...this.#copied, video: track });
      return;
    }
    for (const feed of this.#feeds) if (feed.current === name) feed.segmenter.useTrack(track);
  }

  #drop(name: string, fromMs: number, reason: LadderReason): void {
    this.#options.stage.giveUpRung(name, reason);
    const left = this.rungs.map(rung => rung.name).filter(rung => rung !== sourceRendition && rung !== name);
    const lower = left.at(-1) ?? sourceRendition;
    for (const feed of this.#feeds) if (feed.from === name) feed.replace(lower, fromMs);
  }

  #settle(): void {
    for (const feed of this.#feeds) {
      const { early } = feed;
      if (!feed.settle()) continue;
      const track = this.#rungTracks.get(feed.current);
      if (track !== undefined) feed.segmenter.useTrack(track);
      for (const [sample, atMs] of early) feed.segmenter.add(sample, atMs);
    }
    this.#options.stage.changed();
  }

  // ------------------------------------------------------------------------------------------------ end

  async #finish(failure: string | undefined): Promise<void> {
    this.#expectsTags = false;
    if (!this.#encodesSource) this.#try(() => this.#segmenter?.finish());
    await (this.#isKilled ? this.#ladder?.kill() : this.#ladder?.finish());
    this.#try(() => {
      if (this.#encodesSource) this.#segmenter?.finish();
      this.#sound?.finish();
      for (const { segmenter } of this.#feeds) segmenter.finish();
    });
    this.#done.resolve();
    if (failure !== undefined) this.#options.stage.failed(failure);
  }

  /** The window of the source, with a note of how long each part and segment took; what follows is told of each step. */
  #measuredSink(leader: TrackKind): SegmentSink {
    const { stage, clock, observer, isStandIn } = this.#options;
    const { window } = stage.source;
    let lastLagMs: number | undefined;
    let endMs = 0;
    const following = [
      ...(this.#sound === undefined ? [] : [this.#sound]),
      ...this.#feeds.map(feed => feed.segmenter),
    ];
    const lagAt = (frameMs: number) => {
      const arrived = stage.arrivalOf(leader, frameMs);
      return arrived === undefined ? undefined : clock.monotonicMs() - arrived;
    };
    return {
      get partTargetSeconds() {
        return window.partTargetSeconds;
      },
      targetDurationSeconds: window.targetDurationSeconds,
      fixPartTarget: seconds => {
        window.fixPartTarget(seconds);
        for (const other of stage.others()) other.window.fixPartTarget(seconds);
      },
      openSegment: segment => {
        const arrivedAtMs = clock.nowMs() - (lagAt(segment.startMs) ?? 0);
        const facts = window.openSegment({ ...segment, arrivedAtMs });
        endMs = segment.startMs;
        for (const each of following) each.opened(facts);
      },
      nextSequenceNumber: () => window.nextSequenceNumber(),
      addPart: part => {
        window.addPart(part);
        stage.follow(follower => follower.part?.({ ...part, rendition: sourceRendition, isStandIn }));
        stage.listed();
        lastLagMs = lagAt(part.newestFrameMs);
        if (lastLagMs !== undefined) observer.partListed(lastLagMs);
        endMs += part.durationSeconds * 1000;
        for (const each of following) each.parted(endMs);
      },
      closeSegment: () => {
        window.closeSegment();
        if (lastLagMs !== undefined) observer.segmentListed(lastLagMs);
        for (const each of following) each.closed();
      },
    };
  }
}
