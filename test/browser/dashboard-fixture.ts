import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import type { SettingKey } from '../../src/config/settings.ts';
import { waitTimeoutMs } from '../support/deadlines.ts';
import { pngImage } from '../support/images.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { axeViolations } from './axe.ts';
import { deviceScaleFactor, isComplaint } from './browser-fixture.ts';

/** Runs in the page before its own scripts. Its messages pass, so that a busy machine may look too late. */
const noteMessages = `
  window.messagesOfTest = [];
  new MutationObserver(records => {
    for (const { addedNodes } of records)
      for (const node of addedNodes)
        if (node.matches?.('.toast')) messagesOfTest.push(node.firstElementChild.textContent);
  }).observe(document, { childList: true, subtree: true });
`;
export const email = 'admin@localhost';
/** Password of the first user of every server that these tests start. */
export const password = 'correct-horse-battery-staple';

/** A server whose dashboard can be signed in to. */
export function startDashboard(
  flags: Partial<Record<SettingKey, string>> = {},
  options: Parameters<typeof startServer>[1] = {},
): Promise<TestServer> {
  return startServer({ 'admin.password': password, ...flags }, options);
}

/** Returns the id of a new watermark in production, with a name that no line has room for. */
export async function createWatermark({ baseUrl, productionKey }: TestServer): Promise<string> {
  const body = new FormData();
  body.set('name', 'W'.repeat(100));
  body.set('file', new File([new Uint8Array(pngImage(32, 32))], 'mark.png', { type: 'image/png' }));
  const authorization = `Basic ${Buffer.from(`${productionKey}:`).toString('base64')}`;
  // A busy machine may give up on the image, and asks to try again.
  const answer = await waitUntil(
    async () => {
      const tried = await fetch(`${baseUrl}/watermarks`, {
        method: 'POST',
        headers: { authorization },
        body,
      });
      return tried.status === 503 ? undefined : tried;
    },
    { what: 'an answer other than 503 to a new watermark' },
  );
  if (!answer.ok) throw new Error(`the watermark was answered with ${answer.status}`);
  return ((await answer.json()) as { watermarkId: string }).watermarkId;
}

/** Uploads files on the page of videos. */
export async function uploadFiles(page: Page, files: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  await page.getByRole('button', { name: 'Upload videos' }).click();
  const dialog = page.getByRole('dialog', { name: 'Upload videos' });
  await dialog.getByLabel('Files to upload').setInputFiles(files);
  await dialog.getByRole('button', { name: /^Upload (video|\d+ videos)$/ }).click();
}

/** A page of the dashboard, watched for everything that it must not do. `await using` closes it. */
export class DashboardPage {
  readonly page: Page;
  /** Errors and warnings of its console, uncaught errors, and what its content policy refused. */
  readonly complaints: string[] = [];

  private constructor(page: Page) {
    this.page = page;
    page.on('console', message => {
      const isRefusedSignIn = message.location().url.endsWith('/auth/session');
      if (isComplaint(message) && !isRefusedSignIn)
        this.complaints.push(`${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', error => this.complaints.push(String(error)));
  }

  /**
   * Opens a page in a profile of its own.
   *
   * @param path such as `/dashboard/videos`
   * @param options `signedIn: false` leaves that to the test
   */
  static async open(
    browser: Browser,
    server: TestServer,
    path = '/dashboard',
    { signedIn = true, ...context }: BrowserContextOptions & { signedIn?: boolean } = {},
  ): Promise<DashboardPage> {
    const opened = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      deviceScaleFactor,
      reducedMotion: 'reduce',
      ...context,
    });
    opened.setDefaultTimeout(waitTimeoutMs);
    await opened.addInitScript(noteMessages);
    if (signedIn) {
      const answer = await opened.request.post(`${server.baseUrl}/auth/session`, {
        data: { email, password },
      });
      if (!answer.ok()) throw new Error(`signing in was answered with ${answer.status()}`);
    }
    const dashboard = new DashboardPage(await opened.newPage());
    await dashboard.page.goto(server.baseUrl + path);
    return dashboard;
  }

  /** Lists violations that axe-core finds. @param rules only these of it */
  violations(rules?: readonly string[]): Promise<string[]> {
    return axeViolations(this.page, rules);
  }

  /** Waits for a message that begins with these words and was shown since the page was loaded, even if it has passed. Each counts once. */
  async untilSaid(words: string): Promise<void> {
    let others: string[] = [];
    await waitUntil(
      async () => {
        others = await this.page.evaluate<string[]>('messagesOfTest');
        const index = others.findIndex(message => message.startsWith(words));
        if (index >= 0) await this.page.evaluate(`messagesOfTest.splice(${index}, 1)`);
        return index >= 0;
      },
      { what: () => `the message “${words}”, not: ${others.join(' ')}` },
    );
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
