import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the documentation in a browser', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  test('shows all of the API, and has it answer with a key', async () => {
    await using docs = await DashboardPage.open(browser(), server, '/docs', { signedIn: false });
    const { page } = docs;
    await page.waitForSelector('.opblock-tag');
    const headings = await page.locator('.opblock-tag').all();
    const shown = await Promise.all(headings.map(heading => heading.getAttribute('data-tag')));
    const answer = await fetch(`${server.baseUrl}/openapi.json`);
    const { tags } = (await answer.json()) as { tags: { name: string }[] };
    expect(shown).toEqual(tags.map(({ name }) => name));

    await page.getByRole('link', { name: 'sign in to the dashboard' }).waitFor();
    await authorize(page, server.sandboxKey);
    await page.getByText('use the key or token that you entered').waitFor();
    await page.click('.opblock-tag[data-tag="Videos"]');
    const operation = page.locator('#operations-Videos-get-videos');
    await operation.locator('.opblock-summary-control').click();
    expect(await execute(operation)).toMatch(/^200/);
    expect(docs.complaints).toEqual([]);
  });

  test('calls as the person who is signed in, with nothing typed, and finds what that person has', async () => {
    await server.api('POST', '/videos', { title: 'Harbour at noon' });
    await using docs = await DashboardPage.open(browser(), server, '/docs#/Videos/get-videos');
    const { page } = docs;
    await page.getByText("You're signed in as admin@localhost").waitFor();
    const environment = page.getByLabel('Environment for calls');
    expect(await environment.inputValue()).toBe('production');
    const videos = page.locator('#operations-Videos-get-videos');
    expect(await execute(videos)).toMatch(/^200.*Harbour at noon/s);
    // A terminal has no session.
    expect(await videos.locator('.curl').innerText()).toMatch(/^curl -u \$KEY: -X 'GET'/);
    expect(await videos.locator('.curl').innerText()).not.toContain('Millrace-Environment');

    await page.locator('.opblock-tag[data-tag="Live streams"]').click();
    await page.locator('#operations-Live_streams-post-live-streams .opblock-summary-control').click();
    expect(await execute(page.locator('#operations-Live_streams-post-live-streams'))).toMatch(/^200/);
    await page.locator('#operations-Live_streams-get-live-streams .opblock-summary-control').click();
    expect(await execute(page.locator('#operations-Live_streams-get-live-streams'))).toMatch(
      /^200.*streamKey/s,
    );

    await environment.selectOption('sandbox');
    await videos.locator('.btn-clear').click();
    expect(await execute(videos)).toMatch(/^200.*"itemsTotal": 0/s);

    // A key that was entered decides, whatever the session's environment is.
    await authorize(page, server.productionKey);
    await page.getByText('use the key or token that you entered').waitFor();
    await videos.locator('.btn-clear').click();
    expect(await execute(videos)).toMatch(/^200.*Harbour at noon/s);
    expect(docs.complaints).toEqual([]);
  });

  test('calls for the project that was chosen in the dashboard, or another one', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    await page.getByRole('button', { name: 'New project' }).click();
    const name = `Web shop ${'x'.repeat(91)}`;
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('button', { name: `Project ${name}` }).waitFor();
    await page.goto(`${server.baseUrl}/docs#/Account/get-account`);
    const project = page.getByLabel('Project for calls');
    await until('the project is chosen', async () =>
      (await project.locator('option:checked').allInnerTexts()).includes(name),
    );
    const account = page.locator('#operations-Account-get-account');
    expect(await execute(account)).toMatch(/"projectName": "Web shop/);
    await page.setViewportSize({ width: 390, height: 800 });
    const { x, width } = (await project.boundingBox())!;
    expect(x + width).toBeLessThanOrEqual(390);
    await project.selectOption('Default');
    await account.locator('.btn-clear').click();
    expect(await execute(account)).toMatch(/"projectName": "Default"/);
  });

  test('notices when somebody signs in or out in the dashboard', async () => {
    await using docs = await DashboardPage.open(browser(), server, '/docs');
    const { page } = docs;
    await page.getByText("You're signed in as admin@localhost").waitFor();
    const dashboard = await page.context().newPage();
    await dashboard.goto(`${server.baseUrl}/dashboard`);
    await dashboard.getByRole('button', { name: 'Account menu' }).click();
    await dashboard.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: 'sign in to the dashboard' }).waitFor();
    expect(docs.complaints).toEqual([]);
  });
});

/** Enters a key in the viewer's dialog. */
async function authorize(page: Page, key: string): Promise<void> {
  await page.click('.auth-wrapper > .authorize');
  await page.locator('#auth-basic-username:focus').waitFor();
  await page.fill('#auth-basic-username', key);
  const form = page.locator('.auth-container', { has: page.locator('#auth-basic-username') });
  await form.locator('.authorize').click();
  await page.click('.btn-done');
}

/** Executes an operation with what its fields hold, and returns the status and the body of the answer. */
async function execute(operation: Locator): Promise<string> {
  const tryOut = operation.locator('.try-out__btn');
  await tryOut.waitFor();
  if ((await tryOut.innerText()).startsWith('Try')) await tryOut.click();
  await operation.locator('.execute').click();
  const answer = operation.locator('.live-responses-table tbody tr').last();
  await answer.locator('.response-col_status').waitFor();
  await until('the answer is shown', async () => (await answer.locator('pre').count()) > 0);
  return answer.innerText();
}
