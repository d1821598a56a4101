import { availableParallelism } from 'node:os';
import type { Config } from '../config/settings.ts';
import type { VodEntry, VodSource, VodTextTrack } from '../delivery/vod/vod-source.ts';
import { canReadGroupedFragments } from '../ffmpeg/build/find-ffmpeg.ts';
import { EncodingThrottle } from '../ffmpeg/encoding-throttle.ts';
import { FfmpegTools } from '../ffmpeg/ffmpeg-tools.ts';
import { ProcessOwner } from '../ffmpeg/process/owned-process.ts';
import type { LaneLimits } from '../jobs/job.ts';
import { Jobs } from '../jobs/jobs.ts';
import { RecordingsStore } from '../resources/live/broadcasts/recordings.store.ts';
import type { TextTracksService } from '../resources/videos/text-tracks/text-tracks.service.ts';
import { TextTracksStore } from '../resources/videos/text-tracks/text-tracks.store.ts';
import { CodecRenditionsStore } from '../resources/videos/videos/encodings/codec-renditions.store.ts';
import {
  EncodingsStore,
  type VideoForViewers,
} from '../resources/videos/videos/encodings/encodings.store.ts';
import type { VideoThumbnailFiles } from '../resources/videos/videos/thumbnails/video-thumbnail-files.ts';
import { TranscriptsStore } from '../resources/videos/videos/transcripts/transcripts.store.ts';
import { additionalCodecs } from '../shared/additional-codecs.ts';
import { type Component, componentOf } from '../shared/lifecycle.ts';
import { nativeLanguageName } from '../shared/text/language-tag.ts';
import { RenderedText } from '../shared/text/rendered-text.ts';
import type { ResponseBody } from '../shared/viewer-responses.ts';
import { RenditionFolders } from '../vod/encode/rendition-folders.ts';
import { IndexWorkerPool } from '../vod/index/index-worker-pool.ts';
import { RenditionReader } from '../vod/index/rendition-reader.ts';
import { GrowingVideos } from '../vod/playback/growing-videos.ts';
import { VodPlayback } from '../vod/playback/vod-playback.ts';
import { formatCaptionsPlaylist } from '../vod/playback/vod-playlists.ts';
import { joinKind } from '../vod/recording/join-job.ts';
import { Recordings } from '../vod/recording/recordings.ts';
import { withEditedDurations } from '../vod/source/edited-durations.ts';
import { MendedSources } from '../vod/source/mended-sources.ts';
import type { SourceMetadata } from '../vod/source/source-metadata.ts';
import { SummaryClient } from '../vod/transcripts/summary-client.ts';
import { TranscriptionClient } from '../vod/transcripts/transcription-client.ts';
import { encodePriorities, type VodContext, vodLanes } from '../vod/vod-context.ts';
import { VodJobs } from '../vod/vod-jobs.ts';
import type { Foundation } from './foundation.ts';
import type { VideoServices } from './video-services.ts';

type VideoExtras = Pick<VideoServices, 'captions' | 'chapters' | 'players'>;

/** Never changed: another content has another name. */
interface NamedFile {
  readonly path: string;
  readonly bytes: number;
  readonly name: string;
}

export interface VodServices {
  readonly encodings: EncodingsStore;
  readonly transcripts: TranscriptsStore;
  readonly jobs: Jobs;
  readonly vodJobs: VodJobs;
  readonly playback: VodPlayback;
  readonly context: VodContext;
  readonly processes: ProcessOwner;
  /** Makes this server ready to prepare a file that arrives. */
  expectSource(): void;
  /** Encoding pauses while live parts are late. */
  partListed(lagMs: number): void;
  isPaused(): boolean;
  readonly components: readonly Component[];
}

const niceness = 10;
/** A project that adds many videos leaves room for others. */
const maxRunningByLane = {
  assembly: 2,
  clips: 2,
  [vodLanes.prepare]: { maxRunning: 3, maxPerGroup: 2 },
  [vodLanes.codecs]: { maxRunning: 1, maxPerGroup: 1 },
  [vodLanes.images]: { maxRunning: 1, maxPerGroup: 1 },
};
const coresPerEncode = 4;

