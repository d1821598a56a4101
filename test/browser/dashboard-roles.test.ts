import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

interface Guest extends AsyncDisposable {
  readonly dashboard: DashboardPage;
  setRole(role: string): Promise<void>;
}

describeInBrowser('roles in the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  /** Somebody who has accepted an invitation, beside the owner. */
  async function join(email: string, role: string): Promise<Guest> {
    const owner = await DashboardPage.open(browser(), server, '/dashboard/account');
    const dashboard = await DashboardPage.open(browser(), server, '/dashboard', { signedIn: false });
    const call = async (from: DashboardPage, method: string, path: string, data: object) => {
      const headers = { 'millrace-environment': 'production' };
      const answer = await from.page
        .context()
        .request.fetch(server.baseUrl + path, { method, headers, data });
      expect(answer.ok()).toBe(true);
      return (await answer.json()) as { url: string; data: { userId: string; email: string }[] };
    };
    const { url } = await call(owner, 'POST', '/account/invitations', { email, role });
    const token = new URL(url).pathname.split('/').at(-1);
    await call(dashboard, 'POST', `/invitations/${token}/accept`, { password: 'nine boats leave at dawn' });
    const members = await owner.page.context().request.get(`${server.baseUrl}/account/members`);
    const { data } = (await members.json()) as { data: { userId: string; email: string }[] };
    const { userId } = data.find(member => member.email === email)!;
    return {
      dashboard,
      setRole: async next => {
        await call(owner, 'PATCH', `/account/members/${userId}`, { role: next });
      },
      [Symbol.asyncDispose]: async () => {
        await owner.close();
        await dashboard.close();
      },
    };
  }

  test('viewers see no actions, and pages that they cannot use explain it', async () => {
    const { liveStreamId } = await server.createStream('Harbour');
    await using guest = await join('viewer@example.org', 'viewer');
    const { page, complaints } = guest.dashboard;
    const open = (path: string) => page.goto(server.baseUrl + path);
    const countOf = (name: string | RegExp) => page.getByRole('button', { name }).count();

    await open('/dashboard');
    await page.getByRole('heading', { name: 'Live now' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Get started' }).count()).toBe(0);
    const navigation = page.getByRole('navigation', { name: 'Dashboard' });
    expect(await navigation.getByRole('link').allInnerTexts()).toEqual([
      ...['Overview', 'Live streams', 'Videos', 'Analytics', 'Players', 'Watermarks', 'Usage'],
      ...['Team', 'Projects', 'Settings'],
    ]);
    await open('/dashboard/videos');
    await page.getByText('No videos yet').waitFor();
    expect(await countOf(/Upload|Import/)).toBe(0);
    await open('/dashboard/live');
    await page.getByRole('link', { name: /Harbour/ }).waitFor();
    expect(await countOf('New live stream')).toBe(0);
    await page.getByRole('button', { name: 'Actions for Harbour' }).click();
    await page.getByRole('menuitem', { name: 'Copy link' }).waitFor();
    expect(await page.getByRole('menuitem', { name: /key|Go live/ }).count()).toBe(0);
    await open(`/dashboard/live/${liveStreamId}`);
    await page.getByText('Stream keys are hidden from your role').waitFor();
    const tabs = page.getByRole('navigation', { name: 'Live stream sections' });
    expect(await tabs.getByRole('link').allInnerTexts()).toEqual([
      ...['Setup', 'Health', 'Restreams', 'Share', 'Recordings'],
    ]);
    await open(`/dashboard/live/${liveStreamId}?part=restreams`);
    await page.getByText('Stream to other platforms').waitFor();
    expect(await countOf('Add destination')).toBe(0);
    await open('/dashboard/players');
    await page.getByText('No themes yet').waitFor();
    expect(await countOf('New theme')).toBe(0);
    await open('/dashboard/settings');
    await page.getByText('New videos are kept until someone deletes them.').waitFor();
    expect(await countOf(/^Save/)).toBe(0);
    await open('/dashboard/settings?part=organisation');
    await page.getByText('6,000 per minute').first().waitFor();
    expect(await countOf(/^Save/)).toBe(0);
    await open('/dashboard/team?new');
    await page.getByRole('cell', { name: 'viewer@example.org' }).waitFor();
    expect(await countOf(/^Invite/)).toBe(0);
    expect(complaints).toEqual([]);

    await open('/dashboard/upload-tokens');
    await page.getByText('Ask an owner for a role that can upload.').waitFor();
    for (const path of ['keys', 'webhooks', 'activity', 'account/activity', 'server']) {
      await open(`/dashboard/${path}`);
      await page.getByText('This page is for owners of the account.').waitFor();
    }
    expect(await guest.dashboard.violations()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('editors see no changes of the team, and an open page follows the role', async () => {
    await using guest = await join('editor@example.org', 'editor');
    const { page } = guest.dashboard;
    await page.goto(`${server.baseUrl}/dashboard/team`);
    await page.getByRole('cell', { name: 'editor@example.org' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Invite.*|Remove .*)$/ }).count()).toBe(0);
    expect(await page.getByLabel(/^Role of/).count()).toBe(0);

    const greeted = async () => (await page.waitForEvent('websocket')).waitForEvent('framereceived');
    const connected = greeted();
    await page.goto(`${server.baseUrl}/dashboard/videos`);
    await connected;
    const upload = page.getByRole('button', { name: 'Upload videos' });
    await upload.waitFor();
    const reconnected = greeted();
    await guest.setRole('viewer');
    await upload.waitFor({ state: 'detached' });
    await reconnected;
    await page.keyboard.press('Control+k');
    await page.getByRole('group', { name: 'Pages' }).waitFor();
    await guest.setRole('owner');
    // So does an open search.
    await page.getByRole('option', { name: 'Upload videos' }).waitFor();
    await page.keyboard.press('Escape');
    await upload.waitFor();
    await page.getByRole('link', { name: 'API keys' }).waitFor();
    expect(guest.dashboard.complaints).toEqual([]);
  });

  test('a page without live updates follows the role once the server refuses a change', async () => {
    await using guest = await join('former-owner@example.org', 'owner');
    const { page } = guest.dashboard;
    await page.goto(`${server.baseUrl}/dashboard/settings?part=organisation`);
    const name = page.getByRole('textbox', { name: 'Account name' });
    await name.fill('Quay TV');
    await guest.setRole('viewer');
    await page.getByRole('button', { name: 'Save name' }).click();
    await name.waitFor({ state: 'detached' });
  });

  test('owners name the account', async () => {
    await using dashboard = await DashboardPage.open(
      browser(),
      server,
      '/dashboard/settings?part=organisation',
    );
    const { page } = dashboard;
    const field = page.getByRole('textbox', { name: 'Account name' });
    await field.fill('Harbour TV');
    await page.getByRole('button', { name: 'Save name' }).click();
    await dashboard.untilSaid('Account name saved.');
    await page.reload();
    expect(await field.inputValue()).toBe('Harbour TV');
  });
});
