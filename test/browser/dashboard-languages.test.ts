import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { DashboardPage, email, password, startDashboard, uploadFiles } from './dashboard-fixture.ts';

describeInBrowser('the pages before signing in', browser => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startDashboard();
  });
  afterAll(() => server?.stop());

  const open = (locale: string, path = '/dashboard', options = {}) =>
    DashboardPage.open(browser(), server, path, { signedIn: false, locale, ...options });
  const root = (page: DashboardPage['page']) =>
    page.evaluate<string[]>('[document.documentElement.lang, document.documentElement.dir, document.title]');

  test('are in the language of the browser, with the errors of the server, as is the dashboard', async () => {
    await using dashboard = await open('de-AT');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Bei Millrace anmelden' }).waitFor();
    expect(await root(page)).toEqual(['de', 'ltr', 'Anmelden · Millrace']);
    expect(await dashboard.violations()).toEqual([]);
    await page.getByLabel('E-Mail').fill(email);
    await page.getByLabel('Passwort').fill('not the password');
    await page.keyboard.press('Enter');
    await page.getByText('Die E-Mail-Adresse oder das Passwort ist falsch.').waitFor();
    dashboard.complaints.length = 0;
    await page.getByLabel('Passwort').fill(password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Übersicht' }).waitFor();
    expect((await root(page)).slice(0, 2)).toEqual(['de', 'ltr']);
    expect(dashboard.complaints).toEqual([]);
  });

  test('change their language from the account menu, where they are, and remember it', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/team');
    const { page } = dashboard;
    await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor();
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Language' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('radio', { name: 'Automatic (browser)' }).isChecked()).toBe(true);
    expect(await dashboard.violations()).toEqual([]);
    await dialog.getByText('日本語').click();
    await page.getByRole('heading', { level: 1, name: 'チーム' }).waitFor();
    await until('the language of the page', async () => (await root(page))[0] === 'ja');
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'チーム' }).waitFor();
    await page.getByRole('button', { name: 'アカウントメニュー' }).click();
    await page.getByRole('menuitem', { name: '言語' }).click();
    await dialog.getByText('自動（ブラウザー）').click();
    await page.getByRole('heading', { level: 1, name: 'Team' }).waitFor();
    expect(await page.evaluate(`localStorage.getItem('millrace.language')`)).toBe(null);
    expect(dashboard.complaints).toEqual([]);
  });

  test('keep what is chosen and typed while their language changes, as does the preview of a player', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/players?new');
    const { page } = dashboard;
    await page.getByLabel('Name').fill('Harbour');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Harbour', level: 1 }).waitFor();
    const play = (name: string) => page.frameLocator('iframe').getByRole('button', { name }).last();
    await play('Play').waitFor();
    await page.getByLabel('Violet').check();
    await page.getByText('Advanced colors').click();
    await page.getByLabel('Played', { exact: true }).fill('#0a141e');
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Language' }).click();
    await page.getByRole('dialog').getByText('Deutsch').click();
    await play('Abspielen').waitFor();
    const colors = `[...document.querySelectorAll('input[type=color]')].map(({ value }) => value)`;
    expect(await page.evaluate<string[]>(colors)).toContain('#0a141e');
    await page.reload();
    await play('Abspielen').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('tell in the new language why an upload failed before it was chosen', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/videos');
    const { page } = dashboard;
    const note = { name: 'Note.pdf', mimeType: 'application/pdf', buffer: Buffer.from('A note') };
    await uploadFiles(page, [note]);
    await page.getByText('This is a document, not a video.').waitFor();
    await page.getByRole('button', { name: 'Account menu' }).click();
    await page.getByRole('menuitem', { name: 'Language' }).click();
    await page.getByRole('dialog').getByText('Deutsch').click();
    await page.getByText('Das ist ein Dokument, kein Video.').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });

  test('say which values a setting takes, and that another one is refused', async () => {
    const path = '/dashboard/server/settings?search=live.reconnectGrace';
    await using dashboard = await DashboardPage.open(browser(), server, path, { locale: 'de-AT' });
    const { page } = dashboard;
    const range = 'Geben Sie eine Dauer von 0 bis 1h ein, z. B. 200ms, 2s oder 5m.';
    await page.getByRole('row').getByRole('button').click();
    await page.getByText(`${range} Standard: 60s`).waitFor();
    await page.getByRole('dialog').getByRole('textbox').fill('bald');
    await page.keyboard.press('Enter');
    await page.getByText(range, { exact: true }).waitFor();
  });

  test('are in the language that the reader chose, as is the dashboard', async () => {
    await using dashboard = await open('de-AT');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Bei Millrace anmelden' }).waitFor();
    const choose = (language: string) =>
      page.evaluate(`localStorage.setItem('millrace.language', '${language}')`);
    await choose('fr');
    await page.reload();
    await page.getByRole('heading', { name: 'Se connecter à Millrace' }).waitFor();
    await choose('nobody');
    await page.reload();
    await page.getByRole('heading', { name: 'Bei Millrace anmelden' }).waitFor();
    await choose('ar');
    await page.reload();
    await page.getByLabel('البريد الإلكتروني').fill(email);
    await page.getByLabel('كلمة المرور').fill(password);
    await page.keyboard.press('Enter');
    await page.locator('.shell').waitFor();
    expect((await root(page)).slice(0, 2)).toEqual(['ar', 'rtl']);
    expect(dashboard.complaints).toEqual([]);
  });

  test('are mirrored in Arabic, and fit a phone', async () => {
    await using dashboard = await open('ar', '/dashboard', { viewport: { width: 390, height: 844 } });
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'تسجيل الدخول إلى Millrace' }).waitFor();
    expect((await root(page)).slice(0, 2)).toEqual(['ar', 'rtl']);
    await page.getByRole('button', { name: 'هل نسيت كلمة المرور؟' }).click();
    await page.getByText('لا يمكن لهذا الخادم إرسال بريد إلكتروني.').waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    expect(await dashboard.violations()).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('invite people in their language', async () => {
    await using owner = await DashboardPage.open(browser(), server);
    const invited = await owner.page.request.post(`${server.baseUrl}/account/invitations`, {
      data: { email: 'anna@example.org', role: 'editor' },
    });
    const { url } = (await invited.json()) as { url: string };
    await using dashboard = await open('fr-CA', new URL(url).pathname);
    const { page } = dashboard;
    await page.getByText('en tant qu’éditeur. L’invitation est destinée à anna@example.org.').waitFor();
    await page.getByLabel('Choisir un mot de passe').fill('court');
    await page.getByText('Trop court').waitFor();
    expect(await dashboard.violations()).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('show unknown addresses, too', async () => {
    for (const [locale, path, title] of [
      ['ar', '/nobody', 'لم يتم العثور على الصفحة'],
      ['ja', '/vod/nobody', '動画が見つかりません'],
    ] as const) {
      await using dashboard = await open(locale, path);
      const { page } = dashboard;
      await page.getByRole('heading', { name: title }).waitFor();
      expect(await dashboard.violations()).toEqual([]);
      // The browser says that the page is not there.
      expect(dashboard.complaints.filter(text => !text.includes('404'))).toEqual([]);
    }
  });

  test('lead from other names of a page to it', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard/live-streams?x=1');
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Live streams', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/dashboard/live');
    await page.goto(`${server.baseUrl}/dashboard/nobody`);
    await page.getByText('Page not found').waitFor();
    expect(dashboard.complaints).toEqual([]);
  });
});
