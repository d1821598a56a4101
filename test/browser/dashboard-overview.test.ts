import { openAsBlob } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basicAuthorization, createVideo } from '../../scripts/server-process.ts';
import type { LiveStream } from '../../src/web/dashboard/api/api-types.ts';
import { fixture } from '../support/fixtures.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

/** Runs in the page before its own scripts. */
const countCameras = `
  window.camerasOfTest = [];
  const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
  navigator.mediaDevices.getUserMedia = async wanted => {
    const media = await open(wanted);
    camerasOfTest.push(...media.getTracks());
    return media;
  };
`;

const longName = 'Sunday service in the chapel beside the old mill '.repeat(5).trim();

describeInBrowser('the overview of the dashboard', browser => {
  let server: TestServer;
  let dashboard: DashboardPage;
  beforeAll(async () => {
    server = await startDashboard({ 'encode.preset': 'ultrafast', allowPrivateTargets: 'true' });
    dashboard = await DashboardPage.open(browser(), server);
    await dashboard.page.addInitScript(countCameras);
    await dashboard.page.reload();
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
  });

  const section = (name: string) => dashboard.page.getByRole('region', { name, exact: true });
  const step = (name: string | RegExp) => section('Get started').getByRole('heading', { name, exact: true });
  const cameras = () => dashboard.page.evaluate<string[]>('camerasOfTest.map(track => track.readyState)');

  test('leads somebody who is new on air', async () => {
    const { page } = dashboard;
    await step('Go live').waitFor();
    await step('Upload a video').waitFor();
    await step('Create an API key').waitFor();
    // Zeros and empty lists lead nowhere.
    expect(await page.getByRole('list', { name: 'Key figures' }).count()).toBe(0);
    expect(await section('Latest').count()).toBe(0);
    expect(await dashboard.violations()).toEqual([]);

    await page.getByLabel('Name of the live stream').fill(longName);
    await page.keyboard.press('Enter');
    const encoder = section('OBS or another encoder');
    const key = await encoder.getByRole('textbox', { name: 'Stream key' }).inputValue();
    expect(await encoder.getByRole('textbox', { name: 'Server' }).inputValue()).toMatch(/^rtmp:/);
    expect(await encoder.getByLabel('Stream key', { exact: true }).getAttribute('type')).toBe('password');
    expect(key).not.toBe('');
    await section('Your phone').getByText('Phones allow the camera on HTTPS pages only').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280);

    const own = section('This browser');
    expect(await cameras()).toEqual([]);
    await own.getByRole('button', { name: 'Check your camera' }).click();
    await until('a picture of the camera', () =>
      own.locator('video').evaluate((video: { videoWidth: number }) => video.videoWidth > 0),
    );
    expect(await cameras()).toEqual(['live']);
    expect(await dashboard.violations()).toEqual([]);
    await own.getByRole('button', { name: 'Turn off' }).click();
    await own.getByRole('button', { name: 'Check your camera' }).waitFor();
    await until('the camera is off', async () => (await cameras()).join() === 'ended');
    expect(dashboard.complaints).toEqual([]);
  });

  test('shows one live stream with its health and what to do, and several in short', async () => {
    const { page } = dashboard;
    const { data } = (await (await server.api('GET', '/live-streams')).json()) as { data: LiveStream[] };
    const { liveStreamId, streamKey = '', assets } = data[0]!;
    await using _ = publishPicture({ url: server.rtmpUrl(streamKey) });
    const live = section('Live now');
    await live.getByRole('link', { name: longName }).waitFor();
    await live.getByText(/^\d.* [kM]bit\/s$/).waitFor();
    await live.getByText(/fps, no frames lost$/).waitFor();
    await live.getByText(/^Healthy/).waitFor();
    await live.getByRole('img', { name: /^Bitrate in the last 5 minutes: lowest/ }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });
    const picture = live.locator('img');
    await until('a picture', () =>
      picture.evaluate((image: { naturalWidth: number }) => image.naturalWidth > 0),
    );
    expect(await dashboard.violations()).toEqual([]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await live.getByRole('button', { name: 'Copy link' }).click();
    await dashboard.untilSaid('Link copied');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(assets.player);
    await live.getByRole('button', { name: 'Clip' }).click();
    await page.getByRole('dialog', { name: 'Clip the broadcast' }).waitFor();
    await page.keyboard.press('Escape');

    const other = await server.createStream('Choir');
    await using _other = publishPicture({ url: server.rtmpUrl(other.streamKey) });
    const choir = live.getByRole('listitem').filter({ hasText: 'Choir' });
    await choir.getByText(/bit\/s/).waitFor();
    await live.getByRole('listitem').filter({ hasText: 'Sunday service' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await choir.getByRole('button', { name: 'End: Choir' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End broadcast' }).click();
    await choir.waitFor({ state: 'detached' });

    await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
    await section('Go live in ten seconds').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('shows the key figures, the latest videos, and what needs attention', async () => {
    const { page } = dashboard;
    const upload = async (title: string, file: Blob) => {
      const body = new FormData();
      body.set('file', file, 'film.mp4');
      const { videoId } = await createVideo(server.baseUrl, server.productionKey, { title });
      const headers = { authorization: basicAuthorization(server.productionKey) };
      await fetch(`${server.baseUrl}/videos/${videoId}/source`, { method: 'POST', headers, body });
    };
    await upload('Broken', new Blob(['this is no video '.repeat(500)]));
    await upload('Harbour', await openAsBlob(await fixture('h264-aac-faststart')));
    const { webhookId } = (await (
      await server.api('POST', '/webhooks', {
        url: 'http://localhost:9/hook',
        events: ['live-stream.broadcast.started'],
      })
    ).json()) as { webhookId: string };
    await server.api('POST', `/webhooks/${webhookId}/test`);
    await server.api('POST', '/account/api-keys', { name: 'Website' });
    const usage = (await (await server.api('GET', '/usage')).json()) as { readonly storage: object };
    const storage = { ...usage.storage, totalBytes: 1_000, maxBytes: 1_000 };
    await page.route(
      url => url.pathname === '/usage',
      route => route.fulfill({ json: { ...usage, storage } }),
    );
    await page.reload();
    const video = section('Latest').getByRole('listitem').filter({ hasText: 'Harbour' });
    await video.getByText('0 plays').waitFor();
    const figures = page.getByRole('list', { name: 'Key figures' });
    for (const name of ['Watching now', 'Plays', 'Watch time', 'Storage'])
      await figures.getByRole('link', { name }).waitFor();
    await figures.getByRole('img', { name: /^Plays in the last 7 days: lowest 0/ }).waitFor();

    const attention = section('Needs attention');
    await attention.getByRole('link', { name: 'Open video: “Broken” failed' }).waitFor();
    await attention
      .getByRole('link', { name: 'See deliveries: The webhook to localhost:9 is failing' })
      .waitFor();
    // Completed steps are ticked off, and the section disappears with the last one.
    await section('Get started').waitFor({ state: 'detached' });
    expect(await dashboard.violations()).toEqual([]);
    await attention.getByRole('link', { name: 'See usage: Your storage is full' }).click();
    await page.getByText('You have reached the storage limit').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    expect(dashboard.complaints).toEqual([]);
  });
});
