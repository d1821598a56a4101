import { availableParallelism } from 'node:os';
import type { ViewerCount } from '../delivery/live/viewer-count.ts';
import type { PublishGate } from '../ingest/publish-gate.ts';
import { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { BroadcastRegistryOptions } from '../live/broadcast/broadcast-registry-options.ts';
import type { BroadcastState, EndReason } from '../live/broadcast/broadcast-state.ts';
import type { LiveObserver } from '../live/broadcast/ports.ts';
import { AlarmMonitor } from '../live/health/alarm-monitor.ts';
import { HealthSampler } from '../live/health/health-sampler.ts';
import { IngestLog } from '../live/health/ingest-log.ts';
import { DirectPackager } from '../live/packaging/direct-packager.ts';
import { FfmpegPackager } from '../live/packaging/ffmpeg-packager.ts';
import { openSlate } from '../live/slate/slate-source.ts';
import { AudioEncoder } from '../live/transcode/audio-encoder.ts';
import type { LiveStorage } from '../live/window/live-storage.ts';
import type { PublishHook } from '../resources/integrations/hooks/publish-hook.ts';
import { BroadcastHistory } from '../resources/live/broadcasts/broadcast-history.ts';
import { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import { type Component, componentOf } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { CoalescedTask } from '../shared/scheduling/coalesced-task.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import type { Recordings } from '../vod/recording/recordings.ts';
import type { Foundation } from './foundation.ts';
import { createLiveServices, createLiveStorage, type LiveServices } from './live.ts';
import { publishGate } from './publish-gate.ts';
import { createPulls, type Pulls } from './pull.ts';
import { createRestreamer } from './restreamer.ts';
import { type ConnectedBroadcasts, createSharedBroadcasts, type SharedLive } from './shared-broadcasts.ts';
import { createTranscoding } from './transcode.ts';
import type { VodServices } from './vod.ts';

type Journal = BroadcastHistory<BroadcastState, EndReason>;

export interface Broadcasts {
  readonly registry: BroadcastRegistry;
  readonly gate: PublishGate;
  readonly services: LiveServices;
  readonly transcoding: ReturnType<typeof createTranscoding>;
  readonly restreamer: ReturnType<typeof createRestreamer>;
  readonly alarms: AlarmMonitor;
  readonly ingestLog: IngestLog;
  readonly pulls: Pulls;
  readonly health: HealthSampler;
  /** Undefined for the only server of a database. */
  readonly cluster: SharedLive | undefined;
  readonly components: readonly Component[];
}

/** Broadcasts before anything follows them. Clips of videos need them, recordings need videos, and broadcasts need recordings. */
export interface BroadcastPackaging
  extends Pick<Broadcasts, 'registry' | 'transcoding' | 'alarms' | 'ingestLog'> {
  readonly liveStreams: LiveStreamsStore;
  readonly journal: Journal;
  readonly storage: LiveStorage;
  /** Undefined for the only server of a database. */
  readonly cluster: ConnectedBroadcasts | undefined;
}

/** Packaging 720p takes a third of a core, with a ladder and the watermark six tenths. */
const encodersPerCore = 4;
/** Copying has priority, as for the encoders of video. */
const audioEncoderNiceness = 3;
const endedTtlMs = 60_000;
/** Delay of a part when encoding keeps up. */
const expectedEncodeLagMs = 400;
/** Signals may be lost. */
const suspensionIntervalMs = 1_000;
const noRates = {
  bitrateBitsPerSecond: undefined,
  framesPerSecond: undefined,
  audioDriftMilliseconds: undefined,
};

export async function createBroadcastPackaging(
  foundation: Foundation,
  { vod, viewers }: { vod: VodServices; viewers: ViewerCount },
): Promise<BroadcastPackaging> {
  const { database, outbox, clock } = foundation;
  const log = foundation.log.child('live');
  const liveStreams = new LiveStreamsStore(database);
  const journal: Journal = new BroadcastHistory(database, outbox, clock);
  const shared = createSharedBroadcasts(foundation, journal);
  if (shared === undefined) {
    const crashed = await journal.endUnfinished(clock.nowMs(), 'server-crashed');
    if (crashed > 0) log.warn('broadcasts-left-by-a-crash-ended', { count: crashed });
  }

  const storage = createLiveStorage(foundation);
  const transcoding = createTranscoding(foundation);
  const ingestLog = new IngestLog(clock);
  const registry = new BroadcastRegistry({
    ...(await packagingOptions(foundation)),
    findStream: key => liveStreams.findByStreamKey(key),
    selectLadder: transcoding.form,
    qualityDropped: transcoding.qualityDropped,
    openStorage: broadcast => storage.open(broadcast),
    journal: shared?.journal ?? journal,
    ingestLog,
    storeCutOff: (liveStreamId, publisher) => liveStreams.setCutOff(liveStreamId, publisher),
    claims: shared?.claims,
    observer: liveObserver(foundation, vod),
    clock,
    log: foundation.log,
  });
  const alarms = createAlarms(foundation, registry, ingestLog);
  return {
    liveStreams,
    journal,
    storage,
    transcoding,
    ingestLog,
    registry,
    alarms,
    cluster: shared?.connect({ registry, alarms, viewers }),
  };
}

export function createBroadcasts(
  foundation: Foundation,
  packaging: BroadcastPackaging,
  {
    recordings,
    viewers,
    publishHook,
  }: { recordings: Recordings; viewers: ViewerCount; publishHook: PublishHook },
): Broadcasts {
  const { registry, storage, transcoding, liveStreams, journal, ingestLog, alarms, cluster } = packaging;
  const services = createLiveServices(foundation, { registry, storage, recordings });
  const restreamer = createRestreamer(foundation);
  const health = createHealthSampler(foundation, registry, viewers);
  const suspensions = createSuspensions(foundation, registry, journal);
  // Recordings are taken over first, so that the server that gets the broadcast can continue them.
  if (cluster !== undefined) foundation.nodes.onExpired(nodeId => cluster.claims.releaseAllOf(nodeId));
  registry.subscribe((broadcast, sharedFiles) => {
    alarms.wake();
    suspensions.wake();
    cluster?.broadcastOpened();
    return [
      ...services.createSubscribers(broadcast, sharedFiles),
      restreamer.follow(broadcast),
      health.follow(broadcast),
    ];
  });
  const gate = publishGate(foundation, { registry, publishHook, ingestLog });
  const pulls = createPulls(foundation, gate, liveStreams);
  return {
    registry,
    gate,
    services,
    transcoding,
    restreamer,
    alarms,
    ingestLog,
    health,
    pulls,
    cluster: cluster?.live,
    components: [
      ...(cluster?.components ?? []),
      ...services.components,
      ...transcoding.components,
      restreamer,
      health,
      registry,
      alarms,
      ...pulls.components,
      suspensions.component,
      applyRestreamChanges(foundation, { registry, restreamer, liveStreams }),
    ],
  };
}

async function packagingOptions({ config, ffmpeg, processes, sandboxLimits, metrics, log }: Foundation) {
  const audioLog = log.child('live');
  const { path } = ffmpeg;
  const packager = config['live.packager'];
  const startDirect: BroadcastRegistryOptions['startPackager'] = (plan, events, ids) =>
    new DirectPackager({
      plan,
      events,
      startAudioEncoder: (input, encoderEvents) =>
        new AudioEncoder({
          path,
          owner: processes,
          input,
          events: encoderEvents,
          ids,
          niceness: audioEncoderNiceness,
        }),
      onAudioEncoderFailed: report => {
        metrics.ffmpegFailures.inc({ purpose: 'audio' });
        audioLog.warn('audio-encoder-failed', { ...ids, report });
      },
    });
  return {
    slate: await openSlate({
      mode: config['live.slate'],
      imagePath: config['live.slatePicture'],
      ffmpegPath: path,
      memoryBytes: config['live.encoderMemory'],
      owner: processes,
    }),
    usesFillerSegments: config['live.slate'] !== 'off',
    settings: {
      partTargetMs: config['live.partTarget'],
      segmentTargetMs: config['live.segmentTarget'],
      windowMs: config['live.window'],
      windowBytes: config['live.windowBytes'],
      get reconnectGraceMs() {
        return config['live.reconnectGrace'];
      },
      get stopGraceMs() {
        return config['live.stopGrace'];
      },
      get keyframeTimeoutMs() {
        return config['live.keyframeTimeout'];
      },
      maxPixels: config['live.maxPixels'],
      get maxEncoders() {
        return config['live.maxEncoders'] ?? encodersPerCore * availableParallelism();
      },
      get maxEncodersPerProject() {
        return config['live.maxEncodersPerProject'];
      },
      endedKeptMs: endedTtlMs,
    },
    codecCapabilities: { packager, canReadEnhancedFlv: ffmpeg.canReadEnhancedFlv },
    startPackager: (plan, events, ids) =>
      packager === 'ffmpeg'
        ? new FfmpegPackager({ path, owner: processes, plan, events, ids })
        : startDirect(plan, events, ids),
    startTrackPackager: startDirect,
    maxSandboxBroadcastMs: sandboxLimits.maxBroadcastMs,
  } satisfies Partial<ConstructorParameters<typeof BroadcastRegistry>[0]>;
}

function liveObserver({ metrics }: Foundation, vod: VodServices): LiveObserver {
  return {
    partListed: lagMs => {
      metrics.partLagSeconds.observe(lagMs / 1000);
      vod.partListed(lagMs);
    },
    renditionPartListed: lagMs => {
      metrics.renditionLagSeconds.observe(lagMs / 1000);
      vod.partListed(lagMs - expectedEncodeLagMs);
    },
    qualityDropped: (quality, reason) => metrics.qualitiesDropped.inc({ quality, reason }),
    segmentListed: lagMs => metrics.segmentLagSeconds.observe(lagMs / 1000),
    packagerFailed: () => metrics.ffmpegFailures.inc({ purpose: 'packager' }),
    framesLost: (how, count) => metrics.framesLost.inc({ how }, count),
    broadcastEnded: reason => metrics.broadcastsEnded.inc({ reason }),
  };
}

function createAlarms(
  { metrics, outbox, clock, log }: Foundation,
  registry: BroadcastRegistry,
  ingestLog: IngestLog,
): AlarmMonitor {
  return new AlarmMonitor({
    broadcasts: () => registry.alarmInputs(),
    isAnyOpen: () => registry.openCount > 0,
    changed: async (broadcast, change) => {
      const { kind, isRaised, message } = change;
      ingestLog.alarmChanged(broadcast.liveStreamId, change);
      if (isRaised) metrics.alarmsRaised.inc({ alarm: kind });
      const type = isRaised ? 'live-stream.alarm.raised' : 'live-stream.alarm.cleared';
      await outbox.appendLiveStreamEvent(broadcast, type, { alarm: kind, message }, clock.nowMs());
    },
    clock,
    log: log.child('live'),
  });
}

function createHealthSampler(
  { clock }: Foundation,
  registry: BroadcastRegistry,
  viewers: ViewerCount,
): HealthSampler {
  return new HealthSampler({
    measure: liveStreamId => {
      const stats = registry.statsOf(liveStreamId);
      if (stats === undefined) return undefined;
      return { ...(stats.state === 'live' ? stats : noRates), viewers: viewers.count(liveStreamId) };
    },
    clock,
  });
}

/** Ends broadcasts of suspended accounts. Call `wake` when a broadcast opens. */
function createSuspensions(
  { database, log: parent }: Foundation,
  registry: BroadcastRegistry,
  journal: Journal,
): { readonly wake: () => void; readonly component: Component } {
  const log = parent.child('live');
  // One at a time: a database that answers slowly gets no more and more of them.
  const task = new CoalescedTask(() => endSuspended(journal, registry, log));
  const interval = new OnDemandInterval(suspensionIntervalMs, () => {
    task.request();
    return registry.openCount > 0;
  });
  const stopListening = database.signals.listen('access', () => {
    if (registry.openCount > 0) task.request();
  });
  const component = componentOf('suspensions', {
    stop: () => {
      stopListening();
      interval.stop();
      task.cancel();
      return task.idle();
    },
  });
  return { wake: () => interval.wake(), component };
}

/** An operator suspends accounts in another process, or on another server. */
async function endSuspended(journal: Journal, registry: BroadcastRegistry, log: Logger): Promise<void> {
  try {
    const suspended = await journal.findLiveOfSuspended();
    const ended = suspended.filter(liveStreamId => registry.suspend(liveStreamId));
    if (ended.length > 0) log.info('suspended-broadcasts-ended', { count: ended.length });
  } catch (error) {
    log.error('suspended-broadcasts-not-ended', { error });
  }
}

/** Applies changes of restreams to running broadcasts. */
function applyRestreamChanges(
  { database, log: parent }: Foundation,
  {
    registry,
    restreamer,
    liveStreams,
  }: {
    readonly registry: BroadcastRegistry;
    readonly restreamer: Broadcasts['restreamer'];
    readonly liveStreams: LiveStreamsStore;
  },
): Component {
  const log = parent.child('live');
  const update = async (liveStreamId: string) => {
    try {
      const destinations = await liveStreams.findRestreams(liveStreamId);
      if (destinations !== undefined) restreamer.update(liveStreamId, destinations);
    } catch (error) {
      log.error('live-stream-change-not-applied', { liveStreamId, error });
    }
  };
  const stop = database.signals.listen('live', liveStreamId => {
    const isRunning = registry.running().some(one => one.liveStreamId === liveStreamId);
    if (liveStreamId !== undefined && isRunning) void update(liveStreamId);
  });
  return componentOf('restream-changes', { stop });
}
