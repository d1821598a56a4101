import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { entriesIn, isNotFound } from '../../storage/folder-names.ts';
import type { StoredBytes } from './usage.store.ts';

type StorageKind = keyof StoredBytes;

/** By the beginning of names in a video's folder. Other files are not counted. */
const storageKinds: readonly (readonly [beginning: RegExp, kind: StorageKind])[] = [
  [/^source(?:\.partial)?$/, 'sourceBytes'],
  [/^recording-\d+\.mp4$/, 'recordingBytes'],
  [/^hls-\d+$/, 'hlsBytes'],
  [/^mp4$/, 'mp4Bytes'],
  [/^(?:thumbnail-.*|storyboard\.jpg|watermark)$/, 'imageBytes'],
  [/^(?:(?:captions|chapters)-.*\.vtt|storyboard\.vtt)$/, 'textBytes'],
];

function storageKindOf(name: string, isRecording: boolean): StorageKind | undefined {
  const kind = storageKinds.find(([pattern]) => pattern.test(name))?.[1];
  return kind === 'sourceBytes' && isRecording ? 'recordingBytes' : kind;
}

export async function measureFiles(folder: string, isRecording: boolean): Promise<StoredBytes> {
  const bytes = {
    ...{ sourceBytes: 0, recordingBytes: 0, hlsBytes: 0 },
    ...{ mp4Bytes: 0, imageBytes: 0, textBytes: 0 },
  };
  for (const entry of await entriesIn(folder)) {
    const kind = storageKindOf(entry.name, isRecording);
    if (kind === undefined) continue;
    const path = join(folder, entry.name);
    if (entry.isFile()) bytes[kind] += await sizeOf(path);
    if (!entry.isDirectory()) continue;
    for (const inner of await entriesIn(path)) {
      if (inner.isFile()) bytes[kind] += await sizeOf(join(path, inner.name));
    }
  }
  return bytes;
}

/** Files come and go during a measurement. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await lstat(path)).size;
  } catch (error) {
    if (isNotFound(error)) return 0;
    throw error;
  }
}
