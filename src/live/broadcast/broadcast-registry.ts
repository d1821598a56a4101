import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../shared/clock.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { maskStreamKey } from '../../shared/secret.ts';
import { SlidingWindowLimit } from '../../shared/sliding-window-limit.ts';
import { TypedEvents } from '../../shared/typed-events.ts';
import type { AlarmInputs, IngestInfo, IngestStats } from '../health/ingest-health.ts';
import type { Packager, PackagerEvents, PackagerPlan } from '../packaging/packager.ts';
import type { SlateSource } from '../slate/slate-source.ts';
import type { LadderConfig } from '../transcode/ladder-config.ts';
import type { OpenRewind } from '../window/rewind-store.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';
import type { BroadcastInfo, CreateSubscribers } from './broadcast-subscriber.ts';
import type { CodecCapabilities } from './codec-policy.ts';
import { LiveBroadcast, type PublisherHandler } from './live-broadcast.ts';
import type { BroadcastJournal, LiveObserver, LiveSettings, PublisherConnection } from './ports.ts';

/** Whose stream a key is, as the live room must know it. */
export interface LiveStreamConfig {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
  readonly restreams: BroadcastInfo['restreams'];
  readonly accountSuspended: boolean;
  readonly accountUpgraded: boolean;
  /** What its owner wants it to be delivered in; the server's setting unless given. */
  readonly qualities?: 'passthrough' | 'ladder' | undefined;
  /** False keeps nothing of a broadcast after its end; the server's setting unless given. */
  readonly record?: boolean | undefined;
}

/** What is encoded of a broadcast that begins; undefined where it is delivered as it comes in. */
export type SelectLadder = (
  stream: Pick<LiveStreamConfig, 'liveStreamId' | 'environment' | 'qualities'>,
) => LadderConfig | undefined;

/** Told when a quality of a broadcast is made no more. */
export type QualityDropped = (
  stream: Pick<LiveStreamConfig, 'projectId' | 'liveStreamId'>,
  quality: string,
  reason: string,
) => void;

/** Finds the stream of a key; undefined when there is none. Takes about as long for a wrong key as for a right one. */
export type FindStreamByKey = (streamKey: string) => LiveStreamConfig | undefined;

/** Whether a publisher is taken; `reason` is for log and metrics, `description` for the person at the encoder. */
export type AdmissionResult =
  | { readonly accepted: true; readonly handler: PublisherHandler }
  | { readonly accepted: false; readonly reason: RefusalReason; readonly description: string };

/** Why a publisher was not taken. */
export type RefusalReason =
  | 'unknown-key'
  | 'account-suspended'
  | 'account-not-upgraded'
  | 'already-publishing'
  | 'too-many-attempts'
  | 'too-many-encoders'
  | 'draining';

