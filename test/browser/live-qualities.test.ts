import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, mostStalls, publishPicture, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('a live ladder in the player page', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer(
      { 'live.qualities': 'ladder' },
      {
        liveSteps: () => [
          { name: '100p', width: 178, height: 100, bitsPerSecond: 150_000 },
          { name: '120p', width: 214, height: 120, bitsPerSecond: 250_000 },
        ],
      },
    );
  });
  afterAll(() => server.stop());

  it('lets its viewer choose, goes over without a stall, and keeps the sound', async () => {
    const stream = await server.createStream();
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 1 });
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
    );
    await viewer.untilPlayed(2);
    await viewer.pointAtControls();
    await viewer.page.click('#settings');
    expect(await viewer.page.locator('.menu-item').allTextContents()).toEqual([
      expect.stringMatching(/^Auto\d+p$/),
      '180p',
      '120p',
      '100p',
    ]);
    for (const [label, height] of [
      ['100p', 100],
      ['180p', 180],
      ['120p', 120],
    ] as const) {
      await viewer.pointAtControls();
      if (!(await viewer.page.isVisible('#menu'))) await viewer.page.click('#settings');
      const soundBefore = (await viewer.video()).soundBytes;
      await viewer.page.click(`.menu-item:text-is("${label}"), .menu-item:has(span:text-is("${label}"))`);
      await until(`a picture of ${height} lines`, async () => (await viewer.video()).height === height);
      const state = await viewer.untilPlayed(1);
      expect(state.height).toBe(height);
      expect(state.soundBytes).toBeGreaterThan(soundBefore);
    }
    expect((await viewer.video()).stalls).toBeLessThanOrEqual(mostStalls);
    await until('a latency below 4 s', async () => (await viewer.latencySeconds()) < 4);
    expect(viewer.complaints).toEqual([]);
  });

  it('has the sound that comes only after a while', async () => {
    const stream = await server.createStream();
    const url = server.rtmpUrl(stream.streamKey);
    const silent = publishPicture({ url, gopSeconds: 1, extraArgs: ['-an'] });
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
    );
    await viewer.untilPlayed(1);
    await silent.stop();
    // The player begins anew, before a whole segment has sound.
    await viewer.untilPhase('ended');
    await using _ = publishPicture({ url, gopSeconds: 1 });
    await until('sound', async () => (await viewer.video()).soundBytes > 0);
    await viewer.untilPlayed(1);
    expect(viewer.complaints).toEqual([]);
  });
});
