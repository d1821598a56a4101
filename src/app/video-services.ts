import { requireMaxPixels } from '../http/bodies/uploaded-image.ts';
import type { AddressOf } from '../http/listener/client-address.ts';
import type { Route } from '../http/routing/route.ts';
import { LocalArrivingUploads } from '../operations/usage/arriving-uploads.ts';
import { type QuotaLimits, Quotas } from '../operations/usage/quotas.ts';
import { SharedArrivingUploads } from '../operations/usage/shared-arriving-uploads.store.ts';
import { UsageStore } from '../operations/usage/usage.store.ts';
import { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import { PlayersService } from '../resources/playback/players/players.service.ts';
import { PlayersStore } from '../resources/playback/players/players.store.ts';
import { PrivateTokens } from '../resources/playback/private-sessions/private-tokens.store.ts';
import { SummariesService } from '../resources/videos/summaries/summaries.service.ts';
import { SummariesStore } from '../resources/videos/summaries/summaries.store.ts';
import { TagsStore } from '../resources/videos/tags/tags.store.ts';
import { TextTracksService } from '../resources/videos/text-tracks/text-tracks.service.ts';
import { TextTracksStore } from '../resources/videos/text-tracks/text-tracks.store.ts';
import { UploadTokensService } from '../resources/videos/upload-tokens/upload-tokens.service.ts';
import { UploadTokensStore } from '../resources/videos/upload-tokens/upload-tokens.store.ts';
import {
  type UploadDependencies,
  type Uploads,
  VideoSources,
} from '../resources/videos/uploads/video-sources.ts';
import { videoDefaultsRoutes } from '../resources/videos/video-defaults/video-defaults.routes.ts';
import { VideoDefaultsStore } from '../resources/videos/video-defaults/video-defaults.store.ts';
import { AudioTracksService } from '../resources/videos/videos/audio-tracks/audio-tracks.service.ts';
import { AudioTracksStore } from '../resources/videos/videos/audio-tracks/audio-tracks.store.ts';
import type { VideoStatusSources } from '../resources/videos/videos/status/video-status.routes.ts';
import type { AddSandboxWatermark } from '../resources/videos/videos/thumbnails/prepare-thumbnail.ts';
import type { VideoThumbnailFiles } from '../resources/videos/videos/thumbnails/video-thumbnail-files.ts';
import { VideoThumbnailsService } from '../resources/videos/videos/thumbnails/video-thumbnails.service.ts';
import type { VideoThumbnailsStore } from '../resources/videos/videos/thumbnails/video-thumbnails.store.ts';
import {
  CaptionGeneration,
  type ModelJobs,
} from '../resources/videos/videos/transcripts/caption-generation.ts';
import type { TranscriptsStore } from '../resources/videos/videos/transcripts/transcripts.store.ts';
import type { VideoView } from '../resources/videos/videos/videos.schema.ts';
import { type VideosOptions, VideosService } from '../resources/videos/videos/videos.service.ts';
import { VideosStore } from '../resources/videos/videos/videos.store.ts';
import {
  type WatermarksOptions,
  WatermarksService,
} from '../resources/videos/watermarks/watermarks.service.ts';
import { WatermarksStore } from '../resources/videos/watermarks/watermarks.store.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { MediaFiles } from '../storage/media-files.ts';
import type { Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';

/** May replace further dependencies of {@link VideosService}. */
export type VideoWork = Pick<
  VideosOptions,
  'restoreDays' | 'mp4SupportChanged' | 'discarded' | 'restored' | 'removed'
> &
  Partial<Pick<VideosOptions, 'sources' | 'watermarkExists' | 'takeWatermark' | 'playerExists'>>;

export interface ImageWork {
  /** Requests a frame, also for a video that has no media yet. */
  requestFrame(videoId: string, transaction: Transaction): Promise<void>;
  readonly canDecode: WatermarksOptions['canDecode'];
  readonly mark: AddSandboxWatermark;
  readonly maxPixels: number;
}

interface CaptionWork {
  readonly transcripts: TranscriptsStore;
  readonly generation: ModelJobs;
}

export interface VideoServicesOptions {
  readonly database: Database;
  readonly files: MediaFiles;
  readonly thumbnailFiles: VideoThumbnailFiles;
  readonly thumbnailsStore: VideoThumbnailsStore;
  readonly publicUrl: () => string;
  readonly quotas: QuotaLimits;
  readonly videos: VideoWork;
  readonly images: ImageWork;
  readonly captionGeneration: CaptionWork;
  readonly uploads: UploadDependencies;
  readonly addressOf: AddressOf;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface VideoServices {
  readonly videos: VideosService;
  readonly thumbnails: VideoThumbnailsService<VideoView>;
  readonly watermarks: WatermarksService;
  readonly audioTracks: AudioTracksService;
  readonly captions: TextTracksService;
  readonly chapters: TextTracksService;
  readonly players: PlayersService;
  readonly uploads: Uploads;
  readonly uploadTokens: UploadTokensService;
  readonly summaries: SummariesService;
  readonly videoDefaults: readonly Route[];
  readonly transcripts: Pick<VideoStatusSources, 'transcriptOf' | 'canTranscribe'>;
  readonly tags: TagsStore;
  readonly usage: UsageStore;
  readonly quotas: Quotas;
  readonly privateTokens: PrivateTokens;
  readonly mark: AddSandboxWatermark;
}

/** Lets the trash free space when the disk that has it is short. */
export async function createVideoServices(options: VideoServicesOptions): Promise<VideoServices> {
  const { database, files, publicUrl: baseUrl, images, clock } = options;
  const privateTokens = await PrivateTokens.open(database, clock);
  const mark: AddSandboxWatermark = async (path, image) => {
    requireMaxPixels(image, images.maxPixels);
    return images.mark(path, image);
  };
  const videosStore = new VideosStore(database);
  const playersStore = new PlayersStore(database, [videosStore, new LiveStreamsStore(database)]);
  const players = new PlayersService({ database, store: playersStore, files, baseUrl, clock });
  const watermarks = new WatermarksService({
    store: new WatermarksStore(database),
    files,
    canDecode: async (path, image) => {
      requireMaxPixels(image, images.maxPixels);
      return images.canDecode(path, image);
    },
    clock,
  });
  const usage = new UsageStore(database);
  const arriving =
    database.dialect === 'postgres'
      ? new SharedArrivingUploads({ database, clock, log: options.log.child('uploads') })
      : new LocalArrivingUploads(database);
  const quotas = new Quotas({ limits: options.quotas, usage, arriving });
  const summariesStore = new SummariesStore(database);
  const defaults = new VideoDefaultsStore(database);
  const captionGeneration = new CaptionGeneration({
    ...options.captionGeneration,
    summaries: summariesStore,
    defaults,
  });
  const { uploads, videos } = createVideosWithUploads(options, {
    videosStore,
    captionGeneration,
    privateTokens,
    players,
    watermarks,
    quotas,
  });
  if (files.storage.kind === 'data-folder') files.reclaimFrom(videos.removal);
  const tracks = { database, store: new TextTracksStore(database), videos, files, privateTokens, baseUrl };
  return {
    transcripts: {
      transcriptOf: videoId => options.captionGeneration.transcripts.state(videoId),
      canTranscribe: captionGeneration.available.transcript,
    },
    videos,
    uploads,
    players,
    watermarks,
    usage,
    quotas,
    privateTokens,
    mark,
    audioTracks: new AudioTracksService({
      database,
      videos: tracks.videos,
      store: new AudioTracksStore(database),
    }),
    captions: new TextTracksService('captions', tracks),
    chapters: new TextTracksService('chapters', tracks),
    thumbnails: new VideoThumbnailsService<VideoView>({
      database,
      store: options.thumbnailsStore,
      thumbnailFiles: options.thumbnailFiles,
      videos,
      addWatermark: mark,
      requestFrame: (videoId, transaction) => images.requestFrame(videoId, transaction),
    }),
    uploadTokens: new UploadTokensService({ store: new UploadTokensStore(database), clock }),
    summaries: new SummariesService({
      database,
      store: summariesStore,
      generate: (videoId, transaction) => captionGeneration.summarize(videoId, transaction),
      withdraw: (videoId, transaction) =>
        options.captionGeneration.generation.withdraw('summarize', videoId, transaction),
      canGenerate: captionGeneration.available.transcriptSummary,
      hasVideo: (projectId, videoId, transaction) => videos.keep(projectId, videoId, transaction),
      clock,
    }),
    videoDefaults: videoDefaultsRoutes(defaults, captionGeneration),
    tags: new TagsStore(database),
  };
}

function createVideosWithUploads(
  options: VideoServicesOptions,
  {
    videosStore,
    captionGeneration,
    privateTokens,
    players,
    watermarks,
    quotas,
  }: Pick<VideoServices, 'privateTokens' | 'players' | 'watermarks' | 'quotas'> & {
    videosStore: VideosStore;
    captionGeneration: CaptionGeneration;
  },
): Pick<VideoServices, 'videos' | 'uploads'> {
  const { database, files, addressOf, clock, log } = options;
  const sources = new VideoSources({
    ...options.uploads,
    database,
    files,
    quotas,
    clock,
    hasVideo: async (projectId, videoId) =>
      (await videosStore.find({ projectId, isDiscarded: false }, videoId)) !== undefined,
  });
  const videos = new VideosService({
    sources: sources.importer,
    isReceiving: (videoId, transaction) => quotas.isReceiving(videoId, transaction),
    watermarkExists: (projectId, watermarkId) => watermarks.exists(projectId, watermarkId),
    takeWatermark: (videoId, watermarkId) => watermarks.copyFor(videoId, watermarkId),
    returnWatermark: videoId => watermarks.removeCopy(videoId),
    playerExists: (projectId, playerId, connection) => players.exists(projectId, playerId, connection),
    findRemovedPlayers: (playerIds, connection) => players.findRemoved(playerIds, connection),
    ...options.videos,
    database,
    store: videosStore,
    captionGeneration,
    privateTokens,
    baseUrl: options.publicUrl,
    clock,
    log: log.child('videos'),
  });
  return { uploads: sources.createUploads({ videos, addressOf, log }), videos };
}
