import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the page of the server', browser => {
  let server: TestServer;
  let dashboard: DashboardPage;
  beforeAll(async () => {
    server = await startDashboard();
    dashboard = await DashboardPage.open(browser(), server, '/dashboard/server');
  });
  afterAll(async () => {
    await dashboard?.close();
    await server?.stop();
  });

  const section = (name: string) => dashboard.page.getByRole('region', { name, exact: true });

  test('shows the load, checks the server, and says what mends it', async () => {
    const { page } = dashboard;
    await section('Load').getByText('CPU').waitFor();
    expect(await section('Servers').count()).toBe(0);
    await section('System').getByText('x264').waitFor();
    await section('Bandwidth').getByText('No traffic yet').waitFor();
    await section('Storage').getByText('No files yet').waitFor();
    const checks = section('Checks');
    await checks.getByText('Checks the disk').waitFor();
    await checks.getByRole('button', { name: 'Run checks' }).click();
    await checks.getByText('Disk speed').waitFor();
    // The tests run ffmpeg in no sandbox.
    const isolation = checks.getByRole('listitem').filter({ hasText: 'Media isolation' });
    await isolation.getByText('Warning').waitFor();
    await isolation.getByText('apt install bubblewrap').waitFor();
    await checks.getByText(`millrace doctor --from ${server.baseUrl}`).waitFor();
    expect(await dashboard.violations()).toEqual([]);

    await page.route('**/server/checks', route => route.abort());
    await checks.getByRole('button', { name: 'Run again' }).click();
    await checks.getByText('Couldn’t load this').waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await checks.getByRole('button', { name: 'Try again' }).click();
    await checks.getByText('Disk speed').waitFor();
  });

  test('has the settings of the server, and changes those that apply at once', async () => {
    const { page } = dashboard;
    await page.getByRole('link', { name: 'Settings' }).last().click();
    await section('Settings').waitFor();
    const row = (key: string) => page.getByRole('row').filter({ has: page.getByText(key, { exact: true }) });
    await row('http.port').waitFor();
    expect(await row('http.port').getByRole('button').count()).toBe(0);
    expect(await dashboard.violations()).toEqual([]);

    await page.getByLabel('Search settings').fill('reconnect');
    await row('http.port').waitFor({ state: 'detached' });
    await row('live.reconnectGrace').getByRole('button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Value').fill('soon');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const refused = dialog.locator('.field-error');
    await refused.getByText('Enter a duration from 0 to 1h, such as 200ms, 2s or 5m.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByLabel('Value').fill('90s');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row('live.reconnectGrace').getByText('Changed here').waitFor();
    await row('live.reconnectGrace').getByText('90s').waitFor();

    await row('live.reconnectGrace').getByRole('button').click();
    await dialog.getByRole('button', { name: 'Use the value of the settings file' }).click();
    await row('live.reconnectGrace').getByText('60s').waitFor();
    await page.getByLabel('Search settings').fill('nothing of the kind');
    await page.getByText('No setting matches').waitFor();

    // Addresses of pages that the server had before.
    await page.goto(`${server.baseUrl}/dashboard/nodes`);
    await section('Load').waitFor();
    expect(page.url()).toBe(`${server.baseUrl}/dashboard/server`);
  });
});
