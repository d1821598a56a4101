import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FragmentReader, type Sample } from '../../src/media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../src/media/cmaf/movie-box.ts';
import { readChildBox, readSampleEntry } from '../../src/media/cmaf/sample-entry.ts';
import { type FlvTag, flvHeader, flvTagEnvelope } from '../../src/media/flv/flv-tag.ts';
import { ffmpegPath, runToEnd } from './ffmpeg.ts';
import { readFlvTags } from './rtmp-client.ts';

/** Tags as an encoder sends them, and a file with the same media that ffmpeg reads. */
export interface PackagerInput {
  readonly tags: readonly FlvTag[];
  readonly filePath: string;
}

const seconds = 3;
const sources = [
  ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=size=322x180:rate=30'],
  ...['-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000', '-t', String(seconds)],
];

/** Encodes H.264 and AAC in FLV; later arguments override. @param change replaces tags */
export async function makeFlvInput(
  folder: string,
  name: string,
  args: readonly string[],
  change: (tags: readonly FlvTag[]) => readonly FlvTag[] = tags => tags,
): Promise<PackagerInput> {
  const filePath = join(folder, `${name}.flv`);
  await runToEnd(ffmpegPath, [
    ...[...sources, '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '30', '-bf', '0'],
    ...['-c:a', 'aac', '-aac_coder', 'fast', '-b:a', '64k', ...args, '-f', 'flv', filePath],
  ]);
  const tags = change(readFlvTags(await readFile(filePath)));
  const kinds = new Set(tags.map(({ kind }) => kind));
  const chunks = [flvHeader(kinds.has('audio'), kinds.has('video'))];
  for (const { kind, timestampMs, body } of tags) {
    if (kind === 'script') continue;
    const [head, tail] = flvTagEnvelope(kind, timestampMs, body.length);
    chunks.push(head, body, tail);
  }
  await writeFile(filePath, Buffer.concat(chunks));
  return { tags, filePath };
}

/** Encodes a codec that older builds of ffmpeg cannot write into FLV, and makes enhanced tags of its frames. */
export async function makeEnhancedInput(
  folder: string,
  name: string,
  args: readonly string[],
): Promise<PackagerInput> {
  const filePath = join(folder, `${name}.mp4`);
  await runToEnd(ffmpegPath, [
    ...[...sources, '-pix_fmt', 'yuv420p', '-g', '30', '-an', ...args],
    ...['-f', 'mp4', '-movflags', '+delay_moov+default_base_moof+frag_every_frame', filePath],
  ]);
  let track: TrackDescription | undefined;
  const tags: FlvTag[] = [];
  const reader = new FragmentReader({
    onInit: ([first]) => {
      track = first!;
      tags.push({ kind: 'video', timestampMs: 0, body: enhancedHeader(track) });
    },
    onSample: sample => {
      const timestampMs = Math.round((sample.dtsTicks * 1000) / track!.timescale);
      tags.push({ kind: 'video', timestampMs, body: enhancedFrame(track!, sample) });
    },
  });
  reader.push(await readFile(filePath));
  return { tags, filePath };
}

const configBoxes: Readonly<Record<string, string>> = { avc1: 'avcC', hvc1: 'hvcC', av01: 'av1C' };

function enhancedHeader({ sampleEntry }: TrackDescription): Buffer {
  const fields = readSampleEntry(sampleEntry, 'video');
  const config = readChildBox(sampleEntry, fields, configBoxes[fields.type]!);
  return Buffer.concat([Buffer.from([0x90]), Buffer.from(fields.type), config.bytes(config.remaining)]);
}

const temporalDelimiter = Buffer.from([0x12, 0]);

/** AV1 has no composition time; a composition time of 0 may be left out. */
function enhancedFrame({ sampleEntry, timescale }: TrackDescription, sample: Sample): Buffer {
  const fourCc = sampleEntry.subarray(4, 8);
  const offsetMs = Math.round((sample.compositionOffsetTicks * 1000) / timescale);
  const hasOffset = fourCc.toString('latin1') !== 'av01' && offsetMs !== 0;
  const packetType = fourCc.toString('latin1') === 'av01' || hasOffset ? 1 : 3;
  const first = 0x80 | (sample.isSync ? 0x10 : 0x20) | packetType;
  const offset = Buffer.alloc(hasOffset ? 3 : 0);
  if (hasOffset) offset.writeIntBE(offsetMs, 0, 3);
  const delimiter = fourCc.toString('latin1') === 'av01' ? temporalDelimiter : Buffer.alloc(0);
  return Buffer.concat([Buffer.from([first]), fourCc, offset, delimiter, sample.data]);
}
