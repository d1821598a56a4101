import { spawn } from 'node:child_process';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumArguments, findChromium } from '../../test/support/chromium.ts';

/** A screenshot to be taken. */
export interface Screenshot {
  /** File name without ending. */
  readonly name: string;
  readonly path: string;
  readonly theme: 'light' | 'dark';
  readonly form?: 'desk' | 'phone';
  /** Selector of an element to wait for. */
  readonly awaited?: string;
  /** Time before the screenshot: charts need data. */
  readonly seconds?: number;
}

const forms = {
  desk: { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 1 },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5 },
} as const;
const maxBytes = 250_000;
const settledWithinMs = 60_000;
const pollMs = 250;

/** Signs in with Chromium and takes the screenshots, each into `{folder}/{name}.png`, small enough for a page of documentation. */
export async function takeScreenshots(options: {
  readonly baseUrl: string;
  readonly email: string;
  readonly password: string;
  readonly screenshots: readonly Screenshot[];
  readonly folder: string;
  readonly ffmpegPath: string;
}): Promise<void> {
  const found = findChromium();
  if (found.path === undefined)
    throw new Error(`There is no browser to take screenshots with: ${found.reason}.`);
  const browser = await chromium.launch({
    executablePath: found.path,
    args: [...chromiumArguments, '--autoplay-policy=no-user-gesture-required', '--hide-scrollbars'],
  });
  try {
    for (const screenshot of options.screenshots) {
      const page = await open(browser, options, screenshot);
      await settle(page, screenshot);
      const path = join(options.folder, `${screenshot.name}.png`);
      await page.screenshot({ path, animations: 'disabled' });
      await page.context().close();
      const bytes = await shrink(options.ffmpegPath, path);
      console.log(`  ${screenshot.name}.png, ${Math.round(bytes / 1000)} KB`);
    }
  } finally {
    await browser.close();
  }
}

async function open(
  browser: Browser,
  { baseUrl, email, password }: { baseUrl: string; email: string; password: string },
  { path, theme, form = 'desk' }: Screenshot,
): Promise<Page> {
  const context = await browser.newContext({
    ...forms[form],
    colorScheme: theme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  const answer = await context.request.post(`${baseUrl}/auth/session`, { data: { email, password } });
  if (!answer.ok()) throw new Error(`Signing in was answered with ${answer.status()}.`);
  const page = await context.newPage();
  await page.goto(baseUrl + path);
  return page;
}

/** Waits until nothing is on its way any more that would be in the screenshot. */
async function settle(page: Page, { awaited, seconds = 1.5, name }: Screenshot): Promise<void> {
  await page.waitForSelector('main h1');
  if (awaited !== undefined) {
    await page.waitForSelector(awaited, { timeout: settledWithinMs }).catch(() => {
      console.error(`  ${name}: there is no ${awaited} on the page.`);
    });
  }
  await sleep(seconds * 1000);
  const isThere = `document.querySelector('.skeleton') === null && [...document.images].every(image => image.complete)`;
  const deadlineMs = performance.now() + settledWithinMs;
  while (!(await page.evaluate<boolean>(isThere))) {
    if (performance.now() > deadlineMs) throw new Error(`${name}: not everything is there in time.`);
    await sleep(pollMs);
  }
}

/** Reduces the colours of an image with many: screenshots of films would be large. Returns its size in bytes. */
async function shrink(ffmpegPath: string, path: string): Promise<number> {
  const { size } = await stat(path);
  if (size <= maxBytes) return size;
  const small = path.replace(/\.png$/, '.small.png');
  const filter =
    'split[a][b];[a]palettegen=max_colors=256:stats_mode=full[p];[b][p]paletteuse=dither=bayer:bayer_scale=4';
  const child = spawn(ffmpegPath, ['-v', 'error', '-y', '-i', path, '-filter_complex', filter, small], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const code = await new Promise(resolve => child.once('exit', resolve));
  if (code !== 0) throw new Error(`ffmpeg ended with ${code} while it made a screenshot smaller.`);
  await rename(small, path);
  return (await stat(path)).size;
}
