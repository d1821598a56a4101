import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { sheetColumns, slotMs, slotsPerSheet } from '../../src/shared/limits/live-storyboard.ts';
import type { Publisher } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  describeInBrowser,
  publishPicture,
  spokenSince,
  until,
  WatchedPage,
  watchSpoken,
} from './browser-fixture.ts';

describeInBrowser('going back in a live stream', browser => {
  let server: TestServer;
  let stream: CreatedStream;
  let publisher: Publisher;
  beforeAll(async () => {
    server = await startServer({ 'live.window': '6s', 'live.segmentTarget': '1s' });
    stream = await server.createStream();
    publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 1, size: '160x90' });
  });
  afterAll(async () => {
    await publisher.stop();
    await server.stop();
  });

  it('starts at the live edge with a bar, goes back on it, plays from the disk, and comes back to live', async () => {
    const master = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    const media = await waitUntil(async () => {
      const answer = await fetch(master);
      if (answer.status !== 200) return undefined;
      return new URL((await answer.text()).trim().split('\n').at(-1)!, master).href;
    });
    // 21 s of it are there before the viewer comes.
    await waitUntil(async () => ((await (await fetch(media)).text()).match(/#EXTINF/g) ?? []).length > 21, {
      everyMs: 500,
      what: 'a list of 21 s',
    });
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
      {
        locale: 'en-GB',
      },
    );
    const { page } = viewer;
    const answers: { url: string; body: Promise<string> }[] = [];
    page.on('response', response => {
      if (response.url().includes('index.m3u8')) {
        answers.push({ url: response.url(), body: response.text().catch(() => '') });
      }
    });
    await viewer.untilPlayed(2);
    // A busy machine makes the player wait now and then.
    await until('the live edge', async () => (await viewer.latencySeconds()) < 3);
    await viewer.pointAtControls();
    const bar = page.locator('#seek');
    await bar.waitFor({ state: 'visible' });
    const slider = page.locator('#seek input');
    const spoken = () => slider.getAttribute('aria-valuetext');
    expect(await spoken()).toBe('Live');
    await watchSpoken(page, `inPlayer('#seek').range`, 'aria-valuetext');

    // Reloads of a long list are delta updates.
    const reloads = await Promise.all(
      answers.slice(1).map(async ({ url, body }) => ({ url, text: await body })),
    );
    expect(reloads.length).toBeGreaterThan(3);
    for (const { url, text } of reloads) {
      expect(url).toContain('_HLS_skip=YES');
      if (text !== '') expect(text).toContain('#EXT-X-SKIP:');
    }

    const box = (await bar.boundingBox())!;
    const length = await page.evaluate<number>(
      `(({ seekable }) => seekable.end(0) - seekable.start(0))(inPlayer('millrace-video'))`,
    );
    const y = box.y + box.height / 2;
    const pointed = box.x + box.width * (1 - 16 / length);
    // The controls hide while a busy machine is slow to point at them.
    await until('the time of the place that is pointed at', async () => {
      await page.mouse.move(pointed - 1, y - 1);
      await page.mouse.move(pointed, y);
      return page.isVisible('#preview-time');
    });
    const shown = () => page.textContent('#preview-time');
    const [behind, clockTime = ''] = (await shown())!.split(' · ');
    expect(behind).toMatch(/^−0:1\d$/);
    const [hours = 0, minutes = 0, seconds = 0] = clockTime.split(':').map(Number);
    const daySeconds = 86_400;
    const clock = new Date();
    clock.setHours(hours, minutes, seconds);
    const agoSeconds = ((Date.now() - clock.getTime()) / 1000 + daySeconds) % daySeconds;
    expect(agoSeconds).toBeGreaterThan(9);
    expect(agoSeconds).toBeLessThan(120);
    const picture = page.locator('.preview media-preview-thumbnail[mediapreviewimage]');
    await until('the picture of that moment', async () => {
      await page.mouse.move(pointed - 1, y - 1);
      await page.mouse.move(pointed, y);
      return picture.isVisible();
    });
    const frame = await page.evaluate<Record<'shown' | 'wanted', string>>(`(() => {
      const { mediaPreviewTime } = inPlayer('#player').mediaStore.getState();
      const slot = Math.floor(inPlayer('millrace-video').dateAt(mediaPreviewTime) / ${slotMs});
      const at = slot % ${slotsPerSheet};
      const { mediaPreviewImage, mediaPreviewCoords } = inPlayer('.preview media-preview-thumbnail');
      const sheet = /\\/storyboard\\/(\\d+)-/.exec(mediaPreviewImage)[1];
      return {
        shown: [sheet, ...mediaPreviewCoords].join(),
        wanted: [Math.floor(slot / ${slotsPerSheet}), 160 * (at % ${sheetColumns}), 90 * Math.floor(at / ${sheetColumns}), 160, 90].join(),
      };
    })()`);
    expect(frame.shown).toBe(frame.wanted);
    await page.mouse.click(pointed, y);
    await until('a picture of 16 s ago', async () => (await viewer.latencySeconds()) > 13);
    await viewer.untilPlayed(2);
    // A busy machine stalls, and is further behind then.
    await until('how far behind it is, in words', async () => {
      const latency = await viewer.latencySeconds();
      const shownText = (await page.textContent('#latency')) ?? '';
      const spokenText = (await spoken()) ?? '';
      const isTold = (pattern: RegExp, text: string) =>
        Math.abs(Number(pattern.exec(text)?.[1]) - latency) <= 3;
      return isTold(/^(\d\d) s behind$/, shownText) && isTold(/^(\d\d) seconds behind live$/, spokenText);
    });
    expect(await page.textContent('#live-text')).toBe('Go to live');

    await page.keyboard.press('Home');
    await until('the oldest picture', async () => (await viewer.latencySeconds()) > 19);
    await page.mouse.move(640, 100);
    await slider.focus();
    expect(await spoken()).toMatch(/^\d\d seconds behind live$/);
    await page.keyboard.press('PageUp');
    await until('the newest picture', async () => (await viewer.latencySeconds()) < 4);
    await until('that it is live', async () => (await spoken()) === 'Live');
    await page.keyboard.press('ArrowDown');
    await until('a picture of 5 s ago', async () => (await viewer.latencySeconds()) > 4);
    const finger = await page.context().newCDPSession(page);
    const touch = (type: string, part?: number) =>
      finger.send('Input.dispatchTouchEvent', {
        type: type as 'touchStart',
        touchPoints: part === undefined ? [] : [{ x: box.x + box.width * part, y }],
      });
    await touch('touchStart', 0.5);
    await until('the time under the finger', async () => {
      await touch('touchMove', 0.2);
      const isUnderFinger = /^−0:[12]\d · /.test((await shown()) ?? '');
      if (!isUnderFinger && !(await page.isVisible('#preview-time'))) {
        await touch('touchCancel');
        await viewer.pointAtControls();
        await touch('touchStart', 0.5);
      }
      return isUnderFinger;
    });
    await touch('touchEnd');
    await until('where the finger was', async () => (await viewer.latencySeconds()) > 12);
    await page.click('#live');
    await until('the live edge', async () => (await viewer.latencySeconds()) < 3);
    await viewer.untilPlayed(1);
    expect(await page.textContent('#live-text')).toBe('Live');
    const allSpoken = await spokenSince(page);
    expect(allSpoken.length).toBeGreaterThan(3);
    expect(allSpoken.filter(text => !/^Live$| behind live$/.test(text))).toEqual([]);
    expect(viewer.complaints).toEqual([]);
  });
});
