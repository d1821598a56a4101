import { expect, test } from 'vitest';
import { describeAac } from '../../../../src/live/packaging/flv-tracks.ts';
import { ConvertedAudio } from '../../../../src/live/restream/converted-audio.ts';
import type { RestreamTag } from '../../../../src/media/flv/flv-tag.ts';
import { sampleTags } from '../../../../src/media/flv/sample-tags.ts';

const { track } = describeAac(Buffer.from([0x11, 0x90]));
const sample = {
  ...{ trackId: 2, dtsTicks: 48_000, durationTicks: 1024, compositionOffsetTicks: 0, isSync: true },
  data: Buffer.of(1, 2),
};
const tagOf = (body: Buffer, kind: RestreamTag['kind'] = 'audio'): RestreamTag => ({
  ...{ kind, role: 'frame', atMs: 0, body },
});
const opus = tagOf(sampleTags.audio('Opus', { dtsMs: 0, data: Buffer.of(0xfc) }).body);
const aac = tagOf(sampleTags.audio('mp4a', { dtsMs: 0, data: Buffer.of(9) }).body);

function start() {
  const sent: RestreamTag[] = [];
  return { converted: new ConvertedAudio(tag => sent.push(tag)), sent };
}

test('destinations get AAC in place of Opus', () => {
  const { converted, sent } = start();
  expect(converted.replaces(opus)).toBe(true);
  expect(converted.replaces(tagOf(Buffer.of(0x17, 1), 'video'))).toBe(false);
  converted.tracks('audio', { audio: track });
  converted.tracks('audio-original', { audio: track });
  converted.sample('audio', 'audio', sample, 1000);
  converted.sample('audio-original', 'audio', sample, 1000);
  converted.sample('source', 'video', sample, 1000);
  expect(sent.map(({ role, atMs, body }) => [role, atMs, body.toString('hex')])).toEqual([
    ['config', 0, 'af001190'],
    ['frame', 1000, 'af010102'],
  ]);
});

test('AAC and video are sent as they come', () => {
  const { converted, sent } = start();
  expect(converted.replaces(aac)).toBe(false);
  converted.tracks('source', { audio: track });
  converted.sample('source', 'audio', sample, 1000);
  expect(sent).toEqual([]);
});
