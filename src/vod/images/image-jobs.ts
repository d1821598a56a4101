import { join } from 'node:path';
import type { RunningJob } from '../../jobs/job.ts';
import { parseTimecode, timecodeSeconds } from '../../shared/text/timecode.ts';
import type { EncodingRequest, EncodingState } from '../encoding-repository.ts';
import type { RenditionRecord } from '../playback/rendition-record.ts';
import { probeSource } from '../source/probe-source.ts';
import type { SourceMetadata } from '../source/source-metadata.ts';
import { planSource } from '../source/source-plan.ts';
import { hasSandboxWatermark, sourceRequestOf } from '../source/source-request.ts';
import { withSource } from '../source/with-source.ts';
import type { VodContext } from '../vod-context.ts';
import { makeFrame, type VideoInput } from './frames.ts';
import { frameFormatOf } from './image-filters.ts';
import { watermarkFrame } from './image-watermark.ts';
import { makeStoryboard, storyboardFiles } from './storyboard.ts';

interface FrameSource extends VideoInput {
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly hasSandboxWatermark: boolean;
}

export async function makeThumbnails(context: VodContext, job: RunningJob): Promise<void> {
  const { files, records } = context;
  await withFrameSource(context, job, async frameSource => {
    await makeImage(context, job, frameSource);
    // The encode job measures an unknown duration and enqueues this job again.
    if (frameSource.durationSeconds === 0) return;
    await files.inWorkFolder(async folder => {
      if (!(await makeStoryboard({ ...frameSource, folder }))) return;
      for (const name of [storyboardFiles.image, storyboardFiles.cues]) {
        await files.publish(join(folder, name), files.video(job.subjectId, name), job.signal);
      }
      await records.markStoryboardReady(job.subjectId);
    });
  });
}

export async function makeRequestedFrame(context: VodContext, job: RunningJob): Promise<void> {
  await withFrameSource(context, job, frameSource => makeImage(context, job, frameSource));
}

async function makeImage(context: VodContext, job: RunningJob, frameSource: FrameSource): Promise<void> {
  const { thumbnails } = context;
  const choice = await thumbnails.choiceOf(job.subjectId);
  if (choice?.choice === 'upload') return;
  const timecode = choice?.choice === 'timecode' ? choice.timecode : undefined;
  await context.files.inWorkFolder(async folder => {
    const output = join(folder, 'frame.jpg');
    const wanted = timecode === undefined ? undefined : parseTimecode(timecode);
    const atSeconds = wanted === undefined ? undefined : timecodeSeconds(wanted, frameSource.frameRate);
    if (!(await makeFrame({ ...frameSource, atSeconds, output }))) return;
    if (frameSource.hasSandboxWatermark) await watermarkFrame(frameSource, output);
    await thumbnails.showFrame(job.subjectId, { file: output, timecode });
  });
}

/** Does nothing for videos without frames. */
async function withFrameSource(
  context: VodContext,
  job: RunningJob,
  work: (frameSource: FrameSource) => Promise<void>,
): Promise<void> {
  const { records } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  const state = await records.state(videoId);
  // Without renditions, the source is not prepared yet. That enqueues the images.
  if (request === undefined || state === undefined || state.renditions.length === 0) return;
  await withSource(
    context,
    videoId,
    async source => {
      const frameSource = await frameSourceOf(context, job, { source, request, state });
      if (frameSource !== undefined) await work(frameSource);
    },
    job.signal,
  );
}

async function frameSourceOf(
  context: VodContext,
  job: RunningJob,
  {
    source,
    request,
    state,
  }: { readonly source: string; readonly request: EncodingRequest; readonly state: EncodingState },
): Promise<FrameSource | undefined> {
  const { tools, settings } = context;
  const videoId = job.subjectId;
  const probed = await probeSource(context, source, job.signal);
  const plan = planSource(probed, sourceRequestOf(request, settings.sandboxVideoMs));
  if (plan.kind === 'refused' || plan.video === undefined) return undefined;
  const streamIndex = plan.video.index;
  const stream = probed.streams.find(({ index }) => index === streamIndex);
  return {
    tools,
    source,
    // The header may lack the duration or state a wrong one.
    durationSeconds:
      encodedSeconds(state) || (plan.sourceMetadata.duration === null ? 0 : plan.durationSeconds),
    startSeconds: (request.clip?.startMs ?? 0) / 1000,
    clock: plan.clock,
    streamIndex,
    ...(stream === undefined ? {} : frameFormatOf(stream)),
    signal: job.signal,
    ids: { videoId },
    memoryBytes: settings.memoryBytes,
    ...plan.video.displayResolution,
    frameRate:
      plan.sourceMetadata.framerate ?? (state.sourceMetadata as Partial<SourceMetadata>).framerate ?? 25,
    hasSandboxWatermark: hasSandboxWatermark(request),
  };
}

function encodedSeconds({ renditions }: EncodingState): number {
  const encoded = renditions.filter(({ type, status }) => type !== 'mp4' && status === 'encoded');
  return Math.max(
    0,
    ...encoded.map(({ renditionMetadata }) => (renditionMetadata as RenditionRecord).durationSeconds),
  );
}
