import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { describeAudioTag, describeVideoTag } from '../../src/media/flv/flv-tag.ts';
import { framesInMp4, readAudioTags } from '../../test/support/read-audio-tags.ts';
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

/** Replaces the audio of a recording by Opus, which browsers play over WebRTC. */
export async function makeOpusRecording(ffmpeg: string, recordingPath: string, path: string): Promise<void> {
  const audioPath = `${path}.mp4`;
  const args = ['-i', recordingPath, '-vn', '-c:a', 'libopus', '-b:a', '96k', ...framesInMp4, audioPath];
  await promisify(execFile)(ffmpeg, ['-hide_banner', '-loglevel', 'error', '-y', ...args]);
  const audio = readAudioTags('Opus', await readFile(audioPath));
  const video = readFlvTags(await readFile(recordingPath)).filter(({ kind }) => kind === 'video');
  const tags = [...video, ...audio.filter(({ timestampMs }) => timestampMs < loopSeconds * 1000)];
  await writeFile(path, writeFlv(tags.toSorted((one, other) => one.timestampMs - other.timestampMs)));
}

function writeFlv(tags: readonly FlvTag[]): Buffer {
  const head = Buffer.from('464c5601050000000900000000', 'hex');
  const written = tags.flatMap(({ kind, timestampMs, body }) => {
    const header = Buffer.alloc(11);
    header[0] = kind === 'audio' ? 8 : 9;
    header.writeUIntBE(body.length, 1, 3);
    header.writeUIntBE(Math.round(timestampMs), 4, 3);
    const size = Buffer.alloc(4);
    size.writeUInt32BE(11 + body.length);
    return [header, body, size];
  });
  return Buffer.concat([head, ...written]);
}

/** Reads what {@link makeRecording} or {@link makeOpusRecording} wrote. */
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
