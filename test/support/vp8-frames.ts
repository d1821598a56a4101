import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';

interface Vp8Recording {
  readonly size: string;
  readonly frames: number;
  readonly fps: number;
  /** Frames from one keyframe to the next. */
  readonly gop: number;
}

const ivfHeaderBytes = 32;
const ivfFrameHeaderBytes = 12;
const maxPayloadBytes = 1_100;
const STARTS_PARTITION = 0x10;

/** Encodes a moving test picture as browsers do: in real time, without invisible frames. */
export async function recordVp8({ size, frames, fps, gop }: Vp8Recording): Promise<Buffer[]> {
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'video.ivf');
    await runToEnd(ffmpegPath, [
      ...['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${fps}`],
      ...['-frames:v', String(frames), '-c:v', 'libvpx', '-deadline', 'realtime', '-cpu-used', '8'],
      ...['-auto-alt-ref', '0', '-lag-in-frames', '0', '-g', String(gop), '-keyint_min', String(gop)],
      ...['-b:v', '600k', '-f', 'ivf', path],
    ]);
    const ivf = await readFile(path);
    const recorded: Buffer[] = [];
    for (let at = ivfHeaderBytes; at < ivf.length; ) {
      const start = at + ivfFrameHeaderBytes;
      at = start + ivf.readUInt32LE(at);
      recorded.push(ivf.subarray(start, at));
    }
    return recorded;
  } finally {
    await removeDir(folder);
  }
}

/** Packetizes a frame with the fields that browsers send. RFC 7741, 4.2. */
export function packetizeVp8(frame: Buffer, pictureId: number): Buffer[] {
  const id = 0x8000 | (pictureId & 0x7fff);
  const fields = [0xe0, id >> 8, id & 0xff, pictureId & 0xff, 0x20];
  const payloads: Buffer[] = [];
  for (let at = 0; at < frame.length; at += maxPayloadBytes) {
    const descriptor = Buffer.from([0x80 | (at === 0 ? STARTS_PARTITION : 0), ...fields]);
    payloads.push(Buffer.concat([descriptor, frame.subarray(at, at + maxPayloadBytes)]));
  }
  return payloads;
}
