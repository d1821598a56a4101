import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { describeInBrowser, mostStalls, until, WatchedPage } from './browser-fixture.ts';
import { makeVideo, tile, VideoSite, videoSeconds } from './vod-fixture.ts';

/** Looks into shadow trees. */
const focusedElement = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
})()`;

describeInBrowser('the player page of a video', browser => {
  let folder: string;
  let site: VideoSite;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo(folder);
    site = await VideoSite.start(folder);
  });
  afterAll(async () => {
    await site.close();
    await removeDir(folder);
  });

  const open = (address = '', options: Parameters<typeof WatchedPage.open>[2] = {}) =>
    WatchedPage.open(browser(), site.page(address), options);
  const openPlaying = async (address = '#autoplay') => {
    const viewer = await open(address);
    await viewer.untilPlayed(0.3);
    return viewer;
  };
  const pause = async (viewer: WatchedPage) => {
    await viewer.untilPlayed(0.3);
    await viewer.page.keyboard.press('k');
    await until('a pause', async () => (await viewer.video()).isPaused);
  };
  const openPaused = async () => {
    const viewer = await open('#autoplay');
    await pause(viewer);
    return viewer;
  };
  const untilAt = (viewer: WatchedPage, seconds: number, tolerance = 0.1) =>
    until(`position ${seconds}`, async () => Math.abs((await viewer.video()).time - seconds) <= tolerance);
  const handle = <Value>(page: Page, method: string) => page.evaluate<Value>(`window.millrace.${method}()`);
  const isAtRate = (page: Page, rate: number) =>
    page.locator('video').evaluate((video, wanted) => video.playbackRate === wanted, rate);
  const showsControls = (page: Page) => page.mouse.move(400 + Math.random() * 20, 300);

  it('shows the poster, title and duration, and plays with sound at a click', async () => {
    await using viewer = await open();
    const { page } = viewer;
    await viewer.untilPhase('ready');
    expect(await page.title()).toBe('Mill & weir');
    expect(await page.isVisible('#poster')).toBe(true);
    expect(await page.isVisible('#controls')).toBe(false);
    expect(await page.textContent('#badge')).toBe('0:12');
    await page.click('#big-play');
    const video = await viewer.untilPlayed(1);
    expect(video.isMuted).toBe(false);
    expect(video.stalls).toBeLessThanOrEqual(mostStalls);
    expect(video.soundBytes).toBeGreaterThan(0);
    expect(await page.isVisible('#poster')).toBe(false);
    expect(await handle(page, 'state')).toBe('playing');
    expect(await page.textContent('#time')).toMatch(/^0:0\d \/ 0:12$/);
    expect(viewer.complaints).toEqual([]);
    for (const request of viewer.requests) expect([site.origin, 'null']).toContain(new URL(request).origin);
  });

  it('offers to play again at the end', async () => {
    await using viewer = await openPlaying('#autoplay;t=11');
    const { page } = viewer;
    await page.waitForSelector('#player.is-at-end');
    expect(await handle(page, 'state')).toBe('ended');
    await page.click('#end .action:has-text("Replay")');
    await viewer.untilPlayed(0.3);
    expect(await handle(page, 'state')).toBe('playing');
  });

  it('seeks to where the bar is clicked or dragged to', async () => {
    await using viewer = await openPaused();
    const { page } = viewer;
    await showsControls(page);
    const bar = (await page.locator('#seek #container').boundingBox())!;
    await page.mouse.click(bar.x + bar.width / 2, bar.y + bar.height / 2);
    await untilAt(viewer, videoSeconds / 2);
    await page.mouse.down();
    // A pixel more or less is the same second.
    const wanted = 3.25;
    await page.mouse.move(bar.x + (bar.width * wanted) / videoSeconds, bar.y - 40, { steps: 3 });
    expect(await page.textContent('#preview-time')).toBe('0:03');
    await untilAt(viewer, videoSeconds / 2);
    await page.mouse.up();
    await untilAt(viewer, wanted);
    await until(
      'the time that is spoken',
      async () => (await page.getAttribute('#seek input', 'aria-valuetext')) === '3 seconds of 12 seconds',
    );
  });

  it('does what the keyboard says', async () => {
    await using viewer = await openPaused();
    const { page } = viewer;
    const press = async (key: string, seconds: number) => {
      await page.keyboard.press(key);
      await untilAt(viewer, seconds);
    };
    await press('Home', 0);
    await press('ArrowRight', 5);
    await press('ArrowLeft', 0);
    await press('l', 10);
    await press('j', 0);
    await press('5', videoSeconds / 2);
    const { time } = await viewer.video();
    await page.keyboard.press('.');
    await until('the next frame', async () => Math.abs((await viewer.video()).time - time - 0.04) < 0.005);
    await page.keyboard.press(',');
    await until('the frame before', async () => Math.abs((await viewer.video()).time - time) < 0.005);
    await page.keyboard.press('>');
    await until('faster', () => isAtRate(page, 1.25));
    await page.keyboard.press('<');
    await until('normal speed', () => isAtRate(page, 1));
    await page.keyboard.press('m');
    await until('silence', async () => (await viewer.video()).isMuted);
    await page.keyboard.press('m');
    await page.keyboard.press('ArrowDown');
    await until('less volume', async () => Math.abs((await viewer.video()).volume - 0.9) < 0.01);
    await page.keyboard.press('f');
    await until('fullscreen', () => page.evaluate('document.fullscreenElement !== null'));
    await page.keyboard.press('f');
    await page.keyboard.press('Space');
    await until('playing', async () => !(await viewer.video()).isPaused);
    expect(viewer.complaints).toEqual([]);
  });

  it('lists its keys at a question mark, and leaves those alone that are typed or belong to the browser', async () => {
    await using viewer = await openPlaying();
    const { page } = viewer;
    await showsControls(page);
    await page.focus('#mute');
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.waitFor();
    expect(await dialog.locator('dt').allTextContents()).toContain('SpaceK');
    await until('the focus', () => page.evaluate(`${focusedElement}.ariaLabel === 'Close'`));
    await page.keyboard.press('m');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await page.evaluate(`${focusedElement}.id`)).toBe('mute');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Meta+m');
    await page
      .locator('#controls')
      .evaluate(controls => controls.append(controls.ownerDocument.createElement('input')));
    await page.locator('#controls > input').fill('x');
    for (const key of ['?', 'k', 'm', '0']) await page.keyboard.press(key);
    expect(await page.locator('#controls > input').inputValue()).toBe('x?km0');
    expect(await dialog.isVisible()).toBe(false);
    expect(await viewer.video()).toMatchObject({ isPaused: false, isMuted: false });
    expect(viewer.complaints).toEqual([]);
  });

  it('shows the thumbnail of what has no picture, else its title', async () => {
    await using radio = await VideoSite.start(folder, { isAudioOnly: true, rungs: [] });
    await using viewer = await WatchedPage.open(browser(), radio.page('#autoplay;show-subtitles'));
    const { page } = viewer;
    const untilSound = () => until('sound', async () => (await viewer.video()).time > 0.3);
    await untilSound();
    expect(await page.isVisible('#poster')).toBe(true);
    expect(await page.isVisible('.artwork-title')).toBe(false);
    radio.change({ hasThumbnail: false });
    await page.reload();
    await untilSound();
    expect(await page.isVisible('#poster')).toBe(false);
    expect(await page.isVisible('.artwork-title')).toBe(true);
    expect(await page.textContent('.artwork-title')).toBe('Mill & weir');
    expect(viewer.complaints).toEqual([]);
  });

  it('shows the picture, the chapter and the time of the place that is pointed at', async () => {
    await using viewer = await openPlaying();
    const { page } = viewer;
    // The pointer is there before the player's code, and the first answer is a failure.
    const { promise: isPointedAt, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/*.js', async route => {
      await isPointedAt;
      await route.continue();
    });
    await page.route('**/storyboard.vtt', route => route.fulfill({ status: 503 }), { times: 1 });
    await page.reload({ waitUntil: 'commit' });
    await until('the pointer on the player', async () => {
      await showsControls(page);
      return page.locator('millrace-player').evaluate(player => player.matches(':hover'));
    });
    release();
    await page.locator('video').waitFor({ state: 'attached' });
    // A busy machine would be at the end, where there is no bar.
    await pause(viewer);
    // The place of the bar may change while the page becomes complete.
    const pointAt = async (seconds: number) => {
      const bar = (await page.locator('#seek #container').boundingBox())!;
      const x = bar.x + (bar.width * seconds) / videoSeconds;
      // A pointer at rest sends nothing.
      await page.mouse.move(x - 1, bar.y + bar.height / 2);
      await page.mouse.move(x, bar.y + bar.height / 2);
    };
    let state: unknown;
    await waitUntil(
      async () => {
        await pointAt(1);
        state = await page.evaluate(`({
          isPointedAt: document.querySelector('millrace-player').matches(':hover'),
          visibility: document.visibilityState,
          storyboard: performance
            .getEntriesByType('resource')
            .filter(({ name }) => name.includes('/storyboard.'))
            .map(({ name, responseStatus, responseEnd }) => ({ name, responseStatus, responseEnd })),
        })`);
        return (state as { storyboard: { name: string }[] }).storyboard.some(({ name }) =>
          name.endsWith('/vod/viOfTest/storyboard.jpg'),
        );
      },
      {
        what: () =>
          `the frames of the seek bar: ${JSON.stringify(state)}, ${viewer.requests.slice(-20).join(' ')}`,
      },
    );
    for (const [seconds, index, name] of [
      [7, 2, 'In the <i>middle</i> of it'],
      [10.5, 3, 'The end'],
      [0.5, 0, 'Opening'],
    ] as const) {
      await pointAt(seconds);
      await page.waitForSelector('.preview media-preview-thumbnail img', { state: 'visible' });
      const [tilesBefore, width] = await page.locator('.preview media-preview-thumbnail').evaluate(tile => {
        const box = tile.getBoundingClientRect();
        const image = tile.shadowRoot.querySelector('img').getBoundingClientRect();
        return [(box.left - image.left) / box.width, box.width] as const;
      });
      expect(tilesBefore).toBeCloseTo(index, 1);
      expect(width / tile.width).toBeGreaterThan(0.9);
      expect(await page.textContent('#preview-chapter')).toBe(name);
      expect(await page.textContent('#preview-time')).toBe(
        `0:${String(Math.floor(seconds)).padStart(2, '0')}`,
      );
    }
    await page.mouse.move(400, 300);
    await page.waitForSelector('#preview-time', { state: 'hidden' });
    expect(viewer.complaints).toEqual([expect.stringContaining('503')]);
  });

  it('marks the chapters on the bar, says the present one, and goes to the chosen one', async () => {
    await using viewer = await openPaused();
    const { page } = viewer;
    await until('three segments', async () => (await page.locator('#segments-clipping rect').count()) === 3);
    expect(await page.textContent('#chapter-name')).toBe('Opening');
    await showsControls(page);
    await page.click('#chapter');
    await page.click('role=menuitemradio[name*="middle"]');
    await untilAt(viewer, 4);
    await until(
      'the name',
      async () => (await page.textContent('#chapter-name')) === 'In the <i>middle</i> of it',
    );
  });

  it('goes over to the chosen quality, and back to the choice of the network', async () => {
    await using viewer = await openPlaying();
    const { page } = viewer;
    await until('the best quality', async () => (await handle(page, 'currentQuality')) === '360p');
    expect(await handle(page, 'qualities')).toEqual(['360p', '240p']);
    const choose = async (name: string) => {
      await showsControls(page);
      await page.click('#settings');
      await page.click('role=menuitem[name*="Quality"]');
      await page.click(`role=menuitemradio[name*="${name}"]`);
    };
    for (const [name, width] of [
      ['240p', 320],
      ['360p', 640],
    ] as const) {
      const { stalls } = await viewer.video();
      await choose(name);
      await until(name, async () => (await viewer.video()).width === width);
      await until('its name', async () => (await handle(page, 'currentQuality')) === name);
      expect((await viewer.video()).stalls - stalls).toBeLessThanOrEqual(mostStalls);
      // Media that was loaded before the choice is loaded again.
      await page.keyboard.press('0');
      const { time, width: shown } = await viewer.untilPlayed(0.3);
      expect({ isAtStart: time < 4, shown }).toEqual({ isAtStart: true, shown: width });
    }
    expect(await handle(page, 'chosenQuality')).toBe('360p');
    await choose('Auto');
    expect(await handle(page, 'chosenQuality')).toBe(undefined);
    expect(viewer.complaints).toEqual([]);
  });

  it('shows the chosen captions, and the same at the next visit', async () => {
    await using viewer = await openPlaying();
    const { page } = viewer;
    const shown = () =>
      page
        .locator('video')
        .evaluate(video =>
          [...(video.textTracks as Iterable<{ mode: string; activeCues: Iterable<{ text: string }> | null }>)]
            .filter(track => track.mode === 'showing')
            .flatMap(track => [...(track.activeCues ?? [])].map(cue => cue.text)),
        );
    // The words change while a busy machine gets here.
    const isFrench = async () => /words \(fr-CA\)$/.test((await shown()).join());
    expect(await shown()).toEqual([]);
    await showsControls(page);
    await page.click('#captions');
    await page.click('role=menuitemradio[name="Français (Canada)"]');
    await until('the captions', isFrench);
    await page.keyboard.press('c');
    await until('no captions', async () => (await shown()).length === 0);
    await page.keyboard.press('c');
    await until('the captions again', isFrench);
    await page.reload();
    await viewer.untilPlayed(0.3);
    await until('the remembered captions', isFrench);
    expect(viewer.complaints).toEqual([]);
  });

  it('can be used without a pointer: buttons, and menus to their depth and back', async () => {
    await using viewer = await open();
    const { page } = viewer;
    await viewer.untilPhase('ready');
    const focused = () => page.evaluate<string>(`${focusedElement}.id || ${focusedElement}.textContent`);
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('big-play');
    await page.keyboard.press('Enter');
    await viewer.untilPlayed(0.3);
    expect(await focused()).toBe('play');
    for (let tabs = 0; (await focused()) !== 'settings' && tabs < 8; tabs += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('#settings[aria-expanded="true"]');
    expect(await focused()).toContain('Quality');
    await page.keyboard.press('ArrowDown');
    expect(await focused()).toContain('Speed');
    await page.keyboard.press('ArrowRight');
    expect(await focused()).toBe('Normal');
    await page.keyboard.press('ArrowLeft');
    expect(await focused()).toContain('Quality');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await until('faster', () => isAtRate(page, 1.25));
    expect(await focused()).toBe('settings');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await page.waitForSelector('#settings[aria-expanded="false"]');
    expect(await focused()).toBe('settings');
    expect(await page.isVisible('#menu')).toBe(false);
    expect((await viewer.video()).isPaused).toBe(false);
    await page.reload();
    await until('the remembered speed', () => isAtRate(page, 1.25));
  });

  it('stops at the end of the asked range, and plays it again from its start', async () => {
    await using viewer = await openPlaying('#autoplay;t=4,5.5');
    const { page } = viewer;
    expect((await viewer.video()).time).toBeGreaterThanOrEqual(4);
    await page.waitForSelector('#player.is-at-end');
    expect((await viewer.video()).time).toBeGreaterThanOrEqual(5.5);
    expect((await viewer.video()).time).toBeLessThan(5.7);
    await page.click('#end .action:has-text("Replay")');
    await until('the start of the range', async () => {
      const { time, isPaused } = await viewer.video();
      return !isPaused && time >= 4 && time < 5;
    });
    await page.keyboard.press('9');
    await untilAt(viewer, videoSeconds * 0.9, 1);
    await viewer.untilPlayed(0.3);
  });

  it('plays a range over and over where that is asked for', async () => {
    await using viewer = await openPlaying('#autoplay;loop;t=00:04,00:05');
    const times: number[] = [];
    await until('two rounds', async () => {
      times.push((await viewer.video()).time);
      return times.filter((time, index) => index > 0 && time < times[index - 1]!).length >= 2;
    });
    expect(Math.min(...times)).toBeGreaterThanOrEqual(3.99);
    expect(Math.max(...times)).toBeLessThan(5.3);
  });

  it('leaves out what the address asks to leave out', async () => {
    await using viewer = await open('#hide-title;hide-controls;hide-poster;muted');
    const { page } = viewer;
    await viewer.untilPhase('ready');
    expect(await page.isVisible('#poster')).toBe(false);
    expect(await page.isVisible('#title')).toBe(false);
    await page.click('#big-play');
    await viewer.untilPlayed(0.3);
    await showsControls(page);
    expect(await page.isVisible('#controls')).toBe(false);
    expect((await viewer.video()).isMuted).toBe(true);
  });

  it('downloads the file where that is allowed', async () => {
    await using viewer = await openPlaying();
    const { page } = viewer;
    await showsControls(page);
    await page.click('#settings');
    await page.click('role=menuitem[name="Download"]');
    await until('the request', async () => site.requests.includes('/vod/viOfTest/mp4/source.mp4?dl=1'));

    await using without = await VideoSite.start(folder, { mp4: false });
    await using other = await WatchedPage.open(browser(), without.page('#autoplay'));
    await other.untilPlayed(0.3);
    await showsControls(other.page);
    await other.page.click('#settings');
    await other.page.waitForSelector('role=menuitem[name*="Speed"]');
    expect(await other.page.isVisible('role=menuitem[name="Download"]')).toBe(false);
  });

  it('wears the theme of its owner, within what the policy of the page allows', async () => {
    const theme = {
      colors: { trackPlayed: 'rgba(255, 0, 0, 1)', text: 'rgba(0, 255, 0, 1)', link: 'not a colour' },
      enableApi: true,
      enableControls: true,
      forceAutoplay: true,
      forceLoop: false,
      hideTitle: true,
    };
    await using themed = await VideoSite.start(folder, { theme });
    await using viewer = await WatchedPage.open(browser(), themed.page());
    const { page } = viewer;
    await viewer.untilPlayed(0.3);
    await showsControls(page);
    const style = (selector: string, name: string) =>
      page
        .locator(selector)
        .evaluate(
          (element, property) => element.ownerDocument.defaultView.getComputedStyle(element)[property],
          name,
        );
    expect(await style('#seek #progress', 'backgroundColor')).toBe('rgb(255, 0, 0)');
    expect(await style('#time', 'color')).toBe('rgb(0, 255, 0)');
    expect(await style('#controls', 'color')).toBe('rgb(255, 255, 255)');
    expect(await page.isVisible('#title')).toBe(false);
    expect(viewer.complaints).toEqual([]);
  });

  it.each([
    { device: 'a phone held upright', viewport: { width: 390, height: 740 } },
    { device: 'the narrowest phone', viewport: { width: 320, height: 568 } },
    { device: 'a phone held across', viewport: { width: 740, height: 340 } },
    { device: 'a small frame', viewport: { width: 320, height: 180 } },
  ])('fits $device, where fingers show the controls and seek', async ({ viewport }) => {
    await using viewer = await open('', { viewport, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    const { page } = viewer;
    await viewer.untilPhase('ready');
    await page.touchscreen.tap(viewport.width / 2, viewport.height / 4);
    await viewer.untilPlayed(0.3);
    // The controls stay during a pause.
    await page.keyboard.press('k');
    await page.waitForSelector('#controls', { state: 'visible' });
    await viewer.untilFits();
    for (const id of ['play', 'mute', 'time', 'settings', 'fullscreen', 'seek'])
      expect(await page.isVisible(`#${id}`), id).toBe(true);
    await page.tap('#settings');
    await page.waitForSelector('#menu', { state: 'visible' });
    await viewer.untilFits();
    const y = viewport.height / 4;
    await page.touchscreen.tap(10, y);
    await page.waitForSelector('#menu', { state: 'hidden' });
    // A second tap within a moment would be a double one.
    await page.keyboard.press('k');
    await page.waitForSelector('#controls', { state: 'visible' });
    await page.touchscreen.tap(viewport.width / 2, y);
    await page.waitForSelector('#controls', { state: 'hidden' });
    const { time } = await viewer.video();
    await page.locator('video').evaluate(video => video.pause());
    await page.touchscreen.tap(viewport.width - 20, y);
    await page.touchscreen.tap(viewport.width - 20, y);
    await until('ten seconds on', async () => (await viewer.video()).time > Math.min(11, time + 9));
    expect(viewer.complaints).toEqual([]);
  });
});
