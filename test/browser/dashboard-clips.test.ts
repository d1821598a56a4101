import { openAsBlob } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization, createLiveStream, createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, publishPicture, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('clips in the dashboard', browser => {
  let server: TestServer;
  let videoId: string;
  beforeAll(async () => {
    server = await startDashboard({ 'encode.preset': 'ultrafast' }, { hasImages: false });
    ({ videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' }));
    const body = new FormData();
    body.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    await fetch(`${server.baseUrl}/videos/${videoId}/source`, { method: 'POST', headers, body });
  });
  afterAll(() => server?.stop());

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const playerOf = (page: Page) => page.frameLocator('iframe').locator('#player[data-phase="ready"]');

  it('trims a video with the keyboard and typed times, and opens the clip', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, `/dashboard/videos/${videoId}`);
    const { page } = dashboard;
    await playerOf(page).waitFor();
    await button(page, 'Create clip').click();
    const create = page.getByRole('dialog').getByRole('button', { name: 'Create clip' });
    const start = page.getByRole('slider', { name: 'Start of the clip' });
    const end = page.getByRole('slider', { name: 'End of the clip' });
    await start.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowRight');
    expect(await start.getAttribute('aria-valuetext')).toBe('0:01.04');
    await end.focus();
    await page.keyboard.press('Home');
    // The edge stays a second behind the start, which moves along.
    expect(await start.getAttribute('aria-valuetext')).toBe('0:00');
    await page.getByLabel('End', { exact: true }).fill('0:07');
    await page.getByText('The video ends at 0:06').waitFor();
    await page.getByLabel('Start', { exact: true }).fill('2.');
    await page.getByText('Enter a time such as 1:05.5.').waitFor();
    await page.getByRole('status').getByText('Length: –').waitFor();
    expect(await create.getAttribute('aria-disabled')).toBe('true');
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('End', { exact: true }).fill('0:05');
    await page.getByLabel('Start', { exact: true }).fill('2.5');
    expect(await start.getAttribute('aria-valuetext')).toBe('0:02.5');
    await page.getByRole('status').getByText('Length: 0:02.5').waitFor();
    await button(page, 'Loop preview').click();
    const preview = page.frameLocator('iframe[title="Preview of the clip"]').locator('video');
    const seconds = () =>
      preview.evaluate(video => (video as unknown as { currentTime: number }).currentTime);
    await until('the end of the selection', async () => (await seconds()) > 4);
    await until('its start again', async () => {
      const now = await seconds();
      return now >= 2.4 && now < 3.5;
    });
    expect(await dashboard.violations()).toEqual([]);
    await page.getByText('Fast', { exact: true }).click();
    await page.getByText('may start a few seconds before').waitFor();
    await page.getByText('Exact', { exact: true }).click();
    await page.getByText('starts and ends exactly').waitFor();
    await page.getByRole('dialog').getByLabel('Title').fill('A wave');
    await create.click();
    await page.getByRole('heading', { name: 'A wave', level: 1 }).waitFor();
    await playerOf(page).waitFor();
    const clipId = new URL(page.url()).pathname.split('/').at(-1)!;
    expect(await (await server.api('GET', `/videos/${clipId}`)).json()).toMatchObject({
      source: { clippedFrom: { videoId } },
    });
    const status = (await (await server.api('GET', `/videos/${clipId}/status`)).json()) as {
      encoding: { metadata: { duration: number } };
    };
    expect([2, 3]).toContain(status.encoding.metadata.duration);
  });

  it('clips a running broadcast, and says what is wrong with a part', async () => {
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'Match');
    const url = server.rtmpUrl(stream.streamKey);
    await using _publisher = publishPicture({ url, size: '320x180' });
    await using dashboard = await DashboardPage.open(
      browser(),
      server,
      `/dashboard/live/${stream.liveStreamId}`,
    );
    const { page } = dashboard;
    await button(page, 'Clip').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Another part').click();
    await dialog.getByLabel('Start', { exact: true }).fill('1:00:00');
    await dialog.getByLabel('End', { exact: true }).fill('0:30');
    await dialog.getByText('The clip must end after it starts.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByText('Last minute').click();
    const heading = page.getByRole('heading', { name: 'A goal', level: 1 });
    await dialog.getByLabel('Title').fill('A goal');
    const create = dialog.getByRole('button', { name: 'Create clip' });
    for (;;) {
      await create.click();
      // A young broadcast has nothing to clip.
      await heading.or(dialog.locator('.notice')).first().waitFor();
      if (await heading.isVisible()) break;
      await dialog.getByLabel('Title').fill('A goal');
    }
    await playerOf(page).waitFor();
  });
});
