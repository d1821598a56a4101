import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestOidcProvider } from '../support/oidc-provider.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('signing in to the dashboard with OpenID Connect', browser => {
  let provider: TestOidcProvider;
  let server: TestServer;
  beforeAll(async () => {
    provider = await TestOidcProvider.start();
    provider.people.set('anna', { email: 'admin@localhost' });
    const { issuer, clientId, clientSecret, name } = provider.settings;
    const started = await startDashboard({
      'oidc.issuer': issuer,
      'oidc.clientId': clientId,
      'oidc.clientSecret': clientSecret!.reveal(),
      'oidc.name': name,
    });
    // The provider sends back to the public URL.
    server = { ...started, baseUrl: started.baseUrl.replace('127.0.0.1', 'localhost') };
  });
  afterAll(async () => {
    await server?.stop();
    await provider?.stop();
  });

  test('returns to the page that was opened, and is linked until it is unlinked', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/account', {
      signedIn: false,
    });
    const { page } = dashboard;
    const button = page.getByRole('button', { name: 'Continue with Harbour ID' });
    await button.waitFor();
    expect(await dashboard.violations()).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
    await button.click();
    await page.locator('input[name=login]').fill('stranger');
    await page.locator('input[name=password]').fill('any');
    await page.keyboard.press('Enter');
    await page.getByText('Harbour ID sent no email address.').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    expect(new URL(page.url()).search).toBe('');
    await page.getByRole('link', { name: 'Back to sign-in' }).click();

    // The provider remembers the stranger.
    await page.context().clearCookies();
    await button.click();
    await page.locator('input[name=login]').fill('anna');
    await page.locator('input[name=password]').fill('any');
    await page.keyboard.press('Enter');
    const card = page.getByRole('region', { name: 'Sign-in with Harbour ID' });
    await card.getByText(/^Linked since/).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/account');
    expect(await dashboard.violations()).toEqual([]);
    // Ignores complaints of the provider's page.
    dashboard.complaints.length = 0;
    await card.getByRole('button', { name: 'Unlink' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
    await card.getByText('To link it, sign out').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('accepts the invitation of a new person, who chooses no password', async () => {
    provider.people.set('bert', { email: 'bert@example.org' });
    provider.people.set('carl', { email: 'carl@example.org' });
    await using owner = await DashboardPage.open(browser(), server, '/dashboard');
    const invited = await owner.page.request.post(`${server.baseUrl}/account/invitations`, {
      data: { email: 'bert@example.org', role: 'viewer' },
    });
    const { url } = (await invited.json()) as { url: string };
    await using dashboard = await DashboardPage.open(browser(), server, new URL(url).pathname, {
      signedIn: false,
    });
    const { page } = dashboard;
    const signInAs = async (login: string) => {
      await page.getByRole('button', { name: 'Continue with Harbour ID' }).click();
      await page.locator('input[name=login]').fill(login);
      await page.locator('input[name=password]').fill('any');
      await page.keyboard.press('Enter');
    };
    await page.getByRole('button', { name: 'Continue with Harbour ID' }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await signInAs('carl');
    await page.getByText('It is for bert@example.org, and Harbour ID signed you in as carl').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.getByRole('link', { name: 'Back to the invitation' }).click();
    // The provider remembers Carl.
    await page.context().clearCookies();
    await signInAs('bert');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard');
    await page.goto(`${server.baseUrl}/dashboard/account`);
    await page.getByText('You’re signed in as bert@example.org.').waitFor();
  });

  test('says that the provider is down, beside the other ways', async () => {
    provider.answer((_, response) => response.writeHead(502).end());
    const other = await startDashboard({
      'oidc.issuer': provider.settings.issuer,
      'oidc.clientId': 'millrace',
    });
    try {
      await using dashboard = await DashboardPage.open(browser(), other, '/dashboard', { signedIn: false });
      await dashboard.page.getByRole('button', { name: 'Continue with OpenID Connect' }).click();
      await dashboard.page.getByText('The sign-in provider is temporarily unavailable.').waitFor();
      expect(await dashboard.violations()).toEqual([]);
    } finally {
      provider.answer();
      await other.stop();
    }
  });
});
