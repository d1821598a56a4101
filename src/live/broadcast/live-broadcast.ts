import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { FlvTag, TrackKind } from '../../media/flv/flv-tag.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import { SlidingWindowLimit } from '../../shared/sliding-window-limit.ts';
import type { RenderedText } from '../../shared/text/rendered-text.ts';
import type { AlarmInputs, IngestInfo, IngestStats } from '../health/ingest-health.ts';
import type { Packager, PackagerEvents, PackagerPlan } from '../packaging/packager.ts';
import { PackagingSession } from '../packaging/packaging-session.ts';
import { SlateSession } from '../slate/slate-session.ts';
import type { SlateSource } from '../slate/slate-source.ts';
import type { LadderConfig } from '../transcode/ladder-config.ts';
import { LiveRenditions } from '../transcode/live-renditions.ts';
import { codecsOf, pickFrameRate } from '../window/live-multivariant.ts';
import type { MediaAnswer, PlaylistAnswer } from '../window/live-window.ts';
import type { BroadcastRewind } from '../window/rewind-store.ts';
import { BroadcastNotifier } from './broadcast-notifier.ts';
import { type BroadcastState, canTransition, type EndReason } from './broadcast-state.ts';
import type { BroadcastSubscriber } from './broadcast-subscriber.ts';
import type { CodecCapabilities } from './codec-policy.ts';
import type { BroadcastJournal, LiveObserver, LiveSettings, PublisherConnection } from './ports.ts';
import { PublisherMonitor } from './publisher-monitor.ts';
import { PublisherSession, type PublisherSessionEvents } from './publisher-session.ts';
import { ReconnectBuffer } from './reconnect-buffer.ts';
import { resolutionTooLargeText } from './resolution-guard.ts';
import { Timeline } from './timeline.ts';

/** What a broadcast is made with. */
export interface LiveBroadcastOptions {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly targetDurationSeconds: number;
  readonly settings: LiveSettings;
  readonly codecCapabilities: CodecCapabilities;
  readonly startPackager: (plan: PackagerPlan, events: PackagerEvents) => Packager;
  /** What is encoded of it; nothing unless given. */
  readonly form?: LadderConfig | undefined;
  readonly journal: BroadcastJournal;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
  /** What goes along with it. */
  readonly subscribers: readonly BroadcastSubscriber[];
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
export interface PublisherHandler {
  tag(tag: FlvTag): void;
  closed(reason: string): void;
}

/** A hole in the media that is left as it is; longer ones are closed, so that parts stay within their target. */
const maxGapMs = 500;
/** Time of the first media: leaves room for the lead-ins before it. */
const mediaStartMs = 7000;
/** A publisher that is silent for this long gives way to another with the same key: it is most likely the same, on a new connection. */
const silentPublisherMs = 3000;
/** The next failure is the last. */
const maxPackagerFailures = 4;
/** Long enough for a packager that hangs each time, which is noticed after some seconds. */
const failureWindowMs = 90_000;
/** One for each configuration that an encoder sends, and each time that it comes back. */
const maxPackagerStarts = 20;
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
  readonly #timeline = new Timeline(maxGapMs, mediaStartMs);
  readonly #publisherMonitor: PublisherMonitor;
  readonly #slateSession: SlateSession | undefined;
  readonly #notifier: BroadcastNotifier;
  #state: BroadcastState = 'starting';
  #connection: PublisherConnection | undefined;
  #publisherSession: PublisherSession | undefined;
  /** The newest one whose media is cut. */
  #currentPackaging: PackagingSession | undefined;
  /** The one whose packager was started last. */
  #newestPackaging: PackagingSession | undefined;
  #isCurrentSlate = false;
  #maxGopSeconds = 0;
  /** Resolves when the newest packager has given all it had: the next one's samples come after. */
  #packagingDone: Promise<void> = Promise.resolve();
  readonly #packagerFailures: SlidingWindowLimit;
  readonly #packagerStarts: SlidingWindowLimit;
  #graceTimer: NodeJS.Timeout | undefined;
  #gapTimer: NodeJS.Timeout | undefined;
  #disconnectTimer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;

