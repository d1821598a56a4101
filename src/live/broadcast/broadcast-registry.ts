import { setTimeout as sleep } from 'node:timers/promises';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';
import { TypedEvents } from '../../shared/typed-events.ts';
import type { WatchedBroadcast } from '../health/alarm-monitor.ts';
import type { LadderConfig } from '../transcode/ladder-config.ts';
import type { LiveRenditions } from '../transcode/live-renditions.ts';
import type { BroadcastRegistryOptions } from './broadcast-registry-options.ts';
import type { BroadcastState } from './broadcast-state.ts';
import { type BroadcastStats, broadcastStats } from './broadcast-stats.ts';
import type { CreateSubscribers } from './broadcast-subscriber.ts';
import { cutOff, returnTooEarly } from './cut-off-publisher.ts';
import { type ConnectingPublisher, LiveBroadcast, type PublisherHandler } from './live-broadcast.ts';
import type {
  BroadcastClaims,
  ContinuedBroadcast,
  OpenedRecord,
  PublisherConnection,
  StoreCutOff,
} from './ports.ts';
import {
  alreadyPublishingRefusal,
  broadcastEndedRefusal,
  type LiveStreamConfig,
  type OpeningBroadcast,
  PublishAdmission,
  type Refusal,
  refusal,
  unknownKeyRefusal,
} from './publish-admission.ts';
import { TargetDurations } from './target-durations.ts';

export type AdmissionResult = { readonly accepted: true; readonly handler: PublisherHandler } | Refusal;

interface OpenedBroadcast {
  readonly broadcastId: string;
  readonly startedAtMs: number;
  readonly continued: ContinuedBroadcast | undefined;
  readonly log: Logger;
}

interface LiveEvents {
  'state-changed': { readonly liveStreamId: string };
}

/** Limit for ended broadcasts on disk. */
const maxKeptMs = 3_600_000;
/** Maximum ended broadcasts per live stream, in memory or on disk. */
const maxEndedKept = 2;
const finalRequestsMs = 500;
/** The next broadcast waits this long for one to be left to another server. */
const maxReleaseMs = 3_000;
/** A publisher that is cut off waits this long for the database. */
const maxCutOffMs = 2_000;
const drainingText = 'The server is restarting. Reconnect in a moment.';
const drainingRefusal = refusal('draining', drainingText);

export class BroadcastRegistry implements Component {
  readonly name = 'live';
  readonly #options: BroadcastRegistryOptions;
  readonly #admission: PublishAdmission;
  readonly #broadcasts = new Map<string, LiveBroadcast[]>();
  /** Opening broadcasts by live stream. */
  readonly #opening = new Map<string, OpeningBroadcast & { readonly done: Promise<unknown> }>();
  readonly #timers = new Map<LiveBroadcast, NodeJS.Timeout>();
  readonly #events = new TypedEvents<LiveEvents>();
  readonly #targetDurations: TargetDurations;
  readonly #subscriberFactories: CreateSubscribers[] = [];
  #isDraining = false;

