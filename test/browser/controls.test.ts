import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { Publisher } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  describeInBrowser,
  pictureFps,
  publishPicture,
  spokenSince,
  until,
  WatchedPage,
  watchSpoken,
} from './browser-fixture.ts';

const name = `<img src=x onerror="document.title='broken into'"> & "Friends' live" </title><script>1</script>`;

describeInBrowser("the player page's controls", browser => {
  let server: TestServer;
  let stream: CreatedStream;
  let publisher: Publisher;
  beforeAll(async () => {
    server = await startServer();
    stream = await server.createStream(name);
    publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
  });
  afterAll(async () => {
    await publisher.stop();
    await server.stop();
  });

  const open = async (options: Parameters<typeof WatchedPage.open>[2] = {}, fragment = '') => {
    const url = `${server.baseUrl}/live/${stream.liveStreamId}${fragment}`;
    const viewer = await WatchedPage.openPlayer(browser(), url, options);
    await viewer.untilPlayed(0.5);
    return viewer;
  };

  it('starts without sound where that is asked for, and offers to turn it on', async () => {
    await using viewer = await open({ viewport: { width: 390, height: 219 } }, '#muted');
    expect((await viewer.video()).isMuted).toBe(true);
    // The offer is where the title would be.
    expect(await viewer.page.isVisible('#title')).toBe(false);
    await viewer.page.click('text=Turn sound on');
    await until('sound', async () => !(await viewer.video()).isMuted);
    await viewer.untilPlayed(0.5);
    expect(await viewer.page.isVisible('text=Turn sound on')).toBe(false);
    expect(await viewer.page.isVisible('#title')).toBe(true);
  });

  it('mutes, sets the volume, and remembers both', async () => {
    await using viewer = await open();
    const { page } = viewer;
    await viewer.pointAtControls();
    await page.click('#mute');
    await until('silence', async () => (await viewer.video()).isMuted);
    await page.click('#mute');
    await until('sound', async () => !(await viewer.video()).isMuted);
    await page.fill('#volume input', '0.3');
    await until('a volume of 0.3', async () => Math.abs((await viewer.video()).volume - 0.3) < 0.01);
    await page.reload();
    await viewer.untilPlayed(0.5);
    expect((await viewer.video()).volume).toBeCloseTo(0.3);
    await viewer.pointAtControls();
    await watchSpoken(page, `inPlayer('#mute')`, 'aria-label');
    await page.fill('#volume input', '0');
    await until('silence', async () => (await viewer.video()).isMuted);
    await until('its label', async () => (await page.getAttribute('#mute', 'aria-label')) === 'Unmute');
    expect((await spokenSince(page)).filter(text => !/^(Unm|M)ute$/.test(text))).toEqual([]);
  });

  it('does what the keyboard says', async () => {
    await using viewer = await open();
    const { page } = viewer;
    await page.keyboard.press('m');
    await until('silence', async () => (await viewer.video()).isMuted);
    await page.keyboard.press('m');
    await until('sound', async () => !(await viewer.video()).isMuted);
    await page.keyboard.press('ArrowDown');
    await until('less volume', async () => Math.abs((await viewer.video()).volume - 0.9) < 0.01);
    await page.keyboard.press('Space');
    await until('a pause', async () => (await viewer.video()).isPaused);
    await page.keyboard.press('k');
    await until('playing', async () => !(await viewer.video()).isPaused);
    // The browser may still enter fullscreen when the second key comes.
    await page.evaluate(
      `document.addEventListener('fullscreenchange', () => { window.fullscreenChanges = (window.fullscreenChanges ?? 0) + 1; })`,
    );
    await page.keyboard.press('f');
    await page.keyboard.press('f');
    await until('both changes', () => page.evaluate('window.fullscreenChanges === 2'));
    expect(await page.evaluate('document.fullscreenElement === null')).toBe(true);
    const { time } = await viewer.video();
    await page.keyboard.press('ArrowLeft');
    await until('an earlier picture', async () => (await viewer.video()).time < time - 1);
    await page.keyboard.press('End');
    await until('the newest picture', () =>
      page.evaluate(`inPlayer('millrace-video').seekable.end(0) - inPlayer('video').currentTime < 1`),
    );
    await page.keyboard.press('c');
    await until('why nothing changes', async () => (await page.textContent('#hint')) === 'No captions');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Alt+ArrowLeft');
    expect((await viewer.video()).isPaused).toBe(false);
  });

  it('takes the other speeds and positions that a video has, as far as live allows', async () => {
    await using viewer = await open();
    const { page } = viewer;
    const rate = () => page.locator('video').evaluate(video => video.playbackRate as number);
    const hint = async (text: string) => {
      let shown: string | null = '';
      const isShown = async () => {
        shown = await page.textContent('#hint');
        return shown === text;
      };
      await waitUntil(isShown, { what: () => `the hint ${text}, not ${shown}` });
    };
    await page.keyboard.press('<');
    await hint('0.75×');
    expect(await rate()).toBe(0.75);
    await until(
      'the offer to go to live',
      async () => (await page.textContent('#live-text')) === 'Go to live',
    );
    expect(await rate()).toBe(0.75);
    // The offer comes at the edge of what is live, where higher speeds are refused from one moment to the next.
    await page.keyboard.press('ArrowLeft');
    await until('old pictures', async () => (await viewer.latencySeconds()) > 5);
    for (const faster of ['1×', '1.25×', '1.5×', '1.75×', '2×']) {
      await page.keyboard.press('>');
      await hint(faster);
    }
    expect(await rate()).toBe(2);
    await until('normal speed at the live edge', async () => (await rate()) <= 1.1);
    // A busy machine may fall behind once more.
    await until('no higher speed at the live edge', async () => {
      await page.keyboard.press('>');
      return (await page.textContent('#hint')) === '1×';
    });
    await page.keyboard.press('j');
    await hint('−10 s');
    await page.keyboard.press('0');
    await until('the oldest picture', async () => {
      const position = await page.locator('#seek input').evaluate(range => range.valueAsNumber as number);
      return position < 0.001 || (await viewer.video()).time < 12;
    });
    await page.keyboard.press(',');
    await until('a pause', async () => (await viewer.video()).isPaused);
    const { time } = await viewer.video();
    await page.keyboard.press('.');
    await until('the next frame', async () => {
      const step = (await viewer.video()).time - time;
      return Math.abs(step - 1 / pictureFps) < 0.02;
    });
    expect(viewer.complaints).toEqual([]);
  });

  it('goes back to live after a pause, which it offers only once that is of use', async () => {
    await using viewer = await open();
    const { page } = viewer;
    await page.locator('#live-text').evaluate(text => {
      const { defaultView: window } = text.ownerDocument;
      new window.MutationObserver((_: unknown, observer: { disconnect(): void }) => {
        observer.disconnect();
        window.offeredAt = window.millrace.latencySeconds();
      }).observe(text, { childList: true });
    });
    await page.mouse.click(640, 300);
    await until('a pause', async () => (await viewer.video()).isPaused);
    await page.waitForSelector('#big-play', { state: 'visible' });
    await until(
      'the offer to go to live',
      async () => (await page.textContent('#live-text')) === 'Go to live',
    );
    expect(await page.evaluate<number>('window.offeredAt')).toBeGreaterThan(2);
    await until('old pictures', async () => (await viewer.latencySeconds()) > 5);
    await page.click('#live');
    await until('playing', async () => !(await viewer.video()).isPaused);
    await until('the newest picture', async () => (await viewer.latencySeconds()) < 3);
    await viewer.untilPlayed(1);
    expect(await page.textContent('#live-text')).toBe('Live');
    expect(viewer.complaints).toEqual([]);
  });

  it('shows the title of a broadcast without a picture', async () => {
    const radio = await server.createStream('Night radio');
    await using _ = publishPicture({ url: server.rtmpUrl(radio.streamKey), extraArgs: ['-vn'] });
    await using viewer = await WatchedPage.openPlayer(
      browser(),
      `${server.baseUrl}/live/${radio.liveStreamId}`,
    );
    const { page } = viewer;
    await viewer.untilPhase('live');
    const title = page.locator('.artwork-title');
    await title.waitFor({ state: 'visible' });
    expect(await title.textContent()).toBe('Night radio');
    expect(await page.isVisible('#title')).toBe(false);
    expect(viewer.complaints).toEqual([]);
  });

  it('fills the screen, and hides the controls while nobody touches them', async () => {
    await using viewer = await open();
    const { page } = viewer;
    await viewer.pointAtControls();
    await page.click('#fullscreen');
    await until('fullscreen', () => page.evaluate('document.fullscreenElement !== null'));
    await page.waitForSelector('#fullscreen[aria-label="Exit fullscreen"]');
    await page.mouse.move(600, 200);
    await page.waitForSelector('#controls', { state: 'hidden' });
    await page.mouse.move(610, 210);
    await page.waitForSelector('#controls', { state: 'visible' });
  });

  it('shows any name as text, and lets no script of it run', async () => {
    await using viewer = await open();
    expect(await viewer.page.title()).toBe(name);
    expect(await viewer.page.textContent('#title')).toBe(name);
    expect(await viewer.page.locator('img:not(.poster, [crossorigin])').count()).toBe(0);
    expect(viewer.complaints).toEqual([]);

    const refused = await viewer.page.evaluate<string>(`new Promise(resolve => {
      document.addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective));
      const image = document.createElement('img');
      image.src = 'http://elsewhere.test/pixel.png';
      document.body.append(image);
    })`);
    expect(refused).toBe('img-src');
  });

  it('offers no choice of qualities where there is one', async () => {
    await using viewer = await open();
    await viewer.pointAtControls();
    await viewer.page.waitForSelector('#controls', { state: 'visible' });
    expect(await viewer.page.isVisible('#settings')).toBe(false);
  });

  it('leaves out what the address asks to leave out', async () => {
    await using viewer = await open({}, '#hide-title;hide-controls');
    await viewer.page.mouse.move(600, 300);
    expect(await viewer.page.isVisible('#title')).toBe(false);
    expect(await viewer.page.isVisible('#controls')).toBe(false);
  });

  it.each([
    { device: 'a phone held upright', viewport: { width: 390, height: 740 } },
    { device: 'the narrowest phone', viewport: { width: 320, height: 568 } },
    { device: 'a phone held across', viewport: { width: 740, height: 340 } },
    { device: 'a small frame', viewport: { width: 320, height: 180 } },
  ])('fits $device', async ({ viewport }) => {
    await using viewer = await open({ viewport, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
    const { page } = viewer;
    await page.waitForSelector('#controls', { state: 'hidden' });
    await page.touchscreen.tap(viewport.width / 2, viewport.height / 4);
    await page.waitForSelector('#controls', { state: 'visible' });
    await viewer.untilFits();
    // The widest that the row gets.
    await page.keyboard.press('Home');
    await until(
      'the offer to go to live',
      async () => (await page.textContent('#live-text')) === 'Go to live',
    );
    await viewer.untilFits();
    for (const id of ['play', 'mute', 'live', 'fullscreen'])
      expect(await page.isVisible(`#${id}`)).toBe(true);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    await viewer.untilFits();
    await page.keyboard.press('Escape');
    await page.waitForSelector('#key-help', { state: 'hidden' });
    // The controls stay for moments after a touch, which may pass before the button is reached.
    await until('silence', async () => {
      if ((await viewer.video()).isMuted) return true;
      if (!(await page.isVisible('#controls'))) {
        await page.touchscreen.tap(viewport.width / 2, viewport.height / 4);
      }
      await page.tap('#mute', { timeout: 2_000 }).catch(() => {});
      return (await viewer.video()).isMuted;
    });
  });
});
