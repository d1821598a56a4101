import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';

/** Seconds that each picture lasts, and how it is published. */
const sources = {
  'five seconds, with sound': { pictureSeconds: 5, extraArgs: [] },
  'five seconds, without sound': { pictureSeconds: 5, extraArgs: ['-an'] },
  'five seconds, with sound, over SRT': { pictureSeconds: 5, extraArgs: ['-f', 'mpegts'] },
  'ten seconds, with sound': { pictureSeconds: 10, extraArgs: [] },
  'ten seconds, with sound, over SRT': { pictureSeconds: 10, extraArgs: ['-f', 'mpegts'] },
  'ten seconds, without sound, over SRT': { pictureSeconds: 10, extraArgs: ['-an', '-f', 'mpegts'] },
  'fourteen seconds, with sound': { pictureSeconds: 14, extraArgs: [] },
  'fourteen seconds, without sound': { pictureSeconds: 14, extraArgs: ['-an'] },
} as const;
const names = Object.keys(sources) as (keyof typeof sources)[];
const minSegments = 4;

let server: TestServer;
const watches = new Map<string, StreamMonitor>();

beforeAll(async () => {
  server = await startServer({ 'live.stopGrace': '0' });
  await Promise.all(
    names.map(async name => {
      const { pictureSeconds, extraArgs } = sources[name];
      const { streamKey, liveStreamId } = await server.createStream(name);
      await using publisher = publishTestPicture({
        url: name.endsWith('SRT')
          ? `srt://127.0.0.1:${server.app.srtPort}?streamid=${streamKey}`
          : server.rtmpUrl(streamKey),
        fps: 1 / pictureSeconds,
        gopSeconds: pictureSeconds,
        size: '160x90',
        extraArgs,
      });
      const watch = await StreamMonitor.begin(`${server.baseUrl}/${liveStreamId}.m3u8`);
      watches.set(name, watch);
      await watch.until(({ realSegments }) => realSegments >= minSegments + 3, 'segments', 90_000);
      await watch.stop();
      await publisher.kill();
    }),
  );
}, 150_000);

afterAll(() => server?.stop());

test.each(names)('pictures of %s: the playlist is valid, and dates follow the media', async name => {
  const watch = watches.get(name)!;
  expect(await watch.brokenRules()).toEqual([]);
  const [first] = watch.playlists;
  expect(first!.targetDurationSeconds).toBeLessThanOrEqual(10);
  const segments = [...watch.segments.values()];
  const steps = segments.slice(1).map(({ programDateTimeMs }, index) => {
    const before = segments[index]!;
    return programDateTimeMs! - before.programDateTimeMs! - before.durationSeconds * 1000;
  });
  // Dates approach the arrival in small steps.
  for (const step of steps) expect(Math.abs(step)).toBeLessThan(1000);
});

test.each(names)(
  'pictures of %s: BANDWIDTH is the peak of segments, those before the first one too',
  async name => {
    const watch = watches.get(name)!;
    const segments = await Promise.all(
      [...watch.segments.values()].map(async ({ bytes, durationSeconds }) => ({
        bits: (await bytes).length * 8,
        durationSeconds,
      })),
    );
    const { targetDurationSeconds } = watch.playlists[0]!;
    const rates = segments.flatMap((_, from) => {
      let bits = 0;
      let seconds = 0;
      return segments.slice(from).flatMap(segment => {
        bits += segment.bits;
        seconds += segment.durationSeconds;
        const isRun = seconds >= targetDurationSeconds / 2 && seconds <= 1.5 * targetDurationSeconds;
        return isRun ? [bits / seconds] : [];
      });
    });
    expect(rates.length).toBeGreaterThan(minSegments);
    expect(Math.max(...rates)).toBeLessThanOrEqual(1.1 * watch.variant.bandwidthBitsPerSecond);
  },
);

test.each(names)('pictures of %s: each segment shows one, from its start', async name => {
  const watch = watches.get(name)!;
  const { pictureSeconds } = sources[name];
  const tracks = await watch.tracks();
  const startsOf = async (kind: 'video' | 'audio') => {
    const timescale = tracks.find(track => track.kind === kind)?.timescale ?? 1;
    return (await watch.firstSamples(kind)).map(sample => sample && sample.dtsTicks / timescale);
  };
  const video = await startsOf('video');
  // The first segments are short, for players that need some.
  expect(video.length).toBeGreaterThan(minSegments);
  for (const start of video) expect(start).toBeDefined();
  const durations = video.slice(4).map((start, index) => start! - video[index + 3]!);
  for (const duration of durations) expect(duration).toBeLessThan(10.5);
  if (pictureSeconds <= 10) for (const each of durations) expect(each).toBeCloseTo(pictureSeconds, 1);
  if (!tracks.some(({ kind }) => kind === 'audio')) return;
  for (const [index, start] of (await startsOf('audio')).entries()) {
    expect(Math.abs((start ?? Infinity) - video[index]!), `segment ${index}`).toBeLessThan(0.5);
  }
});
