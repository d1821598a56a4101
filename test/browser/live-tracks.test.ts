import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { interleave } from '../support/multitrack.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, mostStalls, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('audio tracks of a live stream in the player page', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  const fetched = (page: Page, rendition: string) =>
    page.evaluate<boolean>(
      `performance.getEntriesByType('resource').some(({ name }) => /\\/${rendition}\\/.*m4s/.test(name))`,
    );

  it('are chosen in its menu, without a stall', async () => {
    const stream = await server.createStream();
    const audioTracks = [{ language: 'en' }, { language: 'fr' }];
    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { audioTracks });
    const main = await recordTags({ seconds: 60 });
    const tracks = main.filter(({ kind }) => kind === 'audio').map(tag => ({ trackId: 1, tag }));
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const over = new AbortController();
    const sent = replay(client, interleave(main, tracks), {
      signal: over.signal,
    });
    try {
      await using viewer = await WatchedPage.openPlayer(
        browser(),
        `${server.baseUrl}/live/${stream.liveStreamId}`,
      );
      const { page } = viewer;
      await viewer.untilPlayed(2);
      expect(await fetched(page, 'audio-1')).toBe(false);
      await viewer.pointAtControls();
      // The only menu of the settings is opened at once.
      await page.click('#settings');
      await page.getByRole('menuitemradio', { name: 'Français' }).waitFor();
      const names = page.locator('role=menuitemradio');
      expect(await names.allTextContents()).toEqual(['English', 'Français']);
      await page.click('role=menuitemradio[name="Français"]');
      await until('the other track', () => fetched(page, 'audio-1'));
      await viewer.untilPlayed(2);
      expect((await viewer.video()).stalls).toBeLessThanOrEqual(mostStalls);
      expect(viewer.complaints).toEqual([]);
    } finally {
      over.abort();
      await sent;
      await client.close();
    }
  });
});
