import { copyFile, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Insertable } from 'kysely';
import { Outbox } from '../../src/events/outbox.store.ts';
import { ImageQueue } from '../../src/ffmpeg/image-queue.ts';
import { Jobs } from '../../src/jobs/jobs.ts';
import { TextTracksStore } from '../../src/resources/videos/text-tracks/text-tracks.store.ts';
import { CodecRenditionsStore } from '../../src/resources/videos/videos/encodings/codec-renditions.store.ts';
import { EncodingsStore } from '../../src/resources/videos/videos/encodings/encodings.store.ts';
import { TranscriptsStore } from '../../src/resources/videos/videos/transcripts/transcripts.store.ts';
import type { AdditionalCodec } from '../../src/shared/additional-codecs.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { newId } from '../../src/shared/ids.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { sandboxLimits } from '../../src/shared/sandbox-limits.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import type { Database } from '../../src/store/database.ts';
import type { Tables } from '../../src/store/tables.ts';
import { RenditionFolders } from '../../src/vod/encode/rendition-folders.ts';
import type { EncodingState } from '../../src/vod/encoding-repository.ts';
import { IndexWorkerPool } from '../../src/vod/index/index-worker-pool.ts';
import { RenditionReader } from '../../src/vod/index/rendition-reader.ts';
import { GrowingVideos } from '../../src/vod/playback/growing-videos.ts';
import { VodPlayback } from '../../src/vod/playback/vod-playback.ts';
import { MendedSources } from '../../src/vod/source/mended-sources.ts';
import { type VodContext, vodLanes } from '../../src/vod/vod-context.ts';
import { VodJobs } from '../../src/vod/vod-jobs.ts';
import { encodeTimeoutMs } from './deadlines.ts';
import { addFirstAccount } from './first-account.ts';
import { makeMediaTools, type ToolBuilds } from './media-tools.ts';
import { rowsOf, singleValue } from './sql.ts';
import { openTestDatabase } from './test-database.ts';
import { waitUntil } from './wait-until.ts';

/** The real work on videos, without the API around it. */
export interface VodPipeline {
  readonly database: Database;
  readonly works: VodJobs;
  readonly jobs: Jobs;
  readonly playback: VodPlayback;
  readonly files: MediaFiles;
  readonly records: EncodingsStore;
  /** Event types and payloads so far, oldest first. */
  events(): Promise<{ type: string; payload: Record<string, unknown> }[]>;
  /** Adds a video whose source is a copy of `path`, and begins the work on it. */
  add(path: string, attributes?: Partial<Insertable<Tables['videos']>>): Promise<string>;
  setMp4Support(videoId: string, isWanted: boolean): Promise<void>;
  /** Waits until no job of the video waits or runs. */
  settled(videoId: string): Promise<EncodingState>;
  stop(): Promise<void>;
}

