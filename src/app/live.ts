import { PartThumbnails } from '../ffmpeg/part-thumbnails.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { BroadcastRegistry } from '../live/broadcast/broadcast-registry.ts';
import type { BroadcastSubscriber, CreateSubscribers } from '../live/broadcast/broadcast-subscriber.ts';
import { Recorder, type RecorderOptions, type RecordingFactory } from '../live/recording/recorder.ts';
import { LiveStoryboards } from '../live/storyboard/live-storyboards.ts';
import { LiveThumbnails } from '../live/transcode/live-thumbnails.ts';
import { RtpFeeds } from '../live/webrtc/rtp-feeds.ts';
import { LiveStorage } from '../live/window/live-storage.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Foundation } from './foundation.ts';

interface LiveDependencies {
  readonly registry: Pick<BroadcastRegistry, 'find'>;
  readonly storage: LiveStorage;
  readonly recordings: RecordingFactory & Component;
}

export interface LiveServices {
  readonly createSubscribers: CreateSubscribers;
  readonly thumbnails: LiveThumbnails;
  readonly storyboards: LiveStoryboards;
  readonly processes: ProcessOwner;
  readonly rtpFeeds: RtpFeeds;
  readonly removeOrphanedMedia: () => Promise<number>;
  /** Components in starting order, before the first broadcast; stopped after the last. */
  readonly components: readonly Component[];
}

const imageNiceness = 10;
const imageMemoryBytes = 1024 ** 3;

export function createLiveServices(
  foundation: Foundation,
  { registry, storage, recordings }: LiveDependencies,
): LiveServices {
  const processes = new ProcessOwner(foundation.limits, foundation.log);
  const rtpFeeds = new RtpFeeds();
  const { thumbnails, storyboards } = createImages(foundation, processes, registry);
  return {
    createSubscribers: (broadcast, sharedFiles) => [
      ...createRecorders(foundation, { broadcast, sharedFiles, factory: recordings }),
      thumbnails.follow(broadcast),
      ...rtpFeeds.follow(broadcast),
    ],
    thumbnails,
    storyboards,
    processes,
    rtpFeeds,
    removeOrphanedMedia: () => storage.removeOrphanedFolders(),
    components: [recordings, storage, thumbnails, storyboards],
  };
}

function createRecorders(
  { config, sandboxLimits }: Foundation,
  recorded: Pick<RecorderOptions, 'broadcast' | 'sharedFiles' | 'factory'>,
): BroadcastSubscriber[] {
  const { broadcast } = recorded;
  if (!(broadcast.record ?? config['recording.enabled'])) return [];
  const stopsAtMax = broadcast.environment === 'sandbox';
  const recorder = new Recorder({
    ...recorded,
    get maxDurationMs() {
      return stopsAtMax ? sandboxLimits.maxRecordingMs : config['recording.longest'];
    },
    stopsAtMax,
  });
  return [recorder];
}

function createImages(
  { ffmpeg, images, files, clock, log }: Foundation,
  owner: ProcessOwner,
  registry: LiveDependencies['registry'],
): Pick<LiveServices, 'thumbnails' | 'storyboards'> {
  const partThumbnails = new PartThumbnails({
    ffmpeg,
    owner,
    memoryBytes: imageMemoryBytes,
    niceness: imageNiceness,
  });
  const isPlayable = (liveStreamId: string, broadcastId: string) =>
    registry.find(liveStreamId, broadcastId) !== undefined;
  return {
    thumbnails: new LiveThumbnails({
      makeThumbnail: (media, ids, signal) => images.run(() => partThumbnails.make(media, ids, signal)),
      isPlayable,
      clock,
      log: log.child('live'),
    }),
    storyboards: new LiveStoryboards({
      mediaOf: (liveStreamId, broadcastId, dates) =>
        registry.find(liveStreamId, broadcastId)?.clippableMedia(dates),
      isPlayable,
      makeSheet: (media, ids, signal) => images.run(() => partThumbnails.makeSheet(media, ids, signal)),
      open: path => files.storage.open(path),
      log: log.child('live'),
    }),
  };
}

export function createLiveStorage({ config, files, freeSpace, clock, log }: Foundation): LiveStorage {
  return new LiveStorage({
    files,
    freeSpace,
    rewindSeconds: config['live.rewind'] > config['live.window'] ? config['live.rewind'] / 1000 : 0,
    // Half, so that recordings stop first.
    minFreeBytes: config['recording.minFree'] / 2,
    clock,
    log: log.child('live'),
  });
}
