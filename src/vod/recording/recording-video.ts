import { open, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { audioRenditionName } from '../../shared/audio-rendition.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Transaction } from '../../store/connection.ts';
import type { IndexedRendition } from '../index/rendition.ts';
import { type Passthrough, planPassthrough } from '../source/passthrough.ts';
import { type PlannedSource, planSource } from '../source/source-plan.ts';
import { enqueueVodJob, type VodContext } from '../vod-context.ts';
import { enqueueJoin } from './join-job.ts';
import { joinedTracks, recordedAudioTracks } from './recorded-audio.ts';
import { type IndexedRecording, RecordingIndex } from './recording-index.ts';
import type { NewRecording, RecordingRepository } from './recording-repository.ts';
import { type RecordingSpan, spanNumber } from './recording-span.ts';
import type { StopReason, WrittenRecording } from './recording-writer.ts';
import { removePieces } from './restore-recording.ts';

/** Players stop at a longer gap at the start. Audio that begins later is encoded, with silence before it. */
const maxLateAudioSeconds = 0.1;
const mainAudioName = audioRenditionName({ track: 1, isSurround: false });
/** Players load whole segments: video with fewer keyframes is encoded. */
const maxSegmentSeconds = 30;
const probeTimeoutMs = 60_000;

export interface RecordingContext {
  readonly context: VodContext;
  readonly repository: RecordingRepository;
  /** True when the file has a table of keyframes, which not every ffmpeg build can read. */
  readonly hasSeekTables: boolean;
}

export interface IndexFolder {
  readonly generation: number;
  readonly name: string;
}

export async function createIndex(
  { folders, clock }: VodContext,
  videoId: string,
  tracks: readonly TrackDescription[],
): Promise<{ index: RecordingIndex; folder: IndexFolder }> {
  const { folder: path, generation, name } = await folders.make(videoId, clock.nowMs());
  return {
    index: await RecordingIndex.create(path, tracks, { mediaName: '../source' }),
    folder: { generation, name },
  };
}

/**
 * Makes a video of a recording in one transaction; it is playable immediately if all tracks are supported.
 * Joins or encodes others first. Removes a recording without parts, and returns false.
 * @param end.probed result of an earlier probe
 * @param end.reason set when the recording stopped before its broadcast
 * @param end.signal aborts, so that the next start finishes the recording
 */
export async function makeRecordingVideo(
  recordings: RecordingContext,
  recording: NewRecording,
  written: WrittenRecording,
  end: {
    readonly indexFolder: IndexFolder | undefined;
    readonly probed: ProbedFile | undefined;
    readonly reason: StopReason | undefined;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  try {
    end.signal.throwIfAborted();
    const { context, repository } = recordings;
    const isShared = context.files.storage.kind === 's3';
    // Stops when another server has made a video of it, or is doing so.
    if (isShared && !(await repository.isOpen(recording.videoId))) return false;
    return await finishRecording(recordings, recording, written, end);
  } finally {
    await written.index?.close();
  }
}

async function finishRecording(
  recordings: RecordingContext,
  recording: NewRecording,
  written: WrittenRecording,
  { indexFolder, probed, reason, signal }: Parameters<typeof makeRecordingVideo>[3],
): Promise<boolean> {
  const { context, repository } = recordings;
  const { files, clock } = context;
  const { videoId } = recording;
  const { spans } = written;
  const [span] = spans;
  if (span === undefined) {
    await files.removeVideo(videoId);
    await repository.transaction(async transaction => {
      await repository.remove(videoId, transaction);
      if (reason === undefined) return;
      const stop = { reason, videoId: undefined };
      await repository.appendStoppedEvent(recording, stop, clock.nowMs(), transaction);
    });
    return false;
  }
  for (const one of spans) await seal(one, recordings.hasSeekTables);
  await removeOthers(files.video(videoId), spans);
  let enqueueNext: (transaction: Transaction) => Promise<void>;
  let sourceBytes: number | undefined;
  if (spans.length > 1) {
    const paths = spans.map(({ path }) => path);
    await files.storage.keep(paths, signal);
    enqueueNext = transaction => enqueueJoin(context, videoId, transaction);
  } else {
    const source = files.source(videoId);
    sourceBytes = span.bytes;
    const passthrough = await tryPassthrough(context, videoId, written, { probed, signal });
    if (span.path === source) await files.storage.keep([source], signal);
    else await files.storage.publish(span.path, source, signal);
    if (passthrough !== undefined && indexFolder !== undefined) {
      await context.folders.keep(videoId, indexFolder.name, signal);
    }
    const store =
      passthrough === undefined || indexFolder === undefined
        ? undefined
        : await planPassthrough(context, videoId, passthrough, indexFolder);
    enqueueNext = store ?? (transaction => enqueueVodJob(context, 'prepare', videoId, transaction));
  }
  signal.throwIfAborted();
  const isConverted = await repository.transaction(async transaction => {
    if (!(await repository.convertToVideo(recording, sourceBytes, clock.nowMs(), transaction))) return false;
    const audioTracks = recordedAudioTracks(
      spans.length === 1 ? span.tracks : joinedTracks(spans.map(({ startedTracks }) => startedTracks)),
    );
    if (audioTracks.length > 0) await context.records.setAudioTracks(videoId, audioTracks, transaction);
    await enqueueNext(transaction);
    if (reason === undefined) return true;
    await repository.appendStoppedEvent(recording, { reason, videoId }, clock.nowMs(), transaction);
    return true;
  });
  if (isConverted && files.storage.kind === 's3') await clean(context, videoId);
  return isConverted;
}

async function clean({ files, log }: VodContext, videoId: string): Promise<void> {
  try {
    await removePieces(files, videoId);
    await rmdir(files.video(videoId)).catch(() => {});
  } catch (error) {
    // A sweep removes them.
    log.warn('recording-pieces-not-removed', { videoId, error: messageOf(error) });
  }
}

async function removeOthers(folder: string, spans: readonly RecordingSpan[]): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (spanNumber(name) !== undefined && !spans.some(span => span.path === path)) await rm(path);
  }
}

