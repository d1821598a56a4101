import { beforeAll, expect, it } from 'vitest';
import { makeTempDir } from '../support/temp-dir.ts';
import { axeViolations } from './axe.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { ControlsPage } from './controls-page.ts';
import { makeVideo, VideoSite } from './vod-fixture.ts';

describeInBrowser("what the player element's controls do beside playing", browser => {
  let folder: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo(folder);
  });
  const start = (video: Parameters<typeof VideoSite.start>[1] = {}) => VideoSite.start(folder, video);

  it('remembers the style of captions, and shows it at once', async () => {
    await using site = await start();
    await using controls = await ControlsPage.open(browser(), site);
    const { page } = controls;
    await controls.pauseAt(2);
    await page.click('#captions');
    await page.click('.menu-item:has-text("English")');
    await page.click('#captions');
    await page.click('.menu-item:has-text("Caption style")');
    await page.click('.menu-item:has-text("Font color")');
    await page.click('.menu-item:has-text("Yellow")');
    expect(await page.getAttribute('.menu-item:has-text("Yellow")', 'aria-checked')).toBe('true');
    await page.keyboard.press('ArrowLeft');
    await page.click('.menu-item:has-text("Font size")');
    await page.click('.menu-item:has-text("150%")');
    const css = `[...media.shadowRoot.adoptedStyleSheets].flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText)).join()`;
    expect(await controls.read<string>(css)).toMatch(/::cue \{[^}]*rgb\(255, 255, 0\)[^}]*150%/);
    await page.reload();
    await controls.untilPhase('ready');
    expect(await controls.read<string>(css)).toMatch(/::cue \{[^}]*rgb\(255, 255, 0\)[^}]*150%/);
  });

  it('follows the keyboard where the page asks for it, and shows the keys', async () => {
    await using site = await start();
    await using controls = await ControlsPage.open(browser(), site, 'page-keyboard');
    const { page } = controls;
    await controls.pauseAt(5);
    await page.keyboard.press('l');
    await controls.until('the end', 'media.currentTime > 11');
    await page.keyboard.press('Home');
    await controls.until('the start', 'media.currentTime < 0.1');
    await page.keyboard.press('ArrowRight');
    await controls.until('five seconds', 'Math.abs(media.currentTime - 5) < 0.1');
    expect(await page.textContent('#hint')).toBe('+5 s');
    await page.keyboard.press('5');
    await controls.until('the middle', 'Math.abs(media.currentTime - 6) < 0.2');
    await page.keyboard.press('m');
    await controls.until('silence', 'media.muted');
    await until(
      'the button to unmute',
      async () => (await page.getAttribute('#mute', 'aria-label')) === 'Unmute',
    );
    await page.keyboard.press('c');
    await until('captions', async () => (await page.textContent('#hint')) === 'Captions on');
    await page.keyboard.press('?');
    await page.waitForSelector('#key-help');
    expect(await page.textContent('#key-help')).toContain('Back or forward 10 seconds');
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.focus('#seek input');
    await page.keyboard.press('ArrowUp');
    await controls.until('five seconds more', 'media.currentTime > 10.5');
    await page.focus('#volume input');
    await page.keyboard.press('ArrowRight');
    await controls.until('sound', '!media.muted && media.volume > 0 && media.volume < 0.1');
  });

  it('shares the address, a moment, code to embed and a QR code', async () => {
    await using site = await start();
    await using controls = await ControlsPage.open(browser(), site);
    const { page } = controls;
    await controls.pauseAt(7);
    await page.click('#share');
    const link = page.locator('#share-sheet input[aria-label="Link"]');
    expect(await link.inputValue()).toBe(site.page());
    await page.check('#share-sheet input[type="checkbox"]');
    expect(await link.inputValue()).toBe(site.page('#t=7'));
    expect(await page.inputValue('#share-sheet input[aria-label="Embed code"]')).toMatch(
      /^<iframe src="http:[^"]+#t=7" title="Mill &amp; weir"[^>]* allowfullscreen><\/iframe>$/,
    );
    expect((await page.getAttribute('#share-sheet .qr path', 'd'))!.length).toBeGreaterThan(500);
    expect(await axeViolations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await until('the player again', async () => (await page.locator('#share-sheet').count()) === 0);
    await page.evaluate(`document.querySelector('millrace-player').setAttribute('hide-share', '')`);
    await until('no button', async () => !(await page.isVisible('#share')));
  });

  it('plays a list, and offers to watch again at the end', async () => {
    await using site = await start();
    const list = `${site.page()} ${site.origin}/vod/viOther`;
    await using controls = await ControlsPage.open(browser(), site, `playlist="${list}"`);
    const { page } = controls;
    await controls.pauseAt(2);
    expect(await page.isVisible('#next')).toBe(true);
    expect(await page.isVisible('#previous')).toBe(false);
    await controls.read(`(media.currentTime = 11.5, void media.play())`);
    await page.waitForSelector('#end:not([hidden])');
    expect(await page.textContent('#end')).toMatch(/Up next in \d seconds?/);
    await page.click('#end .action:has-text("Cancel")');
    expect(await axeViolations(page)).toEqual([]);
    await page.click('#end .action:has-text("Replay")');
    await controls.until('the start', 'media.currentTime > 0.1 && media.currentTime < 6 && !media.paused');
    await page.waitForSelector('#end', { state: 'hidden' });
    await page.click('#next');
    await until('the other video', () =>
      page.evaluate<boolean>(`document.querySelector('millrace-player').src.endsWith('/vod/viOther')`),
    );
  });

  it.each([
    { width: 1280, height: 720 },
    { width: 390, height: 740 },
  ])('lists the entries of a playlist in $width pixels', async viewport => {
    await using site = await start();
    const list = `viOfTest ${site.origin}/vod/viOther ${site.page('#muted')}`;
    await using controls = await ControlsPage.open(browser(), site, `playlist="${list}"`, { viewport });
    const { page } = controls;
    await controls.pauseAt(2);
    if (viewport.width > 480) await page.click('#playlist');
    else {
      // The bar has no room for it.
      expect(await page.isVisible('#playlist')).toBe(false);
      await page.click('#settings');
      await page.click('.menu-item:has-text("Playlist")');
    }
    const entries = page.locator('#playlist-panel .entry');
    await until('what the server tells', async () => (await entries.first().innerText()).includes('0:12'));
    expect((await entries.first().innerText()).split('\n')).toEqual(['0:12', 'Mill & weir']);
    expect(await entries.nth(1).innerText()).toBe('Video 2');
    expect(await entries.evaluateAll(all => all.map(each => each.getAttribute('aria-current')))).toEqual([
      'true',
      null,
      null,
    ]);
    expect(await axeViolations(page)).toEqual([]);
    const box = (await page.locator('#playlist-panel').boundingBox())!;
    expect(box.x).toBeGreaterThanOrEqual(0);
    expect(box.x + box.width).toBeLessThanOrEqual(viewport.width);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await until('the other video', () =>
      page.evaluate<boolean>(`document.querySelector('millrace-player').src.endsWith('/vod/viOther')`),
    );
    expect(await page.locator('#playlist-panel').count()).toBe(0);
  });

  it('asks about the entries of a long playlist that are seen, and finds ids on the server that the page chose', async () => {
    await using site = await start();
    const asked = new Set<string>();
    const elsewhere = site.origin.replace('127.0.0.1', 'localhost');
    const many = Array.from({ length: 500 }, (_, index) =>
      site.page().replace(/viOfTest/, `viNumber${index}`),
    );
    const list = [site.page(), `${elsewhere}/vod/viElsewhere`, 'viById', ...many].join(' ');
    await using controls = await ControlsPage.open(browser(), site, `playlist="${list}"`);
    const { page } = controls;
    page.on('request', request => {
      const [, id] = /vod\/(viNumber\d+|viById)\/state/.exec(request.url()) ?? [];
      if (id !== undefined) asked.add(id);
    });
    await controls.pauseAt(2);
    await page.click('#playlist');
    await until('the first entries', async () => asked.has('viById') && asked.has('viNumber0'));
    await page.keyboard.press('End');
    await until('the last entry', async () => asked.has('viNumber499'));
    expect(asked.has('viNumber250')).toBe(false);
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    const player = `document.querySelector('millrace-player')`;
    await until('the other video', () =>
      page.evaluate<boolean>(`${player}.src.endsWith('/vod/viElsewhere')`),
    );
    const controlsElement = `${player}.shadowRoot.querySelector('millrace-controls')`;
    expect(await page.evaluate(`${controlsElement}.getAttribute('playlist').split(' ')[2]`)).toBe(
      `${site.origin}/vod/viById`,
    );
  });

  it('continues where the viewer left, where the page asks for it', async () => {
    await using site = await start();
    await using controls = await ControlsPage.open(browser(), site, 'resume');
    const { page } = controls;
    await controls.pauseAt(5);
    await page.reload();
    await controls.until('the position', 'Math.abs(media.currentTime - 5) < 0.1');
    expect(await page.textContent('#toast')).toContain('Resumed at 0:05');
    await page.click('#toast .action');
    await controls.until('the start', 'media.currentTime === 0');
    await controls.pauseAt(6);
    await controls.read(`(media.currentTime = 11.8, void media.play())`);
    await page.waitForSelector('#end:not([hidden])');
    await page.reload();
    await controls.untilPhase('ready');
    await controls.until(
      'the start again',
      `media.currentTime === 0 && controls.getElementById('toast').hidden`,
    );
  });

  it('asks the page for theatre mode', async () => {
    await using site = await start();
    await using controls = await ControlsPage.open(browser(), site, 'theatre page-keyboard');
    const { page } = controls;
    await controls.pauseAt(1);
    await page.evaluate(`
      window.wishes = [];
      addEventListener('millracetheatre', ({ detail }) => wishes.push(detail));
    `);
    await page.click('#theatre');
    await page.keyboard.press('t');
    expect(await page.evaluate('wishes')).toEqual([true, false]);
    expect(await page.getAttribute('#theatre', 'aria-pressed')).toBe('false');
  });

  it('seeks by double taps at the sides, and by swiping', async () => {
    await using site = await start();
    await using controls = await ControlsPage.open(browser(), site, '', {
      hasTouch: true,
      viewport: { width: 390, height: 300 },
    });
    const { page } = controls;
    await controls.pauseAt(1);
    const tap = () => page.touchscreen.tap(340, 140);
    await tap();
    await tap();
    await controls.until('ten seconds more', 'media.currentTime > 10.5');
    expect(await page.textContent('#hint')).toBe('+10 s');
    expect(await axeViolations(page)).toEqual([]);
  });

  it('says in the language of the page what is wrong, and what the viewer can do', async () => {
    await using site = await start({ playable: false, failed: true });
    await using controls = await ControlsPage.open(browser(), site, 'lang="de"');
    const { page } = controls;
    await controls.untilPhase('failed');
    await until('German', async () => /Video/.test((await page.textContent('#status-title')) ?? ''));
    const text = (await page.textContent('#status-title'))!;
    expect(text).not.toContain('couldn’t');
    expect(await page.locator('#screen-actions .action').count()).toBe(1);
    expect(await axeViolations(page)).toEqual([]);
    site.change({ playable: true, failed: false });
    await page.click('#screen-actions .action');
    await controls.untilPhase('ready');
  });

  it('takes the colors of a theme, and leaves those that nobody changed', async () => {
    const unchanged = { trackPlayed: 'rgba(88, 131, 255, .95)', backgroundBottom: 'rgba(0, 0, 0, .7)' };
    await using site = await start({ theme: { colors: unchanged } });
    await using controls = await ControlsPage.open(browser(), site);
    await controls.pauseAt(6);
    const color = `getComputedStyle(controls.getElementById('seek').shadowRoot.getElementById('progress')).backgroundColor`;
    expect(await controls.read(color)).toBe('rgb(95, 212, 189)');
    site.change({ theme: { colors: { ...unchanged, trackPlayed: 'rgba(200, 30, 90, 1)' } } });
    await controls.page.reload();
    await controls.pauseAt(6);
    expect(await controls.read(color)).toBe('rgb(200, 30, 90)');
  });
});
