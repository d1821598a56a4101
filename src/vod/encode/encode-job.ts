import type { ProbedFile } from '../../ffmpeg/media-tools.ts';
import type { RunningJob } from '../../jobs/job.ts';
import { isLeftOut } from '../../shared/audio-rendition.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { EncodingRequest, EncodingState } from '../encoding-repository.ts';
import type { SourceMetadata } from '../source/source-metadata.ts';
import { type PlannedSource, planUsableSource } from '../source/source-plan.ts';
import { partToRead, sourceRequestOf, watermarkOverlays } from '../source/source-request.ts';
import { enqueueVodJob, type VodContext } from '../vod-context.ts';
import { type EncodeBatch, type EncodeInput, encodeBatch } from './encode-batch.ts';
import { type LadderRendition, ladderOf } from './ladder.ts';

interface PendingBatch {
  readonly qualities: readonly string[];
  /** Names of renditions. */
  readonly audio: readonly string[];
}

/** In pixels per frame. */
const audioCost = 10_000;

/**
 * Encodes the lowest quality first, with audio that must be encoded, so that viewers on slow networks can
 * start soon; then all others in one run. Does not repeat finished renditions after a crash.
 */
export async function encodeVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, folders, jobs } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  const before = await records.state(videoId);
  if (request === undefined || before === undefined) return;
  await folders.during(job, records, () => encodePending(context, job, request, before));
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await records.lockPlan(videoId, transaction);
    const after = await records.state(videoId, transaction);
    if (after === undefined) return;
    const mp4 = after.renditions.find(({ type }) => type === 'mp4');
    if (mp4 !== undefined && mp4.status !== 'encoded' && !(await jobs.has('mp4', videoId, transaction))) {
      await enqueueVodJob(context, 'mp4', videoId, transaction);
    }
    // A running job may not know the measured duration yet.
    if (isStoryboardOutdated(before, after)) await enqueueVodJob(context, 'stills', videoId, transaction);
  });
}

/** True when the header stated no duration or a wrong one. */
function isStoryboardOutdated(before: EncodingState, after: EncodingState): boolean {
  const [planned, measured] = [before, after].map(({ facts }) => (facts as Partial<SourceMetadata>).duration);
  if (planned === null || planned === undefined) return !after.hasStoryboard;
  return Math.abs(planned - (measured ?? planned)) > 1;
}

async function encodePending(
  context: VodContext,
  job: RunningJob,
  request: EncodingRequest,
  state: EncodingState,
): Promise<void> {
  const batches = pendingBatches(state);
  if (batches.length === 0) return;
  const { tools, files } = context;
  const { signal } = job;
  await files.storage.withLocal(
    files.source(job.subjectId),
    async source => {
      const probed = await tools.probe(source, signal);
      const plan = planUsableSource(probed, sourceRequestOf(request, context.settings.sandboxVideoMs));
      const encode = async (watermark?: string) => {
        const input = await prepareInput(context, job, request, { source, probed, plan, watermark });
        await encodeBatches(context, job, input, batches);
      };
      const hasWatermark = plan.video !== undefined && request.watermark !== undefined;
      if (!hasWatermark) await encode();
      else await files.storage.withLocal(files.video(job.subjectId, 'watermark'), encode, signal);
    },
    signal,
  );
}

async function encodeBatches(
  context: VodContext,
  job: RunningJob,
  input: EncodeInput,
  batches: readonly PendingBatch[],
): Promise<void> {
  const ladder = input.plan.video === undefined ? [] : ladderOf(input.plan.video.displayResolution);
  const costs = batches.map(({ qualities }) => costOf(qualities, ladder));
  const totalCost = costs.reduce((sum, cost) => sum + cost, 0);
  let doneCost = 0;
  for (const [index, { qualities, audio: names }] of batches.entries()) {
    const renditions = ladder.filter(({ name }) => qualities.includes(name));
    const audio = input.plan.audioRenditions.filter(({ name }) => names.includes(name));
    const cost = costs[index]!;
    await encodeWithoutBrokenAudio(context, input, { renditions, audio }, share =>
      job.reportProgress((100 * (doneCost + share * cost)) / totalCost),
    );
    doneCost += cost;
  }
}

