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
import type { ClipSources, LiveClips } from './clip-sources.ts';
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
  readonly liveClips: LiveClips;
  readonly minFreeBytes: () => number;
  readonly idleTimeoutMs: number;
  readonly sourceTimeoutMs: () => number;
  readonly minImportRate: TransferRate;
  readonly allowPrivateTargets: boolean;
  readonly resolve: ResolveHost;
}

/** Separate lanes, so that no slow server delays joining and copying on this machine, and neither delays clips. */
const uploadLanes = { fetch: 'transfer', join: 'assembly', clip: 'clips' } as const;

export interface Uploads {
  readonly service: UploadsService<VideoView>;
  readonly jobKinds: readonly JobKind[];
  readonly routes: readonly Route[];
}

type UploadOptions = UploadDependencies & {
  readonly database: Database;
  readonly files: MediaFiles;
  readonly hasVideo: (projectId: string, videoId: string) => Promise<boolean>;
  readonly quotas: UploadQuotas;
  readonly clock: Clock;
};

/** Sources of videos, and how they are imported: videos are created with it, and uploads after them. */
export class VideoSources {
  readonly store: VideoSourcesStore;
  readonly files: SourceFiles;
  readonly importer: SourceImporter;
  readonly #options: UploadOptions;

  constructor(options: UploadOptions) {
    const { database, jobs, quotas, clips, hasVideo, sourceReady, allowPrivateTargets, resolve, clock } =
      options;
    this.#options = options;
    this.store = new VideoSourcesStore(database);
    this.files = new SourceFiles(options.files, options.minFreeBytes);
    this.importer = new SourceImporter({
      store: this.store,
      database,
      files: this.files,
      jobs,
      quotas,
      clips,
      broadcastClips: new BroadcastClips(this.files, quotas, options.liveClips),
      hasVideo,
      sourceReady,
      failSource: this.fail,
      allowPrivateTargets,
      resolve,
      sourceTimeoutMs: options.sourceTimeoutMs,
      stallTimeoutMs: options.idleTimeoutMs,
      minRate: options.minImportRate,
      clock,
    });
  }

  readonly fail: FailSource = (videoId, reason, connection = this.#options.database) =>
    connection.transaction(async transaction => {
      const { sourceFailed, clock } = this.#options;
      if (!(await this.store.fail(videoId, reason, clock.nowMs(), transaction))) return false;
      await sourceFailed(videoId, reason, transaction);
      return true;
    });

  createUploads({
    videos,
    addressOf,
    log,
  }: {
    readonly videos: UploadVideos<VideoView>;
    readonly addressOf: AddressOf;
    readonly log: Logger;
  }): Uploads {
    const { database, jobs, quotas, hasVideo, sourceReady, clock, ...options } = this.#options;
    const { store, files, importer, fail: failSource } = this;
    const service = new UploadsService({
      store,
      database,
      files,
      arrived: new ArrivedFiles({ database, files }),
      videos,
      jobs,
      quotas,
      sourceReady,
      failSource,
      retryRecording: options.retryRecording,
      retryEncoding: options.retryEncoding,
      retryImport: (...retried) => importer.retry(...retried),
      hasEncodingFailed: options.hasEncodingFailed,
      expectSource: options.expectSource,
      sourceReplaced: options.sourceReplaced,
      clock,
      log: log.child('uploads'),
    });
    const assembler = new ChunkAssembler({ store, database, files, sourceReady, failSource, clock });
    return {
      service,
      jobKinds: [
        assembler.kind(uploadLanes.join),
        ...importer.kinds({ ...uploadLanes, clone: uploadLanes.join }),
      ],
      routes: uploadRoutes(service, hasVideo, addressOf),
    };
  }
}
