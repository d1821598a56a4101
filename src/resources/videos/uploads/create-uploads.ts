import type { AddressOf } from '../../../http/listener/client-address.ts';
import type { Route } from '../../../http/routing/route.ts';
import type { JobKind, JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { ResolveHost } from '../../../shared/network/target-address.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import type { Database } from '../../../store/database.ts';
import type { VideoView } from '../videos/videos.schema.ts';
import { ArrivedFiles } from './arrived-files.ts';
import { BroadcastClips } from './broadcast-clips.ts';
import { ChunkAssembler } from './chunk-assembler.ts';
import type { ClipSources } from './clip-sources.ts';
import type { TransferRate } from './fetch-source.ts';
import type { SourceConsumer } from './source-consumer.ts';
import { SourceFiles } from './source-files.ts';
import { SourceImporter } from './source-importer.ts';
import type { UploadQuotas } from './upload-quotas.ts';
import type { UploadVideos } from './upload-videos.ts';
import { uploadRoutes } from './uploads.routes.ts';
import { UploadsService } from './uploads.service.ts';
import { type FailSource, VideoSourcesStore } from './video-sources.store.ts';

export interface UploadDependencies extends SourceConsumer {
  readonly jobs: JobQueue;
  readonly clips: ClipSources;
  readonly minFreeBytes: number;
  readonly idleTimeoutMs: number;
  readonly sourceTimeoutMs: number;
  readonly minImportRate: TransferRate;
  readonly allowPrivateTargets: boolean;
  readonly resolve: ResolveHost;
}

/** Separate lanes, so that no slow server delays joining and copying on this machine, and neither delays clips. */
const uploadLanes = { fetch: 'transfer', join: 'assembly', clip: 'clips' } as const;

export interface Uploads {
  readonly service: UploadsService<VideoView>;
  readonly importer: SourceImporter;
  readonly broadcastClips: BroadcastClips;
  readonly jobKinds: readonly JobKind[];
  readonly routes: readonly Route[];
}

export function createUploads(
  options: UploadDependencies & {
    readonly database: Database;
    readonly files: MediaFiles;
    /** Resolved late, because videos depend on uploads too. */
    readonly videos: () => UploadVideos<VideoView>;
    readonly addressOf: AddressOf;
    readonly quotas: UploadQuotas;
    readonly clock: Clock;
    readonly log: Logger;
  },
): Uploads {
  const { database, clock, jobs, sourceReady, sourceFailed } = options;
  const store = new VideoSourcesStore(database);
  const failSource: FailSource = (videoId, reason, connection = database) =>
    connection.transaction(async transaction => {
      if (!(await store.fail(videoId, reason, clock.nowMs(), transaction))) return false;
      await sourceFailed(videoId, reason, transaction);
      return true;
    });
  const files = new SourceFiles({ media: options.files, minFreeBytes: options.minFreeBytes });
  const videos: UploadVideos<VideoView> = {
    find: (projectId, videoId, connection) => options.videos().find(projectId, videoId, connection),
    create: (projectId, videoId, attributes, transaction) =>
      options.videos().create(projectId, videoId, attributes, transaction),
    viewOf: (projectId, videoId, view) => options.videos().viewOf(projectId, videoId, view),
  };
  const hasVideo = async (projectId: string, videoId: string) =>
    (await videos.find(projectId, videoId)) !== undefined;
  const broadcastClips = new BroadcastClips(files, options.quotas);
  const importer = new SourceImporter({
    store,
    database,
    files,
    jobs,
    quotas: options.quotas,
    clips: options.clips,
    broadcastClips,
    hasVideo,
    sourceReady,
    failSource,
    allowPrivateTargets: options.allowPrivateTargets,
    resolve: options.resolve,
    sourceTimeoutMs: options.sourceTimeoutMs,
    stallTimeoutMs: options.idleTimeoutMs,
    minRate: options.minImportRate,
    clock,
  });
  const service = new UploadsService({
    store,
    database,
    files,
    arrived: new ArrivedFiles({ database, files }),
    videos,
    jobs,
    quotas: options.quotas,
    sourceReady,
    failSource,
    retryRecording: options.retryRecording,
    retryEncoding: options.retryEncoding,
    retryImport: (...retried) => importer.retry(...retried),
    hasEncodingFailed: options.hasEncodingFailed,
    sourceReplaced: options.sourceReplaced,
    clock,
    log: options.log.child('uploads'),
  });
  const assembler = new ChunkAssembler({ store, database, files, sourceReady, failSource, clock });
  return {
    service,
    importer,
    broadcastClips,
    jobKinds: [
      assembler.kind(uploadLanes.join),
      ...importer.kinds({ ...uploadLanes, clone: uploadLanes.join }),
    ],
    routes: uploadRoutes(service, hasVideo, options.addressOf),
  };
}
