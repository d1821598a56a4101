import { open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProbedFile, ProbedStream } from '../../ffmpeg/media-tools.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { IndexedRendition } from '../index/rendition.ts';

import { type Passthrough, planPassthrough } from '../source/passthrough.ts';
import { type PlannedSource, planSource } from '../source/source-plan.ts';
import { enqueueVodJob, type VodContext } from '../vod-context.ts';
import { orderJoin } from './join-job.ts';
import { type IndexedRecording, RecordingIndex } from './recording-index.ts';
import type { NewRecording, RecordingRepository } from './recording-repository.ts';
import { type RecordingSpan, spanNumber } from './recording-span.ts';
import type { StopReason, WrittenRecording } from './recording-writer.ts';

/** Sound that begins later would leave a hole that players do not step over; it is encoded with silence in front. */
const maxLateAudioSeconds = 0.1;
/** Players load a segment whole: of a picture with fewer keyframes, another is made. */
const maxSegmentSeconds = 30;
const probeTimeoutMs = 60_000;

/** What a recording needs to become a video. */
export interface RecordingContext {
  readonly context: VodContext;
  readonly book: RecordingRepository;
  /** Files say where their keyframes are; only where all who read them can make use of that. */
  readonly hasSeekTables: boolean;
}

/** The folder that a recording's index is in. */
export interface IndexFolder {
  readonly generation: number;
  /** Name of the folder in that of the video. */
  readonly name: string;
}

/** Begins the index of a recording, in a new folder of its own. */
export async function beginIndex(
  { folders, clock }: VodContext,
  videoId: string,
  tracks: readonly TrackDescription[],
): Promise<{ index: RecordingIndex; place: IndexFolder }> {
  const { folder, generation, name } = await folders.make(videoId, clock.nowMs());
  return { index: await RecordingIndex.create(folder, tracks, '../source'), place: { generation, name } };
}

/**
 * Makes a video of what was written of a recording, in one transaction. One that has the same tracks from its beginning to its end, of a kind
 * that players take as it is, can be played when this is done; of others a source is put together or encoded first. One without a single
 * part leaves nothing.
 *
 * @param end.place of the index, where there is one
 * @param end.probed what is known of the file already
 * @param end.reason why it ended before its broadcast did
 * @param end.signal leaves it as it is, to be finished by the next start
 * @returns whether there is a video
 */
export async function makeRecordingVideo(
  desk: RecordingContext,
  recording: NewRecording,
  written: WrittenRecording,
  end: {
    readonly place: IndexFolder | undefined;
    readonly probed: ProbedFile | undefined;
    readonly reason: StopReason | undefined;
    readonly signal: AbortSignal;
  },
): Promise<boolean> {
  try {
    end.signal.throwIfAborted();
    return await finishRecording(desk, recording, written, end);
  } finally {
    await written.index?.close();
  }
}

async function finishRecording(
  desk: RecordingContext,
  recording: NewRecording,
  written: WrittenRecording,
  { place, probed, reason, signal }: Parameters<typeof makeRecordingVideo>[3],
): Promise<boolean> {
  const { context, book } = desk;
  const { files, clock } = context;
  const { videoId } = recording;
  const { spans } = written;
  const [span] = spans;
  if (span === undefined) {
    await files.removeVideo(videoId);
    book.transaction(() => {
      book.remove(videoId);
      if (reason !== undefined)
        book.appendStoppedEvent(recording, { reason, videoId: undefined }, clock.nowMs());
    });
    return false;
  }
  for (const one of spans) await seal(one, desk.hasSeekTables);
  await removeOthers(files.video(videoId), spans);
  let work: () => void;
  let sourceBytes: number | undefined;
  if (spans.length > 1) {
    work = () => orderJoin(context, videoId);
  } else {
    const source = files.source(videoId);
    if (span.path !== source) await rename(span.path, source);
    sourceBytes = span.bytes;
    const carried = await tryPassthrough(context, videoId, written, { probed, signal });
    const settle =
      carried === undefined || place === undefined
        ? undefined
        : await planPassthrough(context, videoId, carried, place);
    work = settle ?? (() => enqueueVodJob(context, 'prepare', videoId));
  }
  signal.throwIfAborted();
  book.transaction(() => {
    book.convertToVideo(recording, sourceBytes, clock.nowMs());
    work();
    if (reason !== undefined) book.appendStoppedEvent(recording, { reason, videoId }, clock.nowMs());
  });
  return true;
}

