import type { RunningJob } from '../../jobs/job.ts';
import type { AdditionalCodec } from '../../shared/additional-codecs.ts';
import { AppError } from '../../shared/errors.ts';
import type { Transaction } from '../../store/connection.ts';
import type { CodecRenditionName, EncodingState } from '../encoding-repository.ts';
import type { OpenRendition } from '../index/rendition.ts';
import type { SegmentBoundaries } from '../index/segment-boundaries.ts';
import { type RenditionRecord, recordOf } from '../playback/rendition-record.ts';
import { enqueueVodJob, type VodContext } from '../vod-context.ts';
import { type EncodeInput, encodeGrowing, finishedBoundaries, growingRenditions } from './encode-batch.ts';
import { encodeOnDevice, withEncodeInput } from './encode-input.ts';
import { type LadderRendition, ladderOf } from './ladder.ts';

/** Maximum bitrate, compared to H.264 of the same quality. */
const bitrateShares: Readonly<Record<AdditionalCodec, number>> = { hevc: 0.7, av1: 0.6 };
/** SVT-AV1 refuses smaller pictures. */
const minSidePixels = 64;
/** Rounding of times, and a frame. */
const maxBoundaryShiftSeconds = 0.1;

/**
 * Plans the renditions in other codecs than H.264, and enqueues their jobs. Call it when the H.264 renditions are encoded:
 * viewers of a new video should not wait for the others.
 */
export async function planCodecs(
  context: VodContext,
  videoId: string,
  state: Pick<EncodingState, 'renditions' | 'codecRenditions'>,
  transaction: Transaction,
): Promise<void> {
  const { settings, codecRenditions, jobs } = context;
  const qualities = state.renditions
    .filter(
      ({ type, status, renditionMetadata }) =>
        type === 'hls' && status === 'encoded' && isLargeEnough(renditionMetadata),
    )
    .map(({ quality }) => quality);
  if (qualities.length === 0) return;
  const codecs = new Set([...settings.codecs, ...state.codecRenditions.map(({ codec }) => codec)]);
  for (const codec of codecs) {
    const known = state.codecRenditions.filter(one => one.codec === codec);
    const planned = settings.codecs.includes(codec) ? qualities.map(quality => ({ codec, quality })) : [];
    await codecRenditions.plan(videoId, planned, transaction);
    const isNew = planned.some(({ quality }) => !known.some(one => one.quality === quality));
    const isOpen = known.some(({ status }) => status === 'waiting' || status === 'encoding');
    if ((isNew || isOpen) && !(await jobs.has(codec, videoId, transaction))) {
      await enqueueVodJob(context, codec, videoId, transaction);
    }
  }
}

function isLargeEnough(renditionMetadata: unknown): boolean {
  const { width = 0, height = 0 } = renditionMetadata as RenditionRecord;
  return Math.min(width, height) >= minSidePixels;
}

/** Encodes the renditions of one codec in one run. Players get them when all are finished. */
export async function encodeCodec(
  context: VodContext,
  job: RunningJob,
  codec: AdditionalCodec,
): Promise<void> {
  const { records, folders } = context;
  const videoId = job.subjectId;
  const request = await records.request(videoId);
  const state = await records.state(videoId);
  if (request === undefined || state === undefined) return;
  const pending = state.codecRenditions.filter(one => one.codec === codec && one.status !== 'encoded');
  const boundaries = await finishedBoundaries(context, videoId, state);
  // Lost H.264 renditions are encoded again, and then the others.
  if (pending.length === 0 || boundaries === undefined) return;
  const encode = () =>
    withEncodeInput(context, job, request, async input => {
      const ladder = input.plan.video === undefined ? [] : ladderOf(input.plan.video.displayResolution);
      const renditions = ladder
        .filter(({ name }) => pending.some(({ quality }) => quality === name))
        .map(one => ({ ...one, bitsPerSecond: Math.round(one.bitsPerSecond * bitrateShares[codec]) }));
      const targetSeconds = state.targetDurationSeconds ?? 1;
      await encodeOnDevice(context, { ...input, codec }, chosen =>
        encodeRenditions(context, job, chosen, { codec, renditions, boundaries, targetSeconds }),
      );
    });
  await folders.during(job, records, encode, codec);
}

interface CodecBatch {
  readonly codec: AdditionalCodec;
  readonly renditions: readonly LadderRendition[];
  /** Segment boundaries of the H.264 renditions. */
  readonly boundaries: SegmentBoundaries;
  readonly targetSeconds: number;
}

async function encodeRenditions(
  context: VodContext,
  job: RunningJob,
  input: EncodeInput,
  { codec, renditions, boundaries, targetSeconds }: CodecBatch,
): Promise<void> {
  const { records, codecRenditions, folders, files, settings, clock } = context;
  const { videoId, plan } = input;
  const names = renditions.map(({ name }): CodecRenditionName => ({ codec, quality: name }));
  const bitsPerSecond = renditions.reduce((sum, one) => sum + one.bitsPerSecond, 0);
  await files.ensureFreeSpace((bitsPerSecond / 8) * plan.durationSeconds, settings.minFreeBytes);
  const { generation, folder, name } = await folders.make(videoId, clock.nowMs(), codec);
  const batch = { renditions, audio: [] };
  const growing = growingRenditions(batch, folder, boundaries, plan);
  await records.transaction(async transaction => {
    await job.ensureOwned(transaction);
    await codecRenditions.markStarted(videoId, names, transaction);
  });
  try {
    await encodeGrowing(context, input, batch, {
      folder,
      boundaries,
      renditions: growing,
      onProgress: share => job.reportProgress(100 * share),
      storeProgress: percent => codecRenditions.updateProgress(videoId, names, percent),
    });
    for (const rendition of growing.values()) requireAligned(rendition, boundaries);
    await folders.keep(videoId, name, input.signal);
    const finished = [...growing].map(([quality, rendition]) => ({
      codec,
      quality,
      file: `${name}/${quality}.mp4.index`,
      renditionMetadata: recordOf(rendition, generation, targetSeconds),
    }));
    await records.transaction(async transaction => {
      await job.ensureOwned(transaction);
      await codecRenditions.markFinished(videoId, finished, transaction);
    });
  } finally {
    for (const rendition of growing.values()) await rendition.close();
  }
}

/** Players switch between renditions at the beginning of segments. @throws AppError `media-malformed` */
function requireAligned(rendition: OpenRendition, boundaries: SegmentBoundaries): void {
  const isAligned = (index: number) => {
    const start = boundaries.startSeconds(index);
    return start !== undefined && Math.abs(start - rendition.startSeconds(index)) <= maxBoundaryShiftSeconds;
  };
  const count = boundaries.end()?.segmentCount;
  const starts = Array.from({ length: rendition.segmentCount }, (_, index) => index);
  if (rendition.segmentCount === count && starts.every(isAligned)) return;
  throw new AppError(
    'media-malformed',
    `The encoder did not keep the keyframes: ${rendition.segmentCount} segments instead of ${count}.`,
  );
}
