import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { remuxCommand } from '../../ffmpeg/arguments/remux-commands.ts';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { AppError } from '../../shared/errors.ts';
import type { Transaction } from '../../store/connection.ts';
import { ladderOf } from '../encode/ladder.ts';
import type { FinishedRendition, RenditionName } from '../encoding-repository.ts';
import type { IndexProgressiveResult } from '../index/index-progressive.ts';
import type { IndexedRendition } from '../index/rendition.ts';
import { type RenditionRecord, recordOf, targetDurationOf } from '../playback/rendition-record.ts';
import { enqueueVodJob, runLimitsFor, type VodContext } from '../vod-context.ts';
import { measuredMetadata } from './source-metadata.ts';
import { type PlannedSource, planUsableSource } from './source-plan.ts';
import { exceedsMaxDuration, type SourceRequest } from './source-request.ts';
import { maxFramesPerSecond } from './video-plan.ts';

export interface Passthrough {
  readonly plan: PlannedSource;
  readonly video: IndexedRendition | undefined;
  readonly audio: IndexedRendition | undefined;
  readonly mp4: string | undefined;
}

interface Source {
  readonly path: string;
  readonly folder: string;
  readonly probed: ProbedFile;
  readonly plan: PlannedSource;
  readonly request: SourceRequest;
}

interface TrackIndexes {
  readonly video: number | undefined;
  readonly audio: number | undefined;
}

/** Backups and older versions know this name. */
const remuxedFileName = 'carried.mp4';
/** **Source**: EBU R37, audio and video stay within 40 ms. */
const maxUnnoticedOffsetSeconds = 0.04;

export async function indexPassthrough(
  context: VodContext,
  job: RunningJob,
  source: Source,
): Promise<Passthrough> {
  const { probed, plan, request } = source;
  const encodeAll = (): Passthrough => ({
    plan: planUsableSource(probed, { ...request, canPassthroughVideo: false, canPassthroughAudio: false }),
    ...{ video: undefined, audio: undefined, mp4: undefined },
  });
  const tracks = {
    video: plan.video?.isPassthrough === true ? plan.video.index : undefined,
    audio: plan.audio?.isPassthrough === true ? plan.audio.index : undefined,
  };
  // Passing audio through beside encoded video saves little, and the timing of both would have to agree.
  if (tracks.video === undefined && (tracks.audio === undefined || plan.video !== undefined))
    return encodeAll();
  const { indexed, mp4 } = await indexTracks(context, job, source, tracks);
  if (
    indexed === undefined ||
    indexed.kind === 'refused' ||
    (plan.video !== undefined && indexed.video === undefined)
  ) {
    context.log.info('source-not-passed-through', {
      videoId: job.subjectId,
      reason: indexed?.kind === 'refused' ? indexed.reason : indexed?.videoReason,
    });
    return encodeAll();
  }
  const video = tracks.video === undefined ? undefined : indexed.video;
  const audio = tracks.audio === undefined ? undefined : indexed.audio;
  // Without its audio, late video would begin at once, and play before the encoded audio.
  if (video !== undefined && audio === undefined && isVideoLate(probed, plan)) return encodeAll();
  if (exceedsMaxDuration([video, audio], request)) return encodeAll();
  if ((video?.frameRate ?? 0) > maxFramesPerSecond) return encodeAll();
  const isComplete = hasAll(indexed, tracks) && (plan.audio === undefined || audio !== undefined);
  return {
    plan: planUsableSource(probed, { ...request, canPassthroughAudio: audio !== undefined }),
    video,
    audio,
    mp4: isComplete && video !== undefined ? mp4 : undefined,
  };
}

async function indexTracks(
  context: VodContext,
  job: RunningJob,
  source: Source,
  tracks: TrackIndexes,
): Promise<{ indexed: IndexProgressiveResult | undefined; mp4: string | undefined }> {
  const { indexWorkers } = context;
  const { path, folder, probed, plan } = source;
  const common = { folder, language: plan.audio?.language, signal: job.signal };
  const indexed = isMp4(probed)
    ? await indexWorkers.index(path, { ...common, mediaName: '../source', tracks })
    : undefined;
  if (hasAll(indexed, tracks)) return { indexed, mp4: undefined };
  const mp4 = await remux(context, job, source, tracks);
  if (mp4 === undefined) return { indexed, mp4 };
  const remuxed = await indexWorkers.index(join(folder, mp4), {
    ...common,
    tracks: remuxedTrackIndexes(tracks),
    ignoresEditEnds: true,
  });
  return { indexed: remuxed, mp4 };
}

