import { expect, test } from 'vitest';
import type { RtpFrame } from '../../../../src/live/webrtc/h264-frames.ts';
import { RtpFeed } from '../../../../src/live/webrtc/rtp-feed.ts';
import { avcConfigRecord } from '../../../../src/media/codecs/config-record.ts';
import { joinWithLengths } from '../../../../src/media/codecs/nal-units.ts';
import { vp8Record } from '../../../../src/media/codecs/vp8.ts';
import { unitsOf } from '../../../../src/media/rtp/depacketize.ts';
import { samples } from '../../../support/media-samples.ts';
import { videoTrack } from '../../../support/recording-sink.ts';

const sps = Buffer.from('6742c00bda028dc00', 'hex');
const pps = Buffer.from('68ce3c80', 'hex');
const record = avcConfigRecord([sps], [pps], [])!;
/** 20 ms at 48 kHz. */
const opusPacket = Buffer.from([0x78, 1, 2]);

class Viewer {
  readonly frames: RtpFrame[] = [];
  reason: string | undefined;

  frame(frame: RtpFrame): void {
    this.frames.push(frame);
  }

  ended(reason: string): void {
    this.reason = reason;
  }
}

function createFeed(): { feed: RtpFeed; viewer: Viewer } {
  const feed = new RtpFeed(1_000, () => {});
  const viewer = new Viewer();
  feed.add(viewer);
  feed.media({ media: samples.videoConfig('avc1', record), atMs: 0, isSlate: false });
  return { feed, viewer };
}

function video(feed: RtpFeed, atMs: number, isKeyframe: boolean, offsetMs = 0, isSlate = false): void {
  const unit = Buffer.from([isKeyframe ? 0x65 : 0x41, atMs & 0xff, 1]);
  const data = joinWithLengths([Buffer.from([9, 0x10]), unit]);
  const media = samples.video('avc1', { dtsMs: 0, ptsMs: offsetMs, isKeyframe, data });
  feed.media({ media, atMs, isSlate });
}

function audio(feed: RtpFeed, atMs: number): void {
  feed.media({ media: samples.audio('Opus', { dtsMs: 0, data: opusPacket }), atMs, isSlate: false });
}

test('video begins at a keyframe, which has the parameter sets before it', () => {
  const { feed, viewer } = createFeed();
  video(feed, 0, false);
  expect(feed.hasBegun).toBe(false);
  video(feed, 40, true);
  video(feed, 80, false);
  video(feed, 120, false, 0, true);
  expect(viewer.frames.map(({ timestamp }) => timestamp)).toEqual([3_600, 7_200]);
  expect(unitsOf('avc1', viewer.frames[0]!.payloads())).toEqual([sps, pps, Buffer.from([0x65, 40, 1])]);
  expect(unitsOf('avc1', viewer.frames[1]!.payloads())).toEqual([Buffer.from([0x41, 80, 1])]);
});

test('who joins gets the frames since the keyframe, the newest at its own time', () => {
  const { feed } = createFeed();
  for (let index = 0; index < 5; index++) video(feed, index * 40, index === 2);
  const recent = feed.recentVideo();
  expect(recent.map(({ timestamp }) => timestamp)).toEqual([14_220, 14_310, 14_400]);
  expect(recent.map(({ isKeyframe }) => isKeyframe)).toEqual([true, false, false]);
  expect(recent.at(-1)!.ntpMs - recent[0]!.ntpMs).toBe(2);
});

test('audio follows from the lengths of its packets, and steps over gaps', () => {
  const { feed, viewer } = createFeed();
  for (const atMs of [100, 121, 139, 160, 260]) audio(feed, atMs);
  expect(viewer.frames.map(({ timestamp }) => timestamp)).toEqual([4_800, 5_760, 6_720, 7_680, 12_480]);
});

test('times that WHIP has rounded are no B-frames', () => {
  const { feed, viewer } = createFeed();
  for (let index = 0; index < 4; index++) video(feed, index * 40, index === 0, index % 2);
  expect(viewer.frames).toHaveLength(4);
  expect(feed.problem).toBeUndefined();
});

