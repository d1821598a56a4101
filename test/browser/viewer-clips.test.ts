import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { Publisher } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('clips by viewers', browser => {
  let server: TestServer;
  let stream: CreatedStream;
  let publisher: Publisher;

  beforeAll(async () => {
    server = await startServer();
    stream = await server.createStream();
    publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 1, size: '160x90' });
  });
  afterAll(async () => {
    await publisher.stop();
    await server.stop();
  });

  async function allowClips(viewerClips: boolean): Promise<void> {
    const path = `/live-streams/${stream.liveStreamId}`;
    expect((await server.api('PATCH', path, { viewerClips })).status).toBe(200);
    await until('the player to know the setting', async () => {
      const answer = await fetch(`${server.baseUrl}/live/${stream.liveStreamId}/player.json`);
      return ((await answer.json()) as { viewerClips: boolean }).viewerClips === viewerClips;
    });
  }

  async function watch(): Promise<WatchedPage> {
    const viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}#muted`,
    );
    await until('playback', () =>
      viewer.page.evaluate<boolean>("millrace.state() === 'live' && inPlayer('video').currentTime > 3"),
    );
    return viewer;
  }

  it('makes the last seconds a video, and shows its link', async () => {
    await allowClips(true);
    await using viewer = await watch();
    const { page } = viewer;
    await page.locator('#player').hover();
    await page.getByRole('button', { name: 'Clip this moment' }).click();
    await page.getByRole('menuitem', { name: 'Last 15 seconds' }).click();
    const card = page.getByRole('region', { name: 'Your clip' });
    await card.getByText('Your clip is ready.').waitFor();
    const opened = page.context().waitForEvent('page');
    await card.getByRole('link', { name: 'Watch' }).click();
    const clip = await opened;
    const playing = "(inPlayer('video')?.readyState ?? 0) > 1";
    await until('the clip to play', async () =>
      (await Promise.all(clip.frames().map(frame => frame.evaluate<boolean>(playing)))).includes(true),
    );
    expect(await clip.title()).toContain('clip by a viewer');
    await clip.close();
    await card.getByRole('button', { name: 'Close' }).click();
    expect(await card.isVisible()).toBe(false);

    await page.route('**/clips/**', route =>
      route.fulfill({
        status: 429,
        contentType: 'application/json',
        body: '{"type":"https://video.example/docs/errors/too-many-requests"}',
      }),
    );
    await page.getByRole('button', { name: 'Clip this moment' }).click();
    await page.getByRole('menuitem', { name: 'Last 30 seconds' }).click();
    await page.getByText('That’s a lot of clips. Try again in a few minutes.').waitFor();
    expect(await page.getByRole('link', { name: 'Watch' }).isVisible()).toBe(false);
  });

  it('is made with the keyboard in a small frame, and says that the link of a private one is for one viewer', async () => {
    await allowClips(true);
    await using viewer = await watch();
    const { page } = viewer;
    await page.setViewportSize({ width: 360, height: 203 });
    await page.route('**/clips/**', route =>
      route.fulfill({
        status: 201,
        contentType: 'application/json',
        body: JSON.stringify({ videoId: 'vi1', url: `${server.baseUrl}/vod/vi1?token=a` }),
      }),
    );
    await page.locator('#player').hover();
    const button = page.getByRole('button', { name: 'Clip this moment' });
    await button.press('Enter');
    await until('the menu', () =>
      page.evaluate<boolean>("focusedInPlayer()?.matches('.menu-item') === true"),
    );
    await page.keyboard.press('Enter');
    const text = page.getByText('Your clip is ready. Its link works for one viewer only.');
    await text.waitFor();
    expect((await text.boundingBox())!.y).toBeGreaterThanOrEqual(0);
    await until('the link has the focus', () =>
      page.evaluate<boolean>("focusedInPlayer()?.textContent === 'Watch'"),
    );
    await page.keyboard.press('Escape');
    expect(await text.isVisible()).toBe(false);
    expect(await page.evaluate('focusedInPlayer()?.id')).toBe('clip');
  });

  it('is not offered where it is turned off', async () => {
    await allowClips(false);
    await using viewer = await watch();
    expect(await viewer.page.getByRole('button', { name: 'Clip this moment' }).isVisible()).toBe(false);
  });
});