/** What the live room is made with. */
export interface BroadcastRegistryOptions {
  readonly settings: LiveSettings;
  readonly codecCapabilities: CodecCapabilities;
  readonly findStream: FindStreamByKey;
  readonly startPackager: (
    plan: PackagerPlan,
    events: PackagerEvents,
    ids: Readonly<Record<string, unknown>>,
  ) => Packager;
  /** How long a broadcast of the sandbox may last; as long as it likes unless given. */
  readonly maxSandboxBroadcastMs?: number;
  /** What goes along with each broadcast; nothing unless given. */
  readonly createSubscribers?: CreateSubscribers;
  /** What is shown while a publisher is gone; nothing new unless given. */
  readonly slate?: SlateSource | undefined;
  /** See `LiveBroadcastOptions`; false unless given. */
  readonly showsStills?: boolean;
  /** What is encoded of each broadcast; nothing unless given. */
  readonly selectLadder?: SelectLadder;
  readonly qualityDropped?: QualityDropped;
  /** Keeps on disk what viewers can go back to; nothing unless given. */
  readonly rewind?: OpenRewind | undefined;
  readonly journal: BroadcastJournal;
  readonly observer: LiveObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How a broadcast does at this moment. */
export interface BroadcastStats extends IngestStats, IngestInfo {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly state: 'live' | 'waiting' | 'stopping';
  /** Since its publisher was taken. */
  readonly durationSeconds: number;
}

/** What alarms of a broadcast are judged by. */
export interface BroadcastAlarmInputs {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly signs: AlarmInputs;
}

interface LiveEvents {
  'state-changed': { readonly liveStreamId: string };
}

/** Keyframe distances are remembered for this many streams. */
const maxRememberedTargets = 1000;
const maxTargetDurationSeconds = 10;
/** A stream takes so many publishers in so long: each costs a process, and the first after an end a row. */
const maxPublishers = 20;
const publisherWindowMs = 30_000;
/** After its end nothing of a broadcast is kept for longer. */
const maxKeptMs = 3_600_000;
/** Of each stream, while their time has not passed; they hold their media, in memory or on disk. */
const maxEndedKept = 2;
/** At a stop, ended playlists are still served for this long. */
const finalRequestsMs = 500;

/** All broadcasts: who may publish, what can be played, and the end of all at a stop. */
export class BroadcastRegistry implements Component {
  readonly name = 'live';
  readonly #options: BroadcastRegistryOptions;
  /** By stream, newest last: one that runs, and those that ended a short time ago. */
  readonly #broadcasts = new Map<string, LiveBroadcast[]>();
  readonly #forgetTimers = new Map<LiveBroadcast, NodeJS.Timeout>();
  /** Of broadcasts of the sandbox that run. */
  readonly #sandboxTimers = new Map<LiveBroadcast, NodeJS.Timeout>();
  /** By stream; kept as long as its broadcasts. */
  readonly #publisherLimits = new Map<string, SlidingWindowLimit>();
  readonly #events = new TypedEvents<LiveEvents>();
  /** Target duration that fits the keyframe distance a stream had last time. */
  readonly #learnedTargetDurations = new Map<string, number>();
  #isDraining = false;

  constructor(options: BroadcastRegistryOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {}

  /** Ends every broadcast: viewers get the end of the playlist before the server goes, those too who were between two requests. */
  async drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    const hadRunning = this.#all().some(broadcast => !broadcast.isEnding);
    await this.#endAll();
    if (hadRunning) await sleep(Math.max(0, Math.min(finalRequestsMs, deadlineMs - Date.now())));
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    await this.#endAll();
    for (const broadcast of this.#all()) this.#forget(broadcast);
  }

  // ------------------------------------------------------------------------------------------------ publishers

  /** Decides about a publisher that shows `streamKey`. */
  admit(streamKey: string, link: PublisherConnection): AdmissionResult {
    if (this.#isDraining) {
      return refusal('draining', 'The server is restarting, please reconnect in a moment.');
    }
    const stream = this.#options.findStream(streamKey);
    if (stream === undefined)
      return refusal('unknown-key', 'There is no stream with this key. Check the stream key.');
    if (stream.accountSuspended) return refusal('account-suspended', 'This account is suspended.');
    if (stream.environment === 'production' && !stream.accountUpgraded) {
      return refusal(
        'account-not-upgraded',
        'This account may not use production. Publish to a sandbox stream.',
      );
    }
    const running = this.#running(stream.liveStreamId);
    if (running?.hasActivePublisher()) {
      return refusal('already-publishing', 'Somebody is already publishing with this stream key.');
    }
    const form = running === undefined ? this.#options.selectLadder?.(stream) : undefined;
    // Before the attempt is counted: the count goes only with a broadcast.
    const refused = form === undefined ? undefined : this.#encoderLimitRefusal(stream);
    if (refused !== undefined) return refusal('too-many-encoders', refused);
    if (!this.#publisherLimitOf(stream.liveStreamId).take()) {
      return refusal('too-many-attempts', 'Too many connections in a short time. Wait half a minute.');
    }
    const broadcast = running ?? this.#openBroadcast(stream, streamKey, link, form);
    return { accepted: true, handler: broadcast.attach(link) };
  }

  /** Returns the reason to refuse another encoded broadcast of this project; undefined when there is room for one. */
  #encoderLimitRefusal({ projectId, environment }: LiveStreamConfig): string | undefined {
    const { maxEncoders, maxEncodersPerProject } = this.#options.settings;
    const encoded = this.#all().filter(({ isTranscoded, state }) => isTranscoded && state !== 'ended');
    const ofProject = encoded.filter(broadcast => broadcast.projectId === projectId).length;
    const advice =
      environment === 'sandbox'
        ? 'End a broadcast first.'
        : 'End a broadcast first, or set the qualities of this live stream to passthrough.';
    if (ofProject >= maxEncodersPerProject)
      return `This project already encodes ${formatLiveStreams(ofProject)}, which is its limit. ${advice}`;
    if (encoded.length >= maxEncoders)
      return `This server already encodes ${formatLiveStreams(encoded.length)}, which is its limit. Try again later.`;
    return undefined;
  }

