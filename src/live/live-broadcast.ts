import type { TrackDescription } from '../cmaf/init-segment.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { RenderedText } from '../shared/rendered-text.ts';
import { type BroadcastState, canFollow, type EndReason } from './broadcast.ts';
import type { BroadcastFollower } from './broadcast-follower.ts';
import { BroadcastReports } from './broadcast-reports.ts';
import type { CodecAbilities } from './codec-policy.ts';
import { Generation } from './generation.ts';
import { Handover } from './handover.ts';
import type { HealthReading, HealthSigns, IngestFacts } from './ingest-health.ts';
import type { LadderForm } from './ladder-form.ts';
import { LiveRenditions } from './live-renditions.ts';
import type { MediaAnswer, PlaylistAnswer } from './live-window.ts';
import type { Packager, PackagerEvents, PackagerPlan } from './packager.ts';
import { pictureTooLargeText } from './picture-guard.ts';
import type { BroadcastJournal, LiveObserver, LiveSettings, LiveTag, PublisherLink } from './ports.ts';
import { PublisherRun, type PublisherRunEvents } from './publisher-run.ts';
import { PublisherWatch } from './publisher-watch.ts';
import { RecentLimit } from './recent-limit.ts';
import type { BroadcastRewind } from './rewind-store.ts';
import type { SlateSource } from './slate.ts';
import { StandIn } from './stand-in.ts';
import { Timeline, type TrackKind } from './timeline.ts';
import { codecsOf, truestFrameRate } from './variant.ts';

/** What a broadcast is made with. */
export interface LiveBroadcastOptions {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly targetDurationSeconds: number;
  readonly settings: LiveSettings;
  readonly abilities: CodecAbilities;
  readonly startPackager: (plan: PackagerPlan, events: PackagerEvents) => Packager;
  /** What is encoded of it; nothing unless given. */
  readonly form?: LadderForm | undefined;
  readonly journal: BroadcastJournal;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
  /** What goes along with it. */
  readonly followers: readonly BroadcastFollower[];
  /** What is shown while its publisher is gone; nothing new unless given. */
  readonly slate?: SlateSource | undefined;
  /** While its publisher is gone and no slate is shown, its playlists grow by stills instead of gaps. */
  readonly showsStills?: boolean;
  /** Where its media goes when it leaves the memory; nowhere unless given. */
  readonly rewind?: BroadcastRewind | undefined;
  /** Told after each change of state. */
  onStateChange(): void;
  /** Told of each quality that is made no more. */
  onQualityDropped?(quality: string, reason: string): void;
}

/** What a broadcast does with the media of its publisher. */
export interface PublisherIntake {
  tag(tag: LiveTag): void;
  closed(reason: string): void;
}

/** A hole in the media that is left as it is; longer ones are closed, so that parts stay within their target. */
const longestHoleMs = 500;
/** Time of the first media: leaves room for the lead-ins before it. */
const mediaStartMs = 7000;
/** A publisher that is silent for this long gives way to another with the same key: it is most likely the same, on a new connection. */
const silentMs = 3000;
/** The next failure is the last. */
const mostPackagerFailures = 4;
/** Long enough for a packager that hangs each time, which is noticed after some seconds. */
const failureWindowMs = 90_000;
/** One for each configuration that an encoder sends, and each time that it comes back. */
const mostPackagerStarts = 20;
const startWindowMs = 30_000;
const packagerFailedText = 'The stream could not be packaged. See the log of the server.';

