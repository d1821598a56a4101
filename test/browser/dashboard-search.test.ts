import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the header of the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  const createVideo = async (title: string) => {
    const answer = await server.api('POST', '/videos', { title });
    return ((await answer.json()) as { videoId: string }).videoId;
  };

  test('finds media, pages, settings, documentation and actions with the keyboard', async () => {
    const { liveStreamId } = await server.createStream('Lighthouse cam');
    const videoId = await createVideo('Lighthouse at dusk');
    await createVideo('<b>Harbour</b> שלום');
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Videos' }).waitFor();
    const requests: string[] = [];
    page.on('request', request => requests.push(new URL(request.url()).pathname));
    const field = page.getByRole('combobox', { name: 'Search' });
    const options = page.getByRole('option');
    const active = page.locator('[role=option][aria-selected=true]');
    const search = async (query: string) => {
      await page.keyboard.press('Control+k');
      await field.fill(query);
    };

    await page.keyboard.press('/');
    await field.waitFor();
    expect(await field.inputValue()).toBe('');
    await page.getByRole('group', { name: 'Pages' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await until('the documentation is loaded', async () => requests.includes('/docs/reference/search.json'));
    await page.keyboard.type('lighthouse');
    await page.getByRole('option', { name: 'Lighthouse at dusk' }).waitFor();
    await page.getByText('2 results', { exact: true }).waitFor();
    expect(await field.getAttribute('aria-activedescendant')).toBe(await active.getAttribute('id'));
    expect(await active.innerText()).toContain('Lighthouse cam');
    await page.keyboard.press('End');
    await until('the last one', async () => (await active.innerText()).includes('at dusk'));
    // The first one follows the last.
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Lighthouse at dusk' }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/dashboard/videos/${videoId}`);

    await page.keyboard.press('Control+k');
    await page.getByRole('group', { name: 'Recent' }).getByText('Lighthouse at dusk').waitFor();
    await field.fill(liveStreamId);
    await page.getByRole('option', { name: 'Lighthouse cam' }).waitFor();
    await field.fill(videoId);
    await page.getByRole('option', { name: 'Lighthouse at dusk' }).waitFor();
    for (const id of [`li${'0'.repeat(22)}`, `vi${'0'.repeat(22)}`]) {
      await field.fill(id);
      await page.getByText(`No results for “${id}”`).waitFor();
    }
    await field.fill('<b>harbour');
    await page.getByRole('option', { name: '<b>Harbour</b> שלום' }).waitFor();
    await field.fill('zxqv wkj');
    await page.getByText('No results for “zxqv wkj”').waitFor();
    await field.fill('x'.repeat(200));
    await page.getByText('No results for “xx').waitFor();
    expect(
      await page.locator('.palette').evaluate(palette => palette.scrollWidth - palette.clientWidth),
    ).toBe(0);
    await page.keyboard.press('Escape');
    await field.waitFor({ state: 'detached' });

    await search('audit log');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await search('rtmp.port');
    await page.getByRole('group', { name: 'Server settings' }).getByText('rtmp.port').waitFor();
    await field.fill('2fa');
    await page.getByRole('option', { name: /^Two-factor sign-in/ }).click();
    await page.locator('#two-factor:focus').waitFor();
    await search('member');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'Invite people' }).waitFor();
    await page.keyboard.press('Escape');
    await search('dark');
    await page.keyboard.press('Enter');
    await until('the dark theme', () => page.evaluate("document.documentElement.dataset.theme === 'dark'"));
    await search('webhook signature');
    const opened = page.context().waitForEvent('page');
    await page.getByRole('group', { name: 'Documentation' }).getByRole('option').first().click();
    expect(new URL((await opened).url()).pathname).toMatch(/^\/docs\//);
    expect(dashboard.complaints).toEqual([]);

    // Answers that come late belong to what was typed before.
    let release = () => {};
    const isHeld = new Promise<void>(resolve => {
      release = resolve;
    });
    await page.route(/\/videos\?.*title=light/, async route => {
      await isHeld;
      await route.continue().catch(() => {});
    });
    await search('light');
    await page.getByText('Searching…').waitFor();
    await field.fill('harbour');
    await page.getByRole('option', { name: '<b>Harbour</b> שלום' }).waitFor();
    release();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await options.filter({ hasText: 'Lighthouse' }).count()).toBe(0);
    await page.route(/\/live-streams\?/, route => route.fulfill({ status: 500, body: '{}' }));
    await field.fill('light');
    await page.getByRole('alert').getByText('Search failed.').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await options.filter({ hasText: 'Lighthouse cam' }).waitFor();
  });

  test('goes live and uploads from every page, also on a phone', async () => {
    const viewport = { width: 390, height: 780 };
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/activity', { viewport });
    const { page } = dashboard;
    const create = async (name: string) => {
      await page.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    await create('Go live with OBS or another encoder');
    const dialog = page.getByRole('dialog', { name: 'Go live with an encoder' });
    await dialog.getByLabel('Live stream', { exact: true }).selectOption('New live stream');
    await dialog.getByLabel('Name').fill('Morning show');
    await dialog.getByLabel('Visibility').selectOption('private');
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Morning show' }).waitFor();
    await page.getByRole('button', { name: 'Copy stream key' }).waitFor();

    await create('Go live from an IP camera or URL');
    const pull = page.getByRole('dialog', { name: 'Go live from an IP camera or URL' });
    await pull.getByLabel('Source address').fill('file:///etc/passwd');
    await pull.getByRole('button', { name: 'Continue' }).click();
    await pull.getByText(/The source must be an address that begins with/).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await pull.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('combobox', { name: 'Search' }).fill('upload');
    const box = await page.getByRole('dialog', { name: 'Search' }).boundingBox();
    expect(box).toMatchObject({ x: 0, width: 390 });
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('option', { name: 'Upload videos', exact: true }).click();
    await page.getByRole('dialog', { name: 'Upload videos' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
  });

  test('lists come back as they were, and what failed is loaded again', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, index) => createVideo(`Wave ${index}`)));
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos?search=Wave');
    const { page } = dashboard;
    const last = page.getByRole('link', { name: /^Wave \d+/ }).last();
    await last.scrollIntoViewIfNeeded();
    const scrolled = await page.evaluate<number>('Math.round(scrollY)');
    expect(scrolled).toBeGreaterThan(200);
    const wasThere = () => page.evaluate<boolean>(`Math.abs(scrollY - ${scrolled}) < 2`);
    await last.click();
    await page.getByRole('heading', { level: 1, name: /^Wave/ }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await until('the list is where it was', wasThere);
    await last.click();
    await page.getByRole('heading', { level: 1, name: /^Wave/ }).waitFor();
    // The link above the title keeps the search, too.
    await page.locator('a.back').click();
    await until('the list is where it was', wasThere);
    expect(new URL(page.url()).search).toBe('?search=Wave');
    await page.reload();
    await until('the list is where it was', wasThere);

    await page.route(/\/(videos|live-streams)\?/, route => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'Live streams' }).click();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await page.getByRole('link', { name: /Lighthouse cam/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);

    // So is the code of a page, however long the server is away.
    const code = /\/assets\/players-page/;
    await page.route(code, route => route.abort('connectionrefused'));
    await page.getByRole('link', { name: 'Players' }).click();
    await page.getByText('This page couldn’t be loaded.').waitFor();
    for (let tries = 0; tries < 5; tries += 1) {
      const failed = page.waitForEvent('requestfailed', request => code.test(request.url()));
      await page.evaluate("dispatchEvent(new Event('online'))");
      await failed;
    }
    await page.unrouteAll({ behavior: 'wait' });
    await until('the page is loaded', async () => {
      await page.evaluate("dispatchEvent(new Event('online'))");
      return (await page.getByRole('heading', { name: 'Players', level: 1 }).count()) === 1;
    });
  });
});
