import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readVideoParameters } from '../../src/media/codecs/frame-sizes.ts';
import { VideoSampleBuilder } from '../../src/media/codecs/video-sample-builder.ts';
import { flvHeader, flvTagEnvelope } from '../../src/media/flv/flv-tag.ts';
import { UnitScanner } from '../../src/media/mpegts/unit-scanner.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { sampleTags } from '../support/media-samples.ts';
import { testTempDir } from '../support/temp-dir.ts';

const frames = 12;
const source = ['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=25:duration=${frames / 25}`];
/** Access unit delimiters show where each frame begins. */
const encoders = {
  avc1: ['-c:v', 'libx264', '-bf', '0', '-x264-params', 'aud=1:repeat-headers=1', '-f', 'h264'],
  hvc1: [
    ...['-c:v', 'libx265', '-x265-params', 'aud=1:repeat-headers=1:bframes=0:log-level=none'],
    ...['-f', 'hevc'],
  ],
};

function isDelimiter(codec: keyof typeof encoders, unit: Buffer): boolean {
  return codec === 'avc1' ? (unit[0]! & 0x1f) === 9 : ((unit[0]! >> 1) & 0x3f) === 35;
}

async function framesOf(path: string, format: string): Promise<string[]> {
  const listed = await runToEnd(ffmpegPath, ['-f', format, '-i', path, '-f', 'framemd5', '-']);
  return listed
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
    .map(line => line.split(',').at(-1)!.trim());
}

test.each(['avc1', 'hvc1'] as const)('a byte stream of %s becomes tags with the same frames', async codec => {
  const folder = await testTempDir();
  const elementary = join(folder, 'elementary');
  await runToEnd(ffmpegPath, [
    '-v',
    'error',
    ...source,
    '-pix_fmt',
    'yuv420p',
    ...encoders[codec],
    elementary,
  ]);
  const accessUnits: Buffer[][] = [];
  const stream = await readFile(elementary);
  const scanner = new UnitScanner(Infinity);
  scanner.scan(stream);
  for (const unit of scanner.units(stream)) {
    if (isDelimiter(codec, unit)) accessUnits.push([]);
    accessUnits.at(-1)?.push(unit);
  }
  expect(accessUnits).toHaveLength(frames);

  const builder = new VideoSampleBuilder(codec);
  const parts = [flvHeader(false, true)];
  let records = 0;
  accessUnits.forEach((units, index) => {
    const sample = builder.build(units)!;
    const dtsMs = index * 40;
    const tags = [sampleTags.video(codec, { dtsMs, ...sample })];
    if (sample.record !== undefined) {
      records += 1;
      expect(readVideoParameters(codec, sample.record)?.size).toEqual({ width: 320, height: 180 });
      tags.unshift(sampleTags.videoConfig(codec, sample.record, dtsMs));
    }
    for (const { timestampMs, body } of tags) {
      const [head, tail] = flvTagEnvelope('video', timestampMs, body.length);
      parts.push(head, body, tail);
    }
  });
  expect(records).toBe(1);
  // Enhanced FLV needs ffmpeg 6.1.
  if (codec === 'hvc1') return;
  const flv = join(folder, 'tags.flv');
  await writeFile(flv, Buffer.concat(parts));
  const expected = await framesOf(elementary, codec === 'avc1' ? 'h264' : 'hevc');
  expect(expected).toHaveLength(frames);
  expect(await framesOf(flv, 'flv')).toEqual(expected);
});