  constructor(options: BroadcastRegistryOptions) {
    this.#options = options;
    this.#targetDurations = new TargetDurations(options.settings.segmentTargetMs);
    this.#admission = new PublishAdmission(options, {
      all: () => this.#all(),
      running: liveStreamId => this.#running(liveStreamId),
      opening: this.#opening,
    });
  }

  async start(): Promise<void> {}

  /** Adds subscribers to every broadcast that opens from now on. */
  subscribe(createSubscribers: CreateSubscribers): void {
    this.#subscriberFactories.push(createSubscribers);
  }

  /** Ends every broadcast, and serves the ended playlists until polling viewers have them. */
  async drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    const hadRunning = this.running().length > 0;
    await this.#moveAll().catch((error: unknown) =>
      this.#options.log.child('live').error('broadcasts-not-moved', { error }),
    );
    await this.#endAll();
    if (hadRunning) await sleep(Math.max(0, Math.min(finalRequestsMs, deadlineMs - Date.now())));
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    await this.#endAll();
    for (const broadcast of this.#all()) this.#forget(broadcast);
  }

  async #endAll(): Promise<void> {
    // Waits for those that are being opened: they see that the server is draining.
    await Promise.allSettled([...this.#opening.values()].map(({ done }) => done));
    await Promise.all(
      this.#all().map(async broadcast => {
        await broadcast.end('server-stopped');
        broadcast.disconnectPublisher('The server is stopping.');
      }),
    );
  }

  /** One after the other: their publishers connect to other servers. */
  async #moveAll(): Promise<void> {
    if (!(await this.#options.claims?.canMove())) return;
    await Promise.allSettled([...this.#opening.values()].map(({ done }) => done));
    for (const { broadcastId } of this.running()) await this.move(broadcastId, drainingText);
  }

  /** Leaves a broadcast to another server. Viewers can still fetch what was listed. */
  async move(broadcastId: string, description: string): Promise<void> {
    const broadcast = this.running().find(one => one.broadcastId === broadcastId);
    if (broadcast === undefined) return;
    const ended = broadcast.end('moved');
    // Disconnects the publisher, whose media would be lost from here on. The other server waits for the release.
    broadcast.disconnectPublisher(description);
    await ended;
    // Releases the claim. Without the database, the other server takes the broadcast over later.
    await Promise.race([
      this.#options.claims?.release(broadcastId),
      sleep(maxReleaseMs, undefined, { ref: false }),
    ]);
  }

  async admit(streamKey: string, connection: PublisherConnection): Promise<AdmissionResult> {
    const found = await this.#options.findStream(streamKey);
    const result = await this.#admit(found, streamKey, connection);
    if (!result.accepted && found !== undefined) {
      this.#options.ingestLog?.refused(found.liveStreamId, connection, result);
    }
    return result;
  }

  async #admit(
    found: LiveStreamConfig | undefined,
    streamKey: string,
    connection: PublisherConnection,
  ): Promise<AdmissionResult> {
    if (this.#isDraining) return drainingRefusal;
    if (found !== undefined && (await this.#isTooEarly(found, connection))) return broadcastEndedRefusal;
    const current = found && this.#running(found.liveStreamId);
    const left =
      current === undefined ? undefined : await current.findLeftPublisher(connection.remoteAddress);
    const decision = this.#admission.decide(found, connection, left);
    if (!decision.accepted) return decision;
    if (current !== undefined && this.#isDraining) return drainingRefusal;
    const { stream, running, ladder, isTranscoded } = decision;
    if (running !== undefined) return { accepted: true, handler: running.attach(connection) };
    const { liveStreamId, projectId } = stream;
    const done = this.#open(stream, streamKey, connection, ladder);
    this.#opening.set(liveStreamId, { projectId, isTranscoded, done });
    try {
      return await done;
    } finally {
      this.#opening.delete(liveStreamId);
    }
  }

  /** `complete` has cut the publisher off, and it has not stayed away since. */
  async #isTooEarly(
    { liveStreamId, cutOff: publisher }: LiveStreamConfig,
    connection: PublisherConnection,
  ): Promise<boolean> {
    const early = returnTooEarly(publisher, connection, this.#options.clock.nowMs());
    if (early === undefined) return false;
    await this.#storeCutOff(liveStreamId, early);
    return true;
  }

  async #storeCutOff(...cutOffPublisher: Parameters<StoreCutOff>): Promise<void> {
    const { storeCutOff, log } = this.#options;
    const stored = storeCutOff(...cutOffPublisher).catch((error: unknown) =>
      log.child('live').error('cut-off-publisher-not-stored', { liveStreamId: cutOffPublisher[0], error }),
    );
    await Promise.race([stored, sleep(maxCutOffMs, undefined, { ref: false })]);
  }

  async #open(
    { liveStreamId, projectId }: LiveStreamConfig,
    streamKey: string,
    connection: PublisherConnection,
    ladder: LadderConfig | undefined,
  ): Promise<AdmissionResult> {
    const { journal, claims, findStream, clock } = this.#options;
    const { protocol, remoteAddress, encoder } = connection;
    const record = {
      liveStreamId,
      projectId,
      startedAtMs: clock.nowMs(),
      protocol,
      remoteAddress,
      encoder,
      state: 'starting',
    } as const;
    const opened =
      claims === undefined
        ? { broadcastId: await journal.opened(record), continued: undefined }
        : await this.#claim(claims, record);
    if (opened === undefined) return alreadyPublishingRefusal;
    const { broadcastId, continued } = opened;
    // Again, because its restreams may have changed, or the live stream may be gone.
    const stream = await findStream(streamKey);
    if (stream === undefined || this.#isDraining) {
      const reason = stream === undefined ? 'deleted' : 'server-stopped';
      if (continued === undefined || reason === 'deleted') {
        await journal.ended(broadcastId, clock.nowMs(), reason);
      } else await claims?.release(broadcastId);
      return stream === undefined ? unknownKeyRefusal : drainingRefusal;
    }
    const log = this.#options.log.child('live', { liveStreamId, broadcastId });
    log.info('broadcast-opened', { protocol, key: maskStreamKey(streamKey) });
    const startedAtMs = continued?.startedAtMs ?? record.startedAtMs;
    const broadcast = this.#createBroadcast(stream, { broadcastId, startedAtMs, continued, log }, ladder);
    return { accepted: true, handler: broadcast.attach(connection) };
  }

  async #claim(claims: BroadcastClaims, record: OpenedRecord): ReturnType<BroadcastClaims['claim']> {
    // Waits for stored ends: the claim would continue a broadcast whose end is not stored yet.
    await Promise.all(this.#broadcasts.get(record.liveStreamId)?.map(({ ended }) => ended) ?? []);
    return claims.claim(record);
  }

  #createBroadcast(
    stream: LiveStreamConfig,
    { broadcastId, startedAtMs, continued, log }: OpenedBroadcast,
    ladder: LadderConfig | undefined,
  ): LiveBroadcast {
    const { liveStreamId, projectId } = stream;
    const { settings, codecCapabilities, startPackager, startTrackPackager } = this.#options;
    const { journal, observer, clock, slate, openStorage } = this.#options;
    const ids = { liveStreamId, broadcastId };
    const knownSeconds = continued?.targetDurationSeconds ?? this.#targetDurations.learned(liveStreamId);
    this.#retireFormer(liveStreamId, broadcastId);
    const storage = openStorage?.({
      liveStreamId,
      broadcastId,
      isKeptAfterEnd: stream.record !== false,
      claim: continued?.claim,
    });
    const info = { ...stream, broadcastId, startedAtMs, recording: continued?.recording };
    const broadcast: LiveBroadcast = new LiveBroadcast({
      broadcastId,
      liveStreamId,
      projectId,
      settings,
      codecCapabilities,
      journal,
      ingestLog: this.#options.ingestLog,
      observer,
      clock,
      log,
      ladder,
      slate,
      startedAtMs,
      continuesAt: continued?.continuesAt,
      audioLabels: stream.audioTracks,
      targetDurationSeconds: knownSeconds ?? this.#targetDurations.usualSeconds,
      learnsTargetDuration: knownSeconds === undefined,
      startPackager: (plan, events) => startPackager(plan, events, ids),
      startTrackPackager: (plan, events) => startTrackPackager(plan, events, ids),
      storage,
      usesFillerSegments: this.#options.usesFillerSegments ?? false,
      subscribers: this.#subscriberFactories.flatMap(create => create(info, storage?.sharedFiles)),
      onStateChange: () => this.#stateChanged(broadcast),
      onQualityDropped: (quality, reason) => this.#options.qualityDropped?.(stream, quality, reason),
    });
    const list = this.#broadcasts.get(liveStreamId) ?? [];
    list.push(broadcast);
    this.#broadcasts.set(liveStreamId, list);
    if (stream.environment === 'sandbox') this.#startSandboxTimer(broadcast);
    return broadcast;
  }

  #retireFormer(liveStreamId: string, broadcastId: string): void {
    const former = this.#broadcasts.get(liveStreamId) ?? [];
    for (const old of former) old.disconnectPublisher('A new broadcast of this stream has begun.');
    const retired = former.filter(
      (old, index) => old.broadcastId === broadcastId || index < former.length - maxEndedKept,
    );
    for (const old of retired) if (old.state === 'ended') this.#forget(old);
  }

  #startSandboxTimer(broadcast: LiveBroadcast): void {
    const { maxSandboxBroadcastMs } = this.#options;
    if (maxSandboxBroadcastMs === undefined) return;
    const pastMs = this.#options.clock.nowMs() - broadcast.startedAtMs;
    this.#setTimer(broadcast, Math.max(0, maxSandboxBroadcastMs - pastMs), () => {
      void broadcast.end('sandbox-limit');
      broadcast.disconnectPublisher(
        `Sandbox broadcasts end after ${formatMinutes(maxSandboxBroadcastMs)}. To stream longer, use production.`,
      );
    });
  }

  #stateChanged(broadcast: LiveBroadcast): void {
    const { liveStreamId } = broadcast;
    if (broadcast.state === 'ended') {
      this.#targetDurations.learn(liveStreamId, broadcast.maxGopSeconds);
      const durationMs = this.#options.clock.nowMs() - broadcast.startedAtMs;
      this.#setTimer(broadcast, this.#options.settings.endedKeptMs, () =>
        this.#keepOnDisk(broadcast, durationMs),
      );
    }
    this.#events.emit('state-changed', { liveStreamId });
  }

  /** Frees the memory. The media stays on disk for as long as the broadcast lasted, or can be rewound. */
  #keepOnDisk(broadcast: LiveBroadcast, durationMs: number): void {
    const { endedKeptMs } = this.#options.settings;
    const keptMs = Math.min(durationMs, broadcast.rewindSeconds * 1000, maxKeptMs) - endedKeptMs;
    if (keptMs > 0 && broadcast.releaseMemory())
      this.#setTimer(broadcast, keptMs, () => this.#forget(broadcast));
    else this.#forget(broadcast);
  }

  #setTimer(broadcast: LiveBroadcast, afterMs: number, action: () => void): void {
    clearTimeout(this.#timers.get(broadcast));
    this.#timers.set(broadcast, setTimeout(action, afterMs));
  }

  #forget(broadcast: LiveBroadcast): void {
    const { liveStreamId } = broadcast;
    clearTimeout(this.#timers.get(broadcast));
    this.#timers.delete(broadcast);
    broadcast.removeMedia();
    const rest = (this.#broadcasts.get(liveStreamId) ?? []).filter(other => other !== broadcast);
    if (rest.length > 0) {
      this.#broadcasts.set(liveStreamId, rest);
      return;
    }
    this.#broadcasts.delete(liveStreamId);
    this.#admission.forget(liveStreamId);
  }

  isBroadcasting(liveStreamId: string): boolean {
    return this.#running(liveStreamId)?.isBroadcasting ?? false;
  }

  isRunning(liveStreamId: string): boolean {
    return this.#running(liveStreamId) !== undefined;
  }

  /** Resolves when its publisher is disconnected. */
  async complete(liveStreamId: string): Promise<void> {
    const running = this.#running(liveStreamId);
    if (running === undefined) return;
    void running.end('completed');
    await this.#cutOff(running);
  }

  /** Stored first: many encoders reconnect at once. */
  async #cutOff(broadcast: LiveBroadcast): Promise<void> {
    const { connection, liveStreamId } = broadcast;
    if (connection === undefined) return;
    // A source is turned off in its settings.
    if (connection.protocol !== 'pull') {
      const { encoder } = broadcast.publisher.ingest;
      await this.#storeCutOff(liveStreamId, cutOff(connection, encoder, this.#options.clock.nowMs()));
    }
    broadcast.disconnectPublisher('The broadcast was ended on the server.');
  }

  /** @returns false when no broadcast is running */
  suspend(liveStreamId: string): boolean {
    const running = this.#running(liveStreamId);
    if (running === undefined) return false;
    void running.end('account-suspended');
    running.disconnectPublisher('This account is suspended. Ask the operator of the server.');
    return true;
  }

  /** Ends all broadcasts of a live stream, and forgets their media. */
  async remove(liveStreamId: string, description = 'This live stream was deleted.'): Promise<void> {
    await Promise.allSettled([this.#opening.get(liveStreamId)?.done]);
    for (const broadcast of this.#broadcasts.get(liveStreamId) ?? []) {
      await broadcast.end('deleted');
      broadcast.disconnectPublisher(description);
      this.#forget(broadcast);
    }
    this.#targetDurations.forget(liveStreamId);
    this.#options.ingestLog?.forget(liveStreamId);
    this.#events.emit('state-changed', { liveStreamId });
  }

  /** The newest broadcast that can be played, live or ended recently; undefined while another begins. */
  current(liveStreamId: string): LiveRenditions | undefined {
    return this.#current(liveStreamId)?.renditions;
  }

  find(liveStreamId: string, broadcastId: string): LiveRenditions | undefined {
    return this.#broadcasts.get(liveStreamId)?.find(broadcast => broadcast.broadcastId === broadcastId)
      ?.renditions;
  }

  /** A broadcast whose publisher stopped is over for viewers. */
  state(liveStreamId: string): { readonly live: boolean; readonly broadcastId?: string } {
    const current = this.#current(liveStreamId);
    if (current === undefined) return { live: false };
    const { isBroadcasting, broadcastId, state } = current;
    return { live: isBroadcasting && state !== 'stopping', broadcastId };
  }

  onStateChange(liveStreamId: string, listener: () => void): () => void {
    return this.#events.on('state-changed', event => {
      if (event.liveStreamId === liveStreamId) listener();
    });
  }

  countByState(): Record<Exclude<BroadcastState, 'ended'>, number> {
    const counts = { starting: 0, live: 0, waiting: 0, stopping: 0 };
    for (const { state } of this.#all()) if (state !== 'ended') counts[state] += 1;
    return counts;
  }

  get openCount(): number {
    return this.#all().filter(({ state }) => state !== 'ended').length;
  }

  stats(includesProject: (projectId: string) => boolean): BroadcastStats[] {
    return this.#broadcasting()
      .filter(({ projectId }) => includesProject(projectId))
      .map(broadcast => broadcastStats(broadcast, this.#options.clock.nowMs()));
  }

  statsOf(liveStreamId: string): BroadcastStats | undefined {
    const running = this.#running(liveStreamId);
    return running?.isBroadcasting ? broadcastStats(running, this.#options.clock.nowMs()) : undefined;
  }

  /** The publisher whose broadcast is not playable yet. */
  connectingOf(liveStreamId: string): ConnectingPublisher | undefined {
    const running = this.#running(liveStreamId);
    return running?.isBroadcasting === false ? running.connecting : undefined;
  }

  /** Lists broadcasts that have not ended, including those that are not playable yet. */
  running(): LiveBroadcast[] {
    return this.#all().filter(({ isEnding }) => !isEnding);
  }

  alarmInputs(): WatchedBroadcast[] {
    return this.#broadcasting().map(({ projectId, liveStreamId, broadcastId, publisher }) => ({
      projectId,
      liveStreamId,
      broadcastId,
      inputs: publisher.alarmInputs,
    }));
  }

  #current(liveStreamId: string): LiveBroadcast | undefined {
    const newest = this.#broadcasts
      .get(liveStreamId)
      ?.findLast(({ renditions, isEnding }) => renditions.isPlayable || !isEnding);
    return newest?.renditions.isPlayable ? newest : undefined;
  }

  #running(liveStreamId: string): LiveBroadcast | undefined {
    return this.#broadcasts.get(liveStreamId)?.findLast(broadcast => !broadcast.isEnding);
  }

  #broadcasting(): LiveBroadcast[] {
    return this.#all().filter(({ isBroadcasting }) => isBroadcasting);
  }

  #all(): LiveBroadcast[] {
    return [...this.#broadcasts.values()].flat();
  }
}

function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}
