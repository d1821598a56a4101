import { open } from 'node:fs/promises';
import { describeAudioTag, describeVideoTag, flvTagTypes } from '../../media/flv/flv-tag.ts';
import { readAdtsFrame } from '../../media/mpegts/audio-frames.ts';
import { AudioFrameReader } from '../../media/mpegts/audio-reader.ts';
import { TsDemuxer } from '../../media/mpegts/ts-demuxer.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import { readerOf } from '../index/index-progressive.ts';

const headBytes = 13;
const tagHeadBytes = 11;
const previousSizeBytes = 4;
const windowBytes = 256 * 1024;
/** Real ones have less than a hundred. */
const maxConfigBytes = 4 * 1024;

const readBytes = 64 * 1024;
const maxSliceMs = 5;

interface ChangedConfigs {
  readonly video: boolean;
  readonly audio: boolean;
}

/**
 * Finds tracks that change their configuration, of which a copy by ffmpeg keeps only the first one: any of FLV, and AAC with ADTS
 * headers, which MPEG-TS has, too.
 * @param format as ffprobe names it
 */
export async function findChangedConfigs(
  path: string,
  format: string,
  signal: AbortSignal,
): Promise<ChangedConfigs> {
  if (format === 'flv') return findChangedFlvConfigs(path, signal);
  let isChanged = false;
  const known = new Map<number, Buffer>();
  const found = (track: number, config: Buffer | undefined) => {
    if (config === undefined) return;
    if (known.get(track)?.equals(config) === false) isChanged = true;
    known.set(track, config);
  };
  if (format === 'mpegts') {
    const demuxer = new TsDemuxer({
      program: () => {},
      sample: ({ stream, config }) => found(stream.pid, stream.codec === 'mp4a' ? config : undefined),
    });
    await readAll(path, signal, bytes => {
      demuxer.push(bytes);
      return isChanged;
    });
    demuxer.flush();
  }
  if (format === 'aac') {
    const reader = new AudioFrameReader(readAdtsFrame, ({ config }) => found(0, config));
    await readAll(path, signal, data => {
      reader.push({ data, times: { ptsTicks: 0, dtsTicks: 0 }, units: [] });
      return isChanged;
    });
  }
  return { video: false, audio: isChanged };
}

/** @param read returns true to stop */
async function readAll(path: string, signal: AbortSignal, read: (bytes: Buffer) => boolean): Promise<void> {
  const handle = await open(path, 'r');
  try {
    const slice = await TimeSlice.begin(maxSliceMs, signal);
    for (;;) {
      if (slice.isOver) await slice.next();
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(readBytes), 0, readBytes);
      if (bytesRead === 0 || read(buffer.subarray(0, bytesRead))) return;
    }
  } finally {
    await handle.close();
  }
}

async function findChangedFlvConfigs(path: string, signal: AbortSignal): Promise<ChangedConfigs> {
  const handle = await open(path, 'r');
  try {
    const readAt = readerOf(handle);
    const { size } = await handle.stat();
    const known = new Map<number, Buffer>();
    const changed = { video: false, audio: false };
    let windowAt = 0;
    let window: Buffer = Buffer.alloc(0);
    let at = headBytes;
    while (at + tagHeadBytes < size) {
      const wantedEnd = Math.min(size, at + tagHeadBytes + maxConfigBytes);
      if (at < windowAt || wantedEnd > windowAt + window.length) {
        signal.throwIfAborted();
        windowAt = at;
        window = await readAt(at, windowBytes);
        if (window.length <= tagHeadBytes) return changed;
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
        const isChanged = known.get(type)?.equals(body) === false;
        if (isChanged && type === flvTagTypes.video) return { ...changed, video: true };
        changed.audio ||= isChanged;
        known.set(type, Buffer.from(body));
      }
      at += tagHeadBytes + bodyBytes + previousSizeBytes;
    }
    return changed;
  } finally {
    await handle.close();
  }
}
