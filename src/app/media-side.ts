import { ViewerCount } from '../delivery/live/viewer-count.ts';
import type { PublishHook } from '../resources/integrations/hooks/publish-hook.ts';
import type { RecordingsStore } from '../resources/live/broadcasts/recordings.store.ts';
import type { PrivateTokens } from '../resources/playback/private-sessions/private-tokens.store.ts';
import type { LiveClips } from '../resources/videos/uploads/clip-sources.ts';
import { openForwardedClips } from '../resources/videos/uploads/forwarded-clips.ts';
import { createLiveClips } from '../resources/videos/uploads/live-clips.ts';
import type { UploadDependencies } from '../resources/videos/uploads/video-sources.ts';
import { VideoThumbnailFiles } from '../resources/videos/videos/thumbnails/video-thumbnail-files.ts';
import { VideoThumbnailsStore } from '../resources/videos/videos/thumbnails/video-thumbnails.store.ts';
import { clippableBroadcast } from '../vod/clip/broadcast-clip.ts';
import { clippableSeconds, clipVideo } from '../vod/clip/video-clip.ts';
import { enqueueJoin } from '../vod/recording/join-job.ts';
import type { Recordings } from '../vod/recording/recordings.ts';
import {
  type BroadcastPackaging,
  type Broadcasts,
  createBroadcastPackaging,
  createBroadcasts,
} from './broadcasts.ts';
import type { Foundation } from './foundation.ts';
import { createVideoServices, type VideoServices, type VideoServicesOptions } from './video-services.ts';
import { createRecordings, createVodServices, type VodServices } from './vod.ts';

const importRateWindowMs = 60_000;

export interface MediaSide {
  readonly vod: VodServices;
  readonly videoServices: VideoServices;
  readonly recordings: Recordings;
  readonly recordingsStore: RecordingsStore;
  readonly broadcasts: Broadcasts;
  readonly viewers: ViewerCount;
  /** Undefined for the only server of a database. */
  readonly clipTokens: PrivateTokens | undefined;
}

/** Creates each part after those that it uses: work on media, packaging, videos with clips of broadcasts, recordings, broadcasts. */
export async function createMediaSide(foundation: Foundation, publishHook: PublishHook): Promise<MediaSide> {
  const { database, files, clock } = foundation;
  const viewers = new ViewerCount(clock);
  const thumbnailsStore = new VideoThumbnailsStore(database);
  const thumbnailFiles = new VideoThumbnailFiles(thumbnailsStore, files);
  const vod = createVodServices(foundation, thumbnailFiles);
  const packaging = await createBroadcastPackaging(foundation, { vod, viewers });
  const clipTokens = packaging.cluster === undefined ? undefined : await openForwardedClips(database, clock);
  const videoServices = await createVideoServices({
    ...videoServicesOptions(foundation, vod),
    thumbnailFiles,
    thumbnailsStore,
    uploads: uploadDependencies(foundation, vod, liveClips(packaging, vod, clipTokens)),
  });
  for (const kind of videoServices.uploads.jobKinds) vod.jobs.register(kind);
  const { recordings, store: recordingsStore } = createRecordings(foundation, vod, videoServices);
  const broadcasts = createBroadcasts(foundation, packaging, { recordings, viewers, publishHook });
  return { vod, videoServices, recordings, recordingsStore, broadcasts, viewers, clipTokens };
}

function videoServicesOptions(
  { config, database, files, urls, peers, clock, log }: Foundation,
  vod: VodServices,
) {
  const { vodJobs } = vod;
  return {
    database,
    files,
    clock,
    log,
    publicUrl: urls.publicUrl,
    addressOf: peers.addressOf,
    quotas: {
      get maxStorageBytes() {
        return config['storage.maxPerProject'];
      },
      get maxUploads() {
        return config['uploads.maxPerProject'];
      },
    },
    videos: {
      restoreDays: () => config['videos.restore'],
      mp4SupportChanged: (videoId, isSupported, transaction) =>
        vodJobs.updateMp4Support(videoId, isSupported, transaction),
      discarded: (videoId, transaction) => vod.jobs.pauseDiscarded(videoId, transaction),
      restored: transaction => vod.jobs.resumeRestored(transaction),
      removed: videoId => vodJobs.removeVideo(videoId),
    },
    images: {
      maxPixels: config['images.maxPixels'],
      requestFrame: (videoId, transaction) => vodJobs.requestFrame(videoId, transaction),
      canDecode: path => vodJobs.canDecode(path),
      mark: async path => ((await vodJobs.watermarkImage(path)) ? 'image/jpeg' : undefined),
    },
    captionGeneration: {
      transcripts: vod.transcripts,
      generation: {
        canTranscribe: vod.context.transcriber !== undefined,
        canSummarize: vod.context.summarizer !== undefined,
        transcribe: (videoId, transaction) => vodJobs.transcribePrepared(videoId, transaction),
        summarize: (videoId, transaction) => vodJobs.summarize(videoId, transaction),
        withdraw: (...job) => vodJobs.withdraw(...job),
      },
    },
  } satisfies Partial<VideoServicesOptions>;
}

function liveClips(
  { registry, liveStreams, cluster }: BroadcastPackaging,
  { context }: VodServices,
  tokens: PrivateTokens | undefined,
): LiveClips {
  return createLiveClips({
    hasStream: async (projectId, liveStreamId) =>
      (await liveStreams.find(projectId, liveStreamId)) !== undefined,
    running: liveStreamId => {
      const running = registry.running().find(one => one.liveStreamId === liveStreamId);
      if (running === undefined) return undefined;
      const media = running.renditions.clippableMedia();
      const isEmpty = media === undefined || media.segments.length === 0;
      return {
        broadcast: isEmpty ? undefined : clippableBroadcast(running.startedAtMs, media, context),
      };
    },
    serverUrlOf: liveStreamId => cluster?.live.current(liveStreamId)?.serverUrl,
    tokens,
  });
}

function uploadDependencies(
  { config, resolveHost }: Foundation,
  vod: VodServices,
  clips: LiveClips,
): UploadDependencies {
  const { jobs, vodJobs, encodings, context } = vod;
  return {
    jobs,
    clips: {
      secondsOf: videoId => clippableSeconds(context, videoId),
      clipVideo: (clip, target, signal) => clipVideo(context, clip, target, signal),
    },
    liveClips: clips,
    expectSource: () => vod.expectSource(),
    sourceReady: (videoId, transaction) => vodJobs.sourceReady(videoId, transaction),
    retryRecording: (videoId, transaction) => enqueueJoin(context, videoId, transaction),
    retryEncoding: (videoId, transaction) => vodJobs.retry(videoId, transaction),
    sourceFailed: (videoId, reason, transaction) => encodings.sourceFailed(videoId, reason, transaction),
    hasEncodingFailed: (videoId, connection) => encodings.hasFailed(videoId, connection),
    sourceReplaced: (videoId, transaction) => encodings.reset(videoId, transaction),
    minFreeBytes: () => config['uploads.minFree'],
    idleTimeoutMs: config['uploads.idleTimeout'],
    sourceTimeoutMs: () => config['uploads.sourceTimeout'],
    minImportRate: {
      get bytesPerSecond() {
        return config['imports.minBytesPerSecond'];
      },
      windowMs: importRateWindowMs,
    },
    allowPrivateTargets: config.allowPrivateTargets,
    resolve: resolveHost,
  };
}
