import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

const phone = { width: 360, height: 740 };

describeInBrowser('the documentation in a browser', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  test('finds guides and operations, follows old links, and calls with a key', async () => {
    await using docs = await DashboardPage.open(browser(), server, '/docs', { signedIn: false });
    const { page } = docs;
    expect(await docs.violations()).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('content-range');
    await page.locator('#results a', { hasText: 'POST /videos/{videoId}/source' }).waitFor();
    await page.getByLabel('Search the documentation').fill('stream key obs');
    await page.locator('#results a', { hasText: 'Go live' }).first().waitFor();
    // A question, and words that no page has together.
    for (const [query, title] of [
      ['how do I migrate from YouTube', 'Migrate from another service'],
      ['password for a video', 'Restrict who can watch'],
      ['zebra webhook signature', 'Webhooks'],
    ] as const) {
      await page.getByLabel('Search the documentation').fill(query);
      await page.locator('#results li', { hasText: title }).first().waitFor();
    }
    // Enter opens nothing that is not shown, and nothing while an input method composes a word.
    const query = page.getByLabel('Search the documentation');
    const open = page.url();
    await query.fill('');
    await page.keyboard.press('Enter');
    await query.fill('webhook');
    await page.locator('#results a').first().waitFor();
    await page.evaluate(
      "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true }))",
    );
    await query.fill('stream key obs');
    await page.locator('#results a', { hasText: 'Go live' }).first().waitFor();
    expect(page.url()).toBe(open);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until('a guide', () => /\/docs\/[\w-]+(?:#.+)?$/.test(page.url()));

    // Links of earlier versions.
    await page.goto(`${server.baseUrl}/docs#/Live%20streams/post-live-streams`);
    await until('the operation', () => page.url().endsWith('/docs/reference/live-streams#post-live-streams'));
    expect(await docs.violations()).toEqual([]);
    await page.getByText('To try a call').waitFor();
    // The beginning of a key is not sent: it would be a wrong key.
    const key = page.getByLabel('API key');
    await key.pressSequentially(server.sandboxKey);
    await page.getByText('Calls use the key that you entered').waitFor();
    expect(await call(page.locator('#post-live-streams'))).toMatch(/^201|^200/);
    expect(await call(page.locator('#get-live-streams'))).toMatch(/^200.*streamKey/s);
    expect(docs.complaints).toEqual([]);
    await key.fill('ключ');
    expect(await call(page.locator('#get-live-streams'))).toMatch(/^401/);
  });

  test('can be used on a narrow phone in the dark, and copies examples', async () => {
    await using docs = await DashboardPage.open(browser(), server, '/docs/start', {
      signedIn: false,
      colorScheme: 'dark',
      viewport: phone,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const { page } = docs;
    const found: string[] = [];
    for (const path of [
      '/docs/start',
      '/docs',
      '/docs/api',
      '/docs/troubleshooting',
      '/docs/reference/videos',
      '/docs/errors',
      '/docs/settings',
    ]) {
      await page.goto(server.baseUrl + path);
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > phone.width) found.push(`${path}: is ${width} pixels wide`);
      if ((await page.locator('h1').count()) !== 1) found.push(`${path}: has not one title`);
      found.push(...(await docs.violations()).map(violation => `${path}: ${violation}`));
    }
    expect(found).toEqual([]);
    const port = page.locator('tr', { hasText: 'http.port' }).locator('td');
    const meaning = await port.last().boundingBox();
    expect(meaning!.width).toBeGreaterThan(phone.width * 0.8);
    expect(meaning!.y).toBeGreaterThan((await port.first().boundingBox())!.y);
    expect(await port.last().getAttribute('data-heading')).toBe('meaning');

    await page.goto(`${server.baseUrl}/docs/start`);
    await page.getByRole('button', { name: 'Contents' }).click();
    await page
      .getByRole('navigation', { name: 'Documentation' })
      .getByRole('link', { name: 'Webhooks' })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor();
    expect(await page.locator('#side').isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Copy' }).first().click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(
      `${server.baseUrl.replace('127.0.0.1', 'localhost')}/webhooks`,
    );

    // The language of examples holds for all pages.
    await page.goto(`${server.baseUrl}/docs/start`);
    const curl = page.getByRole('tab', { name: 'curl' }).first();
    await curl.focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.locator('.examples pre:visible', { hasText: 'requests.post(' }).waitFor();
    expect(await page.locator('.examples pre:visible', { hasText: 'curl' }).count()).toBe(0);
    await page.goto(`${server.baseUrl}/docs/api`);
    const examples = page.locator('.examples').first();
    expect(await examples.getByRole('tab', { selected: true }).innerText()).toBe('Python');
    await examples.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('os.environ["VIDEO_ID"]');
    // Nobody is signed in, and nothing is asked.
    expect(await page.locator('#caller').isVisible()).toBe(false);

    const dark = page.getByRole('button', { name: 'Dark mode' });
    expect(await dark.getAttribute('aria-pressed')).toBe('true');
    await dark.click();
    await page.reload();
    expect(await dark.getAttribute('aria-pressed')).toBe('false');
    expect(docs.complaints).toEqual([]);
  });

  test('calls as the person who is signed in, for the environment and project that the page shows', async () => {
    const created = await server.api('POST', '/videos', { title: 'Harbour at noon' });
    const { videoId } = (await created.json()) as { videoId: string };
    await using docs = await DashboardPage.open(browser(), server);
    const { page } = docs;
    await page.getByRole('button', { name: 'Account menu' }).waitFor();
    await page.goto(`${server.baseUrl}/docs/reference/videos`);
    await page.getByText("You're signed in as admin@localhost").waitFor();
    const environment = page.getByLabel('Environment for calls');
    expect(await environment.inputValue()).toBe('production');
    const videos = page.locator('#get-videos');
    expect(await call(videos)).toMatch(/^200.*Harbour at noon/s);
    await videos.getByLabel('metadata').fill('shot=12');
    expect(await call(videos)).toMatch(/^200.*"itemsTotal": 0/s);
    await videos.getByLabel('metadata').fill('');
    await environment.selectOption('sandbox');
    expect(await call(videos)).toMatch(/^200.*"itemsTotal": 0/s);
    // A key that was entered decides, whatever the session's environment is.
    await page.getByLabel('API key').fill(server.productionKey);
    await page.getByText('Calls use the key that you entered').waitFor();
    expect(await call(videos)).toMatch(/^200.*Harbour at noon/s);

    const name = `Web shop ${'x'.repeat(91)}`;
    const newProject = `fetch('/account/projects', { method: 'POST', headers: { 'content-type': 'application/json' }, body: ${JSON.stringify(JSON.stringify({ name }))} }).then(({ ok }) => ok)`;
    expect(await page.evaluate(newProject)).toBe(true);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${server.baseUrl}/docs/reference/account`);
    const project = page.getByLabel('Project for calls');
    const account = page.locator('#get-account');
    await project.selectOption(name);
    expect(await call(account)).toMatch(/"projectName": "Web shop/);
    const { x, width } = (await project.boundingBox())!;
    expect(x + width).toBeLessThanOrEqual(390);
    await project.selectOption('Default');
    expect(await call(account)).toMatch(/"projectName": "Default"/);

    // Guides have the reader's ids, and run examples that only read.
    await page.goto(`${server.baseUrl}/docs/api`);
    const own = page.locator('.code mark:visible');
    await own.first().waitFor();
    expect(new Set(await own.allInnerTexts())).toEqual(new Set([videoId]));
    await page.getByRole('tab', { name: 'Go' }).first().click();
    await own.getByText(`"${videoId}"`).waitFor();
    const usage = page.locator('.code', { hasText: '/usage' });
    // An answer that comes late does not take the focus from where the reader types.
    const held = Promise.withResolvers<void>();
    await page.route('**/usage', route => held.promise.then(() => route.continue()));
    await usage.getByRole('button', { name: 'Run' }).click();
    await page.getByLabel('Search the documentation').focus();
    held.resolve();
    const answer = usage.locator('+ .answer');
    await answer.getByText('GET /usage: 200').waitFor();
    expect(await page.evaluate('document.activeElement.id')).toBe('query');
    expect(JSON.parse(await answer.locator('pre').innerText())).toMatchObject({ environment: 'production' });
    const uploads = page.locator('.code', { hasText: 'access_token' });
    expect(await uploads.getByRole('button', { name: 'Run' }).count()).toBe(0);
    expect(await docs.violations()).toEqual([]);
    await page.getByLabel('Environment for calls').selectOption('sandbox');
    await until('no ids of production', async () => (await own.getByText(videoId).count()) === 0);
    expect(await answer.innerText()).toBe('');

    // The dashboard changes the session in another tab: the reader's choice stays.
    const dashboard = await page.context().newPage();
    await dashboard.goto(`${server.baseUrl}/dashboard`);
    const read = page.waitForResponse('**/auth/session');
    await dashboard.evaluate("new BroadcastChannel('millrace.session').postMessage('changed')");
    await (await read).finished();
    expect(await page.getByLabel('Environment for calls').inputValue()).toBe('sandbox');
    await dashboard.getByRole('button', { name: 'Account menu' }).click();
    await dashboard.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.locator('#caller').waitFor({ state: 'hidden' });
    expect(await page.getByRole('button', { name: 'Run' }).count()).toBe(0);
    await page.goto(`${server.baseUrl}/docs/reference/videos`);
    await page.getByText('To try a call').waitFor();
    expect(docs.complaints).toEqual([]);
  });
});

/** Calls an operation with what its fields hold, and returns the status and the body of the answer. */
async function call(operation: Locator): Promise<string> {
  if ((await operation.locator('form').count()) === 0)
    await operation.getByRole('button', { name: 'Try it' }).click();
  const status = operation.getByRole('status');
  const answered = operation.page().waitForResponse(response => !response.url().endsWith('/auth/session'));
  await operation.getByRole('button', { name: 'Send' }).click();
  await answered;
  await until('the answer is shown', async () => /^\d{3}/.test(await status.innerText()));
  return `${await status.innerText()}\n${await operation.locator('form pre').innerText()}`;
}