/** Removes files that were begun and got no whole part: nothing can be read of them. */
async function removeOthers(folder: string, spans: readonly RecordingSpan[]): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (spanNumber(name) !== undefined && !spans.some(span => span.path === path)) await rm(path);
  }
}

/** Cuts off what is torn at the end of a file, says in it how long it is and where its keyframes are, and brings it to the disk. */
async function seal(span: RecordingSpan, hasSeekTable: boolean): Promise<void> {
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

/** What of a recording can be delivered as it is; undefined when all of it must be encoded. */
async function tryPassthrough(
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
    const probed = known ?? (await context.tools.probe(context.files.source(videoId), timed));
    const plan = planSource(measured(probed, span, indexed), {});
    const carried = plan.kind === 'planned' ? passthroughOf(plan, indexed) : undefined;
    if (carried === undefined) await removeIndexes(indexed);
    return carried;
  } catch (error) {
    // A disk that fails is tried again; what cannot be read as media is looked into by the job, as any other file.
    if (!(error instanceof AppError)) throw error;
    context.log.info('recording-not-carried', { videoId, reason: messageOf(error) });
    return undefined;
  }
}

function passthroughOf(
  plan: PlannedSource,
  { video, audio, audioLateSeconds }: IndexedRecording,
): Passthrough | undefined {
  const hasSound =
    plan.audio?.isPassthrough === true && audio !== undefined && audioLateSeconds <= maxLateAudioSeconds;
  const sound = hasSound ? audio : undefined;
  if (plan.video === undefined) {
    return sound === undefined ? undefined : { plan, video: undefined, audio: sound, mp4: undefined };
  }
  if (!plan.video.isPassthrough || video === undefined || video.longestSegmentSeconds > maxSegmentSeconds) {
    return undefined;
  }
  return { plan, video, audio: sound, mp4: undefined };
}

async function removeIndexes({ video, audio }: IndexedRecording): Promise<void> {
  for (const rendition of [video, audio]) {
    if (rendition !== undefined) await rm(rendition.file, { force: true });
  }
}

/** What ffprobe found, with the lengths and rates that are known better here. */
function measured(probed: ProbedFile, span: RecordingSpan, indexed: IndexedRecording): ProbedFile {
  const lines = [indexed.video, indexed.audio].filter(line => line !== undefined);
  const durationSeconds = Math.max(...lines.map(endOf)) - Math.min(...lines.map(startOf));
  // Of the media alone: the room for the table of keyframes is more than a short recording.
  const mediaBytes = lines.reduce((sum, { bytes }) => sum + bytes, 0);
  const streams = probed.streams.map((stream): ProbedStream => {
    const line =
      stream.kind === 'video' ? indexed.video : stream.kind === 'audio' ? indexed.audio : undefined;
    if (line === undefined) return stream;
    const seconds = line.durationTicks / line.timescale;
    return {
      ...stream,
      startSeconds: startOf(line),
      durationSeconds: seconds,
      ...(seconds > 0 ? { bitsPerSecond: Math.round((line.bytes * 8) / seconds) } : {}),
      ...(line.frameRate === undefined ? {} : { averageFrameRate: line.frameRate }),
    };
  });
  return {
    ...probed,
    durationSeconds,
    bytes: span.bytes,
    ...(durationSeconds > 0 ? { bitsPerSecond: Math.round((mediaBytes * 8) / durationSeconds) } : {}),
    streams,
  };
}

function startOf({ segmentStartsSeconds }: IndexedRendition): number {
  return segmentStartsSeconds[0] ?? 0;
}

function endOf(line: IndexedRendition): number {
  return startOf(line) + line.durationTicks / line.timescale;
}
