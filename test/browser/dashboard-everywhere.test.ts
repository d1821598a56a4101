import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { basicAuthorization, createLiveStream, createVideo } from '../../scripts/server-process.ts';
import type { TestServer } from '../support/start-server.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { createWatermark, DashboardPage, startDashboard } from './dashboard-fixture.ts';

/** Every page: its address and its heading. */
type Places = readonly (readonly [path: string, heading: string])[];

const narrow = { width: 360, height: 740 };

describeInBrowser('every page of the dashboard', browser => {
  let server: TestServer;
  let places: Places;
  beforeAll(async () => {
    server = await startDashboard({ allowPrivateTargets: 'true' });
    places = await fill(server);
  });
  afterAll(() => server.stop());

  test('can be used by everybody, in the dark, on a narrow phone', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', {
      colorScheme: 'dark',
      viewport: narrow,
      hasTouch: true,
    });
    const found: string[] = [];
    for (const [path, heading] of places) {
      await show(dashboard, path, heading);
      const width = await dashboard.page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > narrow.width) found.push(`${path}: is ${width} pixels wide`);
      if (path.includes('part='))
        await until('the tab of the part in the window', () => isTabSeen(dashboard.page));
      const headings = await dashboard.page.locator('h1').count();
      if (headings !== 1) found.push(`${path}: ${headings} headings of the first level`);
      // Pages in the light theme are checked by their own tests.
      found.push(...(await dashboard.violations()).map(violation => `${path}: ${violation}`));
    }
    expect(found).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('has no text of English in German, and no argument without its value', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { locale: 'de-DE' });
    const { page } = dashboard;
    await page.getByRole('heading', { level: 1, name: 'Übersicht' }).waitFor();
    const isEnglish = await englishTexts();
    const found: string[] = [];
    for (const path of [...places.map(([path]) => path), ...dialogs]) {
      await go(dashboard, path);
      const texts = await textsOf(page);
      const wrong = texts.filter(text => text.includes('{') || isEnglish(text));
      found.push(...wrong.map(text => `${path}: ${text}`));
    }
    expect(found).toEqual([]);
    expect(dashboard.complaints).toEqual([]);
  });

  test('is mirrored in Arabic, and fits a phone', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', {
      locale: 'ar',
      viewport: narrow,
      hasTouch: true,
    });
    const { page } = dashboard;
    await page.getByRole('heading', { level: 1, name: 'نظرة عامة' }).waitFor();
    const found: string[] = [];
    for (const path of [...places.map(([path]) => path), ...dialogs]) {
      await go(dashboard, path);
      // Parts that are cut off at the left count, too.
      const width = await page.evaluate<number>('document.documentElement.scrollWidth');
      if (width > narrow.width) found.push(`${path}: is ${width} pixels wide`);
      if (path.includes('part=')) await until('the tab of the part in the window', () => isTabSeen(page));
    }
    expect(found).toEqual([]);
    expect(await page.evaluate('document.documentElement.dir')).toBe('rtl');
    expect(dashboard.complaints).toEqual([]);
  });

  test('can be reached with the keyboard alone, and what has the focus is seen', async () => {
    await using dashboard = await DashboardPage.open(browser(), server, '/dashboard', { viewport: narrow });
    const { page } = dashboard;
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ name: 'Skip to content', isSeen: true });
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');

    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toMatchObject({ name: 'Open navigation', isSeen: true });
    await page.keyboard.press('Enter');
    const videos = page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Videos' });
    await videos.waitFor();
    for (let stops = 0; stops < 20 && (await focused(page)).name !== 'Videos'; stops += 1) {
      await page.keyboard.press('Tab');
      expect((await focused(page)).isSeen, (await focused(page)).name).toBe(true);
    }
    // Scrolls: both pages are long enough. The next one begins at its top.
    await page.evaluate(`document.body.style.minHeight = '5000px'; scrollTo(0, 300)`);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Videos' }).waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await videos.isVisible()).toBe(false);
    expect(dashboard.complaints).toEqual([]);
  });
});

function isTabSeen(page: Page): Promise<boolean> {
  return page.evaluate<boolean>(`(() => {
    const { left, right } = document.querySelector('.tabs [aria-current]')?.getBoundingClientRect() ?? {};
    return left >= 0 && right <= innerWidth;
  })()`);
}

