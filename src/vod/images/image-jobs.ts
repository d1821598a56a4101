import { join } from 'node:path';
import type { RunningJob } from '../../jobs/job.ts';
import { parseTimecode, timecodeSeconds } from '../../shared/text/timecode.ts';
import type { EncodingState } from '../encoding-repository.ts';
import type { RenditionRecord } from '../playback/rendition-record.ts';
import type { SourceMetadata } from '../source/source-metadata.ts';
import { planSource } from '../source/source-plan.ts';
import { hasSandboxWatermark, sourceRequestOf } from '../source/source-request.ts';
import type { VodContext } from '../vod-context.ts';
import { makeFrame, type VideoInput } from './frames.ts';
import { frameFormatOf } from './image-filters.ts';
import { watermarkFrame } from './image-watermark.ts';
import { makeStoryboard, storyboardFiles } from './storyboard.ts';

interface FrameSource extends VideoInput {
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly isMarked: boolean;
}

/** Makes the image that a new video shows, then the pictures for its seek bar. */
export async function makeStills(context: VodContext, job: RunningJob): Promise<void> {
  const film = await frameSourceOf(context, job);
  if (film === undefined) return;
  await makeImage(context, job, film);
  // Not known before it is encoded; then this is ordered again.
  if (film.durationSeconds === 0) return;
  await context.files.inWorkFolder(async folder => {
    if (!(await makeStoryboard({ ...film, folder }))) return;
    const { files, records } = context;
    for (const name of [storyboardFiles.image, storyboardFiles.cues]) {
      await files.publish(join(folder, name), files.video(job.subjectId, name));
    }
    records.markStoryboardReady(job.subjectId);
  });
}

/** Makes the image that its owner wants a video to show. */
export async function makeRequestedFrame(context: VodContext, job: RunningJob): Promise<void> {
  const film = await frameSourceOf(context, job);
  if (film !== undefined) await makeImage(context, job, film);
}

async function makeImage(context: VodContext, job: RunningJob, film: FrameSource): Promise<void> {
  const { thumbnails } = context;
  const wish = thumbnails.choiceOf(job.subjectId);
  if (wish?.choice === 'upload') return;
  const timecode = wish?.choice === 'timecode' ? wish.timecode : undefined;
  await context.files.inWorkFolder(async folder => {
    const output = join(folder, 'frame.jpg');
    const wanted = timecode === undefined ? undefined : parseTimecode(timecode);
    const atSeconds = wanted === undefined ? undefined : timecodeSeconds(wanted, film.frameRate);
    if (!(await makeFrame({ ...film, atSeconds, output }))) return;
    if (film.isMarked) await watermarkFrame(film, output);
    await thumbnails.showFrame(job.subjectId, { file: output, timecode });
  });
}

/** The part of the source that the video shows; undefined while there is no source, and where it has no picture. */
async function frameSourceOf(context: VodContext, job: RunningJob): Promise<FrameSource | undefined> {
  const { records, files, tools, settings } = context;
  const videoId = job.subjectId;
  const order = records.request(videoId);
  const state = records.state(videoId);
  // Without renditions the source has not been looked into yet; that is followed by the images.
  if (order === undefined || state === undefined || state.renditions.length === 0) return undefined;
  const source = files.source(videoId);
  const probed = await tools.probe(source, job.signal);
  const plan = planSource(probed, sourceRequestOf(order, settings.sandboxVideoMs));
  if (plan.kind === 'refused' || plan.video === undefined) return undefined;
  const streamIndex = plan.video.index;
  const stream = probed.streams.find(({ index }) => index === streamIndex);
  return {
    tools,
    source,
    // A file may not say how long it is, or say it wrong.
    durationSeconds: encodedSeconds(state) || (plan.facts.duration === null ? 0 : plan.durationSeconds),
    startSeconds: (order.clip?.startMs ?? 0) / 1000,
    streamIndex,
    ...(stream === undefined ? {} : frameFormatOf(stream)),
    signal: job.signal,
    ids: { videoId },
    memoryBytes: settings.memoryBytes,
    ...plan.video.displayResolution,
    frameRate: plan.facts.framerate ?? (state.facts as Partial<SourceMetadata>).framerate ?? 25,
    isMarked: hasSandboxWatermark(order),
  };
}

/** How long the film has turned out to be; 0 while that is not known. */
function encodedSeconds({ renditions }: EncodingState): number {
  const encoded = renditions.filter(({ type, status }) => type !== 'mp4' && status === 'encoded');
  return Math.max(0, ...encoded.map(({ facts }) => (facts as RenditionRecord).durationSeconds));
}
