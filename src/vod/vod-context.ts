import type { ImageQueue } from '../ffmpeg/image-queue.ts';
import type { MediaTools, RunLimits } from '../ffmpeg/media-tools.ts';
import type { JobQueue } from '../jobs/job.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { MediaFiles } from '../storage/media-files.ts';
import type { RenditionFolders } from './encode/rendition-folders.ts';
import type { EncodingRepository } from './encoding-repository.ts';
import type { IndexWorkerPool } from './index/index-worker-pool.ts';
import type { RenditionReader } from './index/rendition-reader.ts';
import type { GrowingVideos } from './playback/growing-videos.ts';

/** Values that all work on videos goes by. */
export interface VodSettings {
  /** Preset of x264. */
  readonly preset: string;
  /** Threads of one encode. */
  readonly threads: number;
  /** Data of one process. */
  readonly memoryBytes: number;
  /** Maximum time of a run, as a multiple of the duration of its video. */
  readonly maxDurationFactor: number;
  /** What is left free on the disk. */
  readonly minFreeBytes: number;
  /** Videos of the sandbox are cut there. */
  readonly sandboxVideoMs: number;
}

/** Where it is written down which image a video shows. */
export interface ThumbnailRepository {
  /** The wish that is in force; undefined: the default frame. */
  choiceOf(
    videoId: string,
  ): { readonly choice: 'default' | 'timecode' | 'upload'; readonly timecode?: string } | undefined;
  /** Puts a frame in place of the one before, unless the wish has changed since; whether it did. */
  showFrame(
    videoId: string,
    frame: { readonly file: string; readonly timecode: string | undefined },
  ): Promise<boolean>;
}

/** What all work on videos has at hand. */
export interface VodContext {
  readonly tools: MediaTools;
  /** All work on images takes its turn there. */
  readonly images: ImageQueue;
  readonly files: MediaFiles;
  readonly records: EncodingRepository;
  readonly thumbnails: ThumbnailRepository;
  readonly folders: RenditionFolders;
  readonly reader: RenditionReader;
  readonly growing: GrowingVideos;
  readonly indexWorkers: Pick<IndexWorkerPool, 'index'>;
  readonly jobs: JobQueue;
  readonly settings: VodSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Names of the kinds of jobs, and the lanes that they take their turns in. */
export const vodLanes = { prepare: 'prepare', encode: 'encode', images: 'images' } as const;

/** The first view of a new video goes before everything else of its lane, an image that somebody asked for before what nobody did. */
const priorities = { prepare: 10, frame: 5, stills: 0, mp4: 0, encode: 0 } as const;

/** A kind of jobs on videos. */
export type VodJobKind = keyof typeof priorities;

/** Orders work on a video; done after what runs or waits of the same kind. */
export function enqueueVodJob({ jobs }: VodContext, kind: VodJobKind, videoId: string): void {
  jobs.add({ kind, subjectId: videoId, priority: priorities[kind] });
}

const hourMs = 3_600_000;
/** For a film whose length no file says. */
const timeoutOfUnknownMs = 48 * hourMs;
/** Moving the index to the front rewrites the file in silence; slow disks do so many bytes in a millisecond. */
const rewrittenBytesPerMs = 10_000;

/** Limits of one run over a film of this length, 0 if unknown: at the slowest that is not a fault. */
export function runLimitsFor(context: VodContext, durationSeconds: number, outputBytes: number): RunLimits {
  return {
    timeoutMs:
      durationSeconds === 0
        ? timeoutOfUnknownMs
        : Math.min(7 * 24 * hourMs, hourMs + durationSeconds * 1000 * context.settings.maxDurationFactor),
    stallMs: Math.round(5 * 60_000 + outputBytes / rewrittenBytesPerMs),
    memoryBytes: context.settings.memoryBytes,
    outputBytes,
  };
}
