import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the activity page of the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
    const create = async (title: string) =>
      ((await (await server.api('POST', '/videos', { title })).json()) as { videoId: string }).videoId;
    const harbour = await create('Harbour');
    await server.api('PATCH', `/videos/${harbour}`, { description: 'Boats', tags: ['sea'] });
    await create('M'.repeat(300));
    const removed = await create('Removed');
    await server.api('DELETE', `/videos/${removed}`);
  });
  afterAll(() => server?.stop());

  test('lists changes, and filters them by action, actor and target', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/team');
    const { page } = dashboard;
    await page.getByRole('link', { name: 'Activity' }).click();
    const table = page.getByRole('table', { name: 'Audit log' });
    const rows = table.getByRole('row');
    const update = rows.filter({ hasText: 'description, tags' });
    await update.waitFor();
    await rows.filter({ hasText: 'Signed in' }).filter({ hasText: 'admin@localhost' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    expect(await table.getByRole('link', { name: 'Removed' }).count()).toBe(0);

    await page.getByLabel('Filter by action').selectOption({ label: 'Videos deleted' });
    await update.waitFor({ state: 'detached' });
    await rows.filter({ hasText: 'Removed' }).waitFor();
    await page.getByLabel('Filter by action').selectOption({ label: 'Webhooks created' });
    await page.getByText('No results').waitFor();
    await page.getByRole('button', { name: 'Show everything', exact: true }).click();
    await update.getByRole('button', { name: 'Show everything about Harbour' }).click();
    await until(
      'the two entries of Harbour below the head',
      async () => (await rows.filter({ hasText: 'Harbour' }).count()) === 2 && (await rows.count()) === 3,
    );
    await page.getByRole('button', { name: 'Harbour', exact: true }).click();
    await rows.filter({ hasText: 'Signed in' }).getByRole('button', { name: 'admin@localhost' }).click();
    await update.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'By admin@localhost' }).click();

    await page.getByRole('button', { name: /^Show everything about MMM/ }).click();
    const long = page.getByRole('button', { name: /^M+$/ });
    await long.waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(1280);
    await long.click();

    await update.getByRole('link', { name: 'Harbour' }).click();
    await page.getByRole('heading', { name: 'Harbour' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
