import { relative, sep } from 'node:path';
import type { MediaStorage } from '../../storage/media-storage.ts';
import type { StoredBytes } from './usage.store.ts';

type StorageKind = keyof StoredBytes;

/** Kinds by the beginning of names in a video's folder. Other files are not counted. */
const storageKinds: readonly (readonly [beginning: RegExp, kind: StorageKind])[] = [
  [/^source(?:\.partial)?$/, 'sourceBytes'],
  [/^recording-\d+\.mp4$/, 'recordingBytes'],
  [/^(?:hls|hevc|av1)-\d+$/, 'hlsBytes'],
  [/^mp4$/, 'mp4Bytes'],
  [/^(?:thumbnail-.*|storyboard\.jpg|watermark)$/, 'imageBytes'],
  [/^(?:(?:captions|chapters)-.*\.vtt|storyboard\.vtt)$/, 'textBytes'],
];

function storageKindOf(name: string, isRecording: boolean): StorageKind | undefined {
  const kind = storageKinds.find(([pattern]) => pattern.test(name))?.[1];
  return kind === 'sourceBytes' && isRecording ? 'recordingBytes' : kind;
}

/** Files that another server is still writing are not counted yet. */
export async function measureFiles(
  storage: MediaStorage,
  folder: string,
  isRecording: boolean,
): Promise<StoredBytes> {
  const measured = {
    sourceBytes: 0,
    recordingBytes: 0,
    hlsBytes: 0,
    mp4Bytes: 0,
    imageBytes: 0,
    textBytes: 0,
  };
  for await (const { path, bytes } of storage.list(folder)) {
    const [name] = relative(folder, path).split(sep);
    const kind = storageKindOf(name!, isRecording);
    if (kind !== undefined) measured[kind] += bytes;
  }
  return measured;
}
