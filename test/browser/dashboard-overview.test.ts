import { openAsBlob } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basicAuthorization, createVideo } from '../../scripts/server-process.ts';
import type { LiveStream } from '../../src/web/dashboard/api/api-types.ts';
import { fixture } from '../support/fixtures.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the overview of the dashboard', browser => {
  let server: TestServer;
  let dashboard: DashboardPage;
  beforeAll(async () => {
    server = await startDashboard({ 'encode.preset': 'ultrafast' });
    dashboard = await DashboardPage.open(browser(), server);
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
  });

  const section = (name: string) => dashboard.page.getByRole('region', { name, exact: true });
  const step = (name: string | RegExp) => section('Get started').getByRole('heading', { name, exact: true });

  test('leads somebody who is new on air, and shows that', async () => {
    const { page } = dashboard;
    await step('Go live').waitFor();
    await step('Upload a video').waitFor();
    await step('Create an API key').waitFor();
    expect(await dashboard.violations()).toEqual([]);

    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-aac-faststart')), 'film.mp4');
    const { videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Harbour' });
    const headers = { authorization: basicAuthorization(server.productionKey) };
    await fetch(`${server.baseUrl}/videos/${videoId}/source`, { method: 'POST', headers, body: film });
    const video = section('Latest videos').getByRole('listitem').filter({ hasText: 'Harbour' });
    await video.getByText('Ready').waitFor();
    await step(/^Upload a video.*done$/).waitFor();

    await page.getByLabel('Name of the live stream').fill('Sunday service');
    await page.keyboard.press('Enter');
    const address = await page.getByRole('textbox', { name: 'Server' }).inputValue();
    const key = await page.getByRole('textbox', { name: 'Stream key' }).inputValue();
    expect(await dashboard.violations()).toEqual([]);

    await using _ = publishPicture({ url: `${address}/${key}` });

    const live = section('Live now').getByRole('link', { name: /Sunday service/ });
    await live.getByText(/bit\/s/).waitFor();
    await live.getByText('0 viewers').waitFor();
    const picture = live.locator('img');
    await until('a picture', () =>
      picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth > 0),
    );
    // Completed steps are ticked off, and the section disappears with the last one.
    await section('Get started').waitFor({ state: 'detached' });
    await section('Storage').getByText('Uploads').waitFor();
    await page.route(
      url => url.pathname === '/usage',
      async route => {
        const response = await route.fetch();
        const usage = await response.json();
        const storage = { ...usage.storage, maxBytes: usage.storage.totalBytes };
        await route.fulfill({ response, json: { ...usage, storage } });
      },
    );
    await page.reload();
    await section('Storage').getByText('You have reached the storage limit').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await dashboard.violations()).toEqual([]);
    expect(await dashboard.violations()).toEqual([]);
    const listed = (await (await server.api('GET', '/live-streams')).json()) as { data: LiveStream[] };
    const stream = listed.data[0]!;
    expect(stream).toMatchObject({ name: 'Sunday service', streamKey: key, broadcasting: true });

    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await section('Live now').getByText('Nothing is live').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