  #openBroadcast(
    stream: LiveStreamConfig,
    streamKey: string,
    link: PublisherConnection,
    form: LadderConfig | undefined,
  ): LiveBroadcast {
    const { liveStreamId, projectId } = stream;
    const { settings, codecCapabilities, startPackager, journal, observer, clock } = this.#options;
    // One that was completed may still have its publisher connected: the new one takes over.
    const former = this.#broadcasts.get(liveStreamId) ?? [];
    for (const old of former) old.disconnectPublisher('A new broadcast of this stream has begun.');
    for (const old of former.slice(0, -maxEndedKept)) if (old.state === 'ended') this.#forget(old);
    const startedAtMs = clock.nowMs();
    const broadcastId = journal.opened({
      liveStreamId,
      projectId,
      state: 'starting',
      startedAtMs,
      protocol: link.protocol,
      remoteAddress: link.remoteAddress,
      encoder: link.encoder,
    });
    const log = this.#options.log.child('live', { liveStreamId, broadcastId });
    log.info('broadcast-opened', { protocol: link.protocol, key: maskStreamKey(streamKey) });
    const broadcast: LiveBroadcast = new LiveBroadcast({
      broadcastId,
      liveStreamId,
      projectId,
      targetDurationSeconds:
        this.#learnedTargetDurations.get(liveStreamId) ?? Math.ceil(settings.segmentTargetMs / 1000),
      settings,
      codecCapabilities,
      startPackager: (plan, events) => startPackager(plan, events, { liveStreamId, broadcastId }),
      journal,
      observer,
      clock,
      log,
      form,
      rewind: this.#options.rewind?.({
        ...{ liveStreamId, broadcastId },
        isKeptAfterEnd: stream.record !== false,
      }),
      slate: this.#options.slate,
      showsStills: this.#options.showsStills ?? false,
      subscribers: this.#options.createSubscribers?.({ ...stream, broadcastId, startedAtMs }) ?? [],
      onStateChange: () => this.#stateChanged(broadcast),
      onQualityDropped: (quality, reason) => this.#options.qualityDropped?.(stream, quality, reason),
    });
    const list = this.#broadcasts.get(liveStreamId) ?? [];
    list.push(broadcast);
    this.#broadcasts.set(liveStreamId, list);
    if (stream.environment === 'sandbox') this.#startSandboxTimer(broadcast);
    return broadcast;
  }

  /** Counts from its beginning, across reconnects. */
  #startSandboxTimer(broadcast: LiveBroadcast): void {
    const { maxSandboxBroadcastMs } = this.#options;
    if (maxSandboxBroadcastMs === undefined) return;
    const timer = setTimeout(() => {
      void broadcast.end('sandbox-limit');
      broadcast.disconnectPublisher(
        `In the sandbox a broadcast lasts ${formatMinutes(maxSandboxBroadcastMs)} at most.`,
      );
    }, maxSandboxBroadcastMs);
    this.#sandboxTimers.set(broadcast, timer);
  }

  #stateChanged(broadcast: LiveBroadcast): void {
    const { liveStreamId } = broadcast;
    if (broadcast.state === 'ended') {
      clearTimeout(this.#sandboxTimers.get(broadcast));
      this.#sandboxTimers.delete(broadcast);
      this.#learnTargetDuration(broadcast);
      const lengthMs = this.#options.clock.nowMs() - broadcast.startedAtMs;
      const timer = setTimeout(
        () => this.#keepOnDisk(broadcast, lengthMs),
        this.#options.settings.endedKeptMs,
      );
      this.#forgetTimers.set(broadcast, timer);
    }
    this.#events.emit('state-changed', { liveStreamId });
  }

  /** Those who watched had their time: the memory is given back. What is on disk can be played for as long as it lasted, or its rewind. */
  #keepOnDisk(broadcast: LiveBroadcast, lengthMs: number): void {
    const { endedKeptMs } = this.#options.settings;
    const keptMs = Math.min(lengthMs, broadcast.rewindSeconds * 1000, maxKeptMs) - endedKeptMs;
    if (keptMs <= 0 || !broadcast.releaseMemory()) {
      this.#forget(broadcast);
      return;
    }
    this.#forgetTimers.set(
      broadcast,
      setTimeout(() => this.#forget(broadcast), keptMs),
    );
  }

  /** The first playlist is out before the first keyframe distance is known, so it is learned for the next time. */
  #learnTargetDuration(broadcast: LiveBroadcast): void {
    const gopSeconds = broadcast.maxGopSeconds;
    if (gopSeconds === 0) return;
    const usual = Math.ceil(this.#options.settings.segmentTargetMs / 1000);
    const fitting = Math.min(maxTargetDurationSeconds, Math.max(usual, Math.round(gopSeconds)));
    this.#learnedTargetDurations.delete(broadcast.liveStreamId);
    if (fitting === usual) return;
    this.#learnedTargetDurations.set(broadcast.liveStreamId, fitting);
    const oldest = this.#learnedTargetDurations.keys().next();
    if (this.#learnedTargetDurations.size > maxRememberedTargets && !oldest.done)
      this.#learnedTargetDurations.delete(oldest.value);
  }

  #forget(broadcast: LiveBroadcast): void {
    const { liveStreamId } = broadcast;
    clearTimeout(this.#forgetTimers.get(broadcast));
    this.#forgetTimers.delete(broadcast);
    broadcast.removeMedia();
    const rest = (this.#broadcasts.get(liveStreamId) ?? []).filter(other => other !== broadcast);
    if (rest.length > 0) {
      this.#broadcasts.set(liveStreamId, rest);
      return;
    }
    this.#broadcasts.delete(liveStreamId);
    this.#publisherLimits.delete(liveStreamId);
  }

  #publisherLimitOf(liveStreamId: string): SlidingWindowLimit {
    let limit = this.#publisherLimits.get(liveStreamId);
    if (limit === undefined) {
      limit = new SlidingWindowLimit(this.#options.clock, maxPublishers, publisherWindowMs);
      this.#publisherLimits.set(liveStreamId, limit);
    }
    return limit;
  }

  async #endAll(): Promise<void> {
    await Promise.all(
      this.#all().map(async broadcast => {
        await broadcast.end('server-stopped');
        broadcast.disconnectPublisher('The server is stopping.');
      }),
    );
  }

  // ------------------------------------------------------------------------------------------------ control

  isBroadcasting(liveStreamId: string): boolean {
    return this.#running(liveStreamId)?.isBroadcasting ?? false;
  }

  /** Ends what the stream broadcasts now; its publisher is sent away a while later. Without a broadcast nothing happens. */
  complete(liveStreamId: string): void {
    const running = this.#running(liveStreamId);
    if (running === undefined) return;
    void running.end('completed');
    running.disconnectPublisherLater(this.#options.settings.completedLingerMs);
  }

  /** The stream's account is suspended: ends what it broadcasts now. Whether there was something. */
  suspend(liveStreamId: string): boolean {
    const running = this.#running(liveStreamId);
    if (running === undefined) return false;
    void running.end('account-suspended');
    running.disconnectPublisher('This account is suspended.');
    return true;
  }

  /** The stream is deleted: nothing of it is served or taken any more. */
  async remove(liveStreamId: string): Promise<void> {
    for (const broadcast of this.#broadcasts.get(liveStreamId) ?? []) {
      await broadcast.end('deleted' satisfies EndReason);
      broadcast.disconnectPublisher('This live stream was deleted.');
      this.#forget(broadcast);
    }
    this.#learnedTargetDurations.delete(liveStreamId);
    this.#events.emit('state-changed', { liveStreamId });
  }

  // ------------------------------------------------------------------------------------------------ viewers

  /**
   * The newest broadcast that can be played: live, or ended a short time ago. None while another begins, so that no player starts with
   * the end of the one before.
   */
  current(liveStreamId: string): LiveBroadcast | undefined {
    const newest = this.#broadcasts
      .get(liveStreamId)
      ?.findLast(broadcast => broadcast.isPlayable || !broadcast.isEnding);
    return newest?.isPlayable ? newest : undefined;
  }

  find(liveStreamId: string, broadcastId: string): LiveBroadcast | undefined {
    return this.#broadcasts.get(liveStreamId)?.find(broadcast => broadcast.broadcastId === broadcastId);
  }

  /** The state that its viewers see: a broadcast whose publisher stopped is over for them. */
  state(liveStreamId: string): { readonly live: boolean; readonly broadcastId?: string } {
    const current = this.current(liveStreamId);
    if (current === undefined) return { live: false };
    const { isBroadcasting, broadcastId } = current;
    return { live: isBroadcasting && current.state !== 'stopping', broadcastId };
  }

  /** Calls `listener` at each change of `state`; the returned function ends that. */
  onStateChange(liveStreamId: string, listener: () => void): () => void {
    return this.#events.on('state-changed', event => {
      if (event.liveStreamId === liveStreamId) listener();
    });
  }

  /** How many broadcasts are in each state, ended ones that are still served left out. */
  countByState(): Record<Exclude<BroadcastState, 'ended'>, number> {
    const counts = { starting: 0, live: 0, waiting: 0, stopping: 0 };
    for (const broadcast of this.#all()) {
      if (broadcast.state !== 'ended') counts[broadcast.state] += 1;
    }
    return counts;
  }

  /** The number of broadcasts that have not ended. */
  get openCount(): number {
    return this.#all().filter(({ state }) => state !== 'ended').length;
  }

  /** How each broadcast that is live or waits for its publisher does now, for the projects that `wants` names. */
  stats(wants: (projectId: string) => boolean): BroadcastStats[] {
    const stats: BroadcastStats[] = [];
    for (const broadcast of this.#all()) {
      if (broadcast.isBroadcasting && wants(broadcast.projectId)) stats.push(this.#statsOf(broadcast));
    }
    return stats;
  }

  /** How a stream's broadcast does now; undefined when it does not broadcast. */
  statsOf(liveStreamId: string): BroadcastStats | undefined {
    const running = this.#running(liveStreamId);
    return running?.isBroadcasting ? this.#statsOf(running) : undefined;
  }

  /** What alarms are judged by, of each broadcast that is live or waits for its publisher. */
  alarmInputs(): BroadcastAlarmInputs[] {
    return this.#all()
      .filter(({ isBroadcasting }) => isBroadcasting)
      .map(({ projectId, liveStreamId, broadcastId, alarmInputs }) => ({
        projectId,
        liveStreamId,
        broadcastId,
        signs: alarmInputs,
      }));
  }

  #statsOf({ projectId, liveStreamId, broadcastId, state, startedAtMs, ingestStats, ingest }: LiveBroadcast) {
    return {
      projectId,
      liveStreamId,
      broadcastId,
      state: state === 'waiting' || state === 'stopping' ? state : ('live' as const),
      durationSeconds: Math.max(0, Math.floor((this.#options.clock.nowMs() - startedAtMs) / 1000)),
      ...ingest,
      ...ingestStats,
    };
  }

  #running(liveStreamId: string): LiveBroadcast | undefined {
    return this.#broadcasts.get(liveStreamId)?.findLast(broadcast => !broadcast.isEnding);
  }

  #all(): LiveBroadcast[] {
    return [...this.#broadcasts.values()].flat();
  }
}

function formatLiveStreams(count: number): string {
  return count === 1 ? '1 live stream' : `${count} live streams`;
}

function formatMinutes(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes === 1 ? '1 minute' : `${minutes} minutes`;
}

function refusal(reason: RefusalReason, description: string): AdmissionResult {
  return { accepted: false, reason, description };
}
