import type { MediaEvent } from '../../media/samples/media-sample.ts';
import { PictureJoiner } from '../../media/samples/picture-joiner.ts';
import type { IngestLog } from '../health/ingest-log.ts';
import type { Packager, PackagerEvents, PackagerPlan } from '../packaging/packager.ts';
import { SlateSession } from '../slate/slate-session.ts';
import type { SlateSource } from '../slate/slate-source.ts';
import { encodesAlways } from '../transcode/ladder-config.ts';
import type { LiveRenditions } from '../transcode/live-renditions.ts';
import { BroadcastNotifier, type BroadcastNotifierOptions } from './broadcast-notifier.ts';
import {
  BroadcastPackaging,
  type BroadcastPackagingOptions,
  type PackagedBroadcast,
} from './broadcast-packaging.ts';
import { type BroadcastState, canTransition, type EndReason } from './broadcast-state.ts';
import type { CodecCapabilities } from './codec-policy.ts';
import { GapFiller } from './gap-filler.ts';
import type { PublisherConnection } from './ports.ts';
import { PublisherMonitor } from './publisher-monitor.ts';
import { PublisherSession, type PublisherSessionEvents } from './publisher-session.ts';
import { ReconnectBuffer } from './reconnect-buffer.ts';
import { Timeline } from './timeline.ts';

interface LiveBroadcastOptions extends BroadcastPackagingOptions, BroadcastNotifierOptions {
  readonly projectId: string;
  /** Start of a broadcast that another server began. */
  readonly startedAtMs?: number | undefined;
  readonly codecCapabilities: CodecCapabilities;
  readonly startPackager: (plan: PackagerPlan, events: PackagerEvents) => Packager;
  readonly slate?: SlateSource | undefined;
  readonly ingestLog?: IngestLog | undefined;
  onStateChange(): void;
}

export interface ConnectingPublisher {
  readonly protocol: string;
  /** The encoder's name, or `''`. */
  readonly encoder: string;
  readonly waitingFor: 'media' | 'keyframe';
}

export interface PublisherHandler {
  media(event: MediaEvent): void;
  closed(reason: string): void;
}

/** Longer gaps are removed by shifting timestamps, so that parts stay within their target. */
const maxGapMs = 500;
/** Longest gap in part targets: a frame without audio beside it fills two parts at most. */
const maxGapPartsAlone = 1.8;
/** Leaves room for the lead-ins before the first media. Recordings begin at this decode time, so it is short. */
const mediaStartMs = 500;
/** A publisher silent for longer gives way to another with the same key, most likely its own reconnect. */
const silentPublisherMs = 3000;
/** A publisher that another one from its address asks to replace has this long to send something. */
const maxReturnWaitMs = 1500;
const returnPollMs = 50;

export class LiveBroadcast {
  readonly broadcastId: string;
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly startedAtMs: number;
  readonly publisher: PublisherMonitor;
  readonly #options: LiveBroadcastOptions;
  readonly #packaging: BroadcastPackaging;
  readonly #timeline: Timeline;
  readonly #slateSession: SlateSession | undefined;
  readonly #notifier: BroadcastNotifier;
  readonly #gapFiller: GapFiller;
  #state: BroadcastState = 'starting';
  #connection: PublisherConnection | undefined;
  #publisherSession: PublisherSession | undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #ending: Promise<void> | undefined;
  #isEndLogged = false;
  #needsEncoding = false;

