import { open } from 'node:fs/promises';
import { describeAudioTag, describeVideoTag, flvTagTypes } from '../../media/flv/flv-tag.ts';
import { readerOf } from '../index/index-progressive.ts';

const headBytes = 13;
const tagHeadBytes = 11;
const previousSizeBytes = 4;
const windowBytes = 256 * 1024;
/** Real ones have less than a hundred. */
const maxConfigBytes = 4 * 1024;

/** Returns true for an FLV file with several configurations of a track. A copy by ffmpeg keeps only the first one. */
export async function hasSeveralConfigs(path: string, signal: AbortSignal): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const readAt = readerOf(handle);
    const { size } = await handle.stat();
    const known = new Map<number, Buffer>();
    let windowAt = 0;
    let window: Buffer = Buffer.alloc(0);
    let at = headBytes;
    while (at + tagHeadBytes < size) {
      const wantedEnd = Math.min(size, at + tagHeadBytes + maxConfigBytes);
      if (at < windowAt || wantedEnd > windowAt + window.length) {
        signal.throwIfAborted();
        windowAt = at;
        window = await readAt(at, windowBytes);
        if (window.length <= tagHeadBytes) return false;
      }
      const type = window.readUInt8(at - windowAt) & 0x1f;
      const bodyBytes = window.readUIntBE(at - windowAt + 1, 3);
      const bodyAt = at - windowAt + tagHeadBytes;
      const body = window.subarray(bodyAt, bodyAt + Math.min(bodyBytes, maxConfigBytes));
      const described =
        type === flvTagTypes.video
          ? describeVideoTag(body)
          : type === flvTagTypes.audio
            ? describeAudioTag(body)
            : undefined;
      if (described?.role === 'config') {
        if (known.get(type)?.equals(body) === false) return true;
        known.set(type, Buffer.from(body));
      }
      at += tagHeadBytes + bodyBytes + previousSizeBytes;
    }
    return false;
  } finally {
    await handle.close();
  }
}
