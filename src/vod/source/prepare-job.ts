import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { remuxCommand } from '../../ffmpeg/arguments/remux-commands.ts';
import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { isEncrypted } from '../../media/cmaf/is-encrypted.ts';
import { AppError } from '../../shared/errors.ts';
import { ladderOf } from '../encode/ladder.ts';
import type { EncodingRequest, FinishedRendition, RenditionName } from '../encoding-repository.ts';
import { type IndexProgressiveResult, readerOf } from '../index/index-progressive.ts';
import type { IndexedRendition } from '../index/rendition.ts';
import { type RenditionRecord, recordOf, targetDurationOf } from '../playback/rendition-record.ts';
import { enqueueVodJob, runLimitsFor, type VodContext } from '../vod-context.ts';
import { measuredMetadata } from './measured-metadata.ts';
import {
  maxFramesPerSecond,
  type PlannedSource,
  planUsableSource,
  type SourceRequest,
} from './source-plan.ts';
import { exceedsMaxDuration, sourceRequestOf } from './source-request.ts';

/** What can be delivered as it is. */
export interface Passthrough {
  readonly plan: PlannedSource;
  readonly video: IndexedRendition | undefined;
  readonly audio: IndexedRendition | undefined;
  /** Copy of both in a file that can be downloaded as it is. */
  readonly mp4: string | undefined;
}

const remuxedFileName = 'carried.mp4';
/** **Source**: EBU R37, sound and picture are together within 40 ms. */
const maxUnnoticedOffsetSeconds = 0.04;

/**
 * Looks into a new source, makes what HLS can carry as it is playable, and orders the rest. Nothing is written down before all of
 * that is there, so that a crash before makes it begin anew, and one after changes nothing.
 */
export async function prepareVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, folders } = context;
  const videoId = job.subjectId;
  const order = records.request(videoId);
  if (order === undefined) return;
  const before = records.state(videoId);
  if (before !== undefined && before.renditions.length > 0) return;
  const stateOf = () => records.state(videoId);
  await folders.during(videoId, stateOf, () => prepare(context, job, order));
}

async function prepare(context: VodContext, job: RunningJob, order: EncodingRequest): Promise<void> {
  const { records, tools, files, folders, clock } = context;
  const videoId = job.subjectId;
  const source = files.source(videoId);
  const probed = await tools.probe(source, job.signal);
  if (isMp4(probed)) await refuseEncrypted(source);
  const wishes = {
    ...sourceRequestOf(order, context.settings.sandboxVideoMs),
    ...(order.isJoined ? { mayCarryVideo: false, mayCarryAudio: false } : {}),
  };
  const plan = planUsableSource(probed, wishes);
  const { generation, folder, name } = await folders.make(videoId, clock.nowMs());
  const carried = await tryPassthrough(context, job, { source, folder, probed, plan, wishes });
  const settle = await planPassthrough(context, videoId, carried, { generation, name });
  // The wish may have changed meanwhile; from here on nothing else runs before all is written down.
  records.transaction(settle);
}

function isMp4({ format }: ProbedFile): boolean {
  return format.split(',').includes('mp4');
}

/** ffmpeg would take the encrypted bytes for video, and make noise of them. */
async function refuseEncrypted(source: string): Promise<void> {
  const handle = await open(source, 'r');
  try {
    if (!(await isEncrypted(readerOf(handle), (await handle.stat()).size))) return;
  } finally {
    await handle.close();
  }
  const detail = 'The file is encrypted (DRM), so nobody could watch it. Upload a file without encryption.';
  throw new AppError('media-refused', detail, { details: { detail } });
}

/**
 * Looks into the renditions of a source that can be delivered as they are; the returned function writes them down as finished, and orders the
 * rest, in its caller's transaction.
 *
 * @param place name and generation of the folder of their indexes
 */
export async function planPassthrough(
  context: VodContext,
  videoId: string,
  carried: Passthrough,
  place: { readonly generation: number; readonly name: string },
): Promise<() => void> {
  const { records } = context;
  const { generation, name } = place;
  const { video, audio } = carried;
  const target = video === undefined && audio === undefined ? undefined : targetDurationOf([video, audio]);
  const record = async (rendition: IndexedRendition): Promise<RenditionRecord> =>
    recordOf(await context.reader.open(rendition.file), generation, target!);
  const finished: FinishedRendition[] = [];
  const shown = carried.plan.video?.displayResolution;
  const rungs = shown === undefined ? [] : ladderOf(shown).map(rung => rung.name);
  const top = rungs.at(-1);
  if (video !== undefined && top !== undefined) {
    finished.push({
      type: 'hls',
      quality: top,
      file: `${name}/video.index`,
      facts: await record(video),
    });
  }
  if (audio !== undefined) {
    finished.push({
      type: 'audio',
      quality: 'audio',
      file: `${name}/audio.index`,
      facts: await record(audio),
    } as const);
  }
  return () => {
    const hasMp4 = top !== undefined && records.request(videoId)?.mp4Support === true;
    const mp4: RenditionName[] = hasMp4 ? [{ type: 'mp4', quality: top }] : [];
    if (carried.mp4 !== undefined && mp4[0] !== undefined) {
      finished.push({ ...mp4[0], file: `${name}/${carried.mp4}`, facts: {} });
    }
    const measured = finished
      .filter(({ type }) => type !== 'mp4')
      .map(({ facts }) => facts as RenditionRecord);
    records.setPlan(videoId, measuredMetadata(carried.plan, measured), [
      ...rungs.map(quality => ({ type: 'hls', quality }) as const),
      ...(carried.plan.audio === undefined ? [] : [{ type: 'audio', quality: 'audio' } as const]),
      ...mp4,
    ]);
    if (finished.length > 0) records.markFinished(videoId, finished, target);
    const isDone = (rendition: RenditionName) =>
      finished.some(({ type, quality }) => type === rendition.type && quality === rendition.quality);
    const isSoundDone = audio !== undefined || carried.plan.audio === undefined;
    if (rungs.length > (video === undefined ? 0 : 1) || !isSoundDone)
      enqueueVodJob(context, 'encode', videoId);
    if (carried.plan.video !== undefined) enqueueVodJob(context, 'stills', videoId);
    // It is made of the highest rung, and need not wait for the lower ones where that is there.
    if (video !== undefined && isSoundDone && mp4[0] !== undefined && !isDone(mp4[0]))
      enqueueVodJob(context, 'mp4', videoId);
  };
}