test('of video that players cannot play, viewers get what is encoded from it', () => {
  const { feed, viewer } = createFeed();
  video(feed, 0, true);
  feed.stateChanged('waiting');
  const config = samples.videoConfig('vp08', vp8Record({ width: 640, height: 360 }));
  const vp8 = samples.video('vp08', { dtsMs: 0, isKeyframe: true, data: Buffer.from([0x10]) });
  feed.media({ media: config, atMs: 40, isSlate: false });
  feed.media({ media: vp8, atMs: 40, isSlate: false });
  expect(viewer.frames).toHaveLength(1);
  const sample = {
    trackId: 1,
    dtsTicks: 0,
    durationTicks: 1,
    compositionOffsetTicks: 0,
    isSync: true,
    data: joinWithLengths([Buffer.from([0x65, 1])]),
  };
  // The last frames of the publisher before.
  feed.sample('source', 'video', sample, 20, false);
  feed.tracks('720p', { video: videoTrack }, Buffer.alloc(0), false);
  feed.sample('source', 'video', sample, 20, false);
  feed.tracks('source', { video: videoTrack }, Buffer.alloc(0), true);
  feed.sample('source', 'video', sample, 20, false);
  expect(viewer.frames).toHaveLength(1);
  feed.tracks('source', { video: videoTrack }, Buffer.alloc(0), false);
  feed.sample('source', 'video', sample, 40, false);
  feed.sample('720p', 'video', sample, 40, false);
  feed.sample('source', 'video', sample, 60, true);
  expect(viewer.frames.map(({ timestamp }) => timestamp)).toEqual([0, 3_600]);
  expect(unitsOf('avc1', viewer.frames[1]!.payloads())?.at(-1)).toEqual(Buffer.from([0x65, 1]));
  expect(viewer.reason).toBeUndefined();
  feed.stateChanged('waiting');
  feed.media({ media: samples.videoConfig('avc1', record), atMs: 80, isSlate: false });
  feed.sample('source', 'video', sample, 80, false);
  video(feed, 120, true);
  expect(viewer.frames.map(({ timestamp }) => timestamp)).toEqual([0, 3_600, 10_800]);
});

test('B-frames and other codecs end the viewers, with the reason; the next publisher may be better', () => {
  const { feed, viewer } = createFeed();
  video(feed, 0, true, 80);
  expect(viewer.reason).toContain('B-frames');
  expect(feed.problem).toBe(viewer.reason);
  feed.stateChanged('waiting');
  video(feed, 40, true);
  expect(feed.problem).toBeUndefined();
  const second = new Viewer();
  feed.add(second);
  const media = samples.audioConfig('mp4a', Buffer.from([0x11, 0x90]));
  feed.media({ media, atMs: 0, isSlate: false });
  expect(second.reason).toContain('AAC');
  const third = new Viewer();
  feed.add(third);
  feed.ended();
  expect(third.reason).toContain('ended');
});

test('renditions that are encoded are offered by bitrate once they are measured, without those with B-frames', () => {
  const { feed, viewer } = createFeed();
  const encoded = (
    name: string,
    atMs: number,
    isSync: boolean,
    bytes: number,
    compositionOffsetTicks = 0,
  ) => {
    const data = joinWithLengths([Buffer.alloc(bytes, isSync ? 0x65 : 0x41)]);
    const times = { trackId: 1, dtsTicks: 0, durationTicks: 1, compositionOffsetTicks };
    feed.encodedSample(name, { ...times, isSync, data }, atMs);
  };
  for (let index = 0; index < 3; index++) video(feed, index * 40, index === 0);
  for (const name of ['source', '240p', '360p', 'reordered']) feed.encodedTrack(name, videoTrack);
  encoded('360p', 0, false, 10);
  for (const atMs of [0, 1_000]) {
    encoded('240p', atMs, true, 25_000);
    encoded('360p', atMs, true, 50_000);
    encoded('360p', atMs + 40, false, 50_000);
    encoded('reordered', atMs, true, 10_000);
    encoded('unknown', atMs, true, 10_000);
    if (atMs === 0) expect(feed.renditions().map(({ name }) => name)).toEqual(['source']);
  }
  encoded('reordered', 1_040, false, 10_000, videoTrack.timescale / 10);
  encoded('source', 1_080, true, 10);
  const [, ...others] = feed.renditions();
  expect(others.map(({ name }) => name)).toEqual(['360p', '240p']);
  expect(others[0]!.bitsPerSecond / others[1]!.bitsPerSecond).toBeCloseTo(4, 1);
  const lower = viewer.frames.filter(({ rendition }) => rendition === '240p');
  expect(lower.map(({ timestamp, isKeyframe }) => [timestamp, isKeyframe])).toEqual([
    [0, true],
    [90_000, true],
  ]);
  expect((unitsOf('avc1', lower[0]!.payloads())![0]![0]! & 0x1f) === 7).toBe(true);
  // One of which nothing comes any more is not offered.
  video(feed, 8_000, false);
  expect(feed.renditions()).toHaveLength(1);
  feed.encodedRenditions(['360p']);
  encoded('240p', 8_000, true, 10);
  expect(viewer.frames.at(-1)!.rendition).toBe('source');
});