  constructor(options: LiveBroadcastOptions) {
    const { clock } = options;
    this.#options = options;
    this.broadcastId = options.broadcastId;
    this.liveStreamId = options.liveStreamId;
    this.projectId = options.projectId;
    this.startedAtMs = clock.nowMs();
    this.#publisherMonitor = new PublisherMonitor(options);
    this.#packagerFailures = new SlidingWindowLimit(clock, maxPackagerFailures, failureWindowMs);
    this.#packagerStarts = new SlidingWindowLimit(clock, maxPackagerStarts, startWindowMs);
    this.#renditions = new LiveRenditions(options, {
      generation: () => this.#currentPackaging,
      declared: () => this.#publisherMonitor.declared,
    });
    this.#slateSession =
      options.slate &&
      new SlateSession({
        slate: options.slate,
        framesPerSecond: () =>
          pickFrameRate(
            this.#publisherMonitor.declared?.framesPerSecond,
            this.#currentPackaging?.frameSeconds,
          ),
        clock,
        log: options.log,
        begin: dueMs => this.#startSlateOutput(dueMs),
        failed: () => this.#scheduleFiller(),
        isWanted: () => this.#connection === undefined && this.#ending === undefined,
      });
    const { subscribers } = options;
    this.#notifier = new BroadcastNotifier({
      ...options,
      subscribers: this.#slateSession === undefined ? subscribers : [...subscribers, this.#slateSession],
    });
  }

  get state(): BroadcastState {
    return this.#state;
  }

  /** It has begun and is not over: live, or without a publisher that may come back. */
  get isBroadcasting(): boolean {
    return !this.isEnding && this.#state !== 'starting';
  }

  /** The publisher is gone and may come back. */
  get #isPublisherGone(): boolean {
    return this.#state === 'waiting' || this.#state === 'stopping';
  }

  /** It has ended or is about to: another publisher begins another broadcast. */
  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** True where an encoder makes what viewers get. */
  get isTranscoded(): boolean {
    return this.#options.form !== undefined;
  }

  /** There is something to play, in all that there is to choose among. */
  get isPlayable(): boolean {
    return this.#renditions.isPlayable;
  }

  /** The longest distance between keyframes that was seen, in seconds. */
  get maxGopSeconds(): number {
    return Math.max(this.#maxGopSeconds, this.#currentPackaging?.gopSeconds ?? 0);
  }

  /** What its publisher's media is like now. */
  get ingestStats(): IngestStats {
    return this.#publisherMonitor.ingestStats;
  }

  /** Who publishes, and what: of the newest publisher. */
  get ingest(): IngestInfo {
    return this.#publisherMonitor.ingest;
  }

  /** What alarms are judged by. */
  get alarmInputs(): AlarmInputs {
    return this.#publisherMonitor.alarmInputs;
  }

  /** A publisher is connected, and not so silent that another may take its place. */
  hasActivePublisher(): boolean {
    return (
      this.#connection !== undefined &&
      this.#options.clock.monotonicMs() - this.#publisherMonitor.lastTagAtMs < silentPublisherMs
    );
  }

  // ------------------------------------------------------------------------------------------------ publisher

  /** Takes a publisher: the first one, or one that came back. */
  attach(connection: PublisherConnection): PublisherHandler {
    const replaced = this.#connection;
    if (replaced !== undefined) {
      this.#publisherGone(replaced, 'replaced');
      replaced.close('Another connection publishes this stream.');
    }
    clearTimeout(this.#graceTimer);
    const { log } = this.#options;
    this.#connection = connection;
    this.#slateSession?.cancelPending();
    let reconnectBuffer = this.#slateSession?.isShowing ? new ReconnectBuffer() : undefined;
    if (reconnectBuffer === undefined) this.#timeline.restart();
    this.#publisherMonitor.attached(connection);
    const session = this.#createPublisherSession(false, {
      mayStartPackager: () => this.#packagerStarts.take(),
      ...this.#publisherMonitor.sessionEvents,
      refused: (reason, description) => this.#endAndRefuse(reason, description),
      flow: isOpen => (isOpen ? connection.resume() : connection.pause()),
    });
    this.#publisherSession = session;
    log.info('publisher-attached', {
      connectionId: connection.connectionId,
      address: connection.remoteAddress,
    });
    return {
      tag: tag => {
        if (this.#publisherSession !== session) return;
        this.#publisherMonitor.tagArrived();
        if (reconnectBuffer === undefined) {
          session.tag(tag);
          return;
        }
        const tags = this.#slateSession?.isShowing
          ? reconnectBuffer.push(tag, this.#publisherMonitor.lastTagAtMs)
          : reconnectBuffer.flush(tag);
        if (tags === undefined) return;
        reconnectBuffer = undefined;
        void this.#slateSession?.finish();
        this.#scheduleFiller();
        this.#timeline.restart();
        for (const each of tags) session.tag(each);
      },
      closed: reason => this.#publisherGone(connection, reason),
    };
  }

  /** What stands in for the publisher begins: its media goes the way of a publisher's. */
  #startSlateOutput(dueMs: (timestampMs: number) => number): PublisherSession {
    this.#timeline.restart();
    return this.#createPublisherSession(true, {
      mayStartPackager: () => true,
      declared: () => {},
      // What is made up for comes late, and dates go on from those before.
      arrived: (kind, atMs, timestampMs) =>
        this.#publisherMonitor.arrivals[kind].add(atMs, dueMs(timestampMs)),
      dropped: () => {},
      clockJumped: () => {},
      refused: (_, description) => this.#slateSession?.packagingFailed(description),
      // It comes in real time, and is small.
      flow: () => {},
    });
  }

  #createPublisherSession(
    isSlate: boolean,
    events: Omit<PublisherSessionEvents, 'packagerStarts' | 'placed'>,
  ): PublisherSession {
    const session: PublisherSession = new PublisherSession({
      timeline: this.#timeline,
      codecCapabilities: this.#options.codecCapabilities,
      startPackager: (plan, packagerEvents) => {
        const packager = this.#options.startPackager(plan, packagerEvents);
        return this.#newestPackaging?.withEncoderTap(packager, () => packagerEvents.drained()) ?? packager;
      },
      keyframeTimeoutMs: this.#options.settings.keyframeTimeoutMs,
      // A slate is as large as the picture that it stands in for.
      maxPixels: isSlate ? Number.POSITIVE_INFINITY : this.#options.settings.maxPixels,
      events: {
        ...events,
        packagerStarts: () => this.#startPackagingSession(session, isSlate),
        placed: ({ kind, role, atMs, body }) => {
          if (role === 'other') return;
          this.#notifier.notify(follower => follower.tag?.({ kind, role, atMs, body, isSlate }));
        },
      },
    });
    return session;
  }

  /** Ends it and tells the publisher why. */
  #endAndRefuse(reason: EndReason, description: string): void {
    const link = this.#connection;
    void this.end(reason);
    link?.refuse(description);
  }

  #publisherGone(link: PublisherConnection, reason: string): void {
    if (this.#connection !== link) return;
    const { log } = this.#options;
    const run = this.#publisherSession;
    this.#connection = undefined;
    this.#publisherSession = undefined;
    clearTimeout(this.#disconnectTimer);
    log.info('publisher-detached', { connectionId: link.connectionId, reason });
    if (this.#ending !== undefined) return;
    const hasStopped = reason === 'unpublished';
    if (hasStopped) this.#publisherMonitor.stopped();
    else this.#publisherMonitor.lost();
    void run?.finish();
    if (reason === 'replaced') return;
    if (this.#renditions.source.window.isPlayable) {
      this.#waitForReconnect(hasStopped);
      return;
    }
    // Whatever came was not enough for a picture; perhaps the packager still gives one.
    void this.#packagingDone.then(() => {
      if (this.#connection !== undefined) return;
      if (this.#renditions.source.window.isPlayable) this.#waitForReconnect(hasStopped);
      else void this.end('no-media');
    });
  }

  /** A publisher that stopped is not expected back: it has less time, and nothing is shown in its place. */
  #waitForReconnect(hasStopped: boolean): void {
    if (this.#connection !== undefined || this.#ending !== undefined) return;
    const { stopGraceMs, reconnectGraceMs } = this.#options.settings;
    this.#setState(hasStopped ? 'stopping' : 'waiting');
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(
      () => void this.end(hasStopped ? 'publisher-stopped' : 'publisher-gone'),
      hasStopped ? stopGraceMs : reconnectGraceMs,
    );
    if (hasStopped) void this.#slateSession?.finish();
    this.#scheduleFiller();
    if (!hasStopped) this.#slateSession?.begin(this.#publisherMonitor.lastTagAtMs);
  }

  /** The playlist says that there is nothing, for as long as nothing comes and nothing stands in. */
  #scheduleFiller(): void {
    clearInterval(this.#gapTimer);
    if (!this.#isPublisherGone || this.#ending !== undefined || this.#slateSession?.isShowing) return;
    const { targetDurationSeconds, showsStills } = this.#options;
    // Those who play with little delay run out of media until the first still is there.
    const seconds = showsStills ? targetDurationSeconds / 2 : targetDurationSeconds;
    const hasStopped = this.#state === 'stopping';
    this.#gapTimer = setInterval(() => {
      // Media that an encoder still holds comes first. A packager that has not begun holds none, and players would wait in vain for it.
      if (this.#currentPackaging?.isDone === false) return;
      for (const window of this.#renditions.windows) {
        if (showsStills) window.addStill(seconds, hasStopped);
        else window.addGap(seconds, hasStopped);
      }
    }, seconds * 1000);
  }

  // ------------------------------------------------------------------------------------------------ packagers

  /** A packager begins. */
  #startPackagingSession(run: PublisherSession, isSlate: boolean): Omit<PackagerEvents, 'drained'> {
    const { settings, observer, clock, log } = this.#options;
    const packaging: PackagingSession = new PackagingSession({
      context: {
        source: this.#renditions.source,
        others: () => this.#renditions.others,
        rendition: name => this.#renditions.getOrCreate(name),
        givenUp: this.#renditions.droppedRungs,
        giveUpRung: (name, cause) => {
          this.#renditions.dropRung(name);
          log.warn('quality-dropped', { quality: name, reason: cause });
          observer.qualityDropped?.(name, cause);
          this.#notifier.qualityDropped(name, cause);
        },
        changed: () => this.#renditions.invalidate(),
        isOver: () => this.#state === 'ended',
        tooLarge: size =>
          this.#endAndRefuse(
            'picture-too-large',
            resolutionTooLargeText(size, this.#options.settings.maxPixels),
          ),
        begins: tracks => {
          this.#maxGopSeconds = this.maxGopSeconds;
          this.#currentPackaging = packaging;
          this.#beginMedia(tracks, isSlate);
        },
        listed: () => {
          this.#renditions.partListed();
          if (isSlate || this.#connection === undefined || this.#state === 'live') return;
          // Media that the end brings out of a packager does not bring the broadcast back.
          if (this.isEnding && this.#isPublisherGone) return;
          if (this.isPlayable) this.#setState('live');
        },
        arrivalOf: (kind, atMs) => this.#publisherMonitor.arrivals[kind].arrivalOf(atMs),
        follow: tell => this.#notifier.notify(tell),
        failed: report => {
          if (isSlate) this.#slateSession?.packagingFailed(report);
          else if (this.#publisherSession === run) this.#packagerFailed(report);
        },
        broke: () => {
          if (isSlate) this.#slateSession?.packagingFailed('its media cannot be cut');
          else this.#endAndRefuse('packager-failed', packagerFailedText);
        },
      },
      form: this.#options.form,
      previousDone: this.#packagingDone,
      isSlate,
      settings,
      observer,
      clock,
      log,
    });
    this.#packagingDone = packaging.done;
    this.#newestPackaging = packaging;
    return packaging.events;
  }

  #packagerFailed(report: string): void {
    const { observer, log } = this.#options;
    observer.packagerFailed();
    log.warn('packager-failed', { report });
    if (!this.#packagerFailures.take()) this.#endAndRefuse('packager-failed', packagerFailedText);
  }

  /** The media of a packager begins. */
  #beginMedia(tracks: Partial<Record<TrackKind, TrackDescription>>, isSlate: boolean): void {
    clearInterval(this.#gapTimer);
    this.#renditions.invalidate();
    const isJoined = this.#canContinueTimeline(tracks, isSlate);
    this.#isCurrentSlate = isSlate;
    for (const window of this.#renditions.windows) {
      if (isJoined) window.continueTimeline();
      else window.markDiscontinuity();
    }
    // Neither the history nor the log is about what stands in.
    if (isSlate) return;
    const facts = {
      ...(tracks.audio === undefined ? {} : { audioCodec: tracks.audio.codec }),
      ...(tracks.video === undefined ? {} : { videoCodec: tracks.video.codec }),
      ...(tracks.video?.width === undefined ? {} : { width: tracks.video.width }),
      ...(tracks.video?.height === undefined ? {} : { height: tracks.video.height }),
    };
    this.#publisherMonitor.setMediaInfo(facts);
    this.#notifier.recordChange(facts);
    this.#options.log.info('packaging-started', {
      codecs: codecsOf(tracks),
      ...(tracks.video === undefined ? {} : { size: `${tracks.video.width}x${tracks.video.height}` }),
    });
  }

  /**
   * Media of a publisher that came back can go on without a discontinuity. VLC 3 plays none in fragmented MP4. Renditions that are encoded
   * begin anew at their own times.
   */
  #canContinueTimeline(tracks: Partial<Record<TrackKind, TrackDescription>>, isSlate: boolean): boolean {
    if (this.#options.showsStills !== true || !this.#isPublisherGone) return false;
    if (isSlate || this.#isCurrentSlate || this.#renditions.others.length > 0) return false;
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
    const run = this.#publisherSession;
    this.#publisherSession = undefined;
    clearTimeout(this.#graceTimer);
    clearInterval(this.#gapTimer);
    if (reason === 'deleted') {
      // At once, since a viewer who asks again finds nothing.
      this.#endWindows();
      await Promise.all([run?.kill(), this.#slateSession?.kill()]);
    } else await Promise.all([run?.finish(), this.#slateSession?.finish()]);
    await this.#packagingDone;
    clearInterval(this.#gapTimer);
    this.#endWindows();
    this.#removeUnkeptRewind();
    this.#setState('ended');
    const { clock, log } = this.#options;
    this.#publisherMonitor.stopped();
    this.#notifier.recordEnd(reason, this.ingestStats);
    this.#options.observer.broadcastEnded(reason);
    this.#notifier.notify(follower => follower.ended(reason));
    log.info('broadcast-ended', { reason, seconds: Math.round((clock.nowMs() - this.startedAtMs) / 1000) });
    this.#options.onStateChange();
  }

  #endWindows(): void {
    for (const window of this.#renditions.windows) window.end();
  }

  /** Removes what is on the disk where the owner wants nothing kept. Viewers finish with what is in memory. */
  #removeUnkeptRewind(): void {
    const { rewind } = this.#options;
    if (rewind === undefined || rewind.isKeptAfterEnd) return;
    for (const window of this.#renditions.windows) window.releaseDisk();
    rewind.remove();
  }

  /** Seconds that viewers can go back after the end, beyond what is in memory; 0 is none. */
  get rewindSeconds(): number {
    const { rewind } = this.#options;
    return rewind?.isKeptAfterEnd ? rewind.seconds : 0;
  }

  /** After the end: gives back the memory of what is on disk. Whether that is all that viewers can still play. */
  releaseMemory(): boolean {
    const left = this.#renditions.windows.map(window => window.releaseMemory());
    return left.every(isAll => isAll);
  }

  /** Nobody can play it any more: removes what is on disk. */
  removeMedia(): void {
    this.#options.rewind?.remove();
  }

  /** After `complete`: the encoder may stay for a while, then it is sent away. */
  disconnectPublisherLater(afterMs: number): void {
    const link = this.#connection;
    if (link === undefined) return;
    clearTimeout(this.#disconnectTimer);
    this.#disconnectTimer = setTimeout(() => link.close('This broadcast was completed.'), afterMs);
  }

  /** Closes the publisher's connection now. */
  disconnectPublisher(description: string): void {
    clearTimeout(this.#disconnectTimer);
    this.#connection?.close(description);
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
    if (!canTransition(this.#state, state)) return;
    this.#state = state;
    if (state !== 'ended') {
      this.#notifier.recordChange({ state });
      this.#options.log.info('broadcast-state', { state });
      this.#notifier.notify(follower => follower.stateChanged?.(state));
      this.#options.onStateChange();
    }
  }
}
