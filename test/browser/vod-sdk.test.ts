import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { describeInBrowser, until } from './browser-fixture.ts';
import { SdkParent } from './sdk-parent.ts';
import { makeVideo, VideoSite, videoSeconds } from './vod-fixture.ts';

describeInBrowser('the player of a video in a frame', browser => {
  let folder: string;
  let site: VideoSite;
  let parent: SdkParent;
  beforeAll(async () => {
    folder = await makeTempDir();
    await makeVideo(folder);
    site = await VideoSite.start(folder);
    parent = await SdkParent.start();
  });
  afterAll(async () => {
    parent.close();
    await site.close();
    await removeDir(folder);
  });

  const openParent = (address: string, video = site) => parent.open(browser(), video.page(address));
  const sdkAddress = (origin?: string) => parent.sdkAddress(origin);
  const heard = (page: Page) => parent.heard(page);
  const untilHeard = (page: Page, type: string) => parent.untilHeard(page, type);
  const ask = (page: Page, message: string, values?: Record<string, unknown>) =>
    parent.ask(page, message, values);

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
    await frame.hover('#player');
    expect(await frame.isVisible('#fullscreen')).toBe(false);
    expect(await frame.isVisible('#play')).toBe(true);
    expect(await frame.isVisible('#title')).toBe(false);
    const read = (expression: string) => frame.evaluate<string>(expression);
    expect(
      await read('inPlayer("millrace-controls").style.getPropertyValue("--millrace-track-played")'),
    ).toBe('rgb(1, 2, 3)');
    expect(await read('inPlayer("#video").getAttribute("style")')).toBe('object-fit: cover;');
    expect(
      await read('[...inPlayer("video").textTracks].find(({ mode }) => mode === "showing").language'),
    ).toBe('en');
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
