import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { describeInBrowser, mostStalls, until, WatchedPage } from './browser-fixture.ts';
import { makeVideo, type VideoOfTest, VideoSite, videoSeconds } from './vod-fixture.ts';

describeInBrowser('the player page of a video that changes', browser => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo(folder);
  });
  afterAll(() => removeDir(folder));

  const show = async (video: Partial<VideoOfTest>, address = '#autoplay') => {
    const site = await VideoSite.start(folder, video);
    const viewer = await WatchedPage.open(browser(), site.page(address));
    const close = async () => {
      await viewer.close();
      await site.close();
    };
    return { site, viewer, page: viewer.page, [Symbol.asyncDispose]: close };
  };

  it('waits while it is processed, and starts by itself', async () => {
    await using shown = await show({ playable: false });
    const { site, viewer, page } = shown;
    await viewer.untilPhase('processing');
    expect(await page.textContent('#status-title')).toBe('This video is being processed');
    expect(await page.isVisible('#big-play')).toBe(false);
    site.video.isUnreachable = true;
    await until('a word about the server', async () =>
      (await page.textContent('#status-text'))!.includes('Can’t reach the server'),
    );
    site.video.isUnreachable = false;
    site.change({ playable: true });
    await viewer.untilPlayed(0.5);
    expect(await page.isVisible('.screen')).toBe(false);
  });

  it('says so when nothing can be made of it', async () => {
    await using shown = await show({ playable: false, failed: true });
    await shown.viewer.untilPhase('failed');
    expect(await shown.page.isVisible('text=couldn’t be processed')).toBe(true);
    expect(shown.viewer.complaints).toEqual([]);
  });

  it('says so when it was removed', async () => {
    await using shown = await show({ playable: false });
    await shown.viewer.untilPhase('processing');
    shown.site.video.isMissing = true;
    await shown.viewer.untilPhase('missing');
    expect(await shown.page.isVisible('text=Video not found')).toBe(true);
  });

  it.concurrent('plays what is there by now, shows how much that is, and goes on as more comes', async () => {
    await using shown = await show({ segments: 2 });
    const { site, viewer, page } = shown;
    await viewer.untilPlayed(0.3);
    const available = () => page.evaluate<number>('window.millrace.availableSeconds()');
    await until('the length of two segments', async () => Math.abs((await available()) - 4) < 0.1);
    await page.mouse.move(400, 300);
    expect(await page.textContent('#time')).toMatch(/ \/ 0:12$/);
    await until('the part that is missing, on controls that hide again', async () => {
      await page.mouse.move(400 + Math.random() * 20, 300);
      return page.isVisible('#seek.is-growing');
    });
    await page.keyboard.press('9');
    await until('no further than there is', async () => {
      const { time } = await viewer.video();
      return time > 1.5 && time < 4;
    });
    await page.waitForSelector('text=still being processed');
    site.change({ segments: 4 });
    await until('more', async () => (await available()) > 7);
    await until('playing on', async () => (await viewer.video()).time > 4.5);
    site.change({ segments: 6 });
    await until('all of it', async () => (await available()) > videoSeconds - 0.1);
    await page.waitForSelector('#seek.is-growing', { state: 'hidden' });
    await page.waitForSelector('#player.is-at-end');
  });

  it.concurrent('takes in better qualities while it plays on, without a new start', async () => {
    await using shown = await show({ rungs: ['240p'] }, '#autoplay;loop');
    const { site, viewer, page } = shown;
    const { source } = await viewer.untilPlayed(0.3);
    expect(await page.evaluate('window.millrace.qualities()')).toEqual(['240p']);
    site.change({ rungs: ['240p', '360p'] });
    await until(
      'another quality',
      async () => (await page.evaluate<string[]>('window.millrace.qualities()')).length === 2,
    );
    expect(await page.evaluate('window.millrace.qualities()')).toEqual(['360p', '240p']);
    await until('the better picture', async () => (await viewer.video()).width === 640);
    const video = await viewer.video();
    expect(video).toMatchObject({ source, isPaused: false });
    expect(video.stalls).toBeLessThanOrEqual(mostStalls);
    await until('its name', async () => (await page.evaluate('window.millrace.currentQuality()')) === '360p');
    expect(viewer.complaints).toEqual([]);
  });

  it.concurrent('takes in worse qualities while it plays, and still knows what it has loaded', async () => {
    await using shown = await show({ rungs: ['360p'] }, '#autoplay;loop');
    const { site, viewer, page } = shown;
    const { source } = await viewer.untilPlayed(0.3);
    site.change({ rungs: ['240p', '360p'] });
    await until(
      'another quality',
      async () => (await page.evaluate<string[]>('window.millrace.qualities()')).length === 2,
    );
    expect(await page.evaluate('window.millrace.qualities()')).toEqual(['360p', '240p']);
    expect(await page.evaluate('window.millrace.currentQuality()')).toBe('360p');
    await viewer.untilPlayed(0.5);
    expect(await viewer.video()).toMatchObject({ source, width: 640 });
    for (const [quality, width] of [
      ['240p', 320],
      ['360p', 640],
    ] as const) {
      await page.mouse.move(400 + Math.random() * 20, 300);
      await page.click('#settings');
      await page.click('role=menuitem[name*="Quality"]');
      await page.click(`role=menuitemradio[name*="${quality}"]`);
      await until(quality, async () => (await viewer.video()).width === width);
    }
    for (const key of ['0', '5', '0']) {
      await page.keyboard.press(key);
      await viewer.untilPlayed(0.3);
    }
    const video = await viewer.video();
    expect(video).toMatchObject({ source, isPaused: false });
    expect(video.stalls).toBeLessThanOrEqual(mostStalls);
    expect(viewer.complaints).toEqual([]);
  });

  it('takes in other changes at the next pause, at the same place', async () => {
    await using shown = await show({ rungs: ['240p'] }, '#autoplay;loop');
    const { site, viewer, page } = shown;
    const { source } = await viewer.untilPlayed(0.3);
    site.change({ rungs: ['360p'] });
    await until(
      'the list to be looked at',
      async () => site.requests.filter(path => path.endsWith('/hls/manifest.m3u8')).length > 1,
    );
    await viewer.untilPlayed(0.5);
    // A stall, which a machine with much to do may bring, is as good a moment as a pause.
    const { source: later, stalls } = await viewer.video();
    if (stalls === 0) expect(later).toBe(source);
    // Reads at the pause: a moment later the page has begun to load again, and has no position yet.
    await page.evaluate(`document.addEventListener('pause', ({ target }) => {
      window.pausedAt ??= target.currentTime;
    }, true)`);
    await page.keyboard.press('k');
    await until('a pause', () => page.evaluate('window.pausedAt !== undefined'));
    const time = await page.evaluate<number>('window.pausedAt');
    await until(
      'the other quality',
      async () => (await page.evaluate<string[]>('window.millrace.qualities()')).join() === '360p',
    );
    await until('the same place', async () => Math.abs((await viewer.video()).time - time) < 0.5);
    expect((await viewer.video()).isPaused).toBe(true);
    await page.keyboard.press('k');
    await viewer.untilPlayed(0.3);
    expect((await viewer.video()).time).toBeGreaterThan(time);
  });

  it('says that the connection is lost, and goes on where it was when it is back', async () => {
    await using shown = await show({ lostFromSegment: 4 }, '');
    const { site, viewer, page } = shown;
    await page.click('#big-play');
    await page.keyboard.press('9');
    await page.waitForSelector('text=Connection lost');
    site.video.lostFromSegment = Number.POSITIVE_INFINITY;
    await viewer.untilPlayed(0.3);
    expect((await viewer.video()).time).toBeGreaterThan(videoSeconds * 0.9 - 0.1);
    expect(await page.textContent('#notice')).toBe('');
  });

  it('begins by itself with what the address says, muted where the browser allows no sound', async () => {
    await using shown = await show({}, '#t=6');
    const { viewer, page } = shown;
    await viewer.untilPhase('ready');
    await page.evaluate(`(() => {
      const { play } = HTMLMediaElement.prototype;
      HTMLMediaElement.prototype.play = function () {
        return this.muted ? play.call(this) : Promise.reject(new DOMException('no sound', 'NotAllowedError'));
      };
    })()`);
    await page.click('#big-play');
    const { isMuted, time } = await viewer.untilPlayed(0.3);
    expect(isMuted).toBe(true);
    expect(time).toBeGreaterThan(6);
    await page.click('text=Turn sound on');
    await until('sound', async () => !(await viewer.video()).isMuted);
  });
});
