import { expect, test } from 'vitest';
import { describeAac } from '../../../../src/live/packaging/track-format.ts';
import { ConvertedAudio } from '../../../../src/live/restream/converted-audio.ts';
import type { RestreamMedia } from '../../../../src/live/restream/restream-feed.ts';
import { samples } from '../../../support/media-samples.ts';

const { track } = describeAac(Buffer.from([0x11, 0x90]));
const sample = {
  trackId: 2,
  dtsTicks: 48_000,
  durationTicks: 1024,
  compositionOffsetTicks: 0,
  isSync: true,
  data: Buffer.of(1, 2),
};
const opus = { media: samples.audio('Opus', { dtsMs: 0, data: Buffer.of(0xfc) }), atMs: 0 };
const aac = { media: samples.audio('mp4a', { dtsMs: 0, data: Buffer.of(9) }), atMs: 0 };
const video = { media: samples.video('avc1', { dtsMs: 0, data: Buffer.of(1) }), atMs: 0 };

function start() {
  const sent: RestreamMedia[] = [];
  return { converted: new ConvertedAudio(media => sent.push(media)), sent };
}

test('destinations get AAC in place of Opus', () => {
  const { converted, sent } = start();
  expect(converted.replaces(opus)).toBe(true);
  expect(converted.replaces(video)).toBe(false);
  converted.tracks('audio', { audio: track });
  converted.tracks('audio-original', { audio: track });
  converted.sample('audio', 'audio', sample, 1000);
  converted.sample('audio-original', 'audio', sample, 1000);
  converted.sample('source', 'video', sample, 1000);
  expect(sent.map(({ media, atMs }) => [media.type, atMs, media.data.toString('hex')])).toEqual([
    ['config', 0, '1190'],
    ['sample', 1000, '0102'],
  ]);
});

test('AAC and video are sent as they come', () => {
  const { converted, sent } = start();
  expect(converted.replaces(aac)).toBe(false);
  converted.tracks('source', { audio: track });
  converted.sample('source', 'audio', sample, 1000);
  expect(sent).toEqual([]);
});
