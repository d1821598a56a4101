import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath, runToEnd, startPublisher } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

let folder: string;
let server: TestServer;
const packagers = ['direct', 'ffmpeg'] as const;
const servers = new Map<string, TestServer>();

beforeAll(async () => {
  folder = await makeTempDir();
  for (const packager of packagers) {
    servers.set(packager, await startServer({ 'live.packager': packager, 'live.stopGrace': '0' }));
  }
  server = servers.get('direct')!;
  // Encodes video whose recovery points are marked as keyframes. Only the first frame is an IDR.
  await runToEnd(ffmpegPath, [
    ...['-v', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=160x90:r=30:d=12', '-f', 'lavfi', '-i', 'sine=d=12'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac'],
    ...['-x264-params', 'intra-refresh=1:keyint=30:bframes=0', `${folder}/refreshed.flv`],
  ]);
});

afterAll(async () => {
  for (const one of servers.values()) await one.stop();
  await removeDir(folder);
});

test.concurrent.each(packagers)('recovery points are not sync samples, packaged by %s', async packager => {
  const own = servers.get(packager)!;
  const stream = await own.createStream();
  const file = `${folder}/refreshed.flv`;
  await using publisher = startPublisher(ffmpegPath, [
    ...['-re', '-i', file, '-c', 'copy', '-f', 'flv', own.rtmpUrl(stream.streamKey)],
  ]);
  const watch = await StreamMonitor.begin(`${own.baseUrl}/${stream.liveStreamId}.m3u8`);
  expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
  await watch.untilEnd();
  expect(await watch.brokenRules()).toEqual([]);
  const samples = await watch.samples('video');
  expect(samples.length).toBeGreaterThan(300);
  expect(samples.filter(({ isSync }) => isSync)).toHaveLength(1);
});

test.concurrent.each([
  ['with messages about recovery points', 'null'],
  ['without them', 'filter_units=remove_types=6'],
])(
  'a publisher that comes between keyframes and only refreshes is told within seconds: %s',
  async (_, filter) => {
    const stream = await server.createStream();
    await using publisher = startPublisher(ffmpegPath, [
      ...['-re', '-ss', '2', '-i', `${folder}/refreshed.flv`, '-c', 'copy'],
      ...['-bsf:v', filter, '-f', 'flv', server.rtmpUrl(stream.streamKey)],
    ]);
    const { code } = await publisher.exited;
    expect(code, publisher.stderr).not.toBe(0);
    const answer = await server.api('GET', `/live-streams/${stream.liveStreamId}/broadcasts`);
    const { data } = (await answer.json()) as { data: { endReason?: string }[] };
    expect(data[0]).toMatchObject({ endReason: 'no-keyframe' });
  },
);
