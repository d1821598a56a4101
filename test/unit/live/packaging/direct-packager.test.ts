import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DirectPackager } from '../../../../src/live/packaging/direct-packager.ts';
import type { PackagerPlan, Tracks } from '../../../../src/live/packaging/packager.ts';
import { Segmenter } from '../../../../src/live/packaging/segmenter.ts';
import type { Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import type { MediaSample, TrackKind } from '../../../../src/media/samples/media-sample.ts';
import { samples } from '../../../support/media-samples.ts';
import { RecordingSink } from '../../../support/recording-sink.ts';

/** 160x90 at 30 frames a second, as x264 writes it. */
const avcRecord = Buffer.from(
  '0142c00bffe100186742c00bda0a37e4c044000003000400000300f03c50aa8001000468ce0fc8',
  'hex',
);
const avcConfig = samples.videoConfig('avc1', avcRecord);
const aacConfig = samples.audioConfig('mp4a', Buffer.from([0x11, 0x90]));
const aac = samples.audio('mp4a', { dtsMs: 0, data: Buffer.from([0x21, 0x10]) });
const unit = (...bytes: number[]) => Buffer.from([0, 0, 0, bytes.length, ...bytes]);
const idr = unit(0x65, 1, 2, 3);
const slice = unit(0x41, 1, 2, 3);
const sets = Buffer.concat([unit(0x67, 1), unit(0x68, 1)]);
const recoveryPoint = unit(6, 6, 1, 0xc4, 0x80);

function video(isKeyframe: boolean, ...units: Buffer[]): MediaSample {
  return samples.video('avc1', { dtsMs: 0, isKeyframe, data: Buffer.concat(units) });
}

function start(plan: Partial<PackagerPlan> = {}) {
  const log = {
    tracks: undefined as Tracks | undefined,
    samples: [] as [TrackKind, Sample, number][],
    dropped: 0,
    exits: [] as { kind: string; report: string }[],
  };
  const packager = new DirectPackager({
    plan: { hasVideo: true, audio: 'none', framesPerSecond: 25, ...plan },
    events: {
      tracks: tracks => {
        log.tracks = tracks;
      },
      sample: (...sample) => log.samples.push(sample),
      drained: () => {},
      dropped: () => {
        log.dropped += 1;
      },
      exited: exit => log.exits.push(exit),
    },
  });
  return { packager, log };
}

const syncs = (log: ReturnType<typeof start>['log']) => log.samples.map(([, { isSync }]) => isSync);

describe('video', () => {
  test('frames with parameter sets, delimiters and filler stay whole', async () => {
    const { packager, log } = start();
    packager.write(avcConfig, 7000);
    const first = Buffer.concat([unit(9, 0xf0), sets, idr, unit(12, 0xff)]);
    packager.write(video(true, first), 7000);
    packager.write(video(false, slice), 7040);
    await packager.finish();
    expect(log.tracks?.video).toMatchObject({
      codec: 'avc1.42c00b',
      width: 160,
      height: 90,
      timescale: 90_000,
    });
    expect(log.samples.map(([, { data }]) => data)).toEqual([first, slice]);
    expect(log.samples.map(([, { dtsTicks }]) => dtsTicks)).toEqual([630_000, 633_600]);
    expect(log.exits).toEqual([{ kind: 'stopped', report: '' }]);
  });

  test('begins with a keyframe that can be decoded on its own', async () => {
    const { packager, log } = start();
    packager.write(avcConfig, 7000);
    packager.write(video(true, slice), 7000);
    packager.write(video(true, recoveryPoint, slice), 7040);
    packager.write(video(false, idr), 7080);
    packager.write(video(true, slice), 7120);
    packager.write(video(true, recoveryPoint, slice), 7160);
    packager.write(video(false, idr), 7200);
    await packager.finish();
    expect(syncs(log)).toEqual([true, false, false, true]);
    expect(log.dropped).toBe(2);
  });

  test('frames whose lengths are wrong are dropped, and ones without a slice left out', async () => {
    const { packager, log } = start();
    packager.write(avcConfig, 7000);
    packager.write(video(true, idr), 7000);
    packager.write(video(false, Buffer.from([0, 0, 0, 9, 0x41, 1])), 7040);
    packager.write(video(false, Buffer.from([0, 0, 0, 1, 0x41, 0, 0])), 7080);
    packager.write(video(false, Buffer.from([0xff, 0xff, 0xff, 0xff, 0x41])), 7120);
    packager.write(video(false, sets), 7160);
    packager.write(video(false, slice), 7200);
    await packager.finish();
    expect(log.samples).toHaveLength(2);
    expect(log.dropped).toBe(3);
    expect(log.exits).toEqual([{ kind: 'stopped', report: '' }]);
  });

  test('fails clearly when no frame can be used', () => {
    const { packager, log } = start();
    packager.write(avcConfig, 7000);
    for (let index = 0; index < 2000; index += 1)
      packager.write(video(true, Buffer.from([9, 9, 9, 9, 9])), 7000 + index * 40);
    expect(log.exits).toEqual([{ kind: 'failed', report: 'frames whose unit lengths are wrong' }]);
    expect(log.dropped).toBeLessThanOrEqual(1000);
  });

  test.each([
    ['empty', Buffer.alloc(0)],
    ['garbage', Buffer.alloc(40, 0xee)],
    ['cut off', avcRecord.subarray(0, 14)],
    ['larger than any', Buffer.concat([avcRecord, Buffer.alloc(70_000)])],
  ])('fails clearly with a configuration that is %s', (_, record) => {
    const { packager, log } = start();
    packager.write(samples.videoConfig('avc1', record), 7000);
    packager.write(video(true, idr), 7000);
    expect(log.exits).toMatchObject([{ kind: 'failed', report: expect.stringContaining('configuration') }]);
    packager.write(video(true, idr), 7040);
    expect(log.samples).toEqual([]);
  });
});

describe('two tracks', () => {
  test('wait for the configurations of both', async () => {
    const { packager, log } = start({ audio: 'copy' });
    packager.write(avcConfig, 7000);
    packager.write(video(true, idr), 7000);
    expect(log.tracks).toBeUndefined();
    packager.write(aacConfig, 7000);
    packager.write(aac, 7010);
    expect(log.tracks).toMatchObject({
      video: { kind: 'video' },
      audio: { codec: 'mp4a.40.2', sampleRate: 48_000, channels: 2, timescale: 48_000 },
    });
    await packager.finish();
    expect(log.samples.map(([kind, { durationTicks }]) => [kind, durationTicks])).toEqual([
      ['audio', 1024],
      ['video', 3600],
    ]);
  });

  test('of which one never comes: fails clearly', () => {
    const { packager, log } = start({ audio: 'copy' });
    packager.write(avcConfig, 7000);
    for (let index = 0; index < 400; index += 1) packager.write(video(true, idr), 7000 + index * 40);
    expect(log.exits).toEqual([{ kind: 'failed', report: 'one of its tracks never began' }]);
  });
});

describe('a part', () => {
  test.each([
    ['24000/1001', 24_000 / 1001],
    ['25', 25],
    ['30000/1001', 30_000 / 1001],
    ['30', 30],
    ['50', 50],
    ['60', 60],
  ])('of %s frames a second is closed when its last frame arrives', (_, framesPerSecond) => {
    const sink = new RecordingSink();
    let segmenter: Segmenter | undefined;
    const packager = new DirectPackager({
      plan: { hasVideo: true, audio: 'copy', framesPerSecond },
      events: {
        tracks: tracks => {
          segmenter = new Segmenter({ tracks, sink, partSeconds: 0.2, segmentSeconds: 2 });
        },
        sample: (kind, sample, atMs) => segmenter?.add(kind, sample, atMs),
        drained: () => {},
        dropped: () => {},
        exited: () => {},
      },
    });
    packager.write(avcConfig, 7000);
    packager.write(aacConfig, 7000);
    const partFrames = Math.round(0.2 * framesPerSecond);
    const late: number[] = [];
    let inOpenPart = 0;
    let audioFrames = 0;
    for (let frame = 0; frame < 20 * framesPerSecond; frame += 1) {
      const atMs = 7000 + (frame * 1000) / framesPerSecond;
      for (; 7000 + (audioFrames * 1024) / 48 < atMs; audioFrames += 1) {
        const audioMs = Math.round(7000 + (audioFrames * 1024) / 48);
        packager.write(aac, audioMs);
      }
      const before = sink.parts.length;
      const isKeyframe = frame % Math.round(2 * framesPerSecond) === 0;
      // The last part before a keyframe may be shorter, which only the keyframe tells.
      if (isKeyframe) inOpenPart = 0;
      packager.write(video(isKeyframe, isKeyframe ? idr : slice), Math.round(atMs));
      inOpenPart += 1;
      if (frame < 2 * framesPerSecond || inOpenPart < partFrames) continue;
      inOpenPart = 0;
      if (sink.parts.length === before) late.push(frame);
    }
    expect(late).toEqual([]);
    expect(sink.brokenRules()).toEqual([]);
    expect(sink.parts.length).toBeGreaterThan(90);
  });
});

test('a receiver that throws ends the packager, not its caller', () => {
  const exits: unknown[] = [];
  const packager = new DirectPackager({
    plan: { hasVideo: true, audio: 'none' },
    events: {
      tracks: () => {
        throw new Error('no room');
      },
      sample: () => {},
      drained: () => {},
      dropped: () => {},
      exited: exit => exits.push(exit),
    },
  });
  packager.write(avcConfig, 7000);
  expect(packager.write(video(true, idr), 7000)).toBe(true);
  expect(exits).toEqual([{ kind: 'failed', report: 'no room' }]);
});

describe('slow pictures', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const times = (log: ReturnType<typeof start>['log']) =>
    log.samples
      .filter(([kind]) => kind === 'video')
      .map(([, { durationTicks }, atMs]) => [atMs / 1000, durationTicks / 90_000]);

  test('end where the next one begins, also at a rate that is known', async () => {
    const { packager, log } = start({ framesPerSecond: 0.5 });
    packager.write(avcConfig, 0);
    for (const atMs of [0, 2000, 4000, 6000, 8000]) packager.write(video(true, idr), atMs);
    expect(times(log)).toEqual([0, 2, 4, 6].map(at => [at, 2]));
    await packager.finish();
    expect(times(log).at(-1)).toEqual([8, 2]);
  });

  test('are repeated when they last longer than a segment', async () => {
    const { packager, log } = start();
    packager.write(avcConfig, 0);
    packager.write(video(true, idr), 0);
    vi.advanceTimersByTime(12_000);
    expect(times(log)).toEqual([[0, 10]]);
    packager.write(video(true, idr), 25_000);
    expect(times(log)).toEqual([
      [0, 10],
      [10, 10],
      [20, 5],
    ]);
    expect(syncs(log)).toEqual([true, true, true]);
    await packager.kill();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('are repeated by the audio beside them, where they came late', () => {
    const { packager, log } = start({ audio: 'copy' });
    packager.write(avcConfig, 0);
    packager.write(aacConfig, 0);
    packager.write(video(true, idr), 0);
    for (let atMs = 0; atMs < 21_000; atMs += 21) packager.write(aac, atMs);
    expect(times(log)).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(times(log)).toEqual([
      [0, 10],
      [10, 10],
    ]);
    // Begins when the repeated one has ended.
    packager.write(video(true, idr), 19_900);
    packager.write(video(true, idr), 21_000);
    expect(times(log).slice(2)).toEqual([[20, 1]]);
  });

  test('that need others are not repeated', () => {
    const { packager, log } = start();
    packager.write(avcConfig, 0);
    packager.write(video(true, idr), 0);
    packager.write(video(false, slice), 40);
    vi.advanceTimersByTime(30_000);
    packager.write(video(true, idr), 30_000);
    expect(times(log)).toEqual([
      [0, 0.04],
      [0.04, 29.96],
    ]);
  });
});
