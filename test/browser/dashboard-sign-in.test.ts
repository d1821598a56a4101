import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { codeOf } from '../support/two-factor.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, password, startDashboard } from './dashboard-fixture.ts';
import { addAuthenticator } from './virtual-authenticator.ts';

const email = 'admin@localhost';

describeInBrowser('signing in to the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    const started = await startDashboard();
    // Passkeys need a host name.
    server = { ...started, baseUrl: started.baseUrl.replace('127.0.0.1', 'localhost') };
  });
  afterAll(() => server?.stop());

  test('needs a code once two-factor sign-in is on, until it is off again', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/account');
    const { page } = dashboard;
    const card = page.getByRole('region', { name: 'Two-factor sign-in' });
    await card.getByRole('button', { name: 'Turn on' }).click();
    await page.getByLabel('Your password').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByText('This password is wrong.').waitFor();
    dashboard.complaints.length = 0;
    await page.getByLabel('Your password').fill(password);
    await page.keyboard.press('Enter');
    const setup = page.getByRole('dialog', { name: 'Scan the QR code' });
    await setup.getByRole('img', { name: 'QR code with the setup key' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    const secret = await setup.getByLabel('Setup key', { exact: true }).inputValue();
    await setup.getByLabel('Code from the app').fill(codeOf(secret));
    await page.keyboard.press('Enter');
    const codes = page.getByRole('dialog', { name: 'Your recovery codes' });
    const download = page.waitForEvent('download');
    await codes.getByRole('button', { name: 'Download the codes' }).click();
    const recoveryCodes = (await readFile(await (await download).path(), 'utf8')).trim().split('\n');
    expect(recoveryCodes).toHaveLength(10);
    expect(await dashboard.violations()).toEqual([]);
    await codes.getByRole('button', { name: 'Done' }).click();
    await card.getByText('10 recovery codes are left.').waitFor();
    expect(dashboard.complaints).toEqual([]);

    await using fresh = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const code = fresh.page.getByLabel('Code', { exact: true });
    await fresh.page.getByLabel('Email').waitFor();
    // Browsers report each refusal as an error.
    const refusals: string[] = [];
    fresh.page.on('response', response => {
      if (response.status() === 401) refusals.push(response.url());
    });
    await fresh.page.reload();
    await fresh.page.getByLabel('Email').fill('admin');
    await fresh.page.getByLabel('Password').fill(password);
    await fresh.page.keyboard.press('Enter');
    await fresh.page.getByText('An email address looks like').waitFor();
    expect(await fresh.page.getByRole('alert').count()).toBe(0);
    fresh.complaints.length = 0;
    await fresh.page.getByLabel('Email').fill(email);
    expect(refusals).toEqual([]);
    await fresh.page.getByLabel('Password').fill(password);
    await fresh.page.keyboard.press('Enter');
    await code.waitFor();
    expect(await fresh.violations()).toEqual([]);
    await fresh.page.keyboard.type('000000');
    await fresh.page.keyboard.press('Enter');
    await fresh.page.getByText('The code is wrong').waitFor();
    await fresh.page.getByRole('button', { name: 'Start over' }).click();
    await fresh.page.getByLabel('Password').fill(password);
    await fresh.page.keyboard.press('Enter');
    await code.fill(recoveryCodes[0]!);
    await fresh.page.keyboard.press('Enter');
    await fresh.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(fresh.complaints).toEqual([]);

    await card.getByRole('button', { name: 'New recovery codes' }).click();
    await page.getByLabel('Your password').fill(password);
    await page.getByLabel('Code', { exact: true }).fill(recoveryCodes[1]!);
    await page.keyboard.press('Enter');
    const sample = await codes.locator('code').innerText();
    const [renewed = ''] = sample.split('\n');
    expect(recoveryCodes).not.toContain(renewed);
    await codes.getByRole('button', { name: 'Done' }).click();

    await card.getByRole('button', { name: 'Turn off' }).click();
    await page.getByLabel('Your password').fill(password);
    await page.getByLabel('Code', { exact: true }).fill(renewed);
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');
    await dashboard.untilSaid('Two-factor sign-in is off.');
    await card.getByRole('button', { name: 'Turn on' }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('works with a passkey of the device, which is named and deleted in the account', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/account');
    const { page } = dashboard;
    const { client, authenticatorId } = await addAuthenticator(page);
    const card = page.getByRole('region', { name: 'Passkeys' });
    await card.getByRole('button', { name: 'Add passkey' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Laptop');
    await page.getByLabel('Your password').fill(password);
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByText('Passkey added.').waitFor();
    await card.getByText('Laptop', { exact: true }).waitFor();

    // The user does not choose the passkey that the browser offers in the email field.
    const setPresence = (enabled: boolean) =>
      client.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    await setPresence(false);
    const signOut = async () => {
      await page.getByRole('button', { name: 'Account menu' }).click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
    };
    await signOut();
    const button = page.getByRole('button', { name: 'Sign in with a passkey' });
    await button.waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await setPresence(true);
    await button.click();
    await card.getByText(/, used/).waitFor();

    // Now the user does.
    const offered = page.waitForRequest(
      request => request.url().endsWith('/auth/passkey') && request.method() === 'POST',
    );
    await signOut();
    await offered;
    await card.getByText(/, used/).waitFor();

    await card.getByRole('button', { name: 'Rename Laptop' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Old laptop');
    await page.keyboard.press('Enter');
    await card.getByText('Old laptop', { exact: true }).waitFor();
    await card.getByRole('button', { name: 'Delete Old laptop' }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Delete passkey' }).click();
    await card.getByText('Old laptop', { exact: true }).waitFor({ state: 'detached' });
    expect(dashboard.complaints).toEqual([]);

    // The device has it still.
    const { credentials } = await client.send('WebAuthn.getCredentials', { authenticatorId });
    expect(credentials).toHaveLength(1);
    await using fresh = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const own = await addAuthenticator(fresh.page);
    await own.client.send('WebAuthn.addCredential', {
      authenticatorId: own.authenticatorId,
      credential: credentials[0]!,
    });
    await fresh.page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await fresh.page.getByText('The passkey was not accepted.').waitFor();
    expect(await fresh.violations()).toEqual([]);
  });

  test('explains why an address without a host name has no passkeys', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const { page } = dashboard;
    const { port } = new URL(server.baseUrl);
    await page.goto(`http://127.0.0.1:${port}/dashboard/account`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await page.keyboard.press('Enter');
    const card = page.getByRole('region', { name: 'Passkeys' });
    await card.getByText('Browsers allow passkeys only over HTTPS and with a host name.').waitFor();
    expect(await card.getByRole('button', { name: 'Add passkey' }).count()).toBe(0);
  });
});