export async function seal(span: RecordingSpan, hasSeekTable: boolean): Promise<void> {
  const handle = await open(span.path, 'r+');
  try {
    await handle.truncate(span.bytes);
    for (const piece of [span.duration(), hasSeekTable ? span.seekTable() : undefined]) {
      if (piece !== undefined) await handle.write(piece.bytes, 0, piece.bytes.length, piece.position);
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

export async function tryPassthrough(
  context: VodContext,
  videoId: string,
  { spans, index }: WrittenRecording,
  { probed: known, signal }: { readonly probed: ProbedFile | undefined; readonly signal: AbortSignal },
): Promise<Passthrough | undefined> {
  const [span] = spans;
  if (index === undefined || span === undefined) return undefined;
  try {
    const indexed = await index.finish(span.bytes);
    const timed = AbortSignal.any([signal, AbortSignal.timeout(probeTimeoutMs)]);
    const probed = known ?? (await context.tools.probe(span.path, timed));
    const plan = planSource(measured({ ...probed, bytes: span.bytes }, indexed), {});
    const passthrough = plan.kind === 'planned' ? passthroughOf(plan, indexed) : undefined;
    if (passthrough === undefined) await removeIndexes(indexed);
    return passthrough;
  } catch (error) {
    // Disk errors are retried. A recording that cannot be parsed is prepared like an uploaded file.
    if (!(error instanceof AppError)) throw error;
    context.log.info('recording-not-passed-through', { videoId, reason: messageOf(error) });
    return undefined;
  }
}

/** The audio that players can use as it is; the rest is encoded. */
function usableAudio({ audioRenditions }: PlannedSource, { audio }: IndexedRecording, isPlayable: boolean) {
  return audio.filter(
    ({ name, lateSeconds }) =>
      lateSeconds <= maxLateAudioSeconds &&
      audioRenditions.some(rendition => rendition.name === name && (isPlayable || rendition.isPassthrough)),
  );
}

/** @param isPlayable viewers got these very renditions */
export function passthroughOf(
  plan: PlannedSource,
  indexed: IndexedRecording,
  isPlayable = false,
): Passthrough | undefined {
  const { video } = indexed;
  const usable = usableAudio(plan, indexed, isPlayable);
  const audio = usable.find(({ name }) => name === mainAudioName)?.rendition;
  const moreAudio = Object.fromEntries(
    usable
      .filter(({ name }) => name !== mainAudioName)
      .map(({ name, stream, rendition }) => [name, { ...rendition, stream }]),
  );
  if (plan.video === undefined) return audio && { plan, video: undefined, audio, moreAudio, mp4: undefined };
  if (
    !(isPlayable || plan.video.isPassthrough) ||
    video === undefined ||
    video.maxSegmentDurationSeconds > maxSegmentSeconds
  ) {
    return undefined;
  }
  return { plan, video, audio, moreAudio, mp4: undefined };
}

async function removeIndexes(indexed: IndexedRecording): Promise<void> {
  for (const { file } of renditionsOf(indexed)) await rm(file, { force: true });
}

export function renditionsOf({ video, audio }: IndexedRecording): IndexedRendition[] {
  return [...(video === undefined ? [] : [video]), ...audio.map(({ rendition }) => rendition)];
}

/** Completes what was probed by the times and sizes that the indexes know. */
export function measured(probed: ProbedFile, indexed: IndexedRecording): ProbedFile {
  const renditions = renditionsOf(indexed);
  const durationSeconds = Math.max(...renditions.map(endOf)) - Math.min(...renditions.map(startOf));
  // Counts media only: the table of keyframes can be larger than a short recording.
  const mediaBytes = renditions.reduce((sum, { bytes }) => sum + bytes, 0);
  const streams = probed.streams.map((stream): ProbedStream => {
    const rendition =
      stream.kind === 'video'
        ? indexed.video
        : indexed.audio.find(one => one.stream === stream.index)?.rendition;
    if (rendition === undefined) return stream;
    const seconds = rendition.durationTicks / rendition.timescale;
    return {
      ...stream,
      startSeconds: startOf(rendition),
      durationSeconds: seconds,
      ...(seconds > 0 ? { bitsPerSecond: Math.round((rendition.bytes * 8) / seconds) } : {}),
      ...(rendition.frameRate === undefined ? {} : { averageFrameRate: rendition.frameRate }),
    };
  });
  return {
    ...probed,
    durationSeconds,
    ...(durationSeconds > 0 ? { bitsPerSecond: Math.round((mediaBytes * 8) / durationSeconds) } : {}),
    streams,
  };
}

function startOf({ segmentStartsSeconds }: IndexedRendition): number {
  return segmentStartsSeconds[0] ?? 0;
}

function endOf(rendition: IndexedRendition): number {
  return startOf(rendition) + rendition.durationTicks / rendition.timescale;
}
