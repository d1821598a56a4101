import { createWriteStream } from 'node:fs';
import { copyFile, mkdir, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { streamOf } from '../../shared/files/opened-file.ts';
import { namesIn } from '../../storage/folder-names.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { spanName, spanNames, spanNumber, spanOfPieces } from './recording-span.ts';

interface StoredSpans {
  /** Names of complete files. */
  readonly whole: ReadonlySet<string>;
  /** Sizes by position, by the name of the span. */
  readonly pieces: ReadonlyMap<
    string,
    ReadonlyMap<number, { readonly path: string; readonly bytes: number }>
  >;
}

/**
 * Brings the missing files of a recording back from the storage, for the server that finishes what another one recorded.
 */
export async function restoreRecording(
  files: MediaFiles,
  videoId: string,
  signal: AbortSignal,
): Promise<void> {
  const folder = files.video(videoId);
  const local = await namesIn(folder);
  if (local.includes('source')) return;
  const { whole, pieces } = await findSpans(files, videoId);
  // A published source comes from the files here. A local file in its place would hide the one in the storage.
  const ofSource = spanNames(local).length > 0 ? [] : [spanName(1)];
  const ofSpans = spanNames([...new Set([...whole, ...pieces.keys()])]).filter(name => !local.includes(name));
  const names = whole.has('source') ? ofSource : ofSpans;
  if (names.length === 0) return;
  await files.inWorkFolder(async work => {
    for (const name of names) {
      const restored = join(work, name);
      const stored = whole.has('source') ? 'source' : name;
      if (whole.has(stored)) await copyHere(files, join(folder, stored), restored, signal);
      else await assemble(files, pieces.get(name)!, restored, signal);
    }
    await mkdir(folder, { recursive: true });
    for (const name of names) await rename(join(work, name), join(folder, name));
  });
}

/** Removes the pieces after the whole recording is stored. */
export async function removePieces(files: MediaFiles, videoId: string): Promise<void> {
  for await (const name of files.storage.listFolders(files.video(videoId))) {
    if (spanOfPieces(name) !== undefined) await files.storage.remove(files.video(videoId, name));
  }
}

async function findSpans(files: MediaFiles, videoId: string): Promise<StoredSpans> {
  const folder = files.video(videoId);
  const whole = new Set<string>();
  const pieces = new Map<string, Map<number, { path: string; bytes: number }>>();
  for await (const { path, bytes } of files.storage.list(folder)) {
    const parent = dirname(path);
    const name = basename(path);
    if (parent === folder && (name === 'source' || spanNumber(name) !== undefined)) whole.add(name);
    const span = dirname(parent) === folder ? spanOfPieces(basename(parent)) : undefined;
    if (span === undefined) continue;
    const ofSpan = pieces.get(span) ?? new Map<number, { path: string; bytes: number }>();
    pieces.set(span, ofSpan.set(Number(name), { path, bytes }));
  }
  return { whole, pieces };
}

function copyHere({ storage }: MediaFiles, from: string, to: string, signal: AbortSignal): Promise<void> {
  return storage.withLocal(from, path => copyFile(path, to), signal);
}

/** Joins the pieces up to the first gap. */
async function assemble(
  { storage }: MediaFiles,
  pieces: ReadonlyMap<number, { readonly path: string; readonly bytes: number }>,
  to: string,
  signal: AbortSignal,
): Promise<void> {
  await writeFile(to, '');
  let position = 0;
  for (let piece = pieces.get(0); piece !== undefined; piece = pieces.get(position)) {
    const whole = { start: 0, end: piece.bytes };
    await pipeline(streamOf(await storage.open(piece.path), whole), createWriteStream(to, { flags: 'a' }), {
      signal,
    });
    position += piece.bytes;
    if (piece.bytes === 0) return;
  }
}
