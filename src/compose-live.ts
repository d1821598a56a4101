import type { Config } from './config/settings.ts';
import type { FfmpegBuild } from './ffmpeg/find-ffmpeg.ts';
import type { ImageQueue } from './ffmpeg/image-queue.ts';
import { ProcessOwner } from './ffmpeg/owned-process.ts';
import { PartPictures } from './ffmpeg/part-picture.ts';
import type { ProcessLimits } from './ffmpeg/process-limits.ts';
import type { BroadcastFollower, FollowBroadcast, FollowedBroadcast } from './live/broadcast-follower.ts';
import { LiveFrames } from './live/live-frames.ts';
import { Recorder, type RecordingStudio } from './live/recorder.ts';
import { Rewind } from './live/rewind.ts';
import type { OpenRewind } from './live/rewind-store.ts';
import type { Clock } from './shared/clock.ts';
import type { Component } from './shared/lifecycle.ts';
import type { Logger } from './shared/logger.ts';
import type { SandboxRules } from './shared/sandbox-rules.ts';
import type { MediaFiles } from './storage/media-files.ts';

/** What goes along with broadcasts is put together from. */
export interface ComposeLiveOptions {
  readonly config: Config;
  readonly files: MediaFiles;
  readonly ffmpeg: FfmpegBuild;
  readonly limits: ProcessLimits;
  readonly images: ImageQueue;
  /** Whether viewers can still get anything of a broadcast. */
  readonly isPlayable: (liveStreamId: string, broadcastId: string) => boolean;
  /** Where broadcasts are recorded; one of the components. */
  readonly recordings: RecordingStudio & Component;
  readonly sandboxRules: SandboxRules;
  readonly clock: Clock;
  readonly log: Logger;
}

/** All that goes along with broadcasts. */
export interface LiveCompany {
  readonly follow: FollowBroadcast;
  /** Pictures of what is on air. */
  readonly frames: LiveFrames;
  /** What makes them. */
  readonly processes: ProcessOwner;
  /** Undefined where viewers can go back no further than what is in memory. */
  readonly rewind: OpenRewind | undefined;
  /** Removes what broadcasts that are over have left on the disk; how many those were. */
  readonly removeLeftBroadcasts: () => Promise<number>;
  /** In the order of their start; they start before broadcasts are taken, and stop after the last one has ended. */
  readonly components: readonly Component[];
}

/** How much making pictures gives way to live streams. */
const pictureNiceness = 10;
/** A frame of 4K video is decoded in a tenth of this. */
const pictureMemoryBytes = 1024 ** 3;

/** Puts together what goes along with broadcasts: recordings, pictures of them, what viewers can go back to. */
export function composeLive(options: ComposeLiveOptions): LiveCompany {
  const rewind = composeRewind(options);
  const processes = new ProcessOwner(options.limits, options.log);
  const frames = composeFrames(options, processes);
  return {
    follow: broadcast => [...recordersOf(broadcast, options), frames.follow(broadcast)],
    frames,
    processes,
    rewind: rewind.isOn ? broadcast => rewind.open(broadcast) : undefined,
    removeLeftBroadcasts: () => rewind.removeLeftovers(),
    // Started even where it is off: it removes what a former process left.
    components: [options.recordings, rewind, frames],
  };
}

function recordersOf(
  broadcast: FollowedBroadcast,
  { config, recordings, sandboxRules }: ComposeLiveOptions,
): BroadcastFollower[] {
  if (!(broadcast.record ?? config['recording.enabled'])) return [];
  const isCut = broadcast.environment === 'sandbox';
  const longestMs = isCut ? sandboxRules.recordingMs : config['recording.longest'];
  return [new Recorder({ broadcast, studio: recordings, longestMs, isCut })];
}

function composeFrames(options: ComposeLiveOptions, owner: ProcessOwner): LiveFrames {
  const { ffmpeg, images, isPlayable, clock, log } = options;
  const pictures = new PartPictures({
    ...{ ffmpeg, owner },
    memoryBytes: pictureMemoryBytes,
    niceness: pictureNiceness,
  });
  return new LiveFrames({
    makePicture: (media, ids, signal) => images.run(() => pictures.make(media, ids, signal)),
    ...{ isPlayable, clock },
    log: log.child('live'),
  });
}

function composeRewind({ config, files, clock, log }: ComposeLiveOptions): Rewind {
  return new Rewind({
    files,
    seconds: config['live.rewind'] > config['live.window'] ? config['live.rewind'] / 1000 : 0,
    // Recordings stop first.
    minFreeBytes: config['recording.minFree'] / 2,
    clock,
    log: log.child('live'),
  });
}