export function createVodServices(foundation: Foundation, thumbnails: VideoThumbnailFiles): VodServices {
  const { config, database, outbox, files, images, clock, log } = foundation;
  const maxEncodes =
    config['encode.jobs'] ?? Math.max(1, Math.floor(availableParallelism() / coresPerEncode));
  const processes = new ProcessOwner(foundation.limits, log);
  const tools = createTools(foundation, processes);
  const throttle = createThrottle(tools, foundation);
  const encodings = new EncodingsStore(database, outbox, clock);
  const transcripts = new TranscriptsStore(database, outbox, clock);
  const jobs = createJobs(foundation, maxEncodes);
  const indexWorkers = new IndexWorkerPool({
    timeoutMs: config['parse.timeout'],
    memoryBytes: config['parse.memory'],
    maxMovieBytes: config['parse.maxMovie'],
  });
  const mendedSources = new MendedSources(files);
  const context: VodContext = {
    tools: withEditedDurations(tools),
    images,
    files,
    mendedSources,
    records: encodings,
    thumbnails,
    codecRenditions: new CodecRenditionsStore(database, encodings),
    captions: new TextTracksStore(database),
    transcripts,
    ...createModels(config),
    folders: new RenditionFolders(files),
    reader: new RenditionReader(files.storage),
    growing: new GrowingVideos(),
    encoders: foundation.encoders,
    indexWorkers,
    jobs,
    settings: vodSettings(foundation, maxEncodes),
    clock,
    log: log.child('vod'),
  };
  const vodJobs = new VodJobs(context);
  for (const kind of vodJobs.kinds()) jobs.register(kind);
  const playback = new VodPlayback({
    stateOf: videoId => encodings.state(videoId),
    languageOf: videoId => encodings.languageOf(videoId),
    thumbnailOf: videoId => thumbnails.fileOf(videoId),
    files,
    reader: context.reader,
    growing: context.growing,
  });
  const stopEncoders = async () => {
    throttle.stop();
    await processes.stop();
  };
  return {
    encodings,
    transcripts,
    jobs,
    vodJobs,
    playback,
    context,
    processes,
    expectSource: () => {
      if (config['node.roles'].includes('worker')) indexWorkers.warm();
    },
    partListed: lagMs => throttle.notePartLag(lagMs),
    isPaused: () => throttle.isPaused,
    components: [
      componentOf('work-folders', { start: () => files.emptyWork() }),
      componentOf('mended-sources', { stop: () => mendedSources.stop() }),
      componentOf('index-workers', { stop: () => indexWorkers.stop() }),
      componentOf('encoders', { stop: stopEncoders }),
    ],
  };
}

function createModels(config: Config): Pick<VodContext, 'transcriber' | 'summarizer'> {
  const url = config['transcription.url'];
  const apiKey = config['transcription.apiKey'];
  const summaryUrl = config['summary.url'] ?? url;
  const summaryModel = config['summary.model'];
  return {
    transcriber:
      url === undefined
        ? undefined
        : new TranscriptionClient(
            {
              url,
              apiKey,
              model: config['transcription.model'],
              timeoutMs: config['transcription.timeout'],
            },
            config['transcription.chunk'],
          ),
    summarizer:
      summaryUrl === undefined || summaryModel === undefined
        ? undefined
        : new SummaryClient(
            {
              url: summaryUrl,
              model: summaryModel,
              timeoutMs: config['summary.timeout'],
              // A key is for the server that it was set for.
              apiKey: config['summary.apiKey'] ?? (summaryUrl === url ? apiKey : undefined),
            },
            config['summary.maxCharacters'],
          ),
  };
}

function createTools(
  { config, ffmpeg, ffprobe, metrics, log }: Foundation,
  owner: ProcessOwner,
): FfmpegTools {
  return new FfmpegTools({
    ffmpeg,
    ffprobe,
    owner,
    niceness,
    log,
    probeLimits: {
      timeoutMs: 60_000,
      memoryBytes: config['encode.memory'],
      outputBytes: 64 * 1024 ** 2,
    },
    maxPixels: maxPixelsOf(config),
    maxImagePixels: config['images.maxPixels'],
    observer: {
      runEnded: (purpose, outcome) => {
        if (outcome === 'failed') metrics.ffmpegFailures.inc({ purpose });
      },
    },
  });
}

/** Recordings can have the maximum size of live streams. */
function maxPixelsOf(config: Config): number {
  return Math.max(config['uploads.maxPixels'], config['live.maxPixels']);
}

/** Short work, and the first renditions of long videos, need not wait for the ladders of other videos. */
function encodeLane(maxEncodes: number): LaneLimits {
  const { first, short } = encodePriorities;
  return { maxRunning: maxEncodes, maxPerGroup: maxEncodes + 2, reservedPriorities: [first, short] };
}

function createThrottle(tools: FfmpegTools, { clock, log }: Foundation): EncodingThrottle {
  return new EncodingThrottle({
    pause: () => {
      log.child('vod').warn('encoding-paused', { reason: 'live parts are late' });
      tools.pauseAll();
    },
    resume: () => {
      log.child('vod').info('encoding-resumed');
      tools.resumeAll();
    },
    clock,
  });
}

function createJobs(
  { config, database, files, nodes, metrics, clock, log }: Foundation,
  maxEncodes: number,
): Jobs {
  return new Jobs({
    database,
    findFault: () => files.parts.findFault(),
    clock,
    log,
    maxCrashes: config['jobs.maxCrashes'],
    leaseMs: config['jobs.lease'],
    owner: nodes,
    isWorker: config['node.roles'].includes('worker'),
    lanes: {
      ...maxRunningByLane,
      transfer: { maxRunning: config['imports.maxConcurrent'], maxPerGroup: config['imports.maxPerProject'] },
      [vodLanes.encode]: encodeLane(maxEncodes),
      [vodLanes.transcripts]: config['transcription.concurrency'],
    },
    observer: { jobEnded: (kind, outcome) => metrics.jobsEnded.inc({ kind, outcome }) },
  });
}

