import type { Browser, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { Publisher } from '../support/ffmpeg.ts';
import { OtherSite } from '../support/other-site.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';
import { makeVideo, VideoSite } from './vod-fixture.ts';

const controlsCode = /\/assets\/controls-[^/]+\.js$/;

describeInBrowser('a player before its controls have arrived', browser => {
  let server: TestServer;
  let stream: CreatedStream;
  let publisher: Publisher;
  let videos: VideoSite;
  beforeAll(async () => {
    const folder = await makeTempDir();
    await makeVideo(folder);
    videos = await VideoSite.start(folder);
    server = await startServer();
    stream = await server.createStream();
    publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    const state = `${server.baseUrl}/live/${stream.liveStreamId}/state`;
    await until('a live stream', async () => ((await (await fetch(state)).json()) as { live: boolean }).live);
  });
  afterAll(async () => {
    await publisher.stop();
    await server.stop();
    await videos.close();
  });
  const livePage = () => `${server.baseUrl}/live/${stream.liveStreamId}?embed`;

  it('asks for the playlist of a live stream first, and shows its picture', async () => {
    await using site = await OtherSite.start();
    const address = site.addPage(
      `<script type="module" src="${server.baseUrl}/player.js"></script>
       <body><millrace-player src="${server.baseUrl}/live/${stream.liveStreamId}"></millrace-player>`,
    );
    await using viewer = await WatchedPage.open(browser(), address);
    await viewer.page.waitForSelector('millrace-player');
    await viewer.untilPhase('live');
    const controlsAt = viewer.requests.findIndex(url => controlsCode.test(url));
    const playlistAt = viewer.requests.findIndex(url => url.includes('/index.m3u8'));
    expect(playlistAt).toBeGreaterThan(0);
    expect(controlsAt).toBeGreaterThan(playlistAt);
    expect(viewer.complaints).toEqual([]);
  });

  it('repeats the keys of the viewer when they arrive, and moves nothing', async () => {
    await using held = await HeldControls.open(browser(), livePage());
    const { viewer } = held;
    await viewer.untilPlayed(0.5);
    const boxes = () =>
      viewer.page.evaluate(`['millrace-player', 'millrace-controls', 'millrace-video', 'video'].map(name => {
        const { x, y, width, height } = inPlayer(name).getBoundingClientRect();
        return [x, y, width, height];
      })`);
    const before = await boxes();
    expect(before).toEqual(Array(4).fill([0, 0, 1280, 720]));
    await viewer.page.keyboard.press('m');
    expect([await held.haveArrived(), (await viewer.video()).isMuted]).toEqual([false, false]);
    await held.release();
    await viewer.untilPhase('live');
    await until('silence', async () => (await viewer.video()).isMuted);
    expect(await boxes()).toEqual(before);
    await viewer.pointAtControls();
    await viewer.page.click('#play');
    await until('a pause', async () => (await viewer.video()).isPaused);
    expect(viewer.complaints).toEqual([]);
  });

  it('plays a video on a click, behind a sign that it loads', async () => {
    await using held = await HeldControls.open(browser(), videos.page());
    const { viewer } = held;
    const { page } = viewer;
    const sign = () =>
      page.evaluate(`(({ content, visibility }) => content !== 'none' && visibility === 'visible')
        (getComputedStyle(inPlayer('millrace-controls'), '::after'))`);
    await until('the sign', async () => (await sign()) === true);
    await page.mouse.click(300, 300);
    await viewer.untilPlayed(0.5);
    expect([await held.haveArrived(), await sign()]).toEqual([false, false]);
    await held.release();
    await viewer.untilPhase('ready');
    await page.waitForSelector('#player:not(.is-fresh, .is-buffering)');
    await viewer.pointAtControls();
    await page.click('#play');
    await until('a pause', async () => (await viewer.video()).isPaused);
    expect(viewer.complaints).toEqual([]);
  });

  it('plays with the controls of the browser while their code cannot be loaded', async () => {
    await using held = await HeldControls.open(browser(), livePage());
    const { viewer } = held;
    await held.fail();
    await until('controls', () => viewer.page.evaluate<boolean>(`inPlayer('video').controls`));
    await viewer.untilPlayed(0.5);
    expect(await held.haveArrived()).toBe(false);
    await held.release();
    await until('silence', async () => {
      // The code is asked for again after a moment.
      if (!(await held.haveArrived())) await viewer.page.keyboard.press('k');
      else await viewer.page.keyboard.press('m');
      return (await viewer.video()).isMuted;
    });
    expect(await viewer.page.evaluate(`inPlayer('video').controls`)).toBe(false);
  });

  it('has its own language where another player of the page loads them, moved or not', async () => {
    await using site = await OtherSite.start();
    const address = site.addPage(
      `<script type="module" src="${server.baseUrl}/player.js"></script><body>
       <millrace-player id="one" lang="de" src="${server.baseUrl}/live/${stream.liveStreamId}"></millrace-player>
       <millrace-player id="other" lang="fr"></millrace-player>
       <millrace-player id="apart" lang="es"></millrace-player>`,
    );
    await using viewer = await WatchedPage.open(browser(), address);
    await viewer.page.evaluate(`window.apart = document.getElementById('apart'), apart.remove()`);
    const labels = () =>
      viewer.page.evaluate<unknown[]>(`[one, other, apart].map(({ shadowRoot }) =>
        shadowRoot.querySelector('millrace-controls')?.shadowRoot?.querySelector('#fullscreen')?.getAttribute('aria-label'))`);
    await until('the controls of one', async () => (await labels())[0] !== undefined);
    await viewer.page.evaluate(`document.body.append(apart)`);
    await until(
      'their languages',
      async () => !(await labels()).includes(undefined) && new Set(await labels()).size === 3,
    );
    expect(viewer.complaints).toEqual([]);
  });

  it('asks seldom for code that cannot be loaded, and forgets the keys until then', async () => {
    await using held = await HeldControls.open(browser(), livePage());
    const { viewer } = held;
    const { page } = viewer;
    await viewer.untilPlayed(0.5);
    await page.keyboard.press('m');
    await held.fail();
    await until('controls', () => page.evaluate<boolean>(`inPlayer('video').controls`));
    const before = held.requests;
    for (let step = 0; step < 200; step += 1) await page.mouse.move(100 + step, 200);
    expect(held.requests - before).toBeLessThan(20);
    await held.release();
    await until('the controls', async () => {
      await page.mouse.move(100 + Math.random() * 100, 200);
      return held.haveArrived();
    });
    expect((await viewer.video()).isMuted).toBe(false);
  });

  it('has the controls of the browser while their code takes long, and keeps keys for fields of the page', async () => {
    await using held = await HeldControls.open(browser(), `${server.baseUrl}/live/${stream.liveStreamId}`);
    const { viewer } = held;
    const { page } = viewer;
    await viewer.untilPlayed(0.5);
    await until('controls', () => page.evaluate<boolean>(`inPlayer('video').controls`));
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('input'), { id: 'field' }))`,
    );
    await page.focus('#field');
    await page.keyboard.type('mk');
    await held.release();
    await until('the controls', () => held.haveArrived());
    await viewer.untilPhase('live');
    expect(await page.evaluate(`inPlayer('video').controls`)).toBe(false);
    expect(await page.inputValue('#field')).toBe('mk');
    expect(await viewer.video()).toMatchObject({ isMuted: false, isPaused: false });
  });
});

/** A player whose controls wait on their way. */
class HeldControls {
  readonly viewer: WatchedPage;
  readonly #routes: Route[] = [];
  /** Number of requests for the code of the controls. */
  requests = 0;
  #end: 'continue' | 'abort' | undefined;

  private constructor(viewer: WatchedPage) {
    this.viewer = viewer;
  }

  static async open(browser: Browser, url: string): Promise<HeldControls> {
    const held = new HeldControls(await WatchedPage.open(browser, 'about:blank'));
    const { page } = held.viewer;
    await page.route(controlsCode, async route => {
      held.requests += 1;
      if (held.#end === undefined) held.#routes.push(route);
      else await route[held.#end]();
    });
    await page.goto(url, { waitUntil: 'commit' });
    await page.waitForSelector('millrace-player');
    await page.waitForFunction(`inPlayer('video') !== null`);
    return held;
  }

  haveArrived(): Promise<boolean> {
    return this.viewer.page.evaluate<boolean>(`inPlayer('millrace-controls').matches(':defined')`);
  }

  release(): Promise<unknown> {
    return this.#let('continue');
  }

  fail(): Promise<unknown> {
    return this.#let('abort');
  }

  #let(end: 'continue' | 'abort'): Promise<unknown> {
    this.#end = end;
    return Promise.all(this.#routes.splice(0).map(route => route[end]()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.viewer.close();
  }
}
