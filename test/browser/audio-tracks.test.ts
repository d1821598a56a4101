import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization, type CreatedVideo, createVideo } from '../../scripts/server-process.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { describeInBrowser, mostStalls, until, WatchedPage } from './browser-fixture.ts';

describeInBrowser('audio tracks in the player page', browser => {
  let server: TestServer;
  let folder: string;
  let video: CreatedVideo;

  beforeAll(async () => {
    folder = await makeTempDir();
    server = await startServer({ 'encode.preset': 'ultrafast' });
    const path = join(folder, 'film.mp4');
    await runToEnd(ffmpegPath, [
      ...['-loglevel', 'error', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=25:d=40'],
      ...['-f', 'lavfi', '-i', 'sine=300:d=40', '-f', 'lavfi', '-i', 'sine=3000:d=40'],
      ...['-map', '0:v', '-map', '1:a', '-map', '2:a', '-c:a', 'aac', '-ac:a:0', '2', '-ac:a:1', '6'],
      ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50', '-pix_fmt', 'yuv420p'],
      ...['-metadata:s:a:0', 'language=eng', '-metadata:s:a:1', 'language=fra', path],
    ]);
    video = await createVideo(server.baseUrl, server.productionKey, { title: 'Pier' });
    const film = new FormData();
    film.set('file', await openAsBlob(path), 'film.mp4');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const sent = await fetch(`${server.baseUrl}/videos/${video.videoId}/source`, {
      method: 'POST',
      headers,
      body: film,
    });
    expect(sent.status).toBe(201);
  });
  afterAll(async () => {
    await server.stop();
    await removeDir(folder);
  });

  const fetched = (page: Page, rendition: string) =>
    page.evaluate<boolean>(
      `performance.getEntriesByType('resource').some(({ name }) => name.includes('/${rendition}/audio-'))`,
    );

  it('are offered, switched by keyboard, and remembered', async () => {
    await using viewer = await WatchedPage.openPlayer(browser(), `${video.assets.player}#autoplay;loop`);
    const { page } = viewer;
    await viewer.untilPlayed(1);
    expect(await fetched(page, 'audio2')).toBe(false);
    await page.mouse.move(300, 300);
    await page.focus('#settings');
    await page.keyboard.press('Enter');
    const item = page.locator('role=menuitem[name=/Audio/]');
    expect(await item.textContent()).toBe('AudioEnglish');
    await item.focus();
    await page.keyboard.press('ArrowRight');
    const names = page.locator('role=menuitemradio');
    expect(await names.allTextContents()).toEqual(['English', 'Français', 'Français 5.1']);
    expect(await names.first().getAttribute('aria-checked')).toBe('true');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until('the other track', () => fetched(page, 'surround2'));
    await viewer.untilPlayed(2);
    expect((await viewer.video()).stalls).toBeLessThanOrEqual(mostStalls);

    await page.reload();
    await viewer.untilPlayed(0.5);
    expect([await fetched(page, 'audio'), await fetched(page, 'surround2')]).toEqual([false, true]);
    expect(viewer.complaints).toEqual([]);
  });
});
