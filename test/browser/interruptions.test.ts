import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type LogData, type Logger, silentLogger } from '../../src/shared/logger.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';

/** Notes the process ids of the server's own ffmpegs, oldest first. */
function logOfPackagers(pids: number[]): Logger {
  const log: Logger = {
    ...silentLogger,
    child(component: string, ids?: LogData) {
      // Skips others with a purpose, such as those that make thumbnails of a broadcast.
      const isPackager = component === 'ffmpeg' && ids?.purpose === undefined;
      if (isPackager && typeof ids?.pid === 'number') pids.push(ids.pid);
      return log;
    },
  };
  return log;
}

/** A page that has begun to play, marked so that it is known again. */
async function watchPlaying(browser: Browser, url: string): Promise<WatchedPage> {
  const viewer = await WatchedPage.openPlayer(browser, url);
  await viewer.untilPlayed(2);
  await viewer.page.evaluate('window.isSamePage = true');
  return viewer;
}

const isSamePage = (viewer: WatchedPage) => viewer.page.evaluate<boolean>('window.isSamePage === true');

// Three broadcasts at once: most of the time of these tests is waiting.
describeInBrowser('the player page, when a broadcast is interrupted', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  const watch = (liveStreamId: string) => watchPlaying(browser(), `${server.baseUrl}/live/${liveStreamId}`);

  it.concurrent('says that the broadcaster is gone, and goes on when they are back', async () => {
    const stream = await server.createStream();
    await using first = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await watch(stream.liveStreamId);
    await first.kill();
    await viewer.page.waitForSelector('text=/connection was interrupted/');

    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await viewer.untilPlayed(3);
    await until('no notice', async () => (await viewer.page.textContent('#notice')) === '');
    expect(await viewer.phase()).toBe('live');
    await until('the newest picture', async () => (await viewer.latencySeconds()) < 4);
    expect(await isSamePage(viewer)).toBe(true);
    expect(viewer.complaints).toEqual([]);
  });

  it.concurrent('says so to whoever comes meanwhile, and goes on when the broadcaster is back', async () => {
    const stream = await server.createStream();
    const url = server.rtmpUrl(stream.streamKey);
    await using first = publishPicture({ url });
    const master = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    const listed = async () => {
      const text = await (await fetch(master)).text();
      const uri = text.split('\n').find(line => line.includes('/source/'));
      return uri === undefined ? '' : await (await fetch(new URL(uri, master))).text();
    };
    await until('a segment', async () => (await listed()).includes('segment-'));
    await first.kill();
    await until('stills only where a player begins', async () => (await listed()).split('still-').length > 6);
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
    );
    await viewer.page.waitForSelector('text=/connection was interrupted/');

    await using _ = publishPicture({ url });
    await until('no notice', async () => (await viewer.page.textContent('#notice')) === '');
    await viewer.untilPlayed(1);
  });

  it.concurrent.each([
    { before: 'silence', after: 'sound', argsBefore: ['-an'], argsAfter: [] },
    { before: 'sound', after: 'silence', argsBefore: [], argsAfter: ['-an'] },
  ])(
    'goes on when $after follows $before, with another picture',
    async ({ after, argsBefore, argsAfter }) => {
      const stream = await server.createStream();
      const url = server.rtmpUrl(stream.streamKey);
      await using first = publishPicture({ url, extraArgs: argsBefore });
      await using viewer = await watch(stream.liveStreamId);
      expect((await viewer.video()).width).toBe(320);
      await first.kill();

      const profile = ['-profile:v', 'high', '-preset', 'veryfast'];
      await using _ = publishPicture({
        url,
        size: '640x360',
        fps: 25,
        extraArgs: [...profile, ...argsAfter],
      });
      await until('the new picture', async () => (await viewer.video()).width === 640);
      const { soundBytes } = await viewer.video();
      const { soundBytes: soundBytesLater } = await viewer.untilPlayed(3);
      expect(soundBytesLater > soundBytes).toBe(after === 'sound');
      expect(await viewer.phase()).toBe('live');
      expect(await isSamePage(viewer)).toBe(true);
    },
  );
});

describeInBrowser('the player page, when other things break', browser => {
  it.concurrent('goes on when the packager dies', async () => {
    const packagers: number[] = [];
    await using server = await startServer({ 'live.packager': 'ffmpeg' }, { log: logOfPackagers(packagers) });
    const stream = await server.createStream();
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 1 });
    await using viewer = await watchPlaying(browser(), `${server.baseUrl}/live/${stream.liveStreamId}`);
    const before = packagers.length;
    process.kill(packagers.at(-1)!, 'SIGKILL');
    await until('another packager', () => packagers.length > before);
    const { time } = await viewer.video();
    await viewer.untilPlayed(3);
    expect((await viewer.video()).time).toBeGreaterThan(time + 3);
    await until('the newest picture', async () => (await viewer.latencySeconds()) < 4);
    expect(await isSamePage(viewer)).toBe(true);
    expect(viewer.complaints).toEqual([]);
  });

  it.concurrent('says that the broadcaster stays away, and that the stream has ended once the grace is over', async () => {
    await using server = await startServer({ 'live.reconnectGrace': '10s' });
    const stream = await server.createStream();
    await using publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await watchPlaying(browser(), `${server.baseUrl}/live/${stream.liveStreamId}`);
    await publisher.kill();
    await viewer.page.waitForSelector('text=/connection was interrupted/');
    expect(await viewer.page.getAttribute('#live', 'class')).not.toContain('is-at-edge');
    // Records that the broadcast is never shown as live again, not for a moment.
    await viewer.page.evaluate(`window.shown = [];
      new MutationObserver(() => {
        const { className } = inPlayer('#live');
        const notice = inPlayer('#notice').textContent;
        const { phase } = inPlayer('#player').dataset;
        window.shown.push(phase === 'ended' ? 'ended' : notice === '' || className.includes('is-at-edge') ? 'live' : 'lost');
      }).observe(inPlayer('#player'), { attributes: true, childList: true, subtree: true });`);
    await viewer.untilPhase('ended');
    const shown = await viewer.page.evaluate<string[]>('window.shown');
    expect([shown.includes('live'), shown.at(-1)]).toEqual([false, 'ended']);
  });

  it.concurrent('comes back by itself after a restart of the server, with the same broadcaster', async () => {
    const dataDir = await makeTempDir();
    const first = await startServer({}, { dataDir });
    const stream = await first.createStream();
    const { httpPort, rtmpPort } = first.app;
    await using before = publishPicture({ url: first.rtmpUrl(stream.streamKey) });
    await using viewer = await watchPlaying(browser(), `${first.baseUrl}/live/${stream.liveStreamId}`);
    await first.app.stop();
    await before.exited;

    const flags = { 'http.port': String(httpPort), 'rtmp.port': String(rtmpPort) };
    const second = await startServer(flags, { dataDir });
    try {
      await using _ = publishPicture({ url: second.rtmpUrl(stream.streamKey) });
      await viewer.untilPhase('live');
      await viewer.untilPlayed(3);
      expect(await isSamePage(viewer)).toBe(true);
    } finally {
      await second.stop();
      await removeDir(dataDir);
    }
  });
});
