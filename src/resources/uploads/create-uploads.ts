import type { AddressOf } from '../../http/listener/client-address.ts';
import type { Route } from '../../http/routing/route.ts';
import type { JobKind, JobQueue } from '../../jobs/job.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Logger } from '../../shared/logger.ts';
import type { ResolveHost } from '../../shared/network/target-address.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { Database } from '../../store/database.ts';
import type { VideoView } from '../videos/videos.schema.ts';
import { ChunkAssembler } from './chunk-assembler.ts';
import type { TransferRate } from './fetch-source.ts';
import { SourceFiles } from './source-files.ts';
import { SourceImporter } from './source-importer.ts';
import type { UploadQuotas } from './upload-quotas.ts';
import type { UploadVideos } from './upload-videos.ts';
import { uploadRoutes } from './uploads.routes.ts';
import { UploadsService } from './uploads.service.ts';
import { type FailSource, VideoSourcesStore } from './video-sources.store.ts';

/** What the rest of the server does for uploads, and how they are limited. */
export interface UploadDependencies {
  /** With the lanes `transfer` and `assembly`; does the kinds that {@link createUploads} gives. */
  readonly jobs: JobQueue;
  /** Called in the transaction that makes a source complete: has done with it what follows. */
  readonly sourceReady: (videoId: string) => void;
  /** Called in the transaction that makes a source fail: tells of it. */
  readonly sourceFailed: (videoId: string, reason: string) => void;
  /** Tells whether the complete source of a video came to nothing, so that the video takes another one. */
  readonly hasEncodingFailed: (videoId: string) => boolean;
  /** Called in the transaction that begins another upload of a video that failed: forgets what came of its source. */
  readonly sourceReplaced: (videoId: string) => void;
  /** Room on the disk that is left free. */
  readonly minFreeBytes: number;
  /** How long the sender of a file, or the server of a source, may be silent. */
  readonly idleTimeoutMs: number;
  /** How long fetching a source may take, all tries together. */
  readonly sourceTimeoutMs: number;
  /** The least that the server of a source must send, or the import fails. */
  readonly minImportRate: TransferRate;
  /** Whether sources may be fetched from this machine and its networks. */
  readonly allowPrivateTargets: boolean;
  readonly resolve: ResolveHost;
}

/** Lanes of the jobs: fetching from elsewhere, and joining and copying what is here, which no slow server may hold up. */
const uploadLanes = { fetch: 'transfer', join: 'assembly' } as const;

/** Uploads, and what the server does for them. */
export interface Uploads {
  readonly service: UploadsService<VideoView>;
  /** Brings the sources that videos are created with. */
  readonly importer: SourceImporter;
  readonly jobKinds: readonly JobKind[];
  readonly routes: readonly Route[];
}

/** Puts uploads together. */
export function createUploads(
  options: UploadDependencies & {
    readonly database: Database;
    readonly files: MediaFiles;
    /** Asked late, since videos ask for sources themselves. */
    readonly videos: () => UploadVideos<VideoView>;
    readonly addressOf: AddressOf;
    readonly quotas: UploadQuotas;
    readonly clock: Clock;
    readonly log: Logger;
  },
): Uploads {
  const { database, clock, jobs, sourceReady, sourceFailed } = options;
  const store = new VideoSourcesStore(database);
  const failSource: FailSource = (videoId, reason) =>
    database.transaction(() => {
      if (!store.fail(videoId, reason, clock.nowMs())) return false;
      sourceFailed(videoId, reason);
      return true;
    });
  const files = new SourceFiles({ media: options.files, minFreeBytes: options.minFreeBytes });
  const videos: UploadVideos<VideoView> = {
    find: (projectId, videoId) => options.videos().find(projectId, videoId),
    create: (projectId, attributes) => options.videos().create(projectId, attributes),
    viewOf: (projectId, videoId, view) => options.videos().viewOf(projectId, videoId, view),
  };
  const hasVideo = (projectId: string, videoId: string) => videos.find(projectId, videoId) !== undefined;
  const service = new UploadsService({
    store,
    database,
    files,
    videos,
    jobs,
    quotas: options.quotas,
    sourceReady,
    failSource,
    hasEncodingFailed: options.hasEncodingFailed,
    sourceReplaced: options.sourceReplaced,
    clock,
    log: options.log.child('uploads'),
  });
  const importer = new SourceImporter({
    store,
    database,
    files,
    jobs,
    quotas: options.quotas,
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
  const assembler = new ChunkAssembler({ store, database, files, sourceReady, failSource, clock });
  return {
    service,
    importer,
    jobKinds: [
      assembler.kind(uploadLanes.join),
      ...importer.kinds({ fetch: uploadLanes.fetch, clone: uploadLanes.join }),
    ],
    routes: uploadRoutes(service, hasVideo, options.addressOf),
  };
}
