import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { readFragmentLayout } from '../../media/cmaf/fragment-layout.ts';
import { parseInitSegment } from '../../media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import { readTrackLabels } from '../../media/cmaf/track-label.ts';
import { AppError } from '../../shared/errors.ts';
import { namesIn } from '../../storage/folder-names.ts';
import { readFully } from '../../storage/read-fully.ts';
import type { RecordingIndex } from './recording-index.ts';
import { RecordingSpan, spanNames } from './recording-span.ts';
import { RecordingTimeline } from './recording-timeline.ts';
import type { WrittenRecording } from './recording-writer.ts';

/** Enough for the header of nearly every fragment. */
const readBytes = 8 * 1024;
const maxHeadBytes = 4 * 1024 * 1024;

/**
 * Reads fragment headers from front to back and cuts off truncated fragments. A recording with a single span
 * may already be named `source`; other files are then ignored. @throws the signal's reason when aborted
 */
export async function scanRecording(
  folder: string,
  makeIndex: (tracks: readonly TrackDescription[]) => Promise<RecordingIndex>,
  signal: AbortSignal,
): Promise<WrittenRecording> {
  const names = await namesIn(folder);
  const files = names.includes('source') ? ['source'] : spanNames(names);
  const spans: RecordingSpan[] = [];
  let index: RecordingIndex | undefined;
  for (const name of files) {
    // Several spans must be joined, so none needs an index.
    const indexOf = files.length > 1 ? async () => undefined : makeIndex;
    const scanned = await scanSpan(folder, name, indexOf, signal);
    if (scanned === undefined) continue;
    spans.push(scanned.span);
    index = scanned.index;
  }
  return { spans, index };
}

async function scanSpan(
  folder: string,
  name: string,
  indexOf: (tracks: readonly TrackDescription[]) => Promise<RecordingIndex | undefined>,
  signal: AbortSignal,
): Promise<{ span: RecordingSpan; index: RecordingIndex | undefined } | undefined> {
  const handle = await open(join(folder, name), 'r+');
  try {
    const { size } = await handle.stat();
    const tracks = await tracksOf(handle, size);
    if (tracks === undefined) return undefined;
    const span = new RecordingSpan(folder, name, tracks, zeroStarts(tracks));
    if (span.head.length > size) return undefined;
    const index = await readFragments(handle, span, size, await indexOf(tracks), signal);
    if (span.bytes < size) await handle.truncate(span.bytes);
    if (span.fragments > 0) return { span, index };
    await index?.close();
    return undefined;
  } finally {
    await handle.close();
  }
}

/** The tracks of a file of a recording that have frames, with their places in it, as ffprobe counts. */
export async function readSpanTracks(
  path: string,
  signal: AbortSignal,
): Promise<Map<number, TrackDescription>> {
  await using handle = await open(path, 'r');
  const { size } = await handle.stat();
  const tracks = (await tracksOf(handle, size)) ?? [];
  const ids = tracks.map(({ id }) => id);
  const begun = new Set<number>();
  let position = tracks.length === 0 ? size : new RecordingSpan('', '', tracks, zeroStarts(tracks)).bytes;
  while (begun.size < ids.length && position < size) {
    signal.throwIfAborted();
    const fragment = await fragmentAt(handle, position, size, ids);
    if (fragment === undefined) break;
    for (const { trackId } of fragment.samples) begun.add(trackId);
    position += fragment.bytes;
  }
  return new Map([...tracks.entries()].filter(([, { id }]) => begun.has(id)));
}

/** The edit list in the file is as long, whatever its times. */
function zeroStarts(tracks: readonly TrackDescription[]): ReadonlyMap<number, number> {
  return new Map(tracks.map(({ id }) => [id, 0]));
}

async function readFragments(
  handle: FileHandle,
  span: RecordingSpan,
  fileBytes: number,
  index: RecordingIndex | undefined,
  signal: AbortSignal,
): Promise<RecordingIndex | undefined> {
  const ids = span.tracks.map(({ id }) => id);
  const timeline = new RecordingTimeline();
  let own = index;
  let isDone = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const fragment = await fragmentAt(handle, span.bytes, fileBytes, ids);
      if (fragment === undefined) break;
      const position = span.bytes;
      const { samples } = fragment;
      span.add(samples, fragment.bytes);
      const shifts = timeline.place(samples, span.tracks);
      try {
        own?.add({ samples, position, shifts });
        if (own?.isFull) await own.flush();
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        own = undefined;
      }
    }
    isDone = true;
    return own;
  } finally {
    if (!isDone || own === undefined) await index?.close();
  }
}

async function tracksOf(handle: FileHandle, fileBytes: number): Promise<TrackDescription[] | undefined> {
  const bytes = await readFully(handle, 0, Math.min(fileBytes, maxHeadBytes));
  let end = 0;
  for (const type of ['ftyp', 'moov']) {
    const box = headerAt(bytes, end);
    if (box?.type !== type || end + box.size > bytes.length) return undefined;
    end += box.size;
  }
  try {
    const init = Buffer.from(bytes.subarray(0, end));
    const labels = readTrackLabels(init);
    return parseInitSegment(init).map(track => {
      const label = labels.get(track.id);
      return label === undefined ? track : { ...track, label };
    });
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

async function fragmentAt(
  handle: FileHandle,
  position: number,
  fileBytes: number,
  trackIds: readonly number[],
) {
  let bytes = await readFully(handle, position, Math.min(readBytes, fileBytes - position));
  const moof = headerAt(bytes, 0);
  if (moof?.type !== 'moof' || moof.size > maxHeadBytes) return undefined;
  if (bytes.length < moof.size + 8) {
    bytes = await readFully(handle, position, Math.min(moof.size + 8, fileBytes - position));
  }
  const mdat = headerAt(bytes, moof.size);
  if (mdat?.type !== 'mdat') return undefined;
  const size = moof.size + mdat.size;
  if (position + size > fileBytes) return undefined;
  try {
    // Checks sample positions against the size of the `mdat`.
    const { samples } = readFragmentLayout(bytes.subarray(0, moof.size + 8), trackIds, size);
    return { samples, bytes: size };
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

function headerAt(bytes: Buffer, at: number): { type: string; size: number } | undefined {
  if (bytes.length < at + 8) return undefined;
  const size = bytes.readUInt32BE(at);
  return size < 8 ? undefined : { type: bytes.toString('latin1', at + 4, at + 8), size };
}
