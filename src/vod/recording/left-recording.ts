import { open, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { streamOf } from '../../shared/files/opened-file.ts';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { readFully } from '../../storage/read-fully.ts';
import { planPassthrough } from '../source/passthrough.ts';
import { enqueueVodJob } from '../vod-context.ts';
import { pieceName, piecesFolder, type RecordingSpan, spanName, spanNames } from './recording-span.ts';
import { maxPieceBytes } from './recording-upload.ts';
import {
  createIndex,
  type IndexFolder,
  type RecordingContext,
  seal,
  tryPassthrough,
} from './recording-video.ts';
import { scanRecording } from './scan-recording.ts';

/** Compared at the end of what is stored: files of the same recording begin with the same bytes, but for their header. */
const comparedBytes = 64 * 1024;

/**
 * Uploads the pieces that are missing in the storage of a recording that another server goes on with, or finishes, so that it
 * finds them.
 */
export async function uploadLeftPieces(
  files: MediaFiles,
  videoId: string,
  signal: AbortSignal,
): Promise<void> {
  const folder = files.video(videoId);
  for (const name of spanNames(await namesIn(folder))) {
    const path = join(folder, name);
    const stored = new Map<number, number>();
    for await (const piece of files.storage.list(piecesFolder(path))) {
      stored.set(Number(basename(piece.path)), piece.bytes);
    }
    await using file = await open(path, 'r');
    const { size } = await file.stat();
    for (let position = 0; position < size; ) {
      const known = stored.get(position);
      const next = Math.min(size, ...[...stored.keys()].filter(start => start > position));
      const length = known ?? Math.min(maxPieceBytes, next - position);
      if (known === undefined) {
        const bytes = await readFully(file, position, length);
        await files.storage.write(join(piecesFolder(path), pieceName(position)), bytes, signal);
      }
      if (length === 0) break;
      position += length;
    }
  }
}

/**
 * Stores what this server still has of a recording that another one has finished with what was stored: the video gets the missing
 * end. Where the files do not fit together, they stay, since a broadcast has one recording.
 * @param isStored all files of this server were stored before the recording was finished
 */
export async function storeLeftRecording(
  recordings: RecordingContext,
  { videoId, isStored }: { readonly videoId: string; readonly isStored: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { context, repository } = recordings;
  const { files, records, log } = context;
  const folder = files.video(videoId);
  const names = spanNames(await namesIn(folder));
  // Deleted by its owner; a sweep removes the files.
  if (names.length === 0 || !(await repository.hasVideo(videoId))) return;
  const request = await records.request(videoId);
  const stored = await files.storage.find(files.source(videoId));
  if (
    names.length === 1 &&
    names[0] === spanName(1) &&
    stored !== undefined &&
    request?.isJoined === false &&
    (await extendVideo(recordings, { videoId, storedBytes: stored.bytes }, signal))
  ) {
    return;
  }
  if (isStored) for (const name of names) await rm(join(folder, name), { force: true });
  else log.warn('recording-not-joined', { videoId, folder, files: names });
}

/** Returns false when the local file is not a longer version of the stored one. */
async function extendVideo(
  recordings: RecordingContext,
  { videoId, storedBytes }: { readonly videoId: string; readonly storedBytes: number },
  signal: AbortSignal,
): Promise<boolean> {
  const { context, repository } = recordings;
  const { files, folders, jobs, records, log } = context;
  const source = files.source(videoId);
  let indexFolder: IndexFolder | undefined;
  const written = await scanRecording(
    files.video(videoId),
    async tracks => {
      const created = await createIndex(context, videoId, tracks);
      indexFolder = created.folder;
      return created.index;
    },
    signal,
  );
  try {
    const [span] = written.spans;
    if (span === undefined || span.bytes <= storedBytes) {
      await rm(files.video(videoId, spanName(1)), { force: true });
      return true;
    }
    if (!(await isLonger(files, span, source, storedBytes))) return false;
    await seal(span, recordings.hasSeekTables);
    const passthrough = await tryPassthrough(context, videoId, written, { probed: undefined, signal });
    await files.storage.publish(span.path, source, signal);
    if (passthrough !== undefined) await folders.keep(videoId, indexFolder!.name, signal);
    const store = passthrough && (await planPassthrough(context, videoId, passthrough, indexFolder!));
    await repository.transaction(async transaction => {
      // Removes a waiting encode, which would use the shorter file.
      if (await jobs.has('encode', videoId, transaction)) await jobs.remove(videoId, transaction);
      if (!(await repository.sourceExtended(videoId, span.bytes, transaction))) return;
      if (store !== undefined) return store(transaction);
      await records.reset(videoId, transaction);
      await enqueueVodJob(context, 'prepare', videoId, transaction);
    });
    log.warn('recording-extended', { videoId, addedBytes: span.bytes - storedBytes });
    return true;
  } finally {
    await written.index?.close();
  }
}

async function isLonger(
  { storage }: MediaFiles,
  span: RecordingSpan,
  source: string,
  storedBytes: number,
): Promise<boolean> {
  const range = { start: Math.max(span.head.length, storedBytes - comparedBytes), end: storedBytes };
  const bytesOf = async (path: string) => buffer(streamOf(await storage.open(path), range));
  const [local, stored] = await Promise.all([bytesOf(span.path), bytesOf(source)]);
  return local.equals(stored);
}

/** Folders of videos with files of a recording. */
export async function recordingFolders(files: MediaFiles): Promise<string[]> {
  const ids: string[] = [];
  for (const id of await namesIn(files.root('vod'))) {
    if (spanNames(await namesIn(join(files.root('vod'), id))).length > 0) ids.push(id);
  }
  return ids;
}
