import { expect, test } from 'vitest';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('the dashboard', browser => {
  test('signs in, shows where one is, and signs out', async () => {
    await using server = await startDashboard();
    await using dashboard = await DashboardPage.open(browser(), server, '/', { signedIn: false });
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('Email').fill('admin@localhost');
    await page.getByLabel('Password').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Password').fill('correct-horse-battery-staple');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);

    const otherTab = await page.context().newPage();
    await otherTab.goto(`${server.baseUrl}/dashboard/account`);
    await otherTab.getByRole('heading', { name: 'Account', exact: true }).waitFor();
    await page.getByRole('button', { name: /^Account menu/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor();
    // The cookie is gone for all tabs, and with it what they show.
    await otherTab.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor();
  });
});
