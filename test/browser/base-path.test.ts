import { openAsBlob } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { basicAuthorization, type CreatedVideo, createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import { type PrefixProxy, startPrefixProxy } from '../support/prefix-proxy.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';
import { email, password, startDashboard } from './dashboard-fixture.ts';
import { SdkParent } from './sdk-parent.ts';

// `/live` starts paths of the server, too. Each kind of proxy comes once: the unit and service tests have every path with both.
describe.each([
  ['/media', 'passes the path on', false],
  ['/live', 'removes the path', true],
])('behind a proxy that offers the server below %s, and %s', (basePath, _, isStripping) => {
  describeInBrowser('', browser => {
    let proxy: PrefixProxy;
    let server: TestServer;
    let video: CreatedVideo;
    beforeAll(async () => {
      proxy = await startPrefixProxy(basePath);
      proxy.isStripping = isStripping;
      server = await startDashboard({ publicUrl: proxy.url, 'live.stopGrace': '100ms' });
      proxy.targetPort = server.app.httpPort;
      video = await createVideo(server.baseUrl, server.productionKey, { title: 'A film' });
      const body = new FormData();
      body.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
      const headers = { authorization: basicAuthorization(server.productionKey) };
      const sent = await fetch(`${server.baseUrl}/videos/${video.videoId}/source`, {
        method: 'POST',
        headers,
        body,
      });
      expect(sent.status).toBe(201);
    });
    afterAll(async () => {
      await server?.stop();
      await proxy?.stop();
    });

    /** Fails with what the page asked for elsewhere, and what it was refused. */
    const expectNothingOutside = ({ requests }: { readonly requests: readonly string[] }) => {
      const elsewhere = requests.filter(
        url => !url.startsWith(`${proxy.url}/`) && !/^(?:blob|data):/.test(url),
      );
      expect(elsewhere).toEqual([]);
      expect(proxy.outside).toEqual([]);
    };

    test('the dashboard signs in, goes on, shows a page again, and leads to the documentation', async () => {
      const sockets: string[] = [];
      const refused: string[] = [];
      await using dashboard = await WatchedPage.open(browser(), 'about:blank');
      const { page } = dashboard;
      page.on('websocket', socket => sockets.push(new URL(socket.url()).pathname));
      page.on('response', response => {
        if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      });
      dashboard.requests.length = 0;
      await page.goto(`${proxy.url}/`);
      expect(new URL(page.url()).pathname).toBe(`${basePath}/dashboard`);
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      const cookies = await page.context().cookies(`${proxy.url}/dashboard`);
      expect(cookies.map(({ name, path }) => [name, path])).toEqual([['millrace_session', basePath]]);

      await page.getByText('Production', { exact: true }).click();
      await page.getByRole('navigation').getByRole('link', { name: 'Videos' }).click();
      await page.getByRole('link', { name: 'A film' }).click();
      const address = `${basePath}/dashboard/videos/${video.videoId}`;
      await until('the page of the video', () => new URL(page.url()).pathname === address);
      await page.reload();
      await page.getByRole('heading', { name: 'A film' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(address);
      await page.frameLocator('iframe').locator('#player[data-phase="ready"]').waitFor();
      await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click();
      await page.getByRole('heading', { name: 'API keys' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`${basePath}/dashboard/keys`);
      await page.goBack();
      await page.getByRole('heading', { name: 'A film' }).waitFor();
      await page.getByRole('navigation').getByRole('link', { name: 'Players' }).click();
      await page.getByRole('heading', { name: 'Players' }).waitFor();
      await until('the event feed', () => proxy.upgraded.includes(`${basePath}/events`));
      expect(new Set(sockets)).toEqual(new Set([`${basePath}/events`]));

      const opened = page.waitForEvent('popup');
      await page.getByRole('button', { name: 'Account menu' }).click();
      await page.getByRole('menuitem', { name: 'Documentation' }).click();
      const docs = await opened;
      expect(new URL(docs.url()).pathname).toBe(`${basePath}/docs`);
      await docs.getByRole('link', { name: 'Get started' }).first().click();
      await docs.getByLabel('Search the documentation').fill('pick a frame as thumbnail');
      await docs.locator('#results a', { hasText: 'PATCH /videos' }).first().click();
      await docs.getByRole('heading', { name: 'Pick a frame as thumbnail' }).first().waitFor();
      await docs.getByRole('link', { name: 'Errors', exact: true }).first().click();
      await docs.getByRole('link', { name: 'stream-key-unknown' }).click();
      await docs.getByRole('heading', { name: 'What to do' }).waitFor();
      expect(new URL(docs.url()).pathname).toBe(`${basePath}/docs/errors/stream-key-unknown`);
      expect(refused).toEqual([]);
      expect(dashboard.complaints).toEqual([]);
      expectNothingOutside(dashboard);
    });

    test('a video plays on its page and embedded in a page of another site', async () => {
      await using viewer = await WatchedPage.openPlayer(browser(), `${proxy.url}/vod/${video.videoId}#muted`);
      await viewer.page.click('#big-play');
      await viewer.untilPlayed(0.5);
      expect(viewer.complaints).toEqual([]);
      expectNothingOutside(viewer);

      const answer = await fetch(`${proxy.url}/vod/${video.videoId}/oembed.json`);
      const { html } = (await answer.json()) as { html: string };
      const [, embedded = ''] = /src="([^"]+)"/.exec(html) ?? [];
      expect(embedded).toBe(`${proxy.url}/vod/${video.videoId}`);
      const site = await SdkParent.start();
      onTestFinished(() => site.close());
      await using parent = await site.open(browser(), `${embedded}#muted`);
      const frame = parent.page.frameLocator('iframe');
      await frame.locator('#big-play').click();
      const seconds = () =>
        frame
          .locator('video')
          .evaluate(element => (element as unknown as { currentTime: number }).currentTime);
      await until('the embedded video', async () => (await seconds()) > 0.5);
      expect(parent.complaints).toEqual([]);
      expectNothingOutside({ requests: parent.requests.filter(url => !url.startsWith(site.origin)) });
    });

    test('a broadcast plays on its page', async () => {
      const stream = await server.createStream();
      await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
      await using viewer = await WatchedPage.openPlayer(
        browser(),
        `${proxy.url}/live/${stream.liveStreamId}`,
      );
      await viewer.untilPlayed(1);
      expect(viewer.complaints).toEqual([]);
      expectNothingOutside(viewer);
    });
  });
});
