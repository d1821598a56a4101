import { expect, test } from 'vitest';
import { createVideo } from '../../scripts/server-process.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

const userAgent =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

describeInBrowser('analytics in the dashboard', browser => {
  test('show what was watched, by when and where, and hand it out as files', async () => {
    await using server = await startDashboard();
    const { videoId } = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' });
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/analytics');
    const { page } = dashboard;
    await page.getByText('No plays in this period', { exact: true }).waitFor();
    await page.getByText('No viewers now').waitFor();
    expect(await dashboard.violations()).toEqual([]);

    const now = Date.now();
    const event = (typ: number, seconds: number) => ({
      eat: now - 20_000 + seconds * 1000,
      typ,
      vti: seconds,
      vwi: 640,
      vhe: 360,
      pau: typ === 1,
    });
    const report = { sat: now, sid: crypto.randomUUID(), mid: videoId, pid: crypto.randomUUID(), ver: '1' };
    const answer = await fetch(`${server.baseUrl}/watch`, {
      method: 'POST',
      headers: { 'user-agent': userAgent },
      body: JSON.stringify({
        ...report,
        ref: 'https://harbour.example/a',
        eve: [event(1, 0), event(2, 0), event(4, 3), event(4, 6), event(4, 9), event(3, 12)],
      }),
    });
    expect(answer.status).toBe(202);
    await until('the play', async () => {
      const { data } = (await (await server.api('GET', '/data/metrics/play/count')).json()) as {
        data: number;
      };
      return data === 1;
    });
    await page.getByRole('button', { name: 'Refresh' }).click();
    const plays = page.getByRole('figure', { name: 'Plays, by the day' });
    await plays.locator('canvas').waitFor();
    expect(await plays.getByRole('row').last().getByRole('cell').allTextContents()).toEqual(['1', '1']);
    await plays.getByRole('columnheader', { name: 'Time in UTC' }).waitFor();
    await page.getByText(/Times are in UTC\./).waitFor();
    // Nothing is pointed at: the legend names the lines and no values.
    expect(await plays.locator('.chart-legend').innerText()).toMatch(/^Plays\s+Players loaded$/);
    const tiles = page.locator('.total');
    expect(await tiles.nth(0).innerText()).toMatch(/Plays\s+1/);
    expect(await tiles.nth(1).innerText()).toMatch(/Watch time\s+12 s/);
    for (const [list, row] of [
      ['Most played', 'Pier'],
      ['Browsers', 'Chrome'],
      ['Operating systems', 'Windows'],
      ['Referrers', 'harbour.example/a'],
    ] as const)
      await page
        .getByRole('list', { name: `${list}, by plays` })
        .getByText(row, { exact: true })
        .waitFor();

    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: /^Export/ }).click();
    await page.getByRole('menuitem', { name: 'Browsers' }).click();
    const stream = await (await saving).createReadStream();
    expect((await stream.toArray()).join('')).toContain('chrome,Chrome,1');

    await page.getByText('24 hours').click();
    await page.getByRole('figure', { name: 'Watch time, by the hour' }).waitFor();
    await page.getByRole('combobox').fill('pie');
    await page.getByRole('option', { name: 'Pier' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Show all videos and live streams' }).waitFor();
    expect(new URL(page.url()).searchParams.get('media')).toBe(videoId);

    // The list sorts by the number that it shows, which is that of the analytics and of the video's page.
    await createVideo(server.baseUrl, server.productionKey, { title: 'Newer, never played' });
    await page.goto(`${server.baseUrl}/dashboard/videos`);
    const titles = page.locator('.media-title');
    await until(
      'the newest first',
      async () => (await titles.first().textContent()) === 'Newer, never played',
    );
    await page.getByRole('button', { name: 'Plays', exact: true }).click();
    await until('the most played first', async () => (await titles.first().textContent()) === 'Pier');
    const head = page.getByRole('columnheader', { name: 'Plays' });
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    expect(new URL(page.url()).search).toBe('?order=most-played');
    await page.getByRole('row', { name: /Pier/ }).getByText('1', { exact: true }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Plays', exact: true }).click();
    await until('the least played first', async () => (await titles.first().textContent()) !== 'Pier');
    expect(await head.getAttribute('aria-sort')).toBe('ascending');
    await page.getByRole('link', { name: 'Pier', exact: true }).click();
    await page.getByRole('link', { name: '1 play', exact: true }).waitFor();

    for (const language of ['C', 'en_US', '']) {
      await using other = await DashboardPage.open(browser(), server);
      await other.page.addInitScript(
        `Object.defineProperty(Navigator.prototype, 'language', { get: () => ${JSON.stringify(language)} })`,
      );
      await other.page.goto(`${server.baseUrl}/dashboard/analytics`);
      await other.page.getByRole('figure', { name: 'Plays, by the day' }).locator('canvas').waitFor();
      expect(other.complaints).toEqual([]);
    }
    expect(dashboard.complaints).toEqual([]);
  });
});
