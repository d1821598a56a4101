import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LogData, type Logger, silentLogger } from '../../src/shared/logger.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { describeInBrowser, WatchedPage } from './browser-fixture.ts';

/** Notes the process ids of the server's own ffmpegs, oldest first. */
function logOfPackagers(pids: number[]): Logger {
  const log: Logger = {
    ...silentLogger,
    child(component: string, ids?: LogData) {
      if (component === 'ffmpeg' && typeof ids?.pid === 'number') pids.push(ids.pid);
      return log;
    },
  };
  return log;
}

describeInBrowser('the player page, when something breaks', browser => {
  const packagers: number[] = [];
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({}, { log: logOfPackagers(packagers) });
  });
  afterAll(() => server.stop());

  const watch = async (liveStreamId: string) => {
    const viewer = await WatchedPage.open(browser(), `${server.baseUrl}/live/${liveStreamId}`);
    await viewer.untilPlayed(2);
    await viewer.page.evaluate('window.isSamePage = true');
    return viewer;
  };
  const isSamePage = (viewer: WatchedPage) => viewer.page.evaluate<boolean>('window.isSamePage === true');

  it('says that the broadcaster is gone, and goes on when they are back', async () => {
    const stream = await server.createStream();
    await using first = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await watch(stream.liveStreamId);
    await first.kill();
    await viewer.page.waitForSelector('text=/connection is interrupted/', { timeout: 15_000 });

    await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    await viewer.untilPlayed(3);
    await waitUntil(async () => (await viewer.page.textContent('#notice')) === '', { what: 'no notice' });
    expect(await viewer.phase()).toBe('live');
    await waitUntil(async () => (await viewer.latencySeconds()) < 4, { timeoutMs: 15_000 });
    expect(await isSamePage(viewer)).toBe(true);
    expect(viewer.complaints).toEqual([]);
  });

  it.each([
    { before: 'silence', after: 'sound', argsBefore: ['-an'], argsAfter: [] },
    { before: 'sound', after: 'silence', argsBefore: [], argsAfter: ['-an'] },
  ])(
    'goes on when $after follows $before, with another picture',
    async ({ after, argsBefore, argsAfter }) => {
      const stream = await server.createStream();
      const url = server.rtmpUrl(stream.streamKey);
      await using first = publishTestPicture({ url, extraArgs: argsBefore });
      await using viewer = await watch(stream.liveStreamId);
      expect((await viewer.video()).width).toBe(320);
      await first.stop();

      const profile = ['-profile:v', 'high', '-preset', 'veryfast'];
      await using _ = publishTestPicture({
        url,
        size: '640x360',
        fps: 25,
        extraArgs: [...profile, ...argsAfter],
      });
      await waitUntil(async () => (await viewer.video()).width === 640, {
        timeoutMs: 20_000,
        what: 'the new picture',
      });
      const { soundBytes } = await viewer.video();
      const { soundBytes: soundBytesLater } = await viewer.untilPlayed(3);
      expect(soundBytesLater > soundBytes).toBe(after === 'sound');
      expect(await viewer.phase()).toBe('live');
      expect(await isSamePage(viewer)).toBe(true);
    },
  );

  it('goes on when the packager dies', async () => {
    const stream = await server.createStream();
    await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 1 });
    await using viewer = await watch(stream.liveStreamId);
    process.kill(packagers.at(-1)!, 'SIGKILL');
    const before = packagers.length;
    await waitUntil(() => packagers.length > before, { what: 'another packager' });
    const { time } = await viewer.video();
    await viewer.untilPlayed(3);
    expect((await viewer.video()).time).toBeGreaterThan(time + 3);
    await waitUntil(async () => (await viewer.latencySeconds()) < 4, { timeoutMs: 15_000 });
    expect(await isSamePage(viewer)).toBe(true);
    expect(viewer.complaints).toEqual([]);
  });
});

describeInBrowser('the player page, when the broadcaster stays away', browser => {
  it('says so, and that the stream has ended once the grace is over', async () => {
    await using server = await startServer({ 'live.reconnectGrace': '10s' });
    const stream = await server.createStream();
    await using publisher = publishTestPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await WatchedPage.open(browser(), `${server.baseUrl}/live/${stream.liveStreamId}`);
    await viewer.untilPlayed(2);
    await publisher.kill();
    await viewer.page.waitForSelector('text=/connection is interrupted/', { timeout: 9000 });
    expect(await viewer.page.getAttribute('#live', 'class')).not.toContain('is-at-edge');
    await viewer.untilPhase('ended');
  });
});

describeInBrowser('the player page, when the server restarts', browser => {
  it('comes back by itself, with the same broadcaster', async () => {
    const dataDir = await makeTempDir();
    const first = await startServer({}, { dataDir });
    const stream = await first.createStream();
    const { httpPort, rtmpPort } = first.app;
    await using viewer = await WatchedPage.open(browser(), `${first.baseUrl}/live/${stream.liveStreamId}`);
    await using before = publishTestPicture({ url: first.rtmpUrl(stream.streamKey) });
    await viewer.untilPlayed(2);
    await viewer.page.evaluate('window.isSamePage = true');
    await first.app.stop();
    await before.exited;

    const flags = { 'http.port': String(httpPort), 'rtmp.port': String(rtmpPort) };
    const second = await startServer(flags, { dataDir });
    try {
      await using _ = publishTestPicture({ url: second.rtmpUrl(stream.streamKey) });
      await viewer.untilPhase('live', 20_000);
      await viewer.untilPlayed(3);
      expect(await viewer.page.evaluate('window.isSamePage === true')).toBe(true);
    } finally {
      await second.stop();
      await removeDir(dataDir);
    }
  });
});