async function tryPassthrough(
  context: VodContext,
  job: RunningJob,
  source: {
    source: string;
    folder: string;
    probed: ProbedFile;
    plan: PlannedSource;
    wishes: SourceRequest;
  },
): Promise<Passthrough> {
  const { folder, probed, plan, wishes } = source;
  const nothing = (): Passthrough => ({
    plan: planUsableSource(probed, { ...wishes, canPassthroughVideo: false, canPassthroughAudio: false }),
    ...{ video: undefined, audio: undefined, mp4: undefined },
  });
  const wanted = {
    video: plan.video?.isPassthrough === true ? plan.video.index : undefined,
    audio: plan.audio?.isPassthrough === true ? plan.audio.index : undefined,
  };
  if (wanted.video === undefined && (wanted.audio === undefined || plan.video !== undefined)) {
    // Sound that is carried beside a picture that is encoded saves little, and two ways of keeping time must agree.
    return nothing();
  }
  let mp4: string | undefined;
  let indexed: IndexProgressiveResult | undefined;
  if (isMp4(probed)) {
    indexed = await context.indexWorkers.index(source.source, {
      folder,
      mediaName: '../source',
      tracks: wanted,
      language: plan.audio?.language,
      signal: job.signal,
    });
  }
  if (!hasAll(indexed, wanted)) {
    mp4 = await remux(context, job, source, wanted);
    if (mp4 !== undefined) {
      const tracks = remuxedTrackIndexes(wanted);
      indexed = await context.indexWorkers.index(join(folder, mp4), {
        folder,
        tracks,
        language: plan.audio?.language,
        ignoresEditEnds: true,
        signal: job.signal,
      });
    }
  }
  if (
    indexed === undefined ||
    indexed.kind === 'refused' ||
    (plan.video !== undefined && indexed.video === undefined)
  ) {
    context.log.info('source-not-carried', {
      videoId: job.subjectId,
      reason: indexed?.kind === 'refused' ? indexed.reason : indexed?.videoReason,
    });
    return nothing();
  }
  const video = wanted.video === undefined ? undefined : indexed.video;
  const audio = wanted.audio === undefined ? undefined : indexed.audio;
  if (video !== undefined && audio === undefined && isVideoLate(probed, plan)) {
    // Carried alone it would begin at once, and come before its sound.
    return nothing();
  }
  if (exceedsMaxDuration([video, audio], wishes)) return nothing();
  // The file did not say so.
  if ((video?.frameRate ?? 0) > maxFramesPerSecond) return nothing();
  const isWhole = hasAll(indexed, wanted) && (plan.audio === undefined || audio !== undefined);
  return {
    plan: planUsableSource(probed, { ...wishes, canPassthroughAudio: audio !== undefined }),
    video,
    audio,
    mp4: isWhole && video !== undefined ? mp4 : undefined,
  };
}

/** The picture begins later than the sound, by more than anybody would not notice. */
function isVideoLate({ streams }: ProbedFile, plan: PlannedSource): boolean {
  const startOf = (index: number | undefined) =>
    streams.find(stream => stream.index === index)?.startSeconds ?? 0;
  return (
    plan.audio !== undefined &&
    startOf(plan.video?.index) - startOf(plan.audio.index) > maxUnnoticedOffsetSeconds
  );
}

function hasAll(
  indexed: IndexProgressiveResult | undefined,
  wanted: { video: number | undefined; audio: number | undefined },
): boolean {
  if (indexed?.kind !== 'indexed') return false;
  return (
    (wanted.video === undefined || indexed.video !== undefined) &&
    (wanted.audio === undefined || indexed.audio !== undefined)
  );
}

/** In a file that we put together, the picture comes first. */
function remuxedTrackIndexes({ video, audio }: { video: number | undefined; audio: number | undefined }) {
  return {
    video: video === undefined ? undefined : 0,
    audio: audio === undefined ? undefined : video === undefined ? 0 : 1,
  };
}

/** Copies the tracks into an MP4; undefined when ffmpeg cannot do that with this source. */
async function remux(
  context: VodContext,
  job: RunningJob,
  {
    source,
    folder,
    probed,
    plan,
  }: { source: string; folder: string; probed: ProbedFile; plan: PlannedSource },
  wanted: { video: number | undefined; audio: number | undefined },
): Promise<string | undefined> {
  await context.files.ensureFreeSpace(2 * probed.bytes, context.settings.minFreeBytes);
  const unfinished = join(folder, `unfinished-${remuxedFileName}`);
  try {
    await context.tools.runCommand(
      remuxCommand({
        source,
        videoIndex: wanted.video,
        audioIndex: wanted.audio,
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
