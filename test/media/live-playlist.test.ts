import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SettingKey } from '../../src/config/settings.ts';
import {
  ffmpegBuilds,
  ffprobePath,
  publishTestPicture,
  runToEnd,
  type TestPictureOptions,
} from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const common = { seconds: 9, size: '160x90' };

/** Videos that are published at once, each to its own stream. */
const sources: Readonly<Record<string, Partial<TestPictureOptions>>> = {
  plain: { ...common },
  // Frames out of order, and sound that begins half a second after the picture.
  'with B-frames and late audio': {
    ...common,
    extraArgs: ['-tune', 'film', '-bf', '2', '-af', 'asetpts=PTS+0.5/TB'],
  },
  'audio alone': { ...common, extraArgs: ['-vn'] },
  'video alone, 25 frames a second, keyframes every second': {
    ...common,
    fps: 25,
    gopSeconds: 1,
    extraArgs: ['-an'],
  },
  'keyframes every 4 s': { ...common, gopSeconds: 4 },
  // Encoded without the settings that x264 writes.
  'keyframes every 3 s that are not declared': {
    ...common,
    gopSeconds: 3,
    extraArgs: ['-bsf:v', 'filter_units=remove_types=6'],
  },
  'one picture a second': { ...common, fps: 1 },
  'one picture in two seconds': { ...common, seconds: 12, fps: 0.5 },
};
const names = Object.keys(sources);

const packagers: readonly { readonly by: string; readonly settings: Partial<Record<SettingKey, string>> }[] =
  [
    { by: 'the server itself', settings: {} },
    ...ffmpegBuilds.map(({ name, path }) => ({
      by: `the ${name} ffmpeg`,
      settings: { 'live.packager': 'ffmpeg', 'ffmpeg.path': path },
    })),
  ];

