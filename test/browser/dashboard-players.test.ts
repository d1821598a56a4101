import { openAsBlob } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import { pngImage } from '../support/images.ts';
import { describeInBrowser, until, WatchedPage } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

const played = (page: Pick<Page, 'evaluate'>) =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector('millrace-player').shadowRoot.querySelector('millrace-controls')).getPropertyValue('--millrace-track-played')`,
  );

describeInBrowser('themes of the player in the dashboard', browser => {
  test('are made, seen before they are saved, kept, and deleted', async () => {
    await using server = await startDashboard({ 'encode.preset': 'ultrafast' });
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/players');
    const { page } = dashboard;
    await page.getByText('No themes yet').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'New theme' }).first().click();
    await page.getByLabel('Name').fill('Harbour');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
    // The player shows a sample without a video.
    await until('the controls of the sample', () =>
      page.frameLocator('iframe').getByRole('button', { name: 'Play' }).last().isVisible(),
    );
    const { data } = (await (await server.api('GET', '/players')).json()) as { data: { playerId: string }[] };
    const { playerId } = data[0]!;

    const { videoId, assets } = await createVideo(server.baseUrl, server.productionKey, {
      title: 'Pier',
      playerId,
    });
    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
    const authorization = `Basic ${btoa(`${server.productionKey}:`)}`;
    await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
      method: 'POST',
      headers: { authorization },
      body: film,
    });
    await using viewer = await WatchedPage.openPlayer(browser(), assets.player);
    const usual = await played(viewer.page);

    // Previews are offered with videos that are ready.
    await until('the video to be ready', async () => {
      const ready = (await (await server.api('GET', '/videos?status=ready')).json()) as {
        data: { videoId: string }[];
      };
      return ready.data.some(video => video.videoId === videoId);
    });
    await page.reload();
    await page
      .getByLabel('Preview with')
      .getByRole('option', { name: 'Pier' })
      .waitFor({ state: 'attached' });
    const accent = page.getByRole('group', { name: 'Accent color' });
    expect(await accent.getByLabel('Default').isChecked()).toBe(true);
    await accent.getByLabel('Violet').check();
    const preview = page.frames().find(frame => frame.url().includes('/vod/vi'))!;
    await until('the accent', async () => (await played(preview)) === 'rgba(167, 139, 250, 1)');
    await page.getByText('Advanced colors').click();
    await page.getByLabel('Played', { exact: true }).fill('#0a141e');
    expect(await accent.getByLabel('Custom', { exact: true }).isChecked()).toBe(true);
    await page.getByLabel('Hide the title').check();
    await until('the preview', async () => (await played(preview)) === 'rgba(10, 20, 30, 1)');
    await until('a title that is hidden', () => preview.locator('#title').isHidden());
    expect(await played(viewer.page)).toBe(usual);

    await page.getByLabel('Title text', { exact: true }).fill('rgba(0, 0, 0, .5)');
    await page.getByText(/Hard to read/).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.goBack();
    await page.getByRole('dialog', { name: 'Leave without saving?' }).waitFor();
    await page.getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await dashboard.untilSaid('Theme saved.');
    expect(await (await server.api('GET', `/players/${playerId}`)).json()).toMatchObject({
      trackPlayed: 'rgba(10, 20, 30, 1)',
      hideTitle: true,
      backgroundText: 'rgba(0, 0, 0, .5)',
    });
    await viewer.page.reload();
    await until('the page of the video', async () => (await played(viewer.page)) === 'rgba(10, 20, 30, 1)');

    await page.getByRole('button', { name: 'Add logo' }).click();
    await page
      .getByLabel('Image')
      .setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: pngImage(40, 20) });
    await page.getByLabel('Link').fill('https://brand.example.net/');
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Save logo' }).click();
    await page.getByText('Links to https://brand.example.net/').waitFor();
    await until('the logo in the preview', () => preview.locator('#logo a img').isVisible());

    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByLabel(/to confirm/).fill('Harbour');
    await page.getByRole('button', { name: 'Delete theme' }).click();
    await page.getByText('No themes yet').waitFor();
    expect((await server.api('GET', `/players/${playerId}`)).status).toBe(404);
    expect(dashboard.complaints).toEqual([]);
  });
});
