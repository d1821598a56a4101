import { join } from 'node:path';
import { encodeCommand } from '../../ffmpeg/arguments/encode-command.ts';
import type { Overlay } from '../../ffmpeg/arguments/encode-options.ts';
import { measureCommand, measuredEnd } from '../../ffmpeg/arguments/remux-commands.ts';
import type { EncoderDevice } from '../../ffmpeg/hardware/encoder-device.ts';
import type { RunningJob } from '../../jobs/job.ts';
import type { AdditionalCodec } from '../../shared/additional-codecs.ts';
import { parseAudioRenditionName } from '../../shared/audio-rendition.ts';
import { CoalescedTask } from '../../shared/scheduling/coalesced-task.ts';
import type { EncodingState, RenditionName } from '../encoding-repository.ts';
import { GrowingRendition } from '../index/growing-rendition.ts';
import { boundariesOf, type SegmentBoundaries } from '../index/segment-boundaries.ts';
import { type RenditionRecord, recordOf, targetDurationOf } from '../playback/rendition-record.ts';
import type { AudioPlan } from '../source/audio-plan.ts';
import { measuredMetadata } from '../source/source-metadata.ts';
import { type PlannedSource, timingIndexes } from '../source/source-plan.ts';
import { runLimitsFor, type VodContext } from '../vod-context.ts';
import type { LadderRendition } from './ladder.ts';
import { RenditionPoller } from './rendition-poller.ts';

export interface EncodeInput extends Pick<RunningJob, 'signal' | 'ensureOwned'> {
  readonly videoId: string;
  /** Local. */
  readonly source: string;
  readonly plan: PlannedSource;
  readonly part: PlannedSource['part'];
  readonly sourceBytes: number;
  readonly overlays: readonly Overlay[];
  /** Undefined: the audio of the source. */
  readonly steadyAudio?: string | undefined;
  /** Undefined: H.264. */
  readonly codec?: AdditionalCodec | undefined;
  /** Undefined: software. */
  readonly device?: EncoderDevice | undefined;
}

export interface EncodeBatch {
  readonly renditions: readonly LadderRendition[];
  readonly audio: readonly AudioPlan[];
}

