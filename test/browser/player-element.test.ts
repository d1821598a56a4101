import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildPlayerPackage } from '../../scripts/build/player-package.ts';
import { projectRoot } from '../../scripts/project-files.ts';
import { OtherSite } from '../support/other-site.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';
import { chapters, makeVideo, tile, VideoSite, videoSeconds } from './vod-fixture.ts';

const hostileStyles = `<style>* { display: block !important; all: unset; color: red; font-size: 60px; }</style>`;

describeInBrowser('the player element on a page of another site', browser => {
  let server: TestServer;
  let site: OtherSite;
  beforeAll(async () => {
    server = await startServer();
    site = await OtherSite.start();
  });
  afterAll(async () => {
    await site[Symbol.asyncDispose]();
    await server.stop();
  });

  const script = () => `<script type="module" src="${server.baseUrl}/player.js"></script>`;
  const open = (html: string) => WatchedPage.open(browser(), site.addPage(script() + html));

  it('plays a live stream, tells what happens, and takes orders', async () => {
    const stream = await server.createStream();
    await using viewer = await open(
      `<body><millrace-player muted src="${server.baseUrl}/live/${stream.liveStreamId}"></millrace-player>`,
    );
    const { page } = viewer;
    await untilPhase(page, 'waiting');
    await page.evaluate(`
      window.told = [];
      for (const type of ['play', 'pause', 'playing', 'timeupdate', 'volumechange', 'ended'])
        document.querySelector('millrace-player').addEventListener(type, () => told.push(type));
    `);
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await untilPhase(page, 'live');
    await untilMoving(page);
    const details = await page.evaluate(`(() => {
      const { media } = document.querySelector('millrace-player');
      const { streamType, duration, muted, isAtLiveEdge, details } = media;
      return { streamType, duration, muted, isAtLiveEdge, kind: details.kind };
    })()`);
    expect(details).toEqual({
      streamType: 'live',
      duration: Number.POSITIVE_INFINITY,
      muted: true,
      isAtLiveEdge: true,
      kind: 'live',
    });
    await page.evaluate(`document.querySelector('millrace-player').pause()`);
    await until('a pause', () => page.evaluate<boolean>(`told.includes('pause')`));
    expect(await page.evaluate(`document.querySelector('millrace-player').paused`)).toBe(true);
    await page.evaluate(`document.querySelector('millrace-player').play()`);
    await untilMoving(page);
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await untilPhase(page, 'ended');
    expect(await page.evaluate<string[]>('told')).toContain('ended');
    expect(viewer.complaints).toEqual([]);
  });

  it('shows two players that do not know of each other', async () => {
    const streams = [await server.createStream('First'), await server.createStream('Second')];
    await using viewer = await open(
      `<body>${streams.map(({ liveStreamId }) => `<millrace-player muted style="width: 400px" src="${server.baseUrl}/live/${liveStreamId}"></millrace-player>`).join('')}`,
    );
    const { page } = viewer;
    await using _ = publishPicture({ url: server.rtmpUrl(streams[0]!.streamKey) });
    await using __ = publishPicture({ url: server.rtmpUrl(streams[1]!.streamKey) });
    for (const at of [0, 1]) {
      await untilPhase(page, 'live', at);
      await untilMoving(page, at);
    }
    await page.evaluate(`document.querySelectorAll('millrace-player')[0].pause()`);
    await untilMoving(page, 1);
    expect(
      await page.evaluate(`[...document.querySelectorAll('millrace-player')].map(each => each.paused)`),
    ).toEqual([true, false]);

    // The media keys are those of the player that began last, until it ends.
    await page.evaluate(`(() => {
      window.second = document.querySelectorAll('millrace-player')[1];
      second.pause();
      second.play();
    })()`);
    const shown = () => page.evaluate('navigator.mediaSession.metadata?.title');
    await until('the second in the media session', async () => (await shown()) === 'Second');
    await page.evaluate(`document.querySelectorAll('millrace-player')[0].remove()`);
    expect(await shown()).toBe('Second');
    await page.evaluate(`second.src = ''`);
    expect([await shown(), await page.evaluate('second.paused')]).toEqual([undefined, true]);
    expect(viewer.complaints).toEqual([]);
  });

  it('looks and plays the same among hostile styles', async () => {
    const stream = await server.createStream();
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await open(
      `${hostileStyles}<body><millrace-player muted src="${server.baseUrl}/live/${stream.liveStreamId}"></millrace-player>`,
    );
    const { page } = viewer;
    await untilPhase(page, 'live');
    await untilMoving(page);
    const box = (await page.locator('millrace-player').boundingBox())!;
    expect(box.width).toBeGreaterThan(600);
    expect(box.width / box.height).toBeCloseTo(16 / 9, 1);
    const texts = await page.evaluate<string[]>(`[...new Set(
      [...document.querySelector('millrace-player').shadowRoot.querySelectorAll('*')]
        .map(element => getComputedStyle(element).color + getComputedStyle(element).fontSize))]`);
    expect(texts.filter(text => text.includes('255, 0, 0') || text.includes('60px'))).toEqual([]);
  });

  it('goes on when it is moved, ends everything when it is removed, and plays other media', async () => {
    const streams = [await server.createStream(), await server.createStream()];
    await using _ = publishPicture({ url: server.rtmpUrl(streams[0]!.streamKey) });
    await using __ = publishPicture({ url: server.rtmpUrl(streams[1]!.streamKey) });
    const addressOf = (at: number) => `${server.baseUrl}/live/${streams[at]!.liveStreamId}`;
    await using viewer = await open(
      `<body><div id="first"><millrace-player muted src="${addressOf(0)}"></millrace-player></div><div id="second"></div>`,
    );
    const { page } = viewer;
    await untilPhase(page, 'live');
    await untilMoving(page);
    await page.evaluate(
      `document.getElementById('second').append(document.querySelector('millrace-player'))`,
    );
    await untilMoving(page);

    await page.evaluate(`document.querySelector('millrace-player').src = '${addressOf(1)}'`);
    const hasAsked = () => viewer.requests.some(url => url.includes(`/${streams[1]!.liveStreamId}/`));
    await until('media of the other stream', hasAsked);
    await untilPhase(page, 'live');
    await untilMoving(page);

    await page.evaluate(`(() => {
      window.kept = document.querySelector('millrace-player');
      kept.remove();
    })()`);
    // The last requests may be under way.
    await page.waitForTimeout(500);
    const before = viewer.requests.length;
    await page.waitForTimeout(1500);
    expect(viewer.requests.slice(before)).toEqual([]);
    await page.evaluate('document.body.append(kept)');
    await untilPhase(page, 'live');
    await untilMoving(page);
    expect(viewer.complaints).toEqual([]);
  });

  it('plays a video with its chapters, frames, qualities and captions, and repeats it', async () => {
    await using videos = await VideoSite.start(await videoFolder(), {
      captions: [{ language: 'en', label: 'English', default: true }],
      hasChapters: true,
    });
    await using viewer = await WatchedPage.open(
      browser(),
      site.addPage(
        `<script type="module" src="${videos.origin}/player.js"></script>
         <body><millrace-player muted autoplay start="2" src="${videos.page()}"></millrace-player>`,
      ),
    );
    const { page } = viewer;
    await untilPhase(page, 'ready');
    await untilMoving(page);
    const media = <T>(what: string) =>
      page.evaluate<T>(`document.querySelector('millrace-player').media.${what}`);
    expect(await media<number>('currentTime')).toBeGreaterThan(1.5);
    expect(await media<number>('duration')).toBeCloseTo(videoSeconds, 0);
    await page.mouse.move(100, 100);
    await until('chapters', async () => (await cuesOf(page, 'chapters')).length === chapters.length);
    expect((await cuesOf(page, 'chapters'))[1]).toBe('In the &lt;i>middle&lt;/i> of it');
    await until('frames of the seek bar', async () => (await cuesOf(page, 'metadata')).length === 4);
    expect((await cuesOf(page, 'metadata'))[1]).toBe(
      `${videos.origin}/vod/viOfTest/storyboard.jpg#xywh=${tile.width},0,${tile.width},${tile.height}`,
    );
    expect(await cuesOf(page, 'subtitles')).toHaveLength(2);
    expect(await media('textTracks[0].mode')).toBe('showing');
    await until('qualities', async () => (await media('videoRenditions.length')) === 2);
    await page.evaluate(`document.querySelector('millrace-player').media.videoRenditions.selectedIndex = 1`);
    await until('the chosen quality', async () => (await media('activeQuality')) === '240p');
    await page.evaluate(`(() => {
      const player = document.querySelector('millrace-player');
      window.seeks = [];
      player.loop = true;
      player.currentTime = ${videoSeconds - 1};
      player.addEventListener('seeked', () => seeks.push(player.currentTime));
    })()`);
    await until('the start again', () => page.evaluate<boolean>('seeks.some(time => time < 4)'));
    expect(await media('paused')).toBe(false);
    expect(viewer.complaints).toEqual([]);
  });

  it('is a component of React, which passes on what changes', async () => {
    const folder = await testTempDir();
    for (const [name, content] of await buildPlayerPackage()) await writeFile(join(folder, name), content);
    const stream = await server.createStream();
    const { outputFiles } = await build({
      stdin: {
        contents: `
          import { createElement, render } from 'preact/compat';
          import { MillracePlayer } from ${JSON.stringify(join(folder, 'react.js'))};
          window.told = [];
          window.show = properties => render(createElement(MillracePlayer, {
            src: '${server.baseUrl}/live/${stream.liveStreamId}',
            onPause: event => told.push(event.type),
            ...properties,
          }), document.body);
          show({ muted: true, hideControls: true, style: { width: '300px' } });
        `,
        resolveDir: projectRoot,
      },
      // Has the interface of React.
      alias: { react: 'preact/compat' },
      nodePaths: [join(projectRoot, 'node_modules')],
      bundle: true,
      write: false,
      format: 'esm',
      logLevel: 'silent',
    });
    const script = outputFiles[0]!.text.replaceAll('</script', '<\\/script');
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await WatchedPage.open(
      browser(),
      site.addPage(`<body></body><script type="module">${script}</script>`),
    );
    const { page } = viewer;
    await untilPhase(page, 'live');
    await untilMoving(page);
    const read = (what: string) => page.evaluate(`document.querySelector('millrace-player').${what}`);
    expect(await read('hasAttribute("hide-controls")')).toBe(true);
    expect(await read('style.width')).toBe('300px');
    await page.evaluate('show({ muted: true })');
    await until('controls', async () => (await read('hasAttribute("hide-controls")')) === false);
    await read('pause()');
    await until('the event', async () => (await page.evaluate<string[]>('told')).includes('pause'));
  });

  it('plays a private stream with the token in its address, and says why it is refused without', async () => {
    const stream = await server.createStream();
    const changed = await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, { public: false });
    const { assets } = (await changed.json()) as { assets: { player: string } };
    const { pathname, search } = new URL(assets.player);
    await using _ = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    const address = server.baseUrl + pathname;
    await using viewer = await open(
      `<body><millrace-player muted src="${address}${search}"></millrace-player>`,
    );
    await untilPhase(viewer.page, 'live');
    await untilMoving(viewer.page);
    const media = viewer.requests.filter(url => /\.(m4s|mp4|m3u8)/.test(url));
    for (const url of media) expect(url).toContain(`${server.baseUrl}/private/`);
    await using other = await open(`<body><millrace-player src="${address}"></millrace-player>`);
    await untilPhase(other.page, 'missing');
  });

  it('holds to the sites that a policy allows', async () => {
    const stream = await server.createStream();
    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, {
      playbackPolicy: { allowedDomains: ['allowed.example'] },
    });
    await using viewer = await open(
      `<body><millrace-player src="${server.baseUrl}/live/${stream.liveStreamId}"></millrace-player>`,
    );
    await untilPhase(viewer.page, 'refused');
    const reason = `document.querySelector('millrace-player').media.refusalReason`;
    expect(await viewer.page.evaluate(reason)).toContain('on this site');
  });
});

function untilPhase(page: Page, phase: string, at = 0): Promise<unknown> {
  return page.waitForFunction(
    `document.querySelectorAll('millrace-player')[${at}]?.media?.phase === '${phase}'`,
  );
}

function cuesOf(page: Page, kind: string): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelector('millrace-player').media.textTracks]
    .filter(track => track.kind === '${kind}')
    .flatMap(track => [...(track.cues ?? [])].map(cue => cue.text))`);
}

let madeVideo: Promise<string> | undefined;

function videoFolder(): Promise<string> {
  madeVideo ??= testTempDir().then(async folder => {
    await makeVideo(folder);
    return folder;
  });
  return madeVideo;
}

/** Waits until the time of the media has changed three times. */
async function untilMoving(page: Page, at = 0): Promise<void> {
  const read = () =>
    page.evaluate<number>(`document.querySelectorAll('millrace-player')[${at}].media.currentTime`);
  let last = await read();
  let changes = 0;
  await until('moving pictures', async () => {
    const now = await read();
    if (now > last) changes += 1;
    last = now;
    return changes >= 3;
  });
}