/** Element that has the focus: its name, and whether it is in the window and looks different for it. */
function focused(page: Page): Promise<{ readonly name: string; readonly isSeen: boolean }> {
  return page.evaluate(`(() => {
    const element = document.activeElement;
    const { left, top, right, bottom, width } = element.getBoundingClientRect();
    // The ring around a switch is that of what it stands in.
    const rings = [element, element.parentElement, element.nextElementSibling].filter(Boolean).map(one => getComputedStyle(one));
    return {
      name: element.getAttribute('aria-label') ?? element.textContent.trim(),
      isSeen:
        width > 0 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight &&
        rings.some(style => style.outlineStyle !== 'none' || style.boxShadow !== 'none'),
    };
  })()`);
}

/** One of everything, so that nothing is looked at empty only. */
async function fill(server: TestServer): Promise<Places> {
  const { baseUrl, productionKey } = server;
  const made = async (path: string, body: unknown): Promise<Record<string, string>> => {
    const answer = await server.api('POST', path, body);
    expect(answer.ok, path).toBe(true);
    return (await answer.json()) as Record<string, string>;
  };
  const { liveStreamId } = await createLiveStream(baseUrl, productionKey, 'Mill race');
  const { videoId } = await createVideo(baseUrl, productionKey, {
    title: 'Mill wheel',
    tags: ['water'],
    metadata: [{ key: 'season', value: '1' }],
  });
  const captions = new FormData();
  captions.set('file', new Blob(['WEBVTT\n\n00:01.000 --> 00:02.000\nClack\n']), 'en.vtt');
  const sent = await fetch(`${baseUrl}/videos/${videoId}/captions/en`, {
    method: 'POST',
    headers: { authorization: basicAuthorization(productionKey) },
    body: captions,
  });
  expect(sent.ok).toBe(true);
  const { playerId } = await made('/players', { name: 'Brook' });
  const { webhookId } = await made('/webhooks', {
    url: 'http://localhost:9/hook',
    events: ['live-stream.broadcast.started'],
  });
  expect((await server.api('PUT', '/hooks/publish', { url: 'http://localhost:9/hook' })).ok).toBe(true);
  expect((await server.api('POST', '/hooks/publish/test')).ok).toBe(true);
  await made('/upload-tokens', { ttl: 3_600 });
  await made('/account/api-keys', { name: 'Website' });
  await createWatermark(server);
  return [
    ['/dashboard', 'Overview'],
    ['/dashboard/live', 'Live streams'],
    [`/dashboard/live/${liveStreamId}`, 'Mill race'],
    [`/dashboard/live/${liveStreamId}?part=settings`, 'Mill race'],
    ['/dashboard/videos', 'Videos'],
    [`/dashboard/videos/${videoId}`, 'Mill wheel'],
    [`/dashboard/videos/${videoId}?part=captions`, 'Mill wheel'],
    [`/dashboard/videos/${videoId}?part=share`, 'Mill wheel'],
    [`/dashboard/videos/${videoId}/captions/en`, 'Edit captions'],
    [`/dashboard/videos/${videoId}/captions/de?new=1`, 'Write captions'],
    ['/dashboard/videos/trash', 'Trash'],
    ['/dashboard/analytics', 'Analytics'],
    ['/dashboard/players', 'Players'],
    [`/dashboard/players/${playerId}`, 'Brook'],
    ['/dashboard/watermarks', 'Watermarks'],
    ['/dashboard/keys', 'API keys'],
    ['/dashboard/upload-tokens', 'Upload tokens'],
    ['/dashboard/webhooks', 'Webhooks'],
    [`/dashboard/webhooks/${webhookId}`, 'localhost:9/hook'],
    ['/dashboard/settings', 'Settings'],
    ['/dashboard/usage', 'Usage'],
    ['/dashboard/server', 'Server'],
    ['/dashboard/server/settings', 'Server'],
    ['/dashboard/settings?part=organisation', 'Settings'],
    ['/dashboard/team', 'Team'],
    ['/dashboard/activity', 'Activity'],
    ['/dashboard/projects', 'Projects'],
    ['/dashboard/account', 'Account'],
    ['/dashboard/no/such/page', 'Not found'],
  ];
}

/** Pages with a dialog, which is closed by going to the next one. */
const dialogs = [
  '/dashboard/live?new',
  '/dashboard/players?new',
  '/dashboard/keys?new',
  '/dashboard/webhooks?new',
];