describe.concurrent.each(packagers)('packaged by $by', ({ settings }) => {
  let server: TestServer;
  let folder: string;
  const watches = new Map<string, StreamMonitor>();

  beforeAll(async () => {
    // A broadcast ends when all that its publisher sent was read.
    server = await startServer({ ...settings, 'live.stopGrace': '0' });
    folder = await makeTempDir();
    const publishAndWatch = async (name: string) => {
      const stream = await server.createStream(name);
      await using publisher = publishTestPicture({ url: server.rtmpUrl(stream.streamKey), ...sources[name] });
      const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
      watches.set(name, watch);
      expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
      await watch.untilEnd();
    };
    await Promise.all(names.map(publishAndWatch));
  });

  afterAll(async () => {
    await Promise.all([...watches.values()].map(watch => watch.stop()));
    await server?.stop();
    await removeDir(folder);
  });

  test.each(names)('%s: the playlist is valid', async name => {
    const watch = watches.get(name)!;
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.playlists.length).toBeGreaterThan(0);
  });

  test('playlists were seen while they grew', () => {
    // A busy machine may package one of the streams only after its end.
    const seen = names.filter(name => watches.get(name)!.playlists.length > 1);
    expect(seen.length).toBeGreaterThan(names.length / 2);
  });

  test.each(names)('%s: ffprobe reads the joined segments without a warning', async name => {
    const [file, ...others] = await watches.get(name)!.joined();
    expect(others).toEqual([]);
    const filePath = join(folder, `joined-${names.indexOf(name)}.mp4`);
    await writeFile(filePath, file!);
    // -v warning and stderr in place of stdout: whatever it complains of is what is left.
    const printed = await runToEnd(ffprobePath, [
      ...[
        '-v',
        'warning',
        '-count_frames',
        '-show_entries',
        'stream=codec_type,nb_read_frames',
        '-of',
        'csv=p=0',
        filePath,
      ],
    ]);
    const frames = Object.fromEntries(
      printed
        .trim()
        .split('\n')
        .map(line => line.split(',')),
    );
    const { fps = 30, extraArgs = [], seconds = 0 } = sources[name]!;
    const audioSeconds = name.includes('late audio') ? seconds - 0.5 : seconds;
    if (!extraArgs.includes('-vn')) expect(Number(frames.video)).toBe(seconds * fps);
    // The encoder's priming frame, and rounding.
    if (!extraArgs.includes('-an'))
      expect(Math.abs(Number(frames.audio) - (audioSeconds * 48000) / 1024)).toBeLessThanOrEqual(3);
  });

  test('the offset between the tracks is kept', async () => {
    for (const [name, offsetSeconds] of [
      ['plain', 0],
      ['with B-frames and late audio', 0.5],
    ] as const) {
      const watch = watches.get(name)!;
      const tracks = await watch.tracks();
      const startOf = async (kind: 'video' | 'audio') => {
        const first = (await watch.samples(kind))[0]!;
        const { timescale } = tracks.find(track => track.kind === kind)!;
        return (first.dtsTicks + first.compositionOffsetTicks) / timescale;
      };
      // ffmpeg's own AAC encoder begins 1024 samples before the sound; B-frames shift the picture by up to two frames.
      const tolerance = 0.1;
      expect(
        Math.abs((await startOf('audio')) - (await startOf('video')) - offsetSeconds),
        name,
      ).toBeLessThan(tolerance);
    }
  });

  test.each(names.filter(name => name.startsWith('one picture')))(
    '%s: each is in one segment with the audio beside it',
    async name => {
      const watch = watches.get(name)!;
      const tracks = await watch.tracks();
      const starts = async (kind: 'video' | 'audio') => {
        const { timescale } = tracks.find(track => track.kind === kind)!;
        return (await watch.firstSamples(kind)).map(sample => sample && sample.dtsTicks / timescale);
      };
      const [video, audio] = [await starts('video'), await starts('audio')];
      expect(video.length).toBeGreaterThan(3);
      for (const [index, seconds] of video.entries()) {
        expect(Math.abs((audio[index] ?? Infinity) - seconds!), `segment ${index}`).toBeLessThan(0.5);
      }
    },
  );

  test('B-frames keep their order', async () => {
    const samples = await watches.get('with B-frames and late audio')!.samples('video');
    expect(samples.some(sample => sample.compositionOffsetTicks !== samples[0]!.compositionOffsetTicks)).toBe(
      true,
    );
    const shown = samples.map(sample => sample.dtsTicks + sample.compositionOffsetTicks);
    expect(new Set(shown).size).toBe(samples.length);
  });

  test('the multivariant playlist describes the media', () => {
    expect(watches.get('plain')!.variant).toMatchObject({
      codecs: expect.stringMatching(/^avc1\.[0-9a-f]{6},mp4a\.40\.2$/),
      width: 160,
      height: 90,
      frameRate: 30,
      videoRange: 'SDR',
    });
    expect(watches.get('audio alone')!.variant).toMatchObject({ codecs: 'mp4a.40.2' });
    expect(watches.get('audio alone')!.variant.width).toBeUndefined();
    expect(watches.get('video alone, 25 frames a second, keyframes every second')!.variant).toMatchObject({
      codecs: expect.stringMatching(/^avc1\.[0-9a-f]{6}$/),
      frameRate: 25,
    });
  });

  test('segments start at keyframes, and the target duration fits a longer interval, declared or not', async () => {
    for (const name of [
      'keyframes every 3 s that are not declared',
      'plain',
      'video alone, 25 frames a second, keyframes every second',
      'keyframes every 4 s',
    ] as const) {
      expect(
        watches.get(name)!.playlists.every(list => list.independentSegments),
        name,
      ).toBe(true);
    }
    const targets = (name: string) => watches.get(name)!.playlists.map(list => list.targetDurationSeconds);
    expect(new Set(targets('plain'))).toEqual(new Set([2]));
    expect(new Set(targets('keyframes every 4 s'))).toEqual(new Set([4]));
    expect(new Set(targets('keyframes every 3 s that are not declared'))).toEqual(new Set([3]));
    for (const { playlists } of watches.values()) {
      expect(playlists.flatMap(list => list.segments).some(({ discontinuity }) => discontinuity)).toBe(false);
    }
  });
});
