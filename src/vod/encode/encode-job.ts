import type { RunningJob } from '../../jobs/job.ts';
import { isLeftOut } from '../../shared/audio-rendition.ts';
import type { EncodingRequest, EncodingState } from '../encoding-repository.ts';
import type { SourceMetadata } from '../source/source-metadata.ts';
import { encodePriorities, encodePriorityOf, enqueueVodJob, type VodContext } from '../vod-context.ts';
import { planCodecs } from './codec-job.ts';
import { type EncodeBatch, type EncodeInput, encodeBatch } from './encode-batch.ts';
import { encodeOnDevice, isMediaFault, withEncodeInput } from './encode-input.ts';
import { type LadderRendition, ladderOf } from './ladder.ts';
import { withSteadyAudio } from './steady-audio.ts';

interface PendingBatch {
  readonly qualities: readonly string[];
  /** Names of renditions. */
  readonly audio: readonly string[];
}

/** Cost of audio, in pixels per frame. */
const audioCost = 10_000;

/**
 * Encodes the lowest quality first, with audio that must be encoded, so that viewers on slow networks can
 * start soon; then all others in one run, of a long video in another job. Does not repeat finished renditions after a crash.
 */
export async function encodeVideo(context: VodContext, job: RunningJob): Promise<void> {
  const { records, folders, jobs } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  const before = await records.state(videoId);
  if (request === undefined || before === undefined) return;
  let isLong = false;
  await folders.during(job, records, async () => {
    isLong = await encodePending(context, job, request, before);
  });
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await records.lockPlan(videoId, transaction);
    const after = await records.state(videoId, transaction);
    if (after === undefined) return;
    // A running job may not know the measured duration yet.
    if (isStoryboardOutdated(before, after)) await enqueueVodJob(context, 'stills', videoId, transaction);
    if (isLong && pendingBatches(after).length > 0) {
      // The first renditions of other videos go before the rest.
      await enqueueVodJob(context, 'encode', videoId, transaction, encodePriorities.rest);
      return;
    }
    const mp4 = after.renditions.find(({ type }) => type === 'mp4');
    if (mp4 !== undefined && mp4.status !== 'encoded' && !(await jobs.has('mp4', videoId, transaction))) {
      await enqueueVodJob(context, 'mp4', videoId, transaction);
    }
    await planCodecs(context, videoId, after, transaction);
  });
}

/** True when the header stated no duration or a wrong one. */
function isStoryboardOutdated(before: EncodingState, after: EncodingState): boolean {
  const [planned, measured] = [before, after].map(
    ({ sourceMetadata }) => (sourceMetadata as Partial<SourceMetadata>).duration,
  );
  if (planned === null || planned === undefined) return !after.hasStoryboard;
  return Math.abs(planned - (measured ?? planned)) > 1;
}

/** Returns true after the first renditions of a long video, which can be played then. */
async function encodePending(
  context: VodContext,
  job: RunningJob,
  request: EncodingRequest,
  state: EncodingState,
): Promise<boolean> {
  const batches = pendingBatches(state);
  if (batches.length === 0) return false;
  let isLong = false;
  await withEncodeInput(context, job, request, async input => {
    const priority = encodePriorityOf(input.plan.durationSeconds, state.isPlayable);
    isLong = priority === encodePriorities.first;
    await encodeBatches(context, job, input, isLong ? batches.slice(0, 1) : batches);
  });
  return isLong;
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

/** Encodes again when audio tracks cannot be decoded: further ones fail, and the video works without them. */
async function encodeWithoutBrokenAudio(
  context: VodContext,
  input: EncodeInput,
  batch: EncodeBatch,
  onProgress: (share: number) => void,
): Promise<void> {
  const { records, log } = context;
  const main = batch.audio.filter(isMainAudio);
  const further = batch.audio.filter(one => !isMainAudio(one));
  const encode = (wanted: EncodeBatch) =>
    withSteadyAudio(context, input, wanted.audio, steady =>
      wanted.renditions.length === 0
        ? encodeBatch(context, steady, wanted, onProgress)
        : encodeOnDevice(context, steady, chosen => encodeBatch(context, chosen, wanted, onProgress)),
    );
  try {
    await encode(batch);
  } catch (error) {
    if (further.length === 0 || !isMediaFault(error) || input.signal.aborted) throw error;
    const failed = further.map(({ name }) => name);
    log.warn('audio-tracks-failed', { videoId: input.videoId, renditions: failed, error });
    await records.transaction(async transaction => {
      await input.ensureOwned(transaction);
      await records.failAudio(input.videoId, failed, transaction);
    });
    if (batch.renditions.length + main.length > 0) {
      await encode({ ...batch, audio: main });
    }
  }
}

function isMainAudio({ name }: { readonly name: string }): boolean {
  return name === 'audio';
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