/** The returned function stores finished tracks and enqueues the remaining work. */
export async function planPassthrough(
  context: VodContext,
  videoId: string,
  { plan, video, audio, mp4: remuxed }: Passthrough,
  folder: { readonly generation: number; readonly name: string },
): Promise<(transaction: Transaction) => Promise<void>> {
  const { records } = context;
  const targetSeconds =
    video === undefined && audio === undefined ? undefined : targetDurationOf([video, audio]);
  const recordFor = async (rendition: IndexedRendition): Promise<RenditionRecord> =>
    recordOf(await context.reader.open(rendition.file), folder.generation, targetSeconds!);
  const finished: FinishedRendition[] = [];
  const qualities =
    plan.video === undefined ? [] : ladderOf(plan.video.displayResolution).map(({ name }) => name);
  const top = qualities.at(-1);
  if (video !== undefined && top !== undefined) {
    const file = `${folder.name}/video.index`;
    finished.push({ type: 'hls', quality: top, file, facts: await recordFor(video) });
  }
  if (audio !== undefined) {
    const file = `${folder.name}/audio.index`;
    finished.push({ type: 'audio', quality: 'audio', file, facts: await recordFor(audio) });
  }
  const measured = finished.map(({ facts }) => facts as RenditionRecord);
  return async transaction => {
    await records.lockPlan(videoId, transaction);
    // The owner's settings may have changed meanwhile.
    const request = await records.request(videoId, transaction);
    const hasMp4 = top !== undefined && request?.mp4Support === true;
    const mp4: RenditionName | undefined = hasMp4 ? { type: 'mp4', quality: top } : undefined;
    const isMp4Ready = remuxed !== undefined && mp4 !== undefined;
    const ready = isMp4Ready
      ? [...finished, { ...mp4, file: `${folder.name}/${remuxed}`, facts: {} }]
      : finished;
    const planned: RenditionName[] = [
      ...qualities.map(quality => ({ type: 'hls', quality }) as const),
      ...(plan.audio === undefined ? [] : [{ type: 'audio', quality: 'audio' } as const]),
      ...(mp4 === undefined ? [] : [mp4]),
    ];
    await records.setPlan(videoId, measuredMetadata(plan, measured), planned, transaction);
    if (ready.length > 0) await records.markFinished(videoId, ready, targetSeconds, transaction);
    const isAudioDone = audio !== undefined || plan.audio === undefined;
    if (qualities.length > (video === undefined ? 0 : 1) || !isAudioDone) {
      await enqueueVodJob(context, 'encode', videoId, transaction);
    }
    if (plan.video !== undefined) await enqueueVodJob(context, 'stills', videoId, transaction);
    // Made of the highest quality, so it need not wait for lower ones.
    if (video !== undefined && isAudioDone && mp4 !== undefined && !isMp4Ready) {
      await enqueueVodJob(context, 'mp4', videoId, transaction);
    }
  };
}

export function isMp4({ format }: ProbedFile): boolean {
  return format.split(',').includes('mp4');
}

function isVideoLate({ streams }: ProbedFile, plan: PlannedSource): boolean {
  const startOf = (index: number | undefined) =>
    streams.find(stream => stream.index === index)?.startSeconds ?? 0;
  return (
    plan.audio !== undefined &&
    startOf(plan.video?.index) - startOf(plan.audio.index) > maxUnnoticedOffsetSeconds
  );
}

function hasAll(indexed: IndexProgressiveResult | undefined, tracks: TrackIndexes): boolean {
  return (
    indexed?.kind === 'indexed' &&
    (tracks.video === undefined || indexed.video !== undefined) &&
    (tracks.audio === undefined || indexed.audio !== undefined)
  );
}

function remuxedTrackIndexes({ video, audio }: TrackIndexes): TrackIndexes {
  return {
    video: video === undefined ? undefined : 0,
    audio: audio === undefined ? undefined : video === undefined ? 0 : 1,
  };
}

async function remux(
  context: VodContext,
  job: RunningJob,
  { path, folder, probed, plan }: Source,
  tracks: TrackIndexes,
): Promise<string | undefined> {
  await context.files.ensureFreeSpace(2 * probed.bytes, context.settings.minFreeBytes);
  const unfinished = join(folder, `unfinished-${remuxedFileName}`);
  try {
    await context.tools.runCommand(
      remuxCommand({
        source: path,
        videoIndex: tracks.video,
        audioIndex: tracks.audio,
        timedBy: [plan.video?.index, plan.audio?.index].filter(index => index !== undefined),
        output: unfinished,
      }),
      {
        limits: runLimitsFor(context, plan.durationSeconds, 2 * probed.bytes + 64 * 1024 ** 2),
        signal: job.signal,
        purpose: 'remux',
        ids: { videoId: job.subjectId },
      },
    );
  } catch (error) {
    if (error instanceof AppError && error.code === 'process-failed') return undefined;
    throw error;
  }
  await rename(unfinished, join(folder, remuxedFileName));
  return remuxedFileName;
}