/** One broadcast: from the first publisher's acceptance, through reconnects, to its end and the time its playlist is still served. */
export class LiveBroadcast {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly startedAtMs: number;
  readonly #options: LiveBroadcastOptions;
  readonly #renditions: LiveRenditions;
  readonly #timeline = new Timeline(longestHoleMs, mediaStartMs);
  readonly #publisher: PublisherWatch;
  readonly #standIn: StandIn | undefined;
  readonly #reports: BroadcastReports;
  #state: BroadcastState = 'starting';
  #link: PublisherLink | undefined;
  #run: PublisherRun | undefined;
  /** The newest one whose media is cut. */
  #generation: Generation | undefined;
  /** The one whose packager was started last. */
  #newest: Generation | undefined;
  #isStandInNewest = false;
  #longestGopSeconds = 0;
  /** Resolves when the newest packager has given all it had: the next one's samples come after. */
  #packagerDone: Promise<void> = Promise.resolve();
  readonly #failures: RecentLimit;
  readonly #starts: RecentLimit;
  #graceTimer: NodeJS.Timeout | undefined;
  #gapTimer: NodeJS.Timeout | undefined;
  #lingerTimer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: LiveBroadcastOptions) {
    const { clock } = options;
    this.#options = options;
    this.broadcastId = options.broadcastId;
    this.liveStreamId = options.liveStreamId;
    this.projectId = options.projectId;
    this.startedAtMs = clock.nowMs();
    this.#publisher = new PublisherWatch(options);
    this.#failures = new RecentLimit(clock, mostPackagerFailures, failureWindowMs);
    this.#starts = new RecentLimit(clock, mostPackagerStarts, startWindowMs);
    this.#renditions = new LiveRenditions(options, {
      generation: () => this.#generation,
      declared: () => this.#publisher.declared,
    });
    this.#standIn =
      options.slate &&
      new StandIn({
        slate: options.slate,
        framesPerSecond: () =>
          truestFrameRate(this.#publisher.declared?.framesPerSecond, this.#generation?.frameSeconds),
        clock,
        log: options.log,
        begin: dueMs => this.#newStandInRun(dueMs),
        failed: () => this.#markGaps(),
        isWanted: () => this.#link === undefined && this.#ending === undefined,
      });
    const { followers } = options;
    this.#reports = new BroadcastReports({
      ...options,
      followers: this.#standIn === undefined ? followers : [...followers, this.#standIn],
    });
  }

  get state(): BroadcastState {
    return this.#state;
  }

  /** It has begun and is not over: live, or without a publisher that may come back. */
  get isBroadcasting(): boolean {
    return !this.isOver && this.#state !== 'starting';
  }

  /** The publisher is gone and may come back. */
  get #isAway(): boolean {
    return this.#state === 'waiting' || this.#state === 'stopping';
  }

  /** It has ended or is about to: another publisher begins another broadcast. */
  get isOver(): boolean {
    return this.#ending !== undefined;
  }

  /** True where an encoder makes what viewers get. */
  get isEncoded(): boolean {
    return this.#options.form !== undefined;
  }

  /** There is something to play, in all that there is to choose among. */
  get isPlayable(): boolean {
    return this.#renditions.isPlayable;
  }

  /** The longest distance between keyframes that was seen, in seconds. */
  get longestGopSeconds(): number {
    return Math.max(this.#longestGopSeconds, this.#generation?.gopSeconds ?? 0);
  }

  /** What its publisher's media is like now. */
  get reading(): HealthReading {
    return this.#publisher.reading;
  }

  /** Who publishes, and what: of the newest publisher. */
  get ingest(): IngestFacts {
    return this.#publisher.ingest;
  }

  /** What alarms are judged by. */
  get signs(): HealthSigns {
    return this.#publisher.signs;
  }

  /** A publisher is connected, and not so silent that another may take its place. */
  hasActivePublisher(): boolean {
    return (
      this.#link !== undefined && this.#options.clock.monotonicMs() - this.#publisher.lastTagMs < silentMs
    );
  }

  // ------------------------------------------------------------------------------------------------ publisher

  /** Takes a publisher: the first one, or one that came back. */
  attach(link: PublisherLink): PublisherIntake {
    const former = this.#link;
    if (former !== undefined) {
      this.#publisherGone(former, 'replaced');
      former.close('Another connection publishes this stream.');
    }
    clearTimeout(this.#graceTimer);
    const { log } = this.#options;
    this.#link = link;
    this.#standIn?.giveWay();
    let handover = this.#standIn?.isOn ? new Handover() : undefined;
    if (handover === undefined) this.#timeline.restart();
    this.#publisher.attached(link);
    const run = this.#newRun(false, {
      mayStartPackager: () => this.#starts.take(),
      ...this.#publisher.hears,
      refused: (reason, description) => this.#giveUp(reason, description),
      flow: isOpen => (isOpen ? link.resume() : link.pause()),
    });
    this.#run = run;
    log.info('publisher-attached', { connectionId: link.connectionId, address: link.remoteAddress });
    return {
      tag: tag => {
        if (this.#run !== run) return;
        this.#publisher.tagCame();
        if (handover === undefined) {
          run.tag(tag);
          return;
        }
        const tags = this.#standIn?.isOn
          ? handover.take(tag, this.#publisher.lastTagMs)
          : handover.flush(tag);
        if (tags === undefined) return;
        handover = undefined;
        void this.#standIn?.finish();
        this.#markGaps();
        this.#timeline.restart();
        for (const each of tags) run.tag(each);
      },
      closed: reason => this.#publisherGone(link, reason),
    };
  }

  /** What stands in for the publisher begins: its media goes the way of a publisher's. */
  #newStandInRun(dueMs: (timestampMs: number) => number): PublisherRun {
    this.#timeline.restart();
    return this.#newRun(true, {
      mayStartPackager: () => true,
      declared: () => {},
      // What is made up for comes late, and dates go on from those before.
      arrived: (kind, atMs, timestampMs) => this.#publisher.arrivals[kind].add(atMs, dueMs(timestampMs)),
      dropped: () => {},
      clockJumped: () => {},
      refused: (_, description) => this.#standIn?.broke(description),
      // It comes in real time, and is small.
      flow: () => {},
    });
  }

  #newRun(isStandIn: boolean, events: Omit<PublisherRunEvents, 'packagerStarts' | 'placed'>): PublisherRun {
    const run: PublisherRun = new PublisherRun({
      timeline: this.#timeline,
      abilities: this.#options.abilities,
      startPackager: (plan, packagerEvents) => {
        const packager = this.#options.startPackager(plan, packagerEvents);
        return this.#newest?.tapped(packager, () => packagerEvents.drained()) ?? packager;
      },
      keyframeTimeoutMs: this.#options.settings.keyframeTimeoutMs,
      // A slate is as large as the picture that it stands in for.
      maxPixels: isStandIn ? Number.POSITIVE_INFINITY : this.#options.settings.maxPixels,
      events: {
        ...events,
        packagerStarts: () => this.#nextGeneration(run, isStandIn),
        placed: ({ kind, role, atMs, body }) => {
          if (role === 'other') return;
          this.#reports.follow(follower => follower.tag?.({ kind, role, atMs, body, isStandIn }));
        },
      },
    });
    return run;
  }

  /** Ends it and tells the publisher why. */
  #giveUp(reason: EndReason, description: string): void {
    const link = this.#link;
    void this.end(reason);
    link?.refuse(description);
  }

  #publisherGone(link: PublisherLink, reason: string): void {
    if (this.#link !== link) return;
    const { log } = this.#options;
    const run = this.#run;
    this.#link = undefined;
    this.#run = undefined;
    clearTimeout(this.#lingerTimer);
    log.info('publisher-detached', { connectionId: link.connectionId, reason });
    if (this.#ending !== undefined) return;
    const hasStopped = reason === 'unpublished';
    if (hasStopped) this.#publisher.stopped();
    else this.#publisher.lost();
    void run?.finish();
    if (reason === 'replaced') return;
    if (this.#renditions.source.window.isPlayable) {
      this.#waitForReturn(hasStopped);
      return;
    }
    // Whatever came was not enough for a picture; perhaps the packager still gives one.
    void this.#packagerDone.then(() => {
      if (this.#link !== undefined) return;
      if (this.#renditions.source.window.isPlayable) this.#waitForReturn(hasStopped);
      else void this.end('no-media');
    });
  }

  /** A publisher that stopped is not expected back: it has less time, and nothing is shown in its place. */
  #waitForReturn(hasStopped: boolean): void {
    if (this.#link !== undefined || this.#ending !== undefined) return;
    const { stopGraceMs, reconnectGraceMs } = this.#options.settings;
    this.#setState(hasStopped ? 'stopping' : 'waiting');
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(
      () => void this.end(hasStopped ? 'publisher-stopped' : 'publisher-gone'),
      hasStopped ? stopGraceMs : reconnectGraceMs,
    );
    if (hasStopped) void this.#standIn?.finish();
    this.#markGaps();
    if (!hasStopped) this.#standIn?.begin(this.#publisher.lastTagMs);
  }

  /** The playlist says that there is nothing, for as long as nothing comes and nothing stands in. */
  #markGaps(): void {
    clearInterval(this.#gapTimer);
    if (!this.#isAway || this.#ending !== undefined || this.#standIn?.isOn) return;
    const { targetDurationSeconds, showsStills } = this.#options;
    // Those who play with little delay run out of media until the first still is there.
    const seconds = showsStills ? targetDurationSeconds / 2 : targetDurationSeconds;
    const hasStopped = this.#state === 'stopping';
    this.#gapTimer = setInterval(() => {
      // Media that an encoder still holds comes first. A packager that has not begun holds none, and players would wait in vain for it.
      if (this.#generation?.isDone === false) return;
      for (const window of this.#renditions.windows) {
        if (showsStills) window.addStill(seconds, hasStopped);
        else window.addGap(seconds, hasStopped);
      }
    }, seconds * 1000);
  }

  // ------------------------------------------------------------------------------------------------ packagers

  /** A packager begins. */
  #nextGeneration(run: PublisherRun, isStandIn: boolean): Omit<PackagerEvents, 'drained'> {
    const { settings, observer, clock, log } = this.#options;
    const generation: Generation = new Generation({
      stage: {
        source: this.#renditions.source,
        others: () => this.#renditions.others,
        rendition: name => this.#renditions.rendition(name),
        givenUp: this.#renditions.givenUp,
        giveUpRung: (name, cause) => {
          this.#renditions.giveUp(name);
          log.warn('quality-dropped', { quality: name, reason: cause });
          observer.qualityDropped?.(name, cause);
          this.#reports.qualityDropped(name, cause);
        },
        changed: () => this.#renditions.changed(),
        isOver: () => this.#state === 'ended',
        tooLarge: size =>
          this.#giveUp('picture-too-large', pictureTooLargeText(size, this.#options.settings.maxPixels)),
        begins: tracks => {
          this.#longestGopSeconds = this.longestGopSeconds;
          this.#generation = generation;
          this.#begin(tracks, isStandIn);
        },
        listed: () => {
          this.#renditions.listed();
          if (isStandIn || this.#link === undefined || this.#state === 'live') return;
          // Media that the end brings out of a packager does not bring the broadcast back.
          if (this.isOver && this.#isAway) return;
          if (this.isPlayable) this.#setState('live');
        },
        arrivalOf: (kind, atMs) => this.#publisher.arrivals[kind].arrivalOf(atMs),
        follow: tell => this.#reports.follow(tell),
        failed: report => {
          if (isStandIn) this.#standIn?.broke(report);
          else if (this.#run === run) this.#packagerFailed(report);
        },
        broke: () => {
          if (isStandIn) this.#standIn?.broke('its media cannot be cut');
          else this.#giveUp('packager-failed', packagerFailedText);
        },
      },
      form: this.#options.form,
      before: this.#packagerDone,
      isStandIn,
      settings,
      observer,
      clock,
      log,
    });
    this.#packagerDone = generation.done;
    this.#newest = generation;
    return generation.events;
  }

  #packagerFailed(report: string): void {
    const { observer, log } = this.#options;
    observer.packagerFailed();
    log.warn('packager-failed', { report });
    if (!this.#failures.take()) this.#giveUp('packager-failed', packagerFailedText);
  }

  /** The media of a packager begins. */
  #begin(tracks: Partial<Record<TrackKind, TrackDescription>>, isStandIn: boolean): void {
    clearInterval(this.#gapTimer);
    this.#renditions.changed();
    const isJoined = this.#canJoin(tracks, isStandIn);
    this.#isStandInNewest = isStandIn;
    for (const window of this.#renditions.windows) {
      if (isJoined) window.joinTimeline();
      else window.breakTimeline();
    }
    // Neither the history nor the log is about what stands in.
    if (isStandIn) return;
    const facts = {
      ...(tracks.audio === undefined ? {} : { audioCodec: tracks.audio.codec }),
      ...(tracks.video === undefined ? {} : { videoCodec: tracks.video.codec }),
      ...(tracks.video?.width === undefined ? {} : { width: tracks.video.width }),
      ...(tracks.video?.height === undefined ? {} : { height: tracks.video.height }),
    };
    this.#publisher.describe(facts);
    this.#reports.writeDown(facts);
    this.#options.log.info('packaging-started', {
      codecs: codecsOf(tracks),
      ...(tracks.video === undefined ? {} : { size: `${tracks.video.width}x${tracks.video.height}` }),
    });
  }

  /**
   * Media of a publisher that came back can go on without a discontinuity. VLC 3 plays none in fragmented MP4. Renditions that are encoded
   * begin anew at their own times.
   */
  #canJoin(tracks: Partial<Record<TrackKind, TrackDescription>>, isStandIn: boolean): boolean {
    if (this.#options.showsStills !== true || !this.#isAway) return false;
    if (isStandIn || this.#isStandInNewest || this.#renditions.others.length > 0) return false;
    return this.#renditions.source.hasSameInit(tracks);
  }

  // ------------------------------------------------------------------------------------------------ end

  /**
   * Ends it: what is inside comes out, the playlist gets its end mark, everyone who waits is answered. The first reason stays.
   * The publisher's connection is the caller's to close.
   */
  end(reason: EndReason): Promise<void> {
    if (this.#ending !== undefined) return this.#ending;
    const { promise, resolve } = Promise.withResolvers<void>();
    // What comes out of the packager meanwhile finds the broadcast over.
    this.#ending = promise;
    resolve(this.#endOnce(reason));
    return promise;
  }

  async #endOnce(reason: EndReason): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    clearTimeout(this.#graceTimer);
    clearInterval(this.#gapTimer);
    if (reason === 'deleted') {
      // At once, since a viewer who asks again finds nothing.
      this.#endWindows();
      await Promise.all([run?.kill(), this.#standIn?.kill()]);
    } else await Promise.all([run?.finish(), this.#standIn?.finish()]);
    await this.#packagerDone;
    clearInterval(this.#gapTimer);
    this.#endWindows();
    this.#removeUnkept();
    this.#setState('ended');
    const { clock, log } = this.#options;
    this.#publisher.stopped();
    this.#reports.writeEnd(reason, this.reading);
    this.#options.observer.broadcastEnded(reason);
    this.#reports.follow(follower => follower.ended(reason));
    log.info('broadcast-ended', { reason, seconds: Math.round((clock.nowMs() - this.startedAtMs) / 1000) });
    this.#options.onStateChange();
  }

  #endWindows(): void {
    for (const window of this.#renditions.windows) window.end();
  }

  /** Removes what is on the disk where the owner wants nothing kept. Viewers finish with what is in memory. */
  #removeUnkept(): void {
    const { rewind } = this.#options;
    if (rewind === undefined || rewind.isKeptAfterEnd) return;
    for (const window of this.#renditions.windows) window.leaveDisk();
    rewind.remove();
  }

  /** Seconds that viewers can go back after the end, beyond what is in memory; 0 is none. */
  get rewindSeconds(): number {
    const { rewind } = this.#options;
    return rewind?.isKeptAfterEnd ? rewind.seconds : 0;
  }

  /** After the end: gives back the memory of what is on disk. Whether that is all that viewers can still play. */
  leaveMemory(): boolean {
    const left = this.#renditions.windows.map(window => window.leaveMemory());
    return left.every(isAll => isAll);
  }

  /** Nobody can play it any more: removes what is on disk. */
  removeMedia(): void {
    this.#options.rewind?.remove();
  }

  /** After `complete`: the encoder may stay for a while, then it is sent away. */
  releasePublisherLater(afterMs: number): void {
    const link = this.#link;
    if (link === undefined) return;
    clearTimeout(this.#lingerTimer);
    this.#lingerTimer = setTimeout(() => link.close('This broadcast was completed.'), afterMs);
  }

  /** Closes the publisher's connection now. */
  releasePublisher(description: string): void {
    clearTimeout(this.#lingerTimer);
    this.#link?.close(description);
  }

  // ------------------------------------------------------------------------------------------------ viewers

  /** Of the source's picture, in pixels; undefined where it has none. */
  get pictureSize(): { readonly width: number; readonly height: number } | undefined {
    const { width, height } = this.#renditions.source.tracks.video ?? {};
    return width && height ? { width, height } : undefined;
  }

  /** See {@link LiveRenditions.multivariant}. */
  multivariant(): RenderedText | undefined {
    return this.#renditions.multivariant();
  }

  /** See {@link LiveWindow.mediaPlaylist}. */
  mediaPlaylist(rendition: string, query: URLSearchParams, signal: AbortSignal): Promise<PlaylistAnswer> {
    return this.#renditions.mediaPlaylist(rendition, query, signal);
  }

  /** See {@link LiveWindow.media}. */
  media(rendition: string, name: string, signal: AbortSignal): Promise<MediaAnswer> | MediaAnswer {
    return this.#renditions.media(rendition, name, signal);
  }

  #setState(state: BroadcastState): void {
    if (!canFollow(this.#state, state)) return;
    this.#state = state;
    if (state !== 'ended') {
      this.#reports.writeDown({ state });
      this.#options.log.info('broadcast-state', { state });
      this.#reports.follow(follower => follower.stateChanged?.(state));
      this.#options.onStateChange();
    }
  }
}