/** Sets up a workshop on a data folder, with ffmpeg of one build. */
export async function startVodPipeline(
  dataDir: string,
  options: {
    builds?: ToolBuilds;
    codecs?: readonly AdditionalCodec[];
    /** Default `ultrafast`, which makes no B-frames. */
    preset?: string;
    /** False makes no thumbnails and storyboards, which start seven programs for each video. Default: true. */
    hasImages?: boolean;
    context?: Partial<VodContext>;
  } = {},
): Promise<VodPipeline> {
  const database = await openTestDatabase(dataDir);
  await addFirstAccount(database, { isUpgraded: true });
  const projectId = (await singleValue<string>(
    database,
    "SELECT id FROM projects WHERE environment = 'production'",
  ))!;
  const files = new MediaFiles(dataDir);
  const outbox = new Outbox(database, silentLogger);
  const records = new EncodingsStore(database, outbox, systemClock);
  const tools = makeMediaTools(options.builds);
  const reader = new RenditionReader(files.storage);
  const growing = new GrowingVideos();
  const indexWorkers = new IndexWorkerPool({
    timeoutMs: 60_000,
    memoryBytes: 128 * 2 ** 20,
    maxMovieBytes: 128 * 2 ** 20,
  });
  const jobs = new Jobs({
    database,
    lanes: Object.fromEntries(Object.values(vodLanes).map(lane => [lane, 1])),
    log: silentLogger,
  });
  const mendedSources = new MendedSources(files);
  const works = new VodJobs({
    tools,
    mendedSources,
    images: new ImageQueue({ maxRunning: 2, maxWaiting: 10 }),
    files,
    records,
    codecRenditions: new CodecRenditionsStore(database, records),
    thumbnails: { choiceOf: async () => undefined, showFrame: async () => false },
    captions: new TextTracksStore(database),
    transcripts: new TranscriptsStore(database, outbox, systemClock),
    transcriber: undefined,
    summarizer: undefined,
    folders: new RenditionFolders(files),
    reader,
    growing,
    indexWorkers,
    jobs,
    encoders: { whenTested: async () => undefined, noteFailure: () => {} },
    settings: {
      preset: options.preset ?? 'ultrafast',
      threads: 2,
      memoryBytes: 4 * 2 ** 30,
      maxDurationFactor: 30,
      minFreeBytes: 0,
      sandboxVideoMs: sandboxLimits.maxVideoMs,
      maxPixels: 8192 * 8192,
      codecs: options.codecs ?? [],
    },
    clock: systemClock,
    log: silentLogger,
    ...options.context,
  });
  for (const kind of works.kinds()) {
    const isLeftOut = kind.kind === 'stills' && options.hasImages === false;
    jobs.register(isLeftOut ? { ...kind, run: async () => {} } : kind);
  }
  await jobs.start();
  const playback = new VodPlayback({
    stateOf: videoId => records.state(videoId),
    thumbnailOf: async () => undefined,
    files,
    reader,
    growing,
  });
  return {
    database,
    works,
    jobs,
    playback,
    files,
    records,
    async events() {
      const text = 'SELECT type, payload FROM events ORDER BY id';
      const rows = await rowsOf<{ type: string; payload: string }>(database, text);
      return rows.map(({ type, payload }) => ({ type, payload: JSON.parse(payload) }));
    },
    async add(path, attributes = {}) {
      const id = newId('vi');
      await database.run(
        database.queries.insertInto('videos').values({
          id,
          project_id: projectId,
          title: 'A video',
          title_folded: 'a video',
          description: '',
          is_public: 1,
          is_panoramic: 0,
          has_mp4_support: 1,
          player_id: null,
          language: null,
          tags: '[]',
          metadata: '[]',
          live_stream_id: null,
          watermark: null,
          clip_start_ms: null,
          clip_end_ms: null,
          discarded_at_ms: null,
          deletes_at_ms: null,
          created_at_ms: 1,
          published_at_ms: 1,
          updated_at_ms: 1,
          ...attributes,
        }),
      );
      await mkdir(dirname(files.source(id)), { recursive: true });
      await copyFile(path, files.source(id));
      await database.transaction(transaction => works.sourceReady(id, transaction));
      return id;
    },
    setMp4Support: (videoId, isWanted) =>
      database.transaction(transaction => works.updateMp4Support(videoId, isWanted, transaction)),
    settled(videoId) {
      let left: { state: string }[] = [];
      return waitUntil(
        async () => {
          const text = 'SELECT kind, state, attempts, failure FROM jobs WHERE subject_id = ?';
          left = await rowsOf<{ state: string }>(database, text, videoId);
          return left.every(({ state }) => state === 'failed') ? records.state(videoId) : undefined;
        },
        { timeoutMs: encodeTimeoutMs, what: () => `the jobs: ${JSON.stringify(left)}` },
      );
    },
    async stop() {
      await jobs.stop();
      await mendedSources.stop();
      await indexWorkers.stop();
      await tools.owner.stop();
      await database.stop();
    },
  };
}
