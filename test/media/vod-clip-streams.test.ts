import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ProbedFile } from '../../src/ffmpeg/media-tools.ts';
import { parseInitSegment } from '../../src/media/cmaf/init-segment.ts';
import { streamOf } from '../../src/vod/clip/clip-streams.ts';
import { planSource } from '../../src/vod/source/source-plan.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const tools = makeMediaTools();
let folder: string;

beforeAll(async () => {
  folder = await makeTempDir();
});
afterAll(async () => {
  await removeDir(folder);
});

/** Makes a fragmented file. */
async function make(name: string, output: readonly string[]): Promise<string> {
  const path = join(folder, `${name.replaceAll(' ', '-')}.mp4`);
  await runToEnd(ffmpegPath, [
    ...['-y', '-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=426x240:r=25:d=1'],
    ...['-f', 'lavfi', '-i', 'sine=d=1:r=48000', '-c:v', 'libx264', '-preset', 'ultrafast'],
    ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', ...output],
    ...['-movflags', 'frag_keyframe+empty_moov', path],
  ]);
  return path;
}

function planOf(file: ProbedFile) {
  const plan = planSource(file, {});
  if (plan.kind === 'refused') throw new Error(plan.reason);
  return plan;
}

const formats: readonly (readonly [name: string, output: readonly string[]])[] = [
  ['constrained baseline', ['-profile:v', 'baseline']],
  ['main', ['-preset', 'medium', '-profile:v', 'main']],
  ['high', ['-preset', 'medium', '-profile:v', 'high']],
  ['four colors per pixel', ['-pix_fmt', 'yuv444p']],
  ['ten bits', ['-pix_fmt', 'yuv420p10le']],
  ['interlaced', ['-flags', '+ilme+ildct', '-x264-params', 'tff=1']],
  ['pixels that are not square', ['-vf', 'setsar=4/3']],
  ['HLG', ['-color_trc', 'arib-std-b67', '-color_primaries', 'bt2020', '-colorspace', 'bt2020nc']],
  ['cropped', ['-vf', 'crop=420:230']],
  ['5.1', ['-ac', '6']],
  ['mono', ['-ac', '1', '-ar', '22050']],
  ['Opus', ['-c:a', 'libopus']],
  ['MP3', ['-c:a', 'libmp3lame']],
];

describe.each(formats)('%s', (name, output) => {
  test('a track is planned as ffprobe describes it', async () => {
    const path = await make(name, output);
    const probed = await tools.probe(path, AbortSignal.timeout(60_000));
    const tracks = parseInitSegment(await readFile(path));
    const described = { ...probed, streams: tracks.map((track, index) => streamOf(track, index)) };
    const [expected, plan] = [planOf(probed), planOf(described)];
    expect(plan.video?.displayResolution).toEqual(expected.video?.displayResolution);
    expect(plan.video?.isPassthrough).toBe(expected.video?.isPassthrough);
    expect(plan.audioTracks).toEqual(expected.audioTracks);
    expect(plan.audioRenditions.map(one => [one.name, one.isPassthrough])).toEqual(
      expected.audioRenditions.map(one => [one.name, one.isPassthrough]),
    );
    const { videoCodec, audioCodec, samplerate, aspectRatio } = plan.sourceMetadata;
    expect(expected.sourceMetadata).toMatchObject({ videoCodec, audioCodec, samplerate, aspectRatio });
  });
});
