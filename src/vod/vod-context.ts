import type { EncoderDevice } from '../ffmpeg/hardware/encoder-device.ts';
import type { ImageQueue } from '../ffmpeg/image-queue.ts';
import type { MediaTools, RunLimits } from '../ffmpeg/media-tools.ts';
import type { JobQueue } from '../jobs/job.ts';
import type { AdditionalCodec } from '../shared/additional-codecs.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { MediaFiles } from '../storage/media-files.ts';
import type { Connection, Transaction } from '../store/connection.ts';
import type { RenditionFolders } from './encode/rendition-folders.ts';
import type { CodecRenditionRepository, EncodingRepository } from './encoding-repository.ts';
import type { IndexWorkerPool } from './index/index-worker-pool.ts';
import type { RenditionReader } from './index/rendition-reader.ts';
import type { GrowingVideos } from './playback/growing-videos.ts';
import type { MendedSources } from './source/mended-sources.ts';
import type { SummaryClient } from './transcripts/summary-client.ts';
import type { TranscriptRepository } from './transcripts/transcript-repository.ts';
import type { TranscriptionClient } from './transcripts/transcription-client.ts';

interface VodSettings {
  readonly preset: string;
  readonly threads: number;
  readonly memoryBytes: number;
  /** Limits the duration as a multiple of the video's. */
  readonly maxDurationFactor: number;
  readonly minFreeBytes: number;
  readonly sandboxVideoMs: number;
  /** Maximum size of frames. */
  readonly maxPixels: number;
  /** Codecs besides H.264. */
  readonly codecs: readonly AdditionalCodec[];
}

interface EncoderDevices {
  /** Undefined: software. @param codec undefined: H.264 */
  whenTested(codec?: AdditionalCodec): Promise<EncoderDevice | undefined>;
  noteFailure(device: EncoderDevice, failure: string, ids: Readonly<Record<string, unknown>>): void;
}

interface ThumbnailRepository {
  /** Undefined: the default frame. */
  choiceOf(
    videoId: string,
  ): Promise<{ readonly choice: 'default' | 'timecode' | 'upload'; readonly timecode?: string } | undefined>;
  showFrame(
    videoId: string,
    frame: { readonly file: string; readonly timecode: string | undefined },
  ): Promise<boolean>;
}

export interface StoredTextTrack {
  readonly videoId: string;
  readonly kind: 'captions' | 'chapters';
  readonly language: string;
  readonly isDefault: boolean;
  /** File name in the folder of the video. */
  readonly file: string;
  readonly bytes: number;
  readonly isGenerated: boolean;
}

interface CaptionsRepository {
  list(videoId: string, kind: StoredTextTrack['kind']): Promise<readonly StoredTextTrack[]>;
  put(track: StoredTextTrack, transaction: Transaction): Promise<void>;
  /** Returns the file that no row names: that of replaced generated captions, or the new one when there are others. */
  add(
    track: {
      readonly videoId: string;
      readonly language: string;
      readonly file: string;
      readonly bytes: number;
    },
    transaction: Transaction,
  ): Promise<string | undefined>;
}

export interface VodContext {
  readonly tools: MediaTools;
  readonly images: ImageQueue;
  readonly files: MediaFiles;
  readonly mendedSources: MendedSources;
  readonly records: EncodingRepository;
  readonly codecRenditions: CodecRenditionRepository;
  readonly thumbnails: ThumbnailRepository;
  readonly captions: CaptionsRepository;
  readonly transcripts: TranscriptRepository;
  /** Undefined: turned off. */
  readonly transcriber: TranscriptionClient | undefined;
  readonly summarizer: SummaryClient | undefined;
  readonly folders: RenditionFolders;
  readonly reader: RenditionReader;
  readonly growing: GrowingVideos;
  readonly indexWorkers: Pick<IndexWorkerPool, 'index' | 'describe'>;
  readonly jobs: JobQueue;
  readonly encoders: EncoderDevices;
  readonly settings: VodSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

export const vodLanes = {
  prepare: 'prepare',
  encode: 'encode',
  codecs: 'codecs',
  images: 'images',
  transcripts: 'transcripts',
} as const;

/**
 * Priorities: all of a short video at once; the first rendition of a long one; the other renditions of a long one.
 */
export const encodePriorities = { short: 10, first: 5, rest: 0 } as const;

/** New videos go before everything else of their lane, requested thumbnails before automatic ones. */
const priorities = {
  prepare: 10,
  frame: 5,
  stills: 0,
  captions: 0,
  mp4: 0,
  encode: encodePriorities.rest,
  hevc: 0,
  av1: 0,
  transcribe: 0,
  summarize: 5,
} as const;

export type VodJobKind = keyof typeof priorities;

/** Fair among projects. */
export async function enqueueVodJob(
  { jobs, records }: VodContext,
  kind: VodJobKind,
  videoId: string,
  connection?: Connection,
  priority: number = priorities[kind],
): Promise<void> {
  const groupId = (await records.request(videoId, connection))?.projectId;
  await jobs.add({ kind, subjectId: videoId, priority, groupId }, connection);
}

/** Seconds of a video that is encoded while longer ones wait. */
const maxShortSeconds = 120;

export function encodePriorityOf(durationSeconds: number, isPlayable: boolean): number {
  if (durationSeconds > 0 && durationSeconds <= maxShortSeconds) return encodePriorities.short;
  return isPlayable ? encodePriorities.rest : encodePriorities.first;
}

const hourMs = 3_600_000;
const timeoutOfUnknownMs = 48 * hourMs;
/** Moving the index to the front rewrites the file without progress. Slow disks write this much. */
const rewrittenBytesPerMs = 10_000;

/** Generous enough for slow machines. `durationSeconds`: 0 if unknown. */
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
