import { createReadStream, createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import {
  type ConcatFormat,
  type ConcatInput,
  concatCopyCommand,
  concatEncodeCommand,
  hasSameFormat,
} from '../../ffmpeg/arguments/concat-commands.ts';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { JobKind, RunningJob } from '../../jobs/job.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Transaction } from '../../store/connection.ts';
import { enqueueVodJob, runLimitsFor, type VodContext, vodLanes } from '../vod-context.ts';
import { joinedTracks, recordedAudio } from './recorded-audio.ts';
import type { RecordingRepository } from './recording-repository.ts';
import { spanNames } from './recording-span.ts';
import { readSpanTracks } from './scan-recording.ts';

interface ProbedSpan {
  readonly path: string;
  readonly probed: ProbedFile;
  /** Tracks that have frames, by their places in the file. */
  readonly tracks: ReadonlyMap<number, TrackDescription>;
}

const maxAttempts = 12;
const priority = 10;
const kind = 'join';
const unusable = 'The recording could not be joined.';

export function enqueueJoin({ jobs }: VodContext, videoId: string, transaction: Transaction): Promise<void> {
  return jobs.add({ kind, subjectId: videoId, priority }, transaction);
}

export function joinKind(context: VodContext, repository: RecordingRepository): JobKind {
  return {
    kind,
    lane: vodLanes.prepare,
    maxAttempts,
    run: job => joinSpans(context, repository, job),
    onGiveUp: async ({ subjectId }, _error, transaction) => {
      await context.records.sourceFailed(subjectId, unusable, transaction);
      await repository.sourceFailed(subjectId, unusable, context.clock.nowMs(), transaction);
    },
  };
}

async function joinSpans(
  context: VodContext,
  repository: RecordingRepository,
  job: RunningJob,
): Promise<void> {
  const { files, tools, clock } = context;
  const videoId = job.subjectId;
  const folder = files.video(videoId);
  const paths = await spanPaths(context, folder);
  const source = files.source(videoId);
  if (paths.length > 0 && (await files.storage.find(source)) === undefined) {
    const spans: ProbedSpan[] = [];
    for (const path of paths) {
      const span = await files.storage.withLocal(path, local => probedOf(context, local, job), job.signal);
      if (span !== undefined) spans.push({ path, ...span });
    }
    const audio = recordedAudio(joinedTracks(spans.map(({ tracks }) => [...tracks.values()])));
    const audioIndexesOf = ({ tracks }: ProbedSpan) =>
      audio.map(({ track }) => [...tracks].find(([, { id }]) => id === track.id)?.[0]);
    if (spans.length === 0) throw new AppError('media-refused', unusable, { details: { detail: unusable } });
    const bytes = spans.reduce((sum, { probed }) => sum + probed.bytes, 0);
    await files.ensureFreeSpace(3 * bytes, context.settings.minFreeBytes);
    await files.inWorkFolder(async work => {
      const joined = join(work, 'joined.ts');
      const first = spans[0]!.probed;
      const isCopied = spans.every(
        span => hasSameFormat(first, span.probed) && !audioIndexesOf(span).includes(undefined),
      );
      const look = lookOf(spans.map(({ probed }) => probed));
      for (const one of spans) {
        const { path, probed } = one;
        const output = join(work, 'span.ts');
        await files.storage.withLocal(
          path,
          async local => {
            const span = spanOf(local, output, probed, audioIndexesOf(one));
            await tools.runCommand(isCopied ? concatCopyCommand(span) : concatEncodeCommand(span, look), {
              limits: runLimitsFor(context, span.durationSeconds, 4 * bytes + 64 * 1024 ** 2),
              signal: job.signal,
              purpose: 'join',
              ids: { videoId },
              isPausable: true,
            });
          },
          job.signal,
        );
        await pipeline(createReadStream(output), createWriteStream(joined, { flags: 'a' }), {
          signal: job.signal,
        });
        await rm(output);
      }
      await files.publish(joined, source, job.signal);
    });
  }
  const stored = await files.storage.find(source);
  if (stored === undefined) throw new AppError('server-error', 'The source of the recording is missing.');
  await context.records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    const isReady = await repository.sourceReady(videoId, stored.bytes, clock.nowMs(), transaction);
    if (isReady) await enqueueVodJob(context, 'prepare', videoId, transaction);
  });
  for (const path of paths) await files.storage.remove(path);
}

async function spanPaths({ files }: VodContext, folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { path } of files.storage.list(folder))
    if (dirname(path) === folder) names.push(basename(path));
  return spanNames(names).map(name => join(folder, name));
}

/** Returns undefined for a damaged span, so that the others are not lost. */
async function probedOf(
  { tools, log }: VodContext,
  path: string,
  { signal, subjectId }: RunningJob,
): Promise<Omit<ProbedSpan, 'path'> | undefined> {
  try {
    return { probed: await tools.probe(path, signal), tracks: await readSpanTracks(path, signal) };
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'media-refused')) throw error;
    log.warn('recording-span-skipped', { videoId: subjectId, path, reason: messageOf(error) });
    return undefined;
  }
}

function spanOf(
  path: string,
  output: string,
  { streams, ...probed }: ProbedFile,
  audioIndexes: ConcatInput['audioIndexes'],
): ConcatInput {
  const starts = streams.map(({ startSeconds }) => startSeconds).filter(start => start !== undefined);
  const startSeconds = probed.startSeconds ?? (starts.length === 0 ? 0 : Math.min(...starts));
  return {
    path,
    output,
    startSeconds,
    videoIndex: streams.find(({ kind: own }) => own === 'video')?.index,
    audioIndexes,
    durationSeconds: probed.durationSeconds ?? 0,
  };
}

function lookOf(files: readonly ProbedFile[]): ConcatFormat {
  const streams = files.flatMap(file => file.streams);
  const video = streams.find(({ kind: own }) => own === 'video');
  const even = (length = 2) => Math.max(2, length - (length % 2));
  return {
    video: video === undefined ? undefined : { width: even(video.width), height: even(video.height) },
  };
}