  constructor(options: LiveBroadcastOptions) {
    const { clock, log, slate, subscribers } = options;
    this.#options = options;
    const maxGapAloneMs = Math.min(maxGapMs, maxGapPartsAlone * options.settings.partTargetMs);
    this.#timeline = new Timeline(maxGapMs, mediaStartMs, maxGapAloneMs);
    this.broadcastId = options.broadcastId;
    this.liveStreamId = options.liveStreamId;
    this.projectId = options.projectId;
    this.startedAtMs = options.startedAtMs ?? clock.nowMs();
    this.publisher = new PublisherMonitor(options);
    this.#slateSession =
      slate &&
      new SlateSession({
        slate,
        framesPerSecond: () => this.#packaging.framesPerSecond,
        clock,
        log,
        begin: dueMs => this.#startSlateOutput(dueMs),
        failed: () => this.#startGapFiller(),
        isWanted: () => this.#connection === undefined && !this.isEnding,
      });
    this.#notifier = new BroadcastNotifier({
      ...options,
      subscribers: this.#slateSession === undefined ? subscribers : [...subscribers, this.#slateSession],
    });
    this.#packaging = new BroadcastPackaging(options, this.#packaged, this.publisher, this.#notifier);
    this.#gapFiller = new GapFiller(this.#packaging, options.usesFillerSegments ?? false);
  }

  get state(): BroadcastState {
    return this.#state;
  }

  get renditions(): LiveRenditions {
    return this.#packaging.renditions;
  }

  /** Unrecorded audio by rendition, with the reason as a sentence. */
  get unrecordedAudio(): ReadonlyMap<string, string> {
    return new Map(
      this.#options.subscribers.flatMap(subscriber => [...(subscriber.unrecordedAudio?.() ?? [])]),
    );
  }

  get maxGopSeconds(): number {
    return this.#packaging.maxGopSeconds;
  }

  get isBroadcasting(): boolean {
    return !this.isEnding && this.#state !== 'starting';
  }

  get isEnding(): boolean {
    return this.#ending !== undefined;
  }

  /** Resolves when the end is stored; undefined before it begins. */
  get ended(): Promise<void> | undefined {
    return this.#ending;
  }

  /** True also while it waits for a publisher whose video was encoded. */
  get isTranscoded(): boolean {
    return encodesAlways(this.#options.ladder) || this.#needsEncoding;
  }

  get connection(): PublisherConnection | undefined {
    return this.#connection;
  }

  /** Undefined without a publisher. */
  get connecting(): ConnectingPublisher | undefined {
    if (this.#connection === undefined) return undefined;
    const { ingest, hasSent } = this.publisher;
    const { protocol, encoder } = ingest;
    return { protocol, encoder, waitingFor: hasSent ? 'keyframe' : 'media' };
  }

  hasActivePublisher(): boolean {
    const silentMs = this.#options.clock.monotonicMs() - this.publisher.lastMediaAtMs;
    return this.#connection !== undefined && silentMs < silentPublisherMs;
  }

  /**
   * Waits for a sign of the publisher when another one comes from its address, which is most likely the same one after
   * a stop that was not heard: SRT announces it in one packet, which may be lost.
   *
   * @returns the connection to replace, undefined when it sends media, has not begun to, or comes from elsewhere
   */
  async findLeftPublisher(remoteAddress: string): Promise<PublisherConnection | undefined> {
    const connection = this.#connection;
    if (connection?.remoteAddress !== remoteAddress || !this.publisher.hasSent) return undefined;
    // Prefers received packets: over SRT, what arrived before is passed on later.
    const signsOf = () => connection.transport?.()?.packetsReceived ?? this.publisher.lastMediaAtMs;
    const signs = signsOf();
    for (let waitedMs = 0; waitedMs < maxReturnWaitMs; waitedMs += returnPollMs) {
      if (!this.hasActivePublisher()) break;
      await new Promise(resolve => setTimeout(resolve, returnPollMs));
      if (signsOf() !== signs) return undefined;
    }
    return connection;
  }

  get #isPublisherGone(): boolean {
    return this.#state === 'waiting' || this.#state === 'stopping';
  }

  attach(connection: PublisherConnection): PublisherHandler {
    const replaced = this.#connection;
    if (replaced !== undefined) {
      this.#publisherGone(replaced, 'replaced');
      replaced.close('Another connection is publishing to this live stream.');
    }
    clearTimeout(this.#graceTimer);
    this.#connection = connection;
    this.#needsEncoding = connection.needsEncoding === true;
    this.#slateSession?.cancelPending();
    const buffer = this.#slateSession?.isShowing ? new ReconnectBuffer() : undefined;
    if (buffer === undefined) this.#timeline.restart();
    this.publisher.attached(connection);
    this.#options.ingestLog?.connected(this.liveStreamId, connection);
    let hasEncoder = false;
    const session = this.#createPublisherSession(false, {
      canStartPackager: () => this.#packaging.takeStart(),
      ...this.publisher.sessionEvents,
      declared: media => {
        this.publisher.sessionEvents.declared(media);
        if (hasEncoder || media.encoder === undefined) return;
        hasEncoder = true;
        this.#notifier.recordChange({ encoder: media.encoder });
        this.#options.ingestLog?.named(this.liveStreamId, media.encoder);
      },
      refused: (reason, description) => this.#endAndRefuse(reason, description),
      flow: isOpen => (isOpen ? connection.resume() : connection.pause()),
    });
    this.#publisherSession = session;
    const { connectionId, remoteAddress } = connection;
    this.#options.log.info('publisher-attached', { connectionId, address: remoteAddress });
    const take = this.#mediaHandler(session, buffer);
    const joiner = new PictureJoiner(take);
    return {
      media: event => {
        const isAdditional = (event.type === 'sample' || event.type === 'config') && event.trackId !== 0;
        if (isAdditional) take(event);
        else joiner.push(event);
      },
      closed: reason => {
        joiner.flush();
        this.#publisherGone(connection, reason);
      },
    };
  }

  #mediaHandler(session: PublisherSession, buffer: ReconnectBuffer | undefined): PublisherHandler['media'] {
    let pending = buffer;
    return event => {
      if (this.#publisherSession !== session) return;
      this.publisher.mediaArrived();
      if (pending === undefined) {
        session.media(event);
        return;
      }
      const events = this.#slateSession?.isShowing
        ? pending.push(event, this.publisher.lastMediaAtMs)
        : pending.flush(event);
      if (events === undefined) return;
      pending = undefined;
      void this.#slateSession?.finish();
      this.#startGapFiller();
      this.#timeline.restart();
      for (const each of events) session.media(each);
    };
  }

  #startSlateOutput(dueMs: (timestampMs: number) => number): PublisherSession {
    this.#timeline.restart();
    return this.#createPublisherSession(true, {
      canStartPackager: () => true,
      declared: () => {},
      trackArrived: () => {},
      // A slate that catches up comes late, and dates continue from those before it.
      recoveryPointArrived: () => {},
      arrived: (kind, atMs, timestampMs) => this.publisher.arrivals[kind].add(atMs, dueMs(timestampMs)),
      dropped: () => {},
      clockJumped: () => {},
      refused: (_, description) => this.#slateSession?.packagingFailed(description),
      flow: () => {},
    });
  }

  #createPublisherSession(
    isSlate: boolean,
    events: Omit<PublisherSessionEvents, 'startPackaging' | 'mediaPlaced' | 'trackLeftOut'>,
  ): PublisherSession {
    const { codecCapabilities, settings, startPackager } = this.#options;
    const session: PublisherSession = new PublisherSession({
      isSlate,
      timeline: this.#timeline,
      codecCapabilities,
      startPackager: (plan, packagerEvents) =>
        this.#packaging.withEncoderTap(startPackager(plan, packagerEvents), () => packagerEvents.drained()),
      keyframeTimeoutMs: settings.keyframeTimeoutMs,
      // A slate is as large as the video that it replaces.
      maxPixels: isSlate ? Number.POSITIVE_INFINITY : settings.maxPixels,
      events: {
        ...events,
        trackLeftOut: (kind, trackId, reason) => this.#packaging.trackLeftOut(kind, trackId, reason),
        startPackaging: encodesVideo => this.#packaging.start(session, { isSlate, encodesVideo }),
        mediaPlaced: media => this.#notifier.notifyMedia(media),
      },
    });
    return session;
  }

  #publisherGone(connection: PublisherConnection, reason: string): void {
    if (this.#connection !== connection) return;
    const session = this.#publisherSession;
    this.#connection = undefined;
    this.#publisherSession = undefined;
    this.#options.log.info('publisher-detached', { connectionId: connection.connectionId, reason });
    if (this.isEnding) return;
    this.#options.ingestLog?.disconnected(this.liveStreamId, reason);
    const hasStopped = reason === 'unpublished';
    if (hasStopped) this.publisher.stopped();
    else this.publisher.lost();
    void session?.finish();
    if (reason === 'replaced') return;
    if (this.#hasMedia) {
      this.#waitForReconnect(hasStopped);
      return;
    }
    void this.#packaging.done.then(() => {
      if (this.#connection !== undefined) return;
      if (this.#hasMedia) this.#waitForReconnect(hasStopped);
      else {
        this.#logNeverPlayed();
        void this.end('no-media');
      }
    });
  }

  /** True also before the first media of this server, when another one began the broadcast. */
  get #hasMedia(): boolean {
    return this.renditions.source.window.isPlayable || this.#options.continuesAt !== undefined;
  }

  /** A publisher that stopped is not expected back: it has less time, and no slate is shown. */
  #waitForReconnect(hasStopped: boolean): void {
    if (this.#connection !== undefined || this.isEnding) return;
    const { stopGraceMs, reconnectGraceMs } = this.#options.settings;
    this.#setState(hasStopped ? 'stopping' : 'waiting');
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(
      () => void this.end(hasStopped ? 'publisher-stopped' : 'publisher-gone'),
      hasStopped ? stopGraceMs : reconnectGraceMs,
    );
    // Nothing of this server's can be continued yet.
    if (!this.renditions.source.window.isPlayable) return;
    if (hasStopped) void this.#slateSession?.finish();
    this.#startGapFiller();
    if (!hasStopped) this.#slateSession?.begin(this.publisher.lastMediaAtMs);
  }

  #startGapFiller(): void {
    this.#gapFiller.stop();
    if (!this.#isPublisherGone || this.isEnding || this.#slateSession?.isShowing) return;
    this.#gapFiller.start(this.#state === 'stopping');
  }

  disconnectPublisher(description: string): void {
    this.#connection?.close(description);
  }

  get #packaged(): PackagedBroadcast {
    return {
      isEnded: () => this.#state === 'ended',
      isPublisherGone: () => this.#isPublisherGone,
      mediaStarted: () => this.#gapFiller.stop(),
      partListed: isSlate => this.#partListed(isSlate),
      isCurrentPublisher: session => this.#publisherSession === session,
      endAndRefuse: (reason, description) => this.#endAndRefuse(reason, description),
      slateFailed: report => this.#slateSession?.packagingFailed(report),
    };
  }

  #partListed(isSlate: boolean): void {
    if (isSlate || this.#connection === undefined || this.#state === 'live') return;
    // The last media of a packager does not resume a broadcast that is ending.
    if (this.isEnding && this.#isPublisherGone) return;
    if (this.renditions.isPlayable) this.#setState('live');
  }

  #setState(state: BroadcastState): void {
    if (!canTransition(this.#state, state)) return;
    this.#state = state;
    if (state === 'ended') return;
    this.#notifier.recordChange({ state });
    this.#options.log.info('broadcast-state', { state });
    this.#notifier.notify(subscriber => subscriber.stateChanged?.(state));
    this.#options.onStateChange();
  }

  #endAndRefuse(reason: EndReason, description: string): void {
    const connection = this.#connection;
    const refusal = { reason, description };
    if (!this.#hasMedia) this.#logNeverPlayed(refusal);
    else if (connection !== undefined) {
      this.#options.ingestLog?.refused(this.liveStreamId, connection, refusal);
    }
    void this.end(reason);
    connection?.refuse(description);
  }

  /** Logs one entry instead of a connection and an end. */
  #logNeverPlayed(refusal?: { readonly reason: string; readonly description: string }): void {
    this.#isEndLogged = true;
    this.#options.ingestLog?.neverPlayed(this.liveStreamId, refusal);
  }

  /**
   * Delivers pending media and answers blocked requests. The caller closes the publisher's connection. Resolves when the
   * end is stored.
   */
  end(reason: EndReason): Promise<void> {
    if (this.#ending !== undefined) return this.#ending;
    const { promise, resolve } = Promise.withResolvers<void>();
    // Set before the packager delivers its last media.
    this.#ending = promise;
    resolve(this.#endOnce(reason));
    return promise;
  }

  async #endOnce(reason: EndReason): Promise<void> {
    const session = this.#publisherSession;
    this.#publisherSession = undefined;
    clearTimeout(this.#graceTimer);
    this.#gapFiller.stop();
    if (reason === 'deleted') {
      this.#endWindows();
      await Promise.all([session?.kill(), this.#slateSession?.kill()]);
    } else await Promise.all([session?.finish(), this.#slateSession?.finish()]);
    await this.#packaging.done;
    this.#gapFiller.stop();
    const { clock, log, observer } = this.#options;
    if (reason === 'moved') this.renditions.move();
    else this.#endWindows();
    this.#setState('ended');
    this.publisher.stopped();
    if (reason === 'moved') {
      this.#notifier.notify(subscriber => subscriber.ended(reason));
      log.info('broadcast-moved');
      this.#options.onStateChange();
      return;
    }
    const recorded = this.#notifier.recordEnd(reason, this.publisher.ingestStats);
    observer.broadcastEnded(reason);
    if (!this.#isEndLogged) this.#options.ingestLog?.ended(this.liveStreamId, reason);
    this.#notifier.notify(subscriber => subscriber.ended(reason));
    log.info('broadcast-ended', { reason, seconds: Math.round((clock.nowMs() - this.startedAtMs) / 1000) });
    this.#options.onStateChange();
    await recorded;
  }

  #endWindows(): void {
    for (const window of this.renditions.windows) window.end();
  }

  /** Seconds that viewers can rewind after the end. */
  get rewindSeconds(): number {
    const { storage } = this.#options;
    return storage?.isKeptAfterEnd ? storage.rewindSeconds : 0;
  }

  /** Releases memory after the end. Returns true when everything that viewers can still play is on disk. */
  releaseMemory(): boolean {
    this.#packaging.releaseMemory();
    return this.renditions.releaseMemory();
  }

  removeMedia(): void {
    this.#options.storage?.remove();
  }
}
