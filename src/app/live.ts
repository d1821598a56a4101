import type { Config } from '../config/settings.ts';
import type { FfmpegBuild } from '../ffmpeg/build/find-ffmpeg.ts';
import type { ImageQueue } from '../ffmpeg/image-queue.ts';
import { PartThumbnails } from '../ffmpeg/part-thumbnails.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { ProcessLimits } from '../ffmpeg/process/process-limits.ts';
import type {
  BroadcastInfo,
  BroadcastSubscriber,
  CreateSubscribers,
} from '../live/broadcast/broadcast-subscriber.ts';
import { Recorder, type RecordingFactory } from '../live/recording/recorder.ts';
import { LiveThumbnails } from '../live/transcode/live-thumbnails.ts';
import { Rewind } from '../live/window/rewind.ts';
import type { OpenRewind } from '../live/window/rewind-store.ts';
import type { Clock } from '../shared/clock.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import type { SandboxLimits } from '../shared/sandbox-limits.ts';
import type { MediaFiles } from '../storage/media-files.ts';

interface LiveServicesOptions {
  readonly config: Config;
  readonly files: MediaFiles;
  readonly ffmpeg: FfmpegBuild;
  readonly limits: ProcessLimits;
  readonly images: ImageQueue;
  readonly isPlayable: (liveStreamId: string, broadcastId: string) => boolean;
  readonly recordings: RecordingFactory & Component;
  readonly sandboxRules: SandboxLimits;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface LiveServices {
  readonly createSubscribers: CreateSubscribers;
  readonly thumbnails: LiveThumbnails;
  readonly processes: ProcessOwner;
  /** Undefined: viewers can only go back in memory. */
  readonly rewind: OpenRewind | undefined;
  readonly removeOrphanedRewind: () => Promise<number>;
  /** In starting order, before the first broadcast; stopped after the last. */
  readonly components: readonly Component[];
}

const thumbnailNiceness = 10;
const thumbnailMemoryBytes = 1024 ** 3;

export function createLiveServices(options: LiveServicesOptions): LiveServices {
  const rewind = createRewind(options);
  const processes = new ProcessOwner(options.limits, options.log);
  const thumbnails = createThumbnails(options, processes);
  return {
    createSubscribers: broadcast => [...createRecorders(broadcast, options), thumbnails.follow(broadcast)],
    thumbnails,
    processes,
    rewind: rewind.isOn ? broadcast => rewind.open(broadcast) : undefined,
    removeOrphanedRewind: () => rewind.removeOrphanedFolders(),
    // Rewind starts even when it is off, and removes the folders of a former process.
    components: [options.recordings, rewind, thumbnails],
  };
}

function createRecorders(
  broadcast: BroadcastInfo,
  { config, recordings, sandboxRules }: LiveServicesOptions,
): BroadcastSubscriber[] {
  if (!(broadcast.record ?? config['recording.enabled'])) return [];
  const stopsAtMax = broadcast.environment === 'sandbox';
  const maxDurationMs = stopsAtMax ? sandboxRules.maxRecordingMs : config['recording.longest'];
  return [new Recorder({ broadcast, factory: recordings, maxDurationMs, stopsAtMax })];
}

function createThumbnails(options: LiveServicesOptions, owner: ProcessOwner): LiveThumbnails {
  const { ffmpeg, images, isPlayable, clock, log } = options;
  const partThumbnails = new PartThumbnails({
    ...{ ffmpeg, owner },
    memoryBytes: thumbnailMemoryBytes,
    niceness: thumbnailNiceness,
  });
  return new LiveThumbnails({
    makeThumbnail: (media, ids, signal) => images.run(() => partThumbnails.make(media, ids, signal)),
    ...{ isPlayable, clock },
    log: log.child('live'),
  });
}

function createRewind({ config, files, clock, log }: LiveServicesOptions): Rewind {
  return new Rewind({
    files,
    seconds: config['live.rewind'] > config['live.window'] ? config['live.rewind'] / 1000 : 0,
    minFreeBytes: config['recording.minFree'] / 2,
    clock,
    log: log.child('live'),
  });
}
