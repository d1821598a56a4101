import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium, type Page } from 'playwright-core';
import { chromiumArguments, findChromium } from '../../test/support/chromium.ts';
import { playerAlone } from '../../test/support/player-page.ts';
import { pageScript } from './page-script.ts';

/** @throws Error when no Chromium is installed */
export function launchBrowser(): Promise<Browser> {
  const found = findChromium();
  if (found.path === undefined) throw new Error(`no browser to measure in: ${found.reason}`);
  return chromium.launch({
    executablePath: found.path,
    args: [...chromiumArguments, '--autoplay-policy=no-user-gesture-required'],
  });
}

/** Opens the server's own player page. */
export async function openPlayerPage(browser: Browser, baseUrl: string, liveStreamId: string): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript(pageScript);
  await page.goto(playerAlone(`${baseUrl}/live/${liveStreamId}`));
  return page;
}

/** Opens a page that plays with hls.js and its default configuration. */
export async function openHlsPage(browser: Browser, baseUrl: string, liveStreamId: string): Promise<Page> {
  const page = await browser.newPage();
  await page.addInitScript(pageScript);
  await page.route('**/plain.html', route =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><video muted></video>' }),
  );
  await page.goto(`${baseUrl}/plain.html`);
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js'), 'utf8'));
  await page.evaluate(`{
    const video = document.querySelector('video');
    const hls = new Hls();
    hls.attachMedia(video);
    hls.loadSource('/${liveStreamId}.m3u8');
    void video.play();
  }`);
  return page;
}