/** Further audio tracks that cannot be decoded fail, and the video works without them. */
async function encodeWithoutBrokenAudio(
  context: VodContext,
  input: EncodeInput,
  batch: EncodeBatch,
  onProgress: (share: number) => void,
): Promise<void> {
  const { records, log } = context;
  const main = batch.audio.filter(isMainAudio);
  const further = batch.audio.filter(one => !isMainAudio(one));
  try {
    await encodeOnDevice(context, input, batch, onProgress);
  } catch (error) {
    if (further.length === 0 || !isMediaFault(error) || input.signal.aborted) throw error;
    const failed = further.map(({ name }) => name);
    log.warn('audio-tracks-failed', { videoId: input.videoId, renditions: failed, error });
    await records.transaction(async transaction => {
      await input.ensureOwned(transaction);
      await records.failAudio(input.videoId, failed, transaction);
    });
    if (batch.renditions.length + main.length > 0) {
      await encodeOnDevice(context, input, { ...batch, audio: main }, onProgress);
    }
  }
}

/** Encodes again in software when the hardware fails. */
async function encodeOnDevice(
  context: VodContext,
  input: EncodeInput,
  batch: EncodeBatch,
  onProgress: (share: number) => void,
): Promise<void> {
  const { encoders } = context;
  const device = batch.renditions.length === 0 ? undefined : await encoders.whenTested();
  if (device !== undefined) {
    try {
      return await encodeBatch(context, { ...input, device }, batch, onProgress);
    } catch (error) {
      if (!isMediaFault(error) || input.signal.aborted) throw error;
      encoders.noteFailure(device, messageOf(error), { videoId: input.videoId });
    }
  }
  await encodeBatch(context, input, batch, onProgress);
}

function isMainAudio({ name }: { readonly name: string }): boolean {
  return name === 'audio';
}

function isMediaFault(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'process-failed' || error.code === 'media-malformed');
}

function pendingBatches(state: EncodingState): PendingBatch[] {
  const pending = state.renditions.filter(one => one.status !== 'encoded' && !isLeftOut(one));
  const qualities = pending.filter(({ type }) => type === 'hls').map(({ quality }) => quality);
  const audio = pending.filter(({ type }) => type === 'audio').map(({ quality }) => quality);
  const lowest = state.renditions.find(({ type }) => type === 'hls')?.quality;
  const first = { qualities: qualities.filter(name => name === lowest), audio };
  const others = { qualities: qualities.filter(name => name !== lowest), audio: [] };
  return [first, others].filter(batch => batch.qualities.length > 0 || batch.audio.length > 0);
}

function costOf(qualities: readonly string[], ladder: readonly LadderRendition[]): number {
  return ladder
    .filter(({ name }) => qualities.includes(name))
    .reduce((sum, { width, height }) => sum + width * height, audioCost);
}

async function prepareInput(
  context: VodContext,
  job: RunningJob,
  request: EncodingRequest,
  {
    source,
    probed,
    plan,
    watermark,
  }: {
    readonly source: string;
    readonly probed: ProbedFile;
    readonly plan: PlannedSource;
    readonly watermark: string | undefined;
  },
): Promise<EncodeInput> {
  const { subjectId: videoId, signal, ensureOwned } = job;
  const { video } = plan;
  const overlays =
    video === undefined
      ? []
      : await watermarkOverlays(context, request, watermark, video.displayResolution, signal);
  const part = partToRead(plan.part, sourceRequestOf(request, context.settings.sandboxVideoMs));
  return { videoId, source, signal, ensureOwned, plan, part, sourceBytes: probed.bytes, overlays };
}
