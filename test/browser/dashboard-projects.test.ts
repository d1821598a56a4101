import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

describeInBrowser('projects in the dashboard', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  /** Creates a project, which the page then shows. */
  async function create({ page }: DashboardPage, name: string): Promise<void> {
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('button', { name: `Project ${name}` }).waitFor();
  }

  test('are created, switched with the keyboard, and remembered', async () => {
    await server.createStream('Harbour');
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page, complaints } = dashboard;
    await page.getByText('You have one project').waitFor();
    await create(dashboard, 'Web shop');
    expect(await page.getByText('You have one project').count()).toBe(0);
    expect(await dashboard.violations()).toEqual([]);

    await page.getByRole('link', { name: 'Live streams' }).click();
    await page.getByRole('heading', { name: 'Live streams' }).waitFor();
    await page.getByText('Go live in three steps').waitFor();
    await page.reload();
    await page.getByText('Go live in three steps').waitFor();

    await page.getByRole('button', { name: 'Project Web shop' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitemradio', { name: 'Web shop', checked: true }).waitFor();
    expect(await dashboard.violations()).toEqual([]);
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /Harbour/ }).waitFor();
    expect(complaints).toEqual([]);
  });

  test('have keys and events of their own', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    await create(dashboard, 'Events');
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'New API key' }).first().click();
    const answered = page.waitForResponse(
      response => response.url().endsWith('/account/api-keys') && response.status() === 201,
    );
    await page.getByRole('button', { name: 'Create API key' }).last().click();
    const { production } = (await (await answered).json()) as { production: { apiKey: string } };
    await page.goto(`${server.baseUrl}/dashboard/videos`);
    await page.getByText('No videos yet').waitFor();
    const authorization = `Basic ${Buffer.from(`${production.apiKey}:`).toString('base64')}`;
    const create2 = (key: string, title: string) =>
      fetch(`${server.baseUrl}/videos`, {
        method: 'POST',
        headers: { authorization: key, 'content-type': 'application/json' },
        body: JSON.stringify({ title }),
      });
    const ofFirst = `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}`;
    expect((await create2(ofFirst, 'Of the first project')).status).toBe(201);
    expect((await create2(authorization, 'Of this project')).status).toBe(201);
    await page.reload();
    await page
      .getByRole('link', { name: /Of this project/ })
      .first()
      .waitFor();
    expect(await page.getByText('Of the first project').count()).toBe(0);
  });

  test('are renamed, and deleted when the name is typed and they are empty', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    await create(dashboard, 'Trailers');
    await page.getByRole('button', { name: 'Rename Trailers' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Festival');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Project Festival' }).waitFor();

    await page.getByRole('button', { name: 'Delete Festival' }).click();
    const remove = page.getByRole('button', { name: 'Delete permanently' });
    expect(await remove.isDisabled()).toBe(true);
    await page.getByLabel('Type “Festival” to confirm').fill('Festival');
    await remove.click();
    await dashboard.untilSaid('Project deleted.');
    await page.getByRole('button', { name: 'Project Default' }).waitFor();

    await page.getByRole('button', { name: 'Delete Default' }).click();
    await page.getByLabel('Type “Default” to confirm').fill('Default');
    await remove.click();
    await page.getByText('The project still has videos or live streams.').waitFor();
  });

  test('are followed when another tab deletes the one that is shown', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    await create(dashboard, 'Short lived');
    const { request } = page.context();
    const { data } = (await (await request.get(`${server.baseUrl}/account/projects`)).json()) as {
      data: { projectId: string; name: string }[];
    };
    const { projectId } = data.find(({ name }) => name === 'Short lived')!;
    await request.delete(`${server.baseUrl}/account/projects/${projectId}`);
    await page.getByRole('link', { name: 'Live streams' }).click();
    await page.getByRole('link', { name: /Harbour/ }).waitFor();
    await page.getByRole('button', { name: 'Project Default' }).waitFor();
  });

  test('are named where something may be elsewhere, and in settings', async () => {
    const created = await server.api('POST', '/videos', { title: 'Of the first project' });
    const { videoId } = (await created.json()) as { videoId: string };
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    await create(dashboard, 'Elsewhere');
    await page.goto(`${server.baseUrl}/dashboard/videos/${videoId}`);
    await page.getByText('belongs to another environment or project').waitFor();
    await page.goto(`${server.baseUrl}/dashboard/settings`);
    await page.getByText('For the project Elsewhere, in production.').waitFor();
  });

  test('take their interrupted uploads with them when they are deleted', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    const session = (await (await page.context().request.get(`${server.baseUrl}/auth/session`)).json()) as {
      account: { accountId: string };
    };
    const upload = {
      videoId: 'vi0000000000000000000000',
      projectId: 'pp0000000000000000000000',
      accountId: session.account.accountId,
      environment: 'production',
      title: 'Pier',
      fileName: 'pier.mp4',
      fileBytes: 10,
      lastModified: 1,
      chunkBytes: 5,
    };
    await page.evaluate(text => localStorage.setItem('millrace.uploads', text), JSON.stringify([upload]));
    await page.reload();
    await until('the upload is forgotten', () =>
      page.evaluate(() => localStorage.getItem('millrace.uploads')?.includes('Pier') !== true),
    );
    expect(await page.getByText('Pier').count()).toBe(0);
  });

  test('stay chosen in each tab when it is loaded again', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    await create(dashboard, 'First tab');
    const other = await page.context().newPage();
    await other.goto(`${server.baseUrl}/dashboard/projects`);
    // A new tab opens the project that was chosen last.
    await other.getByRole('button', { name: 'Project First tab' }).click();
    await other.getByRole('menuitemradio', { name: 'Default' }).click();
    await other.getByRole('button', { name: 'Project Default' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Project First tab' }).waitFor();
    await other.reload();
    await other.getByRole('button', { name: 'Project Default' }).waitFor();
  });

  test('with long names leave room for their actions', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    const name = 'N'.repeat(100);
    await create(dashboard, name);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const remove = page.getByRole('button', { name: `Delete ${name}` });
      const { x, width: buttonWidth } = (await remove.boundingBox())!;
      expect(x + buttonWidth).toBeLessThanOrEqual(width);
    }
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    const field = page.getByLabel(`Type “${name}” to confirm`);
    const { x, width } = (await field.boundingBox())!;
    expect(x + width).toBeLessThanOrEqual(390);
  });

  test('are switched on a phone', async () => {
    const viewport = { width: 390, height: 800 };
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects', { viewport });
    const { page } = dashboard;
    await page.getByRole('button', { name: 'New project' }).click();
    await page
      .getByRole('textbox', { name: 'Name' })
      .fill('A project with a name that does not fit on the screen of a phone at all');
    await page.getByRole('button', { name: 'Create project' }).click();
    await dashboard.untilSaid('You’re now in');
    await page.getByRole('button', { name: 'Open navigation' }).click();
    await page.getByRole('button', { name: /^Project A project with/ }).click();
    await page.getByRole('menuitemradio', { name: 'Default' }).click();
    await page.getByText('Current').waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await dashboard.violations()).toEqual([]);
  });

  test('leave the page alone when the same one is chosen, and say when there can be no more', async () => {
    const { liveStreamId } = await server.createStream('Pier');
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/projects');
    const { page } = dashboard;
    const { request } = page.context();
    const more = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        request.post(`${server.baseUrl}/account/projects`, { data: { name: `Project ${index}` } }),
      ),
    );
    expect(more.some(answer => answer.status() === 400)).toBe(true);
    await page.reload();
    await page.getByText('An account can have 20 projects. Delete one to create another.').waitFor();
    expect(await page.getByRole('button', { name: 'New project' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Switch to Project 0', exact: true }).click();
    await page.getByRole('button', { name: 'Switch to Default' }).click();

    await page.goto(`${server.baseUrl}/dashboard/live/${liveStreamId}`);
    await page.getByRole('heading', { name: 'Pier' }).waitFor();
    await page.getByRole('button', { name: 'Project Default' }).click();
    await page.getByRole('menuitemradio', { name: 'Default' }).click();
    expect(new URL(page.url()).pathname).toBe(`/dashboard/live/${liveStreamId}`);
  });
});
