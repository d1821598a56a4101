import { type AdmissionResult, BroadcastRegistry } from '../../src/live/broadcast/broadcast-registry.ts';
import type { BroadcastRegistryOptions } from '../../src/live/broadcast/broadcast-registry-options.ts';
import type { CutOffPublisher, PublisherConnection } from '../../src/live/broadcast/ports.ts';
import type { LiveStreamConfig } from '../../src/live/broadcast/publish-admission.ts';
import type { Packager, PackagerEvents, PackagerPlan } from '../../src/live/packaging/packager.ts';
import type { Sample } from '../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { tagBody } from '../../src/media/flv/tag-body.ts';
import type { CodecConfig, MediaSample } from '../../src/media/samples/media-sample.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { eventsOf } from './media-samples.ts';
import { videoTrack } from './recording-sink.ts';

/** H.264 tag bodies. */
export const avc = {
  config: (version = 0) => Buffer.from([0x17, 0, 0, 0, 0, version]),
  keyframe: (bytes = 10) => Buffer.concat([Buffer.from([0x17, 1, 0, 0, 0]), Buffer.alloc(bytes)]),
  frame: (bytes = 10) => Buffer.concat([Buffer.from([0x27, 1, 0, 0, 0]), Buffer.alloc(bytes)]),
};

export function videoTag(timestampMs: number, body: Buffer): FlvTag {
  return { kind: 'video', timestampMs, body };
}

/** A packager that tests control. */
export class FakePackager implements Packager {
  readonly plan: PackagerPlan;
  readonly events: PackagerEvents;
  readonly written: Buffer[] = [];
  isOver = false;

  constructor(plan: PackagerPlan, events: PackagerEvents) {
    this.plan = plan;
    this.events = events;
  }

  write(media: MediaSample | CodecConfig): boolean {
    this.written.push(tagBody(media));
    return true;
  }

  async finish(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    await Promise.resolve();
    this.events.exited({ kind: 'stopped', report: '' });
  }

  kill(): Promise<void> {
    return this.finish();
  }

  die(): void {
    this.isOver = true;
    this.events.exited({ kind: 'failed', report: 'died' });
  }

  begin(track: TrackDescription = videoTrack): void {
    this.events.tracks({ video: track });
  }

  /** Delivers `count` frames of 40 ms, the first of them a keyframe at `atMs`. */
  give(atMs: number, count: number): void {
    for (let index = 0; index < count; index += 1)
      this.events.sample('video', sample(index === 0), atMs + index * 40);
  }
}

/** Declares its interval, which a broadcast otherwise waits for. */
const keyframe = Buffer.from('x264 - core 164 - options: keyint=50 intra_refresh=0 '.padEnd(100));

function sample(isSync: boolean): Sample {
  return {
    data: isSync ? keyframe : Buffer.alloc(100),
    dtsTicks: 0,
    durationTicks: 640,
    compositionOffsetTicks: 0,
    isSync,
  } as unknown as Sample;
}

export const liveSettings: BroadcastRegistryOptions['settings'] = {
  partTargetMs: 200,
  segmentTargetMs: 2000,
  windowMs: 16_000,
  windowBytes: 1e6,
  reconnectGraceMs: 60_000,
  stopGraceMs: 5000,
  keyframeTimeoutMs: 20_000,
  maxPixels: 9_437_184,
  maxEncoders: 4,
  maxEncodersPerProject: 2,
  endedKeptMs: 60_000,
};

/** Starts a registry with one live stream, `li1` with the key `key`, and packagers that the test controls. */
export function startFakeBroadcasts(
  change: Partial<BroadcastRegistryOptions> = {},
  stream: Partial<LiveStreamConfig> = {},
) {
  const packagers: FakePackager[] = [];
  const ends: string[] = [];
  const states: (string | undefined)[] = [];
  let opened = 0;
  let cutOff: CutOffPublisher | undefined;
  const live = new BroadcastRegistry({
    settings: liveSettings,
    codecCapabilities: { packager: 'auto', canReadEnhancedFlv: false },
    findStream: async () => ({
      liveStreamId: 'li1',
      projectId: 'pr1',
      environment: 'production',
      accountSuspended: false,
      accountUpgraded: true,
      restreams: [],
      cutOff,
      ...stream,
    }),
    startPackager: (plan, events) => {
      const packager = new FakePackager(plan, events);
      packagers.push(packager);
      return packager;
    },
    startTrackPackager: (plan, events) => new FakePackager(plan, events),
    journal: {
      opened: async () => {
        opened += 1;
        return `br${opened}`;
      },
      changed: async (_, { state }) => {
        if (state !== undefined) states.push(state);
      },
      ended: async (_, __, reason) => void ends.push(reason),
    },
    storeCutOff: async (_, publisher) => {
      cutOff = publisher;
    },
    observer: {
      partListed() {},
      segmentListed() {},
      packagerFailed() {},
      framesLost() {},
      broadcastEnded() {},
    },
    clock: { nowMs: () => Date.now(), monotonicMs: () => Date.now() },
    log: silentLogger,
    ...change,
  });
  return { live, packagers, ends, states };
}

/** Publishes to the stream of {@link startFakeBroadcasts}. `told` is what the connection was told. */
export async function publish(live: BroadcastRegistry, changes: Partial<PublisherConnection> = {}) {
  const told: string[] = [];
  let isClosed = false;
  const link: PublisherConnection = {
    connectionId: 'co1',
    protocol: 'rtmp',
    remoteAddress: '192.0.2.1',
    encoder: 'test',
    refuse: description => {
      told.push(`refused: ${description}`);
      close('ended-by-server');
    },
    close: description => {
      told.push(`closed: ${description}`);
      close('ended-by-server');
    },
    pause: () => {},
    resume: () => {},
    ...changes,
  };
  const close = (reason: string) => {
    if (isClosed || !answer.accepted) return;
    isClosed = true;
    answer.handler.closed(reason);
  };
  const answer: AdmissionResult = await live.admit('key', link);
  const sendOne = (tag: FlvTag) => {
    for (const event of eventsOf(tag)) if (answer.accepted && !isClosed) answer.handler.media(event);
  };
  const send = (...tags: FlvTag[]) => {
    for (const tag of tags) sendOne(tag);
  };
  return { answer, told, close, send };
}
