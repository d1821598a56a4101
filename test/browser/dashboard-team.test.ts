import { afterAll, beforeAll, expect, test } from 'vitest';
import { startMailServer } from '../support/mail-server.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('a team in the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  test('grows by an invitation, and roles change', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/team');
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email').fill('anna@example.org');
    await page.getByLabel('Role', { exact: true }).selectOption('viewer');
    const answered = page.waitForResponse(
      response => response.url().endsWith('/account/invitations') && response.status() === 201,
    );
    await page.getByRole('button', { name: 'Create invitation' }).click();
    const { url } = (await (await answered).json()) as { url: string };
    await page.getByText('Copy the link now.').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();

    const context = await browser().newContext();
    try {
      const guest = await context.newPage();
      await guest.goto(`${server.baseUrl}${new URL(url).pathname}`);
      await guest.getByLabel('Choose a password').fill('nine boats leave at dawn');
      await guest.getByRole('button', { name: 'Accept invitation' }).click();
      await guest.getByRole('button', { name: 'Account menu' }).waitFor();
      await guest.goto(`${server.baseUrl}${new URL(url).pathname}`);
      await guest.getByText('This invitation doesn’t work anymore.').waitFor();
      await guest.getByRole('button', { name: 'Sign in' }).click();
      await guest.getByRole('button', { name: 'Account menu' }).waitFor();
      await page.reload();
      await page.getByLabel('Role of anna@example.org').selectOption('editor');
      await page.getByText('Role changed.').waitFor();
      await guest.goto(`${server.baseUrl}/dashboard/team`);
      await guest.getByRole('cell', { name: 'Editor' }).first().waitFor();
      expect(await guest.getByRole('button', { name: 'Invite' }).count()).toBe(0);
      await guest.goto(`${server.baseUrl}/dashboard/account`);
      await guest.getByText('Verify your email address').waitFor();
      await page.getByRole('row', { name: 'anna@example.org' }).getByText('Unverified').waitFor();
      expect(await dashboard.violations()).toEqual([]);

      await page.goto(`${server.baseUrl}/dashboard/server`);
      await page.getByRole('button', { name: 'Verify anna@example.org' }).click();
      expect(await dashboard.violations()).toEqual([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Verify', exact: true }).click();
      const given = page.getByLabel('Password of anna@example.org', { exact: true });
      const password = await given.inputValue();
      expect(await dashboard.violations()).toEqual([]);
      await page.getByRole('button', { name: 'Done' }).click();
      await given.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Verify anna@example.org' }).waitFor({ state: 'detached' });
      await guest.goto(`${server.baseUrl}/dashboard/team`);
      await guest.getByLabel('Email').fill('anna@example.org');
      await guest.getByLabel('Password').fill(password);
      await guest.keyboard.press('Enter');
      await guest.getByRole('cell', { name: 'Editor' }).first().waitFor();
      expect(await guest.getByText('Unverified').count()).toBe(0);
    } finally {
      await context.close();
    }
  });

  test('is told if an invitation was mailed', async () => {
    const { port } = await startMailServer({
      onRcptTo: ({ address }, _, done) =>
        done(
          address.startsWith('nobody')
            ? Object.assign(new Error('no such user'), { responseCode: 550 })
            : null,
        ),
    });
    await using mailing = await startDashboard({
      'smtp.host': '127.0.0.1',
      'smtp.port': String(port),
      'smtp.from': 'millrace@example.org',
    });
    await using dashboard = await DashboardPage.open(browser(), mailing, '/dashboard/team');
    const { page } = dashboard;
    for (const [email, outcome] of [
      ['anna@example.org', 'Sent'],
      ['nobody@example.org', /^Not sent: The mail server refused the email: 550 no such user/],
    ] as const) {
      await page.getByRole('button', { name: 'Invite' }).click();
      await page.getByLabel('Email').fill(email);
      await page.getByRole('button', { name: 'Create invitation' }).click();
      await page.getByText('We’re emailing').waitFor();
      await page.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row').filter({ has: page.getByText(email, { exact: true }) });
      await row.getByText(outcome, { exact: true }).waitFor();
    }
    expect(await dashboard.violations()).toEqual([]);
  });
});