interface BatchRun {
  readonly folder: string;
  readonly boundaries: SegmentBoundaries | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

interface GrowingBatch extends Omit<BatchRun, 'signal'> {
  readonly renditions: ReadonlyMap<string, GrowingRendition>;
  readonly storeProgress: (percent: number) => Promise<void>;
  readonly onPolled?: () => Promise<void>;
}

/** The audio changes its sample rate or channels, and must be encoded from `EncodeInput.steadyAudio`. */
export class AudioFormatChange extends Error {}

/** ffmpeg's warning when filters that were built anew fill up the audio from zero again. */
const startedAgain = 'Queue input is backward in time';
/** Two GOPs per segment; segments of low frame rates may last longer. */
const growingTargetSeconds = 6;
const reportProgressEveryMs = 1000;
/** Niceness below that of the first renditions of other videos. */
const additionalCodecNiceness = 19;
const audioBitsPerSecond = 128_000;
const surroundBitsPerSecond = 384_000;

/** Viewers can watch the renditions while they grow, unless the video is playable already. */
export async function encodeBatch(
  context: VodContext,
  input: EncodeInput,
  batch: EncodeBatch,
  onProgress: (share: number) => void,
): Promise<void> {
  const { records, folders, clock, growing, files, settings } = context;
  const { videoId, plan } = input;
  const names = renditionNamesOf(batch);
  const bitsPerSecond = batch.renditions.reduce(
    (sum, one) => sum + one.bitsPerSecond,
    audioBitsPerSecond * Math.max(1, batch.audio.length) + surroundBitsPerSecond * surroundsIn(batch),
  );
  await files.ensureFreeSpace((bitsPerSecond / 8) * plan.durationSeconds, settings.minFreeBytes);
  const { generation, folder, name } = await folders.make(videoId, clock.nowMs());
  const before = await records.state(videoId);
  const boundaries = await finishedBoundaries(context, videoId, before);
  const renditions = growingRenditions(batch, folder, boundaries, plan);
  await records.transaction(async transaction => {
    await input.ensureOwned(transaction);
    await records.markStarted(videoId, names, transaction);
  });
  const isPlayable = before?.isPlayable === true;
  const storedTarget = before?.targetDurationSeconds ?? 1;
  // Playlists of a growing video keep this value: their target duration must not change.
  const targetSeconds = isPlayable ? storedTarget : Math.max(storedTarget, growingTargetOf(plan));
  const hide = isPlayable
    ? () => {}
    : growing.show(videoId, { targetDurationSeconds: targetSeconds, generation, renditions });
  let wasShown = isPlayable;
  try {
    await encodeGrowing(context, input, batch, {
      folder,
      boundaries,
      renditions,
      onProgress,
      storeProgress: percent => records.updateProgress(videoId, names, percent),
      onPolled: async () => {
        if (wasShown || growing.find(videoId) === undefined) return;
        wasShown = true;
        await records.markChanged(videoId);
      },
    });
    await folders.keep(videoId, name, input.signal);
    await storeFinished(context, input, renditions, { generation, name, targetSeconds });
  } finally {
    hide();
    for (const rendition of renditions.values()) await rendition.close();
  }
}

/** Encodes renditions and indexes them meanwhile. The caller closes them. */
export async function encodeGrowing(
  context: VodContext,
  input: EncodeInput,
  batch: EncodeBatch,
  { renditions, storeProgress, onPolled = async () => {}, onProgress, ...run }: GrowingBatch,
): Promise<void> {
  const { videoId } = input;
  const unreadable = new AbortController();
  const poller = new RenditionPoller([...renditions.values()], {
    onPolled,
    onFailure: error => unreadable.abort(error),
  });
  let percent = 0;
  const progress = new CoalescedTask(async () => {
    try {
      await storeProgress(percent);
    } catch (error) {
      context.log.warn('encoding-progress-not-stored', { videoId, error });
    }
  });
  try {
    await runEncode(context, input, batch, {
      ...run,
      signal: AbortSignal.any([input.signal, unreadable.signal]),
      onProgress: share => {
        onProgress(share);
        percent = 100 * share;
        progress.request();
      },
    });
    await poller.stop();
    for (const rendition of renditions.values()) await rendition.finish();
  } finally {
    // A late update would hide that they are finished.
    progress.cancel();
    await progress.idle();
    await poller.stop().catch(() => {});
  }
}

export function growingRenditions(
  { renditions, audio }: EncodeBatch,
  folder: string,
  boundaries: SegmentBoundaries | undefined,
  { part, durationSeconds }: PlannedSource,
): Map<string, GrowingRendition> {
  const growing = new Map<string, GrowingRendition>();
  const endSeconds = part === undefined && durationSeconds > 0 ? durationSeconds : undefined;
  for (const { name } of renditions) {
    growing.set(name, new GrowingRendition({ path: join(folder, `${name}.mp4`), boundaries, endSeconds }));
  }
  const [firstVideo] = growing.values();
  for (const { name, language } of audio) {
    growing.set(
      name,
      new GrowingRendition({
        path: join(folder, `${name}.mp4`),
        language,
        boundaries: boundaries ?? firstVideo?.boundaries,
      }),
    );
  }
  return growing;
}

async function storeFinished(
  { records }: VodContext,
  { videoId, plan, ensureOwned }: EncodeInput,
  renditions: ReadonlyMap<string, GrowingRendition>,
  folder: { readonly generation: number; readonly name: string; readonly targetSeconds: number },
): Promise<void> {
  const targetSeconds = Math.max(
    folder.targetSeconds,
    targetDurationOf([...renditions.values()].map(({ renditionMetadata }) => renditionMetadata)),
  );
  const finished = [...renditions].map(([quality, rendition]) => ({
    type: typeOf(quality),
    quality,
    file: `${folder.name}/${quality}.mp4.index`,
    renditionMetadata: recordOf(rendition, folder.generation, targetSeconds),
  }));
  await records.transaction(async transaction => {
    await ensureOwned(transaction);
    await records.markFinished(videoId, finished, targetSeconds, transaction);
    const stored = (await records.state(videoId, transaction))?.renditions ?? [];
    const encoded = stored.filter(({ type, status }) => type !== 'mp4' && status === 'encoded');
    const measured = encoded.map(({ renditionMetadata }) => renditionMetadata as RenditionRecord);
    await records.updateMetadata(videoId, measuredMetadata(plan, measured), transaction);
  });
}

/**
 * Target duration of a growing rendition, in whole seconds. At low frame rates, the last frame of a segment lasts
 * long.
 */
function growingTargetOf({ video }: PlannedSource): number {
  const rate = video?.framesPerSecond ?? 0;
  if (rate === 0) return growingTargetSeconds;
  const gopSeconds = Math.ceil(2 * rate - 0.001) / rate;
  const segmentSeconds = Math.ceil(4 / gopSeconds - 0.001) * gopSeconds;
  return Math.max(growingTargetSeconds, Math.ceil(segmentSeconds - 0.001));
}

async function runEncode(
  context: VodContext,
  input: EncodeInput,
  { renditions, audio }: EncodeBatch,
  run: BatchRun,
): Promise<void> {
  const { videoId, source, plan, part, overlays, steadyAudio, codec } = input;
  const { durationSeconds, video } = plan;
  const changed = new AbortController();
  const command = encodeCommand({
    source,
    folder: run.folder,
    video:
      video === undefined || renditions.length === 0
        ? undefined
        : {
            ...video,
            ...video.displayResolution,
            renditions,
            keyframesAtSeconds: run.boundaries === undefined ? 'every-two' : startsOf(run.boundaries),
            overlays,
          },
    audio: await paddedAudio(context, input, audio, run),
    steadyAudio,
    timedBy: timingIndexes(plan),
    clock: plan.clock,
    clip: part,
    codec,
    device: input.device,
    preset: context.settings.preset,
    threads: context.settings.threads,
  });
  let reportedAtMs = 0;
  await context.tools.runCommand(command, {
    limits: runLimitsFor(context, durationSeconds, maxOutputBytes(input, renditions)),
    signal: AbortSignal.any([run.signal, changed.signal]),
    purpose: 'encode',
    ids: { videoId },
    isPausable: true,
    usesHardware: input.device !== undefined,
    niceness: codec === undefined ? undefined : additionalCodecNiceness,
    onLine: line => {
      if (steadyAudio === undefined && line.includes(startedAgain)) changed.abort(new AudioFormatChange());
    },
    onProgress: ({ timeSeconds }) => {
      const nowMs = context.clock.monotonicMs();
      if (durationSeconds === 0 || nowMs - reportedAtMs < reportProgressEveryMs) return;
      reportedAtMs = nowMs;
      run.onProgress(Math.min(0.99, Math.max(0, timeSeconds / durationSeconds)));
    },
  });
  // Stops when the audio changed meanwhile.
  changed.signal.throwIfAborted();
}

/** Allows twice the ladder's bitrate, and videos longer than their header states. */
function maxOutputBytes({ plan, sourceBytes }: EncodeInput, renditions: readonly LadderRendition[]): number {
  if (plan.durationSeconds === 0) return 10e9;
  const highest = Math.max(audioBitsPerSecond, ...renditions.map(({ bitsPerSecond }) => bitsPerSecond));
  return Math.max((highest / 4) * plan.durationSeconds, 4 * sourceBytes) + 64 * 1024 ** 2;
}

/** Silence extends audio that ends before the video. */
async function paddedAudio(
  context: VodContext,
  input: EncodeInput,
  audio: readonly AudioPlan[],
  run: BatchRun,
): Promise<AudioPlan[]> {
  const { video } = input.plan;
  const isShort = video !== undefined && audio.some(({ untilSeconds }) => untilSeconds !== undefined);
  const videoEnd = isShort ? await videoEndSeconds(context, input, run) : 0;
  return audio.map(one => ({
    ...one,
    untilSeconds:
      isShort && one.untilSeconds !== undefined ? Math.min(one.untilSeconds, videoEnd) : undefined,
  }));
}

/** Measures the video: headers may state hours too much. */
async function videoEndSeconds(
  context: VodContext,
  { videoId, source, plan }: EncodeInput,
  { boundaries, signal }: BatchRun,
): Promise<number> {
  const knownSeconds = boundaries?.end()?.seconds;
  if (knownSeconds !== undefined) return knownSeconds;
  const command = measureCommand(source, plan.video!.index, timingIndexes(plan), plan.clock);
  let endSeconds = 0;
  await context.tools.runCommand(command, {
    limits: runLimitsFor(context, plan.durationSeconds, 1024 ** 2),
    signal,
    purpose: 'measure',
    ids: { videoId },
    isPausable: true,
    onLine: line => {
      endSeconds = measuredEnd(line) ?? endSeconds;
    },
  });
  return endSeconds;
}

/** Returns the boundaries at which all other renditions are cut, too. */
export async function finishedBoundaries(
  context: VodContext,
  videoId: string,
  state: EncodingState | undefined,
): Promise<SegmentBoundaries | undefined> {
  const finished = state?.renditions.findLast(({ type, status }) => type === 'hls' && status === 'encoded');
  if (finished?.file === undefined || (finished.renditionMetadata as RenditionRecord).kind !== 'video')
    return undefined;
  return boundariesOf(await context.reader.open(context.files.video(videoId, finished.file)));
}

function startsOf(boundaries: SegmentBoundaries): number[] {
  const starts: number[] = [];
  for (let index = 0; ; index++) {
    const seconds = boundaries.startSeconds(index);
    if (seconds === undefined) return starts;
    starts.push(seconds);
  }
}

function renditionNamesOf({ renditions, audio }: EncodeBatch): RenditionName[] {
  return [...renditions, ...audio].map(({ name }) => ({ type: typeOf(name), quality: name }));
}

function typeOf(quality: string): 'audio' | 'hls' {
  return parseAudioRenditionName(quality) === undefined ? 'hls' : 'audio';
}

function surroundsIn({ audio }: EncodeBatch): number {
  return audio.filter(({ isSurround }) => isSurround).length;
}
