import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { describeAudioTag, describeVideoTag } from '../../src/media/flv/flv-tag.ts';
import { readFlvTags } from '../../test/support/rtmp-client.ts';
import type { Recording } from './publisher.ts';

/** A whole number of GOPs and of AAC frames, so that the loop has no seam. */
const loopSeconds = 16;

/** Encodes 30 fps with keyframes at a constant distance and rate, and 128 kbit/s AAC, into an FLV file. */
export async function makeRecording(
  ffmpeg: string,
  path: string,
  videoKilobits: number,
  { size = '1280x720', gopSeconds = 2 } = {},
): Promise<void> {
  const rate = `${videoKilobits}k`;
  const gop = String(30 * gopSeconds);
  const args = [
    ...['-hide_banner', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=30`],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
    ...['-t', String(loopSeconds), '-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency'],
    ...['-pix_fmt', 'yuv420p', '-g', gop, '-keyint_min', gop, '-sc_threshold', '0'],
    ...['-b:v', rate, '-minrate', rate, '-maxrate', rate, '-bufsize', rate, '-nal-hrd', 'cbr'],
    ...['-c:a', 'aac', '-b:a', '128k', '-f', 'flv', path],
  ];
  await promisify(execFile)(ffmpeg, args);
}

/** Reads what {@link makeRecording} wrote. */
export async function readRecording(path: string): Promise<Recording> {
  const heads: FlvTag[] = [];
  const frames: FlvTag[] = [];
  for (const tag of readFlvTags(await readFile(path))) {
    if (tag.kind === 'script') {
      if (heads.every(head => head.kind !== 'script')) heads.push(tag);
      continue;
    }
    const role = (tag.kind === 'video' ? describeVideoTag : describeAudioTag)(tag.body)?.role;
    if (role === 'config') heads.push(tag);
    else if (role === 'keyframe' || role === 'frame') frames.push(tag);
  }
  return { heads, frames, loopMs: loopSeconds * 1000 };
}