function vodSettings({ config, sandboxLimits }: Foundation, maxEncodes: number): VodContext['settings'] {
  return {
    get preset() {
      return config['encode.preset'];
    },
    threads: Math.max(1, Math.ceil(availableParallelism() / maxEncodes)),
    memoryBytes: config['encode.memory'],
    get maxDurationFactor() {
      return config['encode.maxDurationFactor'];
    },
    get minFreeBytes() {
      return config['uploads.minFree'];
    },
    sandboxVideoMs: sandboxLimits.maxVideoMs,
    maxPixels: maxPixelsOf(config),
    get codecs() {
      return additionalCodecs.filter(codec => config['encode.codecs'].includes(codec));
    },
  };
}

/** Start and stop them with the broadcasts. */
export function createRecordings(
  { config, database, outbox, files, nodes, metrics, ffmpeg, freeSpace }: Foundation,
  { context, jobs }: VodServices,
  { videos, quotas }: Pick<VideoServices, 'videos' | 'quotas'>,
): { readonly recordings: Recordings; readonly store: RecordingsStore } {
  const store = new RecordingsStore({
    database,
    outbox,
    nodeId: files.storage.kind === 's3' ? nodes.self.id : undefined,
    // Servers of older versions do not hear that they got recordings.
    listTakers: async () => {
      const { version } = nodes.self;
      const takers = (await nodes.list()).filter(node => !node.isDraining && node.version === version);
      return takers.map(({ id }) => id);
    },
    addVideo: (projectId, video, transaction) => videos.createRecorded(projectId, video, transaction),
  });
  jobs.register(joinKind(context, store));
  const recordings = new Recordings({
    context,
    repository: store,
    minFreeBytes: config['recording.minFree'],
    mayStore: projectId => quotas.hasStorage(projectId),
    hasSeekTables: canReadGroupedFragments(ffmpeg),
    freeSpace,
    observer: {
      written: bytes => metrics.recordedBytes.inc(bytes),
      stopped: reason => metrics.recordingsStopped.inc({ reason }),
    },
  });
  nodes.onExpired(nodeId => recordings.takeOver(nodeId));
  return { recordings, store };
}

export function createVodSource({ encodings, playback }: VodServices, extras: VideoExtras): VodSource {
  return {
    find: async videoId => {
      const row = await encodings.findForViewers(videoId);
      return row === undefined ? undefined : vodEntry(videoId, row, playback, extras);
    },
    multivariant: (videoId, captions, avh) => playback.multivariant(videoId, captions, avh),
    captionsPlaylist: (language, durationSeconds, avh) =>
      new RenderedText(formatCaptionsPlaylist(language, durationSeconds, avh)),
    mediaPlaylist: (videoId, rendition, avh) => playback.mediaPlaylist(videoId, rendition, avh),
    media: (videoId, rendition, name) => playback.media(videoId, rendition, name),
    file: (videoId, file, quality) => playback.file(videoId, file, quality),
    downloadUrl: (videoId, quality, options) => playback.downloadUrl(videoId, quality, options),
    textTrack: async (videoId, track, language) => {
      const file = await extras[track].fileOf(videoId, language);
      return file && fileBody(file, 'text/vtt; charset=utf-8');
    },
  };
}

export function fileBody({ path, bytes, name }: NamedFile, contentType: string): ResponseBody {
  return { parts: [{ path, start: 0, length: bytes }], bytes, contentType, etag: `"${name}"` };
}

async function vodEntry(
  videoId: string,
  row: VideoForViewers,
  playback: VodPlayback,
  extras: VideoExtras,
): Promise<VodEntry> {
  const { playerId, sourceMetadata, ...rest } = row;
  const { width, height, duration } = sourceMetadata as Partial<SourceMetadata>;
  const isPlayable = row.isPlayable || (await playback.isPlayable(videoId));
  return {
    videoId,
    ...rest,
    isPlayable,
    hasFailed: row.hasFailed && !isPlayable,
    durationSeconds: duration ?? undefined,
    width: width ?? undefined,
    height: height ?? undefined,
    captions: () => tracksOf(extras.captions, videoId),
    chapters: () => tracksOf(extras.chapters, videoId),
    theme: async () => (playerId === undefined ? undefined : extras.players.shown(playerId)),
  };
}

async function tracksOf(tracks: TextTracksService, videoId: string): Promise<VodTextTrack[]> {
  return (await tracks.ofVideo(videoId)).map(({ language, isDefault, file }) => ({
    language,
    isDefault,
    label: nativeLanguageName(language),
    // The first part of the UUID in its name.
    version: file.slice(-40, -32),
  }));
}
