import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basicAuthorization, createLiveStream, createVideo } from '../../scripts/server-process.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { createWatermark, DashboardPage, startDashboard } from './dashboard-fixture.ts';

/** Every page: its address and its heading. */
type Places = readonly (readonly [path: string, heading: string])[];

const narrow = { width: 360, height: 740 };

describeInBrowser('every page of the dashboard', browser => {
  let server: TestServer;
  let places: Places;
  beforeAll(async () => {
    server = await startDashboard({ allowPrivateTargets: 'true' });
    places = await fill(server);
  });
  afterAll(() => server.stop());

  test('can be used by everybody, in the dark, on a narrow phone', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', {
      colorScheme: 'dark',
      viewport: narrow,
      hasTouch: true,
    });
    const found: string[] = [];
    for (const [path, heading] of places) {
      await show(dashboard, path, heading);
      const width = await dashboard.page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > narrow.width) found.push(`${path}: is ${width} pixels wide`);
      if (path.includes('part='))
        await until('the tab of the part in the window', () => isTabSeen(dashboard.page));
      const headings = await dashboard.page.locator('h1').count();
      if (headings !== 1) found.push(`${path}: ${headings} headings of the first level`);
      // Pages in the light theme are checked by their own tests.
      found.push(...(await dashboard.violations()).map(violation => `${path}: ${violation}`));
    }
    expect(found).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('can be reached with the keyboard alone, and what has the focus is seen', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { viewport: narrow });
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ name: 'Skip to content', isSeen: true });
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ name: 'Open navigation', isSeen: true });
    await page.keyboard.press('Enter');
    const videos = page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Videos' });
    await videos.waitFor();
    for (let stops = 0; stops < 20 && (await focused(page)).name !== 'Videos'; stops += 1) {
      await page.keyboard.press('Tab');
      expect((await focused(page)).isSeen, (await focused(page)).name).toBe(true);
    }
    // Scrolls: both pages are long enough. The next one begins at its top.
    await page.evaluate(`document.body.style.minHeight = '5000px'; scrollTo(0, 300)`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Videos' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await videos.isVisible()).toBe(false);
    expect(dashboard.complaints).toEqual([]);
  });
});

function isTabSeen(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const { left, right } = document.querySelector('.tabs [aria-current]')?.getBoundingClientRect() ?? {};
    return left >= 0 && right <= innerWidth;
  })()`);
}

/** Element that has the focus: its name, and whether it is in the window and looks different for it. */
function focused(page: Page): Promise<{ readonly name: string; readonly isSeen: boolean }> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    const { left, top, right, bottom, width } = element.getBoundingClientRect();
    // The ring around a switch is that of what it stands in.
    const rings = [element, element.parentElement, element.nextElementSibling].filter(Boolean).map(one => getComputedStyle(one));
    return {
      name: element.getAttribute('aria-label') ?? element.textContent.trim(),
      isSeen:
        width > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight &&
        rings.some(style => style.outlineStyle !== 'none' || style.boxShadow !== 'none'),
    };
  })()`);
}

/** One of everything, so that nothing is looked at empty only. */
async function fill(server: TestServer): Promise<Places> {
  const { baseUrl, productionKey } = server;
  const made = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await server.api('POST', path, body);
    expect(answer.ok, path).toBe(true);
    return (await answer.json()) as Record<string, string>;
  };
  const { liveStreamId } = await createLiveStream(baseUrl, productionKey, 'Mill race');
  const { videoId } = await createVideo(baseUrl, productionKey, {
    title: 'Mill wheel',
    tags: ['water'],
    metadata: [{ key: 'season', value: '1' }],
  });
  const captions = new FormData();
  captions.set('file', new Blob(['WEBVTT\n\n00:01.000 --> 00:02.000\nClack\n']), 'en.vtt');
  const sent = await fetch(`${baseUrl}/videos/${videoId}/captions/en`, {
    method: 'POST',
    headers: { authorization: basicAuthorization(productionKey) },
    body: captions,
  });
  expect(sent.ok).toBe(true);
  const { playerId } = await made('/players', { name: 'Brook' });
  const { webhookId } = await made('/webhooks', {
    url: 'http://localhost:9/hook',
    events: ['live-stream.broadcast.started'],
  });
  expect((await server.api('PUT', '/hooks/publish', { url: 'http://localhost:9/hook' })).ok).toBe(true);
  expect((await server.api('POST', '/hooks/publish/test')).ok).toBe(true);
  await made('/upload-tokens', { ttl: 3_600 });
  await made('/account/api-keys', { name: 'Website' });
  await createWatermark(server);
  return [
    ['/dashboard', 'Overview'],
    ['/dashboard/live', 'Live streams'],
    [`/dashboard/live/${liveStreamId}`, 'Mill race'],
    [`/dashboard/live/${liveStreamId}?part=settings`, 'Mill race'],
    ['/dashboard/videos', 'Videos'],
    [`/dashboard/videos/${videoId}`, 'Mill wheel'],
    [`/dashboard/videos/${videoId}?part=captions`, 'Mill wheel'],
    [`/dashboard/videos/${videoId}?part=distribution`, 'Mill wheel'],
    [`/dashboard/videos/${videoId}/captions/en`, 'Edit captions'],
    [`/dashboard/videos/${videoId}/captions/de?new=1`, 'Write captions'],
    ['/dashboard/videos/trash', 'Trash'],
    ['/dashboard/analytics', 'Analytics'],
    ['/dashboard/players', 'Players'],
    [`/dashboard/players/${playerId}`, 'Brook'],
    ['/dashboard/watermarks', 'Watermarks'],
    ['/dashboard/keys', 'API keys'],
    ['/dashboard/upload-tokens', 'Upload tokens'],
    ['/dashboard/webhooks', 'Webhooks'],
    [`/dashboard/webhooks/${webhookId}`, 'localhost:9/hook'],
    ['/dashboard/settings', 'Settings'],
    ['/dashboard/usage', 'Usage'],
    ['/dashboard/server', 'Server'],
    ['/dashboard/server/settings', 'Server'],
    ['/dashboard/settings?part=organisation', 'Settings'],
    ['/dashboard/team', 'Team'],
    ['/dashboard/activity', 'Activity'],
    ['/dashboard/projects', 'Projects'],
    ['/dashboard/account', 'Account'],
    ['/dashboard/no/such/page', 'Not found'],
  ];
}

/** Goes where a link on the page would lead, and waits until everything is there. */
async function show({ page }: DashboardPage, path: string, heading: string): Promise<void> {
  await page.evaluate(`{
    const link = document.createElement('a');
    link.href = ${JSON.stringify(path)};
    document.body.append(link);
    link.click();
    link.remove();
  }`);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  const isThere = `document.title === ${JSON.stringify(`${heading} · Millrace`)} &&
    document.querySelector('.skeleton, [aria-busy=true]') === null`;
  await until(`everything of ${path}`, () => page.evaluate<boolean>(isThere));
}
