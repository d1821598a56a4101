import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { describeInBrowser, until, WatchedPage } from './browser-fixture.ts';
import { makeVideo, VideoSite, videoSeconds } from './vod-fixture.ts';

/** A page of another origin with the player in a frame, that hears messages and can send them. */
const parentPage = `<!doctype html><title>Parent</title><body><script>
  window.heard = [];
  addEventListener('message', event => heard.push({ origin: event.origin, ...event.data }));
  const iframe = document.createElement('iframe');
  iframe.src = decodeURIComponent(location.search.slice(1));
  iframe.width = 640;
  iframe.height = 360;
  iframe.allow = 'autoplay; fullscreen';
  document.body.append(iframe);
  window.send = message => iframe.contentWindow.postMessage(message, '*');
</script>`;

interface Heard {
  readonly origin: string;
  readonly type?: string;
  readonly callbackId?: string;
  readonly arg?: unknown;
  readonly sdkPlayerId?: string;
  readonly [name: string]: unknown;
}

describeInBrowser('the player of a video in a frame', browser => {
  let folder: string;
  let site: VideoSite;
  let parent: http.Server;
  let parentOrigin: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo(folder);
    site = await VideoSite.start(folder);
    parent = http.createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(parentPage);
    });
    await once(parent.listen(0, '127.0.0.1'), 'listening');
    parentOrigin = `http://127.0.0.1:${(parent.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    parent.closeAllConnections();
    parent.close();
    await site.close();
    await removeDir(folder);
  });

  const openParent = (address: string, video = site) =>
    WatchedPage.open(browser(), `${parentOrigin}/?${encodeURIComponent(video.page(address))}`);
  const sdkAddress = (origin = parentOrigin) => `?id=viOfTest#api;sdkOrigin:${btoa(origin)};sdkPlayerId:7;`;
  const heard = (page: Page) => page.evaluate<Heard[]>('window.heard');
  const untilHeard = (page: Page, type: string) =>
    until(type, async () => (await heard(page)).some(message => message.type === type));
  let asked = 0;
  const ask = async (page: Page, message: string, values: Record<string, unknown> = {}) => {
    asked += 1;
    const callbackId = `call${asked}`;
    await page.evaluate(`window.send(${JSON.stringify({ message, sdkPlayerId: 7, callbackId, ...values })})`);
    return waitUntil(
      async () => {
        const answer = (await heard(page)).find(candidate => candidate.callbackId === callbackId);
        return answer === undefined ? undefined : { arg: answer.arg };
      },
      { what: `an answer to ${message}`, timeoutMs: 60_000 },
    ).then(({ arg }) => arg);
  };

  it('tells the page around what happens, and does what that says', async () => {
    await using viewer = await openParent(sdkAddress());
    const { page } = viewer;
    await untilHeard(page, 'ready');
    expect((await heard(page))[0]).toEqual({ origin: site.origin, type: 'sdkSync', sdkPlayerId: '7' });

    expect(await ask(page, 'getPaused')).toBe(true);
    expect(await ask(page, 'getDuration')).toBeCloseTo(videoSeconds, 0);
    await ask(page, 'mute');
    expect(await ask(page, 'getMuted')).toBe(true);
    await ask(page, 'play');
    await untilHeard(page, 'firstplay');
    await untilHeard(page, 'timeupdate');
    expect(await ask(page, 'getPlaying')).toBe(true);
    expect(await ask(page, 'getVideoSize')).toEqual({ width: 640, height: 360 });
    await ask(page, 'setCurrentTime', { currentTime: 6 });
    await untilHeard(page, 'seeking');
    await until('the position', async () => Number(await ask(page, 'getCurrentTime')) >= 6);
    await ask(page, 'setPlaybackRate', { rate: 1.5 });
    expect(await ask(page, 'getPlaybackRate')).toBe(1.5);
    await ask(page, 'unmute');
    await ask(page, 'setVolume', { volume: 0.25 });
    expect(await ask(page, 'getVolume')).toBe(0.25);
    await ask(page, 'setLoop', { loop: true });
    expect(await ask(page, 'getLoop')).toBe(true);
    await ask(page, 'pause');
    await untilHeard(page, 'pause');
    await ask(page, 'setLoop', { loop: false });
    await ask(page, 'seek', { seek: 5.5 });
    await ask(page, 'play');
    await untilHeard(page, 'ended');

    const types = (await heard(page)).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['play', 'volumechange', 'ratechange', 'qualitychange']));
    const update = (await heard(page)).find(({ type }) => type === 'timeupdate')!;
    expect(update.currentTime).toEqual(expect.any(Number));
    expect(viewer.complaints).toEqual([]);
  });

  it('shows and hides what the page around wants, and takes its colours', async () => {
    await using viewer = await openParent(sdkAddress());
    const { page } = viewer;
    await untilHeard(page, 'ready');
    await ask(page, 'play');
    await untilHeard(page, 'firstplay');
    const frame = page.frames().find(candidate => candidate.url().startsWith(site.origin))!;
    await ask(page, 'hideControls', { controls: ['fullscreen', 'nonsense', null] });
    await ask(page, 'hideTitle');
    await ask(page, 'showSubtitles');
    await ask(page, 'setTheme', { theme: { trackPlayed: 'rgb(1, 2, 3)', text: 'url(x)' } });
    await ask(page, 'setStyleProperty', { query: 'video', property: 'object-fit', value: 'cover' });
    await ask(page, 'setStyleProperty', { query: 'video', property: 'background', value: 'red' });
    await frame.hover('#surface');
    expect(await frame.isVisible('#fullscreen')).toBe(false);
    expect(await frame.isVisible('#play')).toBe(true);
    expect(await frame.isVisible('#title')).toBe(false);
    const read = (expression: string) => frame.evaluate<string>(expression);
    expect(await read('getComputedStyle(document.querySelector(".track-played")).backgroundColor')).toBe(
      'rgb(1, 2, 3)',
    );
    expect(await read('document.getElementById("video").getAttribute("style")')).toBe('object-fit: cover;');
    expect(await read('[...video.textTracks].find(({ mode }) => mode === "showing").language')).toBe('en');
    await ask(page, 'hideControls');
    await untilHeard(page, 'controlsdisabled');
    expect(await frame.isVisible('#controls')).toBe(false);
    await ask(page, 'showControls');
    await untilHeard(page, 'controlsenabled');
    await ask(page, 'loadConfig', { url: 'https://elsewhere.test/vod/viOther' });
    await ask(page, 'loadConfig', { url: 'javascript:document.title=1' });
    await ask(page, 'getPaused');
    await ask(page, 'loadConfig', { url: site.page(`?ts=2#muted;sdkPlayerId:7`) });
    await frame.waitForURL(/ts=2/);
    expect(viewer.complaints).toEqual([]);
  });

  it('neither hears nor tells anything where the address or the owner does not allow it', async () => {
    await using themed = await VideoSite.start(folder, { theme: { enableApi: false } });
    for (const [address, video] of [
      ['', site],
      [sdkAddress(), themed],
      [sdkAddress('https://somebody.else'), site],
    ] as const) {
      await using viewer = await openParent(address, video);
      const { page } = viewer;
      const frame = page.frames().find(candidate => candidate.url().startsWith(video.origin))!;
      await frame.waitForSelector('#player[data-phase="ready"]');
      await page.evaluate(`window.send({ message: 'play', sdkPlayerId: 7 })`);
      await frame.click('#big-play');
      await frame.waitForSelector('#player:not(.is-fresh)');
      expect(await heard(page)).toEqual([]);
    }
  });
});
