import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pngImage } from '../support/images.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, password, startDashboard } from './dashboard-fixture.ts';

const email = 'admin@localhost';
const newPassword = 'nine boats come home at dusk';

describeInBrowser('the account in the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard({ 'bootstrap.upgraded': 'false' });
  });
  afterAll(() => server?.stop());

  const signIn = (who: string, secret: string) =>
    fetch(`${server.baseUrl}/auth/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: who, password: secret }),
    });
  const statusOf = async (key: string) =>
    (await fetch(`${server.baseUrl}/live-streams`, { headers: basic(key) })).status;

  test('is upgraded, and both environments keep their own things', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard');
    const { page } = dashboard;
    await page.getByText('You’re in the sandbox').waitFor();
    const toggle = page.getByRole('group', { name: 'Environment' });
    expect(await toggle.getByRole('radio').count()).toBe(1);
    await toggle.getByRole('link', { name: /Production/ }).click();

    const upgrade = page.getByRole('button', { name: 'Upgrade this account' });
    await upgrade.waitFor();
    await page.getByText('6,000 per minute').first().waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await upgrade.click();
    await page.getByText('You can now use production').waitFor();
    expect(await toggle.getByRole('radio', { name: 'Sandbox' }).isChecked()).toBe(true);
    expect(await statusOf(server.productionKey)).toBe(200);

    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('button', { name: 'Create live stream' }).click();
    await page.getByText('Waiting for video from').waitFor();
    await toggle.getByText('Production').click();
    await page.getByRole('button', { name: 'Create live stream' }).waitFor();
    expect(await page.getByText('You’re in the sandbox').count()).toBe(0);
    expect(await namesOf(server, server.sandboxKey)).toEqual(['My live stream']);
    expect(await namesOf(server, server.productionKey)).toEqual([]);
    await toggle.getByText('Sandbox').click();
    await page.getByText('Waiting for video from').waitFor();

    // The choice stays with this browser, for the account that made it. Without one an upgraded account is in production.
    await page.reload();
    await toggle.getByRole('radio', { name: 'Sandbox', checked: true }).waitFor();
    await page.evaluate(() => localStorage.setItem('millrace.environment', 'sandbox acOfAnother'));
    await page.reload();
    await toggle.getByRole('radio', { name: 'Production', checked: true }).waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('makes keys that open the API, regenerates and deletes them', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/keys');
    const { page } = dashboard;
    await page.getByRole('table').waitFor();
    expect(await dashboard.violations()).toEqual([]);

    await page.getByRole('button', { name: 'New API key' }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('Name').fill('Upload page');
    await page.keyboard.press('Enter');
    const made = page.getByRole('dialog', { name: /Your new keys/ });
    const production = await made.getByRole('textbox', { name: 'Production key' }).inputValue();
    expect(await made.getByText(`curl -u ${production}:`).count()).toBe(1);
    expect(await dashboard.violations()).toEqual([]);
    expect(await statusOf(production)).toBe(200);
    await page.keyboard.press('Escape');

    const row = page.getByRole('row', { name: /Upload page/ });
    await row.getByRole('button', { name: /production key/ }).click();
    await page.getByRole('menuitem', { name: 'Regenerate' }).click();
    await page.getByRole('button', { name: 'Regenerate key' }).click();
    const renewed = page.getByRole('dialog', { name: 'Your new key' });
    const second = await renewed.getByRole('textbox', { name: 'Production key' }).inputValue();
    expect(await statusOf(production)).toBe(401);
    expect(await statusOf(second)).toBe(200);
    await renewed.getByRole('button', { name: 'Done' }).click();

    await row.getByRole('button', { name: /^Actions for (?!the )/ }).click();
    await page.getByRole('menuitem', { name: 'Delete API key' }).click();
    const confirm = page.getByRole('dialog', { name: 'Delete the API key?' });
    const destroy = confirm.getByRole('button', { name: 'Delete API key' });
    expect(await destroy.getAttribute('aria-disabled')).toBe('true');
    await confirm.getByRole('textbox').fill('Upload page');
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });
    expect(await statusOf(second)).toBe(401);
    expect(dashboard.complaints).toEqual([]);

    // The dialog shows the server's reason.
    await deletePair(page);
    await page
      .getByRole('dialog')
      .getByText(/last API key/i)
      .waitFor();
  });

  test('expires videos after a number of days, and keeps one that has no date', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/settings');
    const { page } = dashboard;
    await page.getByText('No videos expire.').waitFor();
    await page.getByLabel('Keep videos for (days)').fill('0');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Enter a whole number from 1 to 36,500.').waitFor();
    dashboard.complaints.length = 0;
    await page.getByLabel('Keep videos for (days)').fill('30');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await dashboard.untilSaid('Retention saved.');

    const created = await server.api('POST', '/videos', { title: 'Harbour' });
    const { videoId } = (await created.json()) as { videoId: string };
    await page.reload();
    await page.getByRole('link', { name: 'Harbour' }).click();
    const form = page.getByLabel('Expires on');
    const edit = page.getByRole('button', { name: 'Edit details' });
    await edit.click();
    const day = new Date(Date.now() + 60 * 24 * 3_600_000).toISOString().slice(0, 10);
    await form.fill(day);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await edit.click();
    expect(await form.inputValue()).toBe(day);
    await form.fill('');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Never', { exact: true }).waitFor();
    const kept = await server.api('GET', `/videos/${videoId}`);
    expect(await kept.json()).not.toHaveProperty('expiresAt');
    expect(dashboard.complaints).toEqual([]);
  });

  test('makes a signing key, shows its private key once, and revokes it', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/keys');
    const { page } = dashboard;
    await page.getByText('No signing keys yet').waitFor();
    await page.getByRole('button', { name: 'New signing key' }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('Name', { exact: true }).fill('Website');
    await page.getByLabel('Key', { exact: true }).selectOption('RS256');
    await page.getByRole('button', { name: 'Create key', exact: true }).click();
    const made = page.getByRole('dialog', { name: /Your new signing key/ });
    const signingKeyId = await made.getByRole('textbox', { name: 'Key ID' }).inputValue();
    const download = page.waitForEvent('download');
    await made.getByRole('button', { name: 'Download the private key' }).click();
    const stored = await download;
    expect(stored.suggestedFilename()).toBe(`${signingKeyId}.pem`);
    const privateKey = await readFile(await stored.path(), 'utf8');
    const answer = await server.api('GET', `/account/signing-keys/${signingKeyId}`);
    const shown = (await answer.json()) as { publicKey: string };
    expect(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' })).toBe(shown.publicKey);
    expect(await dashboard.violations()).toEqual([]);
    await made.getByRole('button', { name: 'Done' }).click();

    await page.getByRole('button', { name: 'New signing key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Own');
    await page.getByLabel('Key', { exact: true }).selectOption('own');
    await page.getByLabel('Public key').fill('no key');
    await page.getByRole('button', { name: 'Create key', exact: true }).click();
    await page.getByText('This is not a public key').waitFor();
    dashboard.complaints.length = 0;
    await page.getByLabel('Public key').fill(shown.publicKey);
    await page.getByRole('button', { name: 'Create key', exact: true }).click();
    await dashboard.untilSaid('Signing key added.');

    const row = page.getByRole('row', { name: /Website/ });
    await row.getByRole('button', { name: 'Revoke the signing key Website' }).click();
    const confirm = page.getByRole('dialog', { name: 'Revoke the signing key?' });
    await confirm.getByRole('textbox').fill('Website');
    await page.keyboard.press('Enter');
    await row.waitFor({ state: 'detached' });
    expect((await server.api('GET', `/account/signing-keys/${signingKeyId}`)).status).toBe(404);
    expect(dashboard.complaints).toEqual([]);
  });

  test('gives the project a channel, and shows a video in it', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/settings');
    const { page } = dashboard;
    const created = await server.api('POST', '/videos', { title: 'Regatta' });
    const { videoId } = (await created.json()) as { videoId: string };
    const video = async () => (await server.api('GET', `/videos/${videoId}`)).json();
    const card = page.getByRole('region', { name: 'Channel' });
    await card.getByLabel('Show the channel to everybody').check();
    await card.getByLabel('Address').fill('Pier TV');
    await card.getByRole('button', { name: 'Save channel' }).click();
    await card.getByText('lower case letters, digits, and single hyphens').waitFor();
    dashboard.complaints.length = 0;
    await card.getByLabel('Name').fill('Pier TV');
    await card.getByLabel('Address').fill('pier-tv');
    await card.getByRole('button', { name: 'Save channel' }).click();
    await dashboard.untilSaid('The channel is on.');
    await card.getByLabel('Logo of the channel').setInputFiles({
      name: 'logo.png',
      mimeType: 'image/png',
      buffer: pngImage(32, 32),
    });
    await dashboard.untilSaid('Logo uploaded.');
    await card.getByAltText('The logo of the channel').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    const address = await card.getByRole('textbox', { name: 'Channel link' }).inputValue();
    expect(await (await fetch(address)).text()).toContain('<h1 dir="auto">Pier TV</h1>');

    await page.goto(`${server.baseUrl}/dashboard/videos/${videoId}?part=share`);
    const visibility = page.getByLabel('Visibility');
    await visibility.locator('option[value=channel]').waitFor({ state: 'attached' });
    expect(await visibility.inputValue()).toBe('public');
    await visibility.selectOption('channel');
    await dashboard.untilSaid('The video is in the channel.');
    expect(await video()).toMatchObject({ public: true, listed: true });
    await visibility.selectOption('private');
    await dashboard.untilSaid('The video is private.');
    expect(await video()).not.toHaveProperty('listed');

    await page.goto(`${server.baseUrl}/dashboard/videos`);
    await page.getByRole('checkbox', { name: 'Select Regatta' }).check();
    await page.getByRole('button', { name: 'Change visibility' }).click();
    await page.getByRole('menuitem', { name: 'Show in the channel' }).click();
    await dashboard.untilSaid('“Regatta” added to the channel.');
    await page
      .getByRole('row', { name: /Regatta/ })
      .getByText('In channel')
      .waitFor();
    expect(await video()).toMatchObject({ public: true, listed: true });
    expect(dashboard.complaints).toEqual([]);
  });

  test('restricts playback by project, video and live stream', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/settings');
    const { page } = dashboard;
    const policyOf = async (path: string) => {
      const shown = (await (await server.api('GET', path)).json()) as { playbackPolicy?: object };
      return shown.playbackPolicy;
    };
    await page.getByLabel('Allowed sites').fill('example.com\nnot_a_site');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('"not_a_site" should be a host name').waitFor();
    dashboard.complaints.length = 0;
    await page.getByLabel('Allowed sites').fill('https://example.com:8443/blog?page=2\n*.Example.com');
    await page.getByLabel('Also play outside of websites').uncheck();
    const countries = page.getByRole('combobox', { name: 'Allowed countries' });
    await countries.fill('ger');
    await page.getByRole('option', { name: 'Germany' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await countries.press('Enter');
    await countries.fill('de, fr, us');
    await countries.press('Enter');
    await page.getByRole('button', { name: 'Remove United States' }).click();
    await page.getByRole('button', { name: 'Save policy' }).click();
    await dashboard.untilSaid('Playback policy saved.');
    const policy = {
      allowedDomains: ['example.com', '*.example.com'],
      allowNoReferrer: false,
      allowedCountries: ['DE', 'FR'],
      blockedCountries: [],
    };
    expect(await policyOf('/account/playback-policy')).toEqual(policy);
    // The addresses of tests are in no country.
    await server.api('PATCH', '/account/playback-policy', { playbackPolicy: null });
    expect(await dashboard.violations()).toEqual([]);

    const { videoId } = (await (await server.api('POST', '/videos', { title: 'Pier' })).json()) as {
      videoId: string;
    };
    await page.goto(`${server.baseUrl}/dashboard/videos/${videoId}?part=share`);
    await page.getByText('Project default').waitFor();
    await page.getByRole('button', { name: 'Edit playback policy' }).click();
    await page.getByLabel('Own playback policy').check();
    await page.getByRole('combobox', { name: 'Blocked countries' }).fill('united st');
    await page.getByRole('option', { name: 'United States' }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('not in United States').waitFor();
    expect(await policyOf(`/videos/${videoId}`)).toMatchObject({ blockedCountries: ['US'] });
    await page.getByRole('button', { name: 'Edit playback policy' }).click();
    await page.getByLabel('Own playback policy').uncheck();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Project default').waitFor();
    expect(await policyOf(`/videos/${videoId}`)).toBeUndefined();

    expect(dashboard.complaints).toEqual([]);
  });

  test('ends another session, and changes the password that is used from then on', async () => {
    await using other = await DashboardPage.open(browser(), server, '/dashboard', {
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0',
    });
    await other.page.getByRole('heading', { name: 'Overview' }).waitFor();
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/account');
    const { page } = dashboard;
    const row = page.getByRole('row', { name: /Firefox 148 on Linux/ });
    await row.getByRole('button', { name: /^End session of/ }).click();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('button', { name: 'End session', exact: true }).click();
    await other.page.getByText('You were signed out.').waitFor();
    await row.waitFor({ state: 'detached' });

    await page.getByLabel('Current password').fill('not the password');
    await page.getByLabel('New password', { exact: true }).fill(newPassword);
    await page.getByText('Strong.').waitFor();
    await page.getByLabel('Confirm new password').fill(newPassword);
    await page.keyboard.press('Enter');
    await page.getByText('This password is wrong.').waitFor();
    dashboard.complaints.length = 0;
    await page.getByLabel('Current password').fill(password);
    await page.keyboard.press('Enter');
    await page.getByText('Password changed.').waitFor();
    expect(dashboard.complaints).toEqual([]);
    expect((await signIn(email, password)).status).toBe(401);
    expect((await signIn(email, newPassword)).status).toBe(201);
  });

  test('refuses to sign in after too many tries, and says for how long', async () => {
    const tries = Array.from({ length: 10 }, () => signIn('guest@example.org', 'a wrong one'));
    await Promise.all(tries);
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const { page } = dashboard;
    const button = page.getByRole('button', { name: 'Sign in' });
    await button.waitFor();
    await page.clock.install();
    await page.getByLabel('Email').fill('guest@example.org');
    await page.getByLabel('Password').fill('the right one');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('Too many passwords or codes were wrong.').waitFor();
    const left = page.getByRole('timer');
    expect(await left.innerText()).toMatch(/^You can try again in 1[45]:\d\d\.$/);
    expect(await button.getAttribute('aria-disabled')).toBe('true');
    expect(await dashboard.violations()).toEqual([]);
    await page.clock.fastForward('14:30');
    await until('the countdown', async () => /in 0:[0-3]\d\./.test(await left.innerText()));
    await page.clock.fastForward('00:40');
    await page.getByText('You can try again now.').waitFor();
    expect(await button.getAttribute('aria-disabled')).toBe('false');
    // Somebody else is not kept out.
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(newPassword);
    await button.click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });
});

async function deletePair(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Actions for (?!the )/ }).click();
  await page.getByRole('menuitem', { name: 'Delete API key' }).click();
  const name = await page
    .getByRole('dialog')
    .getByText(/^Type “/)
    .innerText();
  await page
    .getByRole('dialog')
    .getByRole('textbox')
    .fill(/“(.*)”/.exec(name)![1]!);
  await page.keyboard.press('Enter');
}

async function namesOf(server: TestServer, key: string): Promise<string[]> {
  const answer = await fetch(`${server.baseUrl}/live-streams`, { headers: basic(key) });
  const { data } = (await answer.json()) as { data: { name: string }[] };
  return data.map(({ name }) => name);
}

function basic(key: string): { Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
}
