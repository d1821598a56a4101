import { describe, expect, test } from 'vitest';
import { encodeAmf0 } from '../../../support/amf0.ts';
import { eventsOf, samples, tagOf } from '../../../support/media-samples.ts';

const data = Buffer.from([1, 2, 3]);
const frame = { dtsMs: 40, ptsMs: 120, isKeyframe: true, data };
const video = (...bytes: number[]) => ({
  kind: 'video' as const,
  timestampMs: 40,
  body: Buffer.from(bytes),
});

describe('samples that are written as tags', () => {
  test.each([
    samples.video('avc1', frame),
    samples.video('avc1', { ...frame, ptsMs: 0, isKeyframe: false }),
    samples.video('hvc1', frame),
    samples.video('av01', { ...frame, ptsMs: 40 }),
    samples.videoConfig('avc1', data),
    samples.videoConfig('av01', data),
    samples.audio('mp4a', { dtsMs: 2 ** 32 - 1, data }),
    samples.audio('.mp3', { dtsMs: 0, data }),
    samples.audio('ec-3', { dtsMs: 0, data }),
    samples.audioConfig('Opus', data),
  ])('are read back (%#)', media => {
    const tag = tagOf(media);
    expect(eventsOf(tag)).toEqual([{ ...media, tagBody: tag.body }]);
  });
});

test('H.264 by FourCC is written in its first form', () => {
  const avc1 = [...Buffer.from('avc1')];
  expect(
    eventsOf(
      video(0x90, ...avc1, ...data),
      video(0x91, ...avc1, 0, 0, 80, ...data),
      video(0xa3, ...avc1, ...data),
    ),
  ).toEqual([
    samples.videoConfig('avc1', data),
    samples.video('avc1', frame),
    samples.video('avc1', { dtsMs: 40, data }),
  ]);
});

test('unknown codecs keep their names, and commands hold nothing', () => {
  expect(eventsOf(video(0x12, 7))).toMatchObject([{ codec: { name: 'Sorenson H.263', fourCc: undefined } }]);
  expect(eventsOf(video(0x91, ...Buffer.from('vp09'), 7))).toMatchObject([{ codec: { name: 'VP9' } }]);
  expect(eventsOf(video(0x57, 1, 0, 0, 0), video(0x17, 2, 0, 0, 0), video(0x17, 1))).toEqual([]);
});

test('what an encoder announces stands beside its media', () => {
  const declared = encodeAmf0('@setDataFrame', 'onMetaData', { framerate: 30, videocodecid: 7 });
  const colors = encodeAmf0('colorInfo', {
    colorConfig: { colorPrimaries: 9, transferCharacteristics: 16, matrixCoefficients: 9 },
  });
  expect(
    eventsOf(
      { kind: 'script', timestampMs: 0, body: declared },
      { kind: 'script', timestampMs: 0, body: encodeAmf0('onCuePoint', 1) },
      video(0x94, ...Buffer.from('hvc1'), ...colors),
    ),
  ).toMatchObject([
    { type: 'declared', media: { framesPerSecond: 30, hasVideo: true, hasAudio: false } },
    { type: 'color', color: { colour: { primaries: 9, transfer: 16, matrix: 9 } } },
  ]);
});
