import { expect, test } from 'vitest';
import { startMailServer } from '../support/mail-server.ts';
import { codeOf } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, password, startDashboard } from './dashboard-fixture.ts';

const email = 'admin@localhost';
const newPassword = 'nine boats come home at dusk';

describeInBrowser('a forgotten password', browser => {
  test('is replaced with the link of a mail, which works once and asks for the code afterwards', async () => {
    const { port, mails } = await startMailServer();
    await using server = await startDashboard({
      'smtp.host': '127.0.0.1',
      'smtp.port': String(port),
      'smtp.from': 'millrace@example.org',
    });
    await using elsewhere = await DashboardPage.open(browser(), server, '/dashboard/account');
    const card = elsewhere.page.getByRole('region', { name: 'Two-factor sign-in' });
    await card.getByRole('button', { name: 'Turn on' }).click();
    await elsewhere.page.getByLabel('Your password').fill(password);
    await elsewhere.page.keyboard.press('Enter');
    const secret = await elsewhere.page.getByLabel('Setup key', { exact: true }).inputValue();
    await elsewhere.page.getByLabel('Code from the app').fill(codeOf(secret));
    await elsewhere.page.keyboard.press('Enter');
    await elsewhere.page.getByRole('dialog', { name: 'Your recovery codes' }).waitFor();
    await elsewhere.page.getByRole('button', { name: 'Done' }).click();
    const feed = elsewhere.page.waitForEvent('websocket');
    await elsewhere.page.goto(`${server.baseUrl}/dashboard`);
    await (await feed).waitForEvent('framereceived');

    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const { page } = dashboard;
    await page.getByLabel('Email').fill(email);
    await page.getByRole('button', { name: 'Forgot your password?' }).click();
    expect(await page.getByLabel('Email').inputValue()).toBe(email);
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByText(`If a user has the address ${email}, we’ve sent a link to it.`).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    const mail = await waitUntil(() => mails[0]);
    const path = /\/dashboard\/password-reset\/\w+/.exec(mail.content)![0];

    await page.goto(server.baseUrl + path);
    await page.getByText(`For ${email}.`).waitFor();
    await page.getByRole('group', { name: 'Sessions to keep' }).getByText('Chrome').first().waitFor();
    await page.getByLabel('New password', { exact: true }).fill(newPassword);
    await page.getByLabel('Confirm new password').fill('another');
    await page.getByText('The passwords don’t match.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('Confirm new password').fill(newPassword);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Your password was changed' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await elsewhere.page.getByText('You were signed out.').waitFor();

    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(newPassword);
    await page.keyboard.press('Enter');
    await page.getByLabel('Code', { exact: true }).waitFor();
    expect(dashboard.complaints).toEqual([]);

    await page.goto(server.baseUrl + path);
    await page.getByText('This link doesn’t work anymore.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Request a new link' }).click();
    await page.getByRole('button', { name: 'Send link' }).waitFor();
    const confirmation = await waitUntil(() => mails[1]);
    expect(confirmation.content).toContain('Subject: Your password for Millrace was changed');
  });

  test('is a matter for the operator where the server sends no mails', async () => {
    await using server = await startDashboard();
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const { page } = dashboard;
    await page.getByRole('button', { name: 'Forgot your password?' }).click();
    await page.getByText('npm run account -- password EMAIL').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Back to sign-in' }).click();
    await page.getByLabel('Password').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