/** Returns what tells texts of the English catalogues that another language has another text for. */
async function englishTexts(): Promise<(text: string) => boolean> {
  const english = new Set<string>();
  const german = new Set<string>();
  const patterns: RegExp[] = [];
  for (const catalogue of catalogues) {
    const [en, de] = await Promise.all(['en', 'de'].map(language => messagesOf(catalogue, language)));
    for (const [key, message] of Object.entries(en!)) {
      for (const text of textsIn(de![key])) german.add(text);
      for (const text of textsIn(message)) english.add(text);
      const pattern = patternOf(message);
      // Shorter ones would match texts of people.
      const isTelling = pattern.replaceAll('.+?', '').length >= 8;
      if (typeof message !== 'string' && isTelling && pattern !== patternOf(de![key]))
        patterns.push(new RegExp(`^${pattern}$`));
    }
  }
  return text =>
    text !== firstProject &&
    !german.has(text) &&
    (english.has(text) || patterns.some(pattern => pattern.test(text)));
}

/** Name of the project that every account has, and also a label. */
const firstProject = 'Default';

/** Catalogues of the dashboard. */
const catalogues = [
  ...['shell', 'search', 'uploads', 'sign-in', 'overview', 'live', 'videos', 'players'],
  ...['account', 'developers', 'server'],
];

async function messagesOf(catalogue: string, language: string): Promise<Readonly<Record<string, unknown>>> {
  const file = new URL(`../../src/web/i18n/${catalogue}/${language}.ts`, import.meta.url);
  return ((await import(file.href)) as { default: Readonly<Record<string, unknown>> }).default;
}

/** Lists the texts of a message that stand alone: the whole, or sentences beside tags. */
function textsIn(message: unknown): string[] {
  if (typeof message === 'string') return [message];
  if (!Array.isArray(message)) return [];
  const isRich = message.some(part => Array.isArray(part) && Array.isArray(part[1]));
  if (!isRich) return [];
  return message.flatMap(part => (typeof part === 'string' && /\w+ \w+/.test(part) ? [part.trim()] : []));
}

/** Returns a regular expression for what a compiled message may become. */
function patternOf(message: unknown): string {
  if (typeof message === 'string') return message.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  if (!Array.isArray(message)) return '.+?';
  return message
    .map((part: unknown) => {
      if (!Array.isArray(part)) return patternOf(part);
      const branches: unknown = part[2];
      if (typeof branches !== 'object' || branches === null) return '.+?';
      return `(?:${Object.values(branches).map(patternOf).join('|')})`;
    })
    .join('');
}

/** Lists the texts of a page that are read or said, but for code. */
function textsOf(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const isCode = node => node.closest('code, kbd, pre, script, style, textarea, .mono, body [lang]') !== null;
    const texts = new Set();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode.data.replace(/\\s+/g, ' ').trim();
      if (text !== '' && !isCode(walker.currentNode.parentElement)) texts.add(text);
    }
    for (const element of document.body.querySelectorAll('[aria-label], [title], [placeholder], [alt]'))
      if (!isCode(element))
        for (const name of ['aria-label', 'title', 'placeholder', 'alt'])
          if (element.getAttribute(name)) texts.add(element.getAttribute(name));
    return [document.title.replace(/ · Millrace$/, ''), ...texts];
  })()`);
}

/** Like `show`, in a language whose headings are not known. */
async function go({ page }: DashboardPage, path: string): Promise<void> {
  // Another page has another element, once its code is loaded.
  const isOther = await page.evaluate<boolean>(`(() => {
    document.querySelector('.page').dataset.isOld = 'yes';
    return location.pathname !== new URL(${JSON.stringify(path)}, location.href).pathname;
  })()`);
  await follow(page, path);
  const isThere = `location.pathname + location.search === ${JSON.stringify(path)} &&
    document.querySelector('.page${isOther ? ':not([data-is-old])' : ''}') !== null &&
    document.querySelector('.skeleton, [aria-busy=true]') === null`;
  await until(`everything of ${path}`, () => page.evaluate<boolean>(isThere));
}

/** Goes where a link on the page would lead, and waits until everything is there. */
async function show({ page }: DashboardPage, path: string, heading: string): Promise<void> {
  await follow(page, path);
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  const isThere = `document.title === ${JSON.stringify(`${heading} · Millrace`)} &&
    document.querySelector('.skeleton, [aria-busy=true]') === null`;
  await until(`everything of ${path}`, () => page.evaluate<boolean>(isThere));
}

function follow(page: Page, path: string): Promise<void> {
  return page.evaluate(`{
    const link = document.createElement('a');
    link.href = ${JSON.stringify(path)};
    document.body.append(link);
    link.click();
    link.remove();
  }`);
}
