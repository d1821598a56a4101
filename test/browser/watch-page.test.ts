import { once } from 'node:events';
import { openAsBlob } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { basicAuthorization, type CreatedVideo, createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import { formWith } from '../support/images.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { axeViolations } from './axe.ts';
import { describeInBrowser, publishPicture, until, WatchedPage } from './browser-fixture.ts';

const chapters = `WEBVTT

00:00.000 --> 00:02.000
Opening

00:02.000 --> 00:04.000
In the &lt;i&gt;middle&lt;/i&gt; of it

00:04.000 --> 00:06.000
The end
`;
const captions = (...lines: readonly string[]) =>
  `WEBVTT\n${lines.map((line, at) => `\n00:0${at}.000 --> 00:0${at + 1}.000\n${line}\n`).join('')}`;
const english = [
  'A boat',
  '<b>leaves</b> &lt;img src=x&gt;',
  'the harbour',
  'and a second boat',
  'follows',
  'it',
];

/** Runs in the page: the time of the player. */
const playerTime = `document.querySelector('millrace-player').currentTime`;

describeInBrowser('the watch page', browser => {
  let server: TestServer;
  let video: CreatedVideo;
  beforeAll(async () => {
    server = await startServer({
      'encode.preset': 'ultrafast',
      'recording.enabled': 'true',
      'live.stopGrace': '1s',
      'live.reconnectGrace': '1s',
    });
    video = await upload('Pier <at> night');
    await server.api('PATCH', `/videos/${video.videoId}`, {
      description: `A film.\n0:04 The end\n${'Words in a row. '.repeat(80)}`,
    });
    await send(`/videos/${video.videoId}/chapters/en`, chapters);
    await send(`/videos/${video.videoId}/captions/en`, captions(...english));
    await send(`/videos/${video.videoId}/captions/fr`, captions('Un bateau'));
    await until('a playable video with its images', async () => {
      const answer = await fetch(`${server.baseUrl}/vod/${video.videoId}/state`);
      const state = (await answer.json()) as { playable: boolean; storyboard: string | null };
      return state.playable && state.storyboard !== null;
    });
  });
  afterAll(() => server.stop());

  async function send(path: string, text: string): Promise<void> {
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const body = formWith(['file', Buffer.from(text), 'a.vtt']);
    expect((await fetch(`${server.baseUrl}${path}`, { method: 'POST', headers, body })).ok).toBe(true);
  }

  async function upload(title: string, attributes: object = {}): Promise<CreatedVideo> {
    const created = await createVideo(server.baseUrl, server.productionKey, { title, ...attributes });
    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const path = `${server.baseUrl}/videos/${created.videoId}/source`;
    expect((await fetch(path, { method: 'POST', headers, body: film })).ok).toBe(true);
    return created;
  }

  const timeOf = (page: Page) => page.evaluate<number>(playerTime).catch(() => 0);

  it('plays, and goes where its chapters, its transcript and its description lead', async () => {
    await using viewer = await WatchedPage.open(browser(), `${video.assets.player}#muted`, {
      locale: 'en-GB',
    });
    const { page } = viewer;
    await page.getByRole('heading', { level: 1, name: 'Pier <at> night' }).waitFor();
    const names = page.locator('.chapter-name');
    await names.first().waitFor();
    expect(await names.allTextContents()).toEqual(['Opening', 'In the <i>middle</i> of it', 'The end']);
    expect(await page.locator('.chapter-image').count()).toBe(3);
    await page.click('text=In the <i>middle</i> of it');
    await until('the second chapter', async () => (await timeOf(page)) > 2);
    await page.waitForSelector('.chapter[aria-current] >> text=middle');

    await page.click('summary');
    await page.locator('.line').nth(5).waitFor();
    expect(await page.locator('.line-text').nth(1).textContent()).toBe('leaves <img src=x>');
    await page.waitForSelector('.line[aria-current]');
    await page.fill('input[type=search]', 'BOAT');
    await page.getByText('2 matches').waitFor();
    expect(await page.locator('mark').allTextContents()).toEqual(['boat', 'boat']);
    await page.fill('input[type=search]', '');
    await page.locator('.line').first().click();
    await until('the first line', async () => (await timeOf(page)) < 2);
    await page.fill('input[type=search]', 'un');
    await page.getByText('No matches').or(page.getByText('0 matches')).waitFor();
    await page.selectOption('select', { label: 'Français' });
    await page.getByText('1 match').waitFor();
    await page.fill('input[type=search]', '');
    await page.getByText('Un bateau').waitFor();
    await page.click('a[href="#t=4"]');
    await until('the time in the description', async () => (await timeOf(page)) > 3.9);
    expect(new URL(page.url()).pathname).toBe(`/vod/${video.videoId}`);

    expect(viewer.complaints).toEqual([]);
  });

  it('has no violation of accessibility rules, and fits in each size and language', async () => {
    for (const options of [
      { colorScheme: 'dark', viewport: { width: 390, height: 844 }, locale: 'ar' },
      { colorScheme: 'light', viewport: { width: 1440, height: 900 }, locale: 'de-AT' },
    ] as const) {
      await using viewer = await WatchedPage.open(browser(), video.assets.player, options);
      const { page } = viewer;
      await page.locator('.chapter').first().waitFor();
      await page.click('summary');
      await page.locator('.line').first().waitFor();
      const share = options.locale === 'ar' ? 'مشاركة' : 'Teilen';
      expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dir]')).toEqual(
        options.locale === 'ar' ? ['ar', 'rtl'] : ['de', 'ltr'],
      );
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      await page.click(`text=${share}`);
      await page.waitForSelector('#share-sheet[open]');
      expect(await page.inputValue('#share-sheet input[type="text"] >> nth=0')).toBe(video.assets.player);
      expect(await axeViolations(page)).toEqual([]);
      await page.keyboard.press('Escape');
      if (options.locale === 'de-AT') {
        await page.keyboard.press('t');
        await page.waitForSelector('.page.is-theatre');
      }
      expect(viewer.complaints).toEqual([]);
    }
  });

  it('leaves letters to fields, also to those inside of other elements', async () => {
    await using viewer = await WatchedPage.open(browser(), video.assets.player);
    const { page } = viewer;
    await page.waitForSelector('.theatre-action');
    await page.evaluate(`
      const root = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });
      root.append(document.createElement('input'));
    `);
    await page.locator('div input').last().focus();
    await page.keyboard.type('test');
    expect(await page.locator('div input').last().inputValue()).toBe('test');
    expect(await page.locator('.is-theatre').count()).toBe(0);
  });

  it('lists chapters also where their images do not arrive', async () => {
    await using viewer = await WatchedPage.open(browser(), 'about:blank');
    const { page } = viewer;
    await page.route('**/storyboard.vtt*', route => route.abort());
    await page.goto(video.assets.player);
    await page.locator('.chapter').nth(2).waitFor();
    expect(await page.locator('.chapter-image').count()).toBe(0);
  });

  it('plays the file in place of the player where there are no scripts', async () => {
    await using viewer = await WatchedPage.open(browser(), video.assets.player, { javaScriptEnabled: false });
    const { page } = viewer;
    const file = await page.locator('video').boundingBox();
    expect(file).toEqual(await page.locator('.stage').boundingBox());
    expect(file).toEqual(await page.locator('.player').boundingBox());
  });

  it('keeps the player in sight on a phone', async () => {
    const phone = { viewport: { width: 390, height: 480 }, locale: 'en-GB' };
    await using viewer = await WatchedPage.open(browser(), video.assets.player, phone);
    const { page } = viewer;
    await page.locator('.chapter').first().waitFor();
    const top = () => page.evaluate<number>(`document.querySelector('.stage').getBoundingClientRect().top`);
    await page.mouse.wheel(0, 400);
    await until('a page that is scrolled', async () => (await page.evaluate<number>('scrollY')) > 100);
    expect(await top()).toBe(0);
  });

  it('is the player alone in a frame, also where the browser does not tell the server', async () => {
    const site = http.createServer((_, response) => {
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html><iframe src="${video.assets.player}" width="640" height="360"></iframe>`);
    });
    await once(site.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void site.close());
    const url = `http://localhost:${(site.address() as AddressInfo).port}/`;
    const shown = async (viewer: WatchedPage) => {
      const inside = await waitUntil(() => viewer.page.frames()[1]);
      await until('the player', () =>
        inside
          .locator('video')
          .count()
          .then(count => count > 0),
      );
      expect(await inside.evaluate<boolean>(`document.querySelector('.page') === null`)).toBe(true);
      return viewer.requests.filter(address => address.includes(`/vod/${video.videoId}`))[0];
    };
    await using viewer = await WatchedPage.open(browser(), url);
    expect(await shown(viewer)).toBe(video.assets.player);

    await using silent = await WatchedPage.open(browser(), 'about:blank');
    await silent.page.route('**/vod/vi*', async route => {
      const { 'sec-fetch-dest': _, ...headers } = await route.request().allHeaders();
      await route.fulfill({ response: await route.fetch({ headers }) });
    });
    await silent.page.goto(url);
    await shown(silent);
    expect(silent.requests.some(address => address.endsWith(`/vod/${video.videoId}?embed`))).toBe(true);
  });

  it('of a private video plays with its token, has its text, and offers no sharing', async () => {
    const hidden = await upload('Secret film', { public: false });
    await send(`/videos/${hidden.videoId}/captions/en`, captions('Secret words'));
    await until('the video', async () => {
      const answer = await server.api('GET', `/videos/${hidden.videoId}/status`);
      return ((await answer.json()) as { encoding: { playable: boolean } }).encoding.playable;
    });
    await using viewer = await WatchedPage.open(browser(), `${hidden.assets.player}#autoplay;muted`, {
      locale: 'en-GB',
    });
    const { page } = viewer;
    await until('the film', async () => (await timeOf(page)) > 0.5);
    await page.click('summary');
    await page.getByText('Secret words').waitFor();
    expect(await page.locator('#actions').getByText('Share').count()).toBe(0);
  });

  it('goes on with the next video of the channel, which lists both', async () => {
    await server.api('PATCH', '/account/channel', { enabled: true, slug: 'pier-tv', name: 'Pier TV' });
    await using empty = await WatchedPage.open(browser(), `${server.baseUrl}/channel/pier-tv`);
    await empty.page.getByText('No videos yet').waitFor();
    const other = await upload('Another film', { listed: true });
    await server.api('PATCH', `/videos/${video.videoId}`, { listed: true });
    await until('both videos in the channel', async () => {
      await empty.page.reload();
      return (await empty.page.locator('.card').count()) === 2;
    });
    expect(await axeViolations(empty.page)).toEqual([]);
    await empty.page.getByLabel('Search videos').fill('PIER');
    await empty.page.getByRole('button', { name: 'Search' }).click();
    await empty.page.getByText('Search results').waitFor();
    await empty.page.getByRole('link', { name: /Pier <at> night/ }).click();
    await empty.page.waitForURL(`**/vod/${video.videoId}`);
    await empty.page.getByRole('link', { name: 'Pier TV' }).waitFor();
    expect(empty.complaints).toEqual([]);

    await using viewer = await WatchedPage.open(browser(), `${video.assets.player}#muted;autoplay`);
    const { page } = viewer;
    expect(await page.locator('.next .card-title').allTextContents()).toEqual(['Another film']);
    await until('the film', async () => (await timeOf(page)) > 0.2);
    await page.evaluate(`document.querySelector('millrace-player').currentTime = 5.8`);
    await page.getByRole('button', { name: 'Play now' }).click();
    await page.waitForURL(`**/vod/${other.videoId}#autoplay`);
    await page.getByRole('heading', { level: 1, name: 'Another film' }).waitFor();
    expect(viewer.complaints).toEqual([]);
  });

  it('announces a planned start in the time zone of the viewer, also in the channel, until the stream is live', async () => {
    const stream = await server.createStream('Planned stream');
    await server.api('PATCH', '/account/channel', { enabled: true, slug: 'pier-tv', name: 'Pier TV' });
    const startsAt = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 24 * 3_600_000);
    const path = `/live-streams/${stream.liveStreamId}`;
    await server.api('PATCH', path, { listed: true, startsAt: startsAt.toISOString() });
    const options = { locale: 'de-DE', timezoneId: 'Asia/Tokyo' };
    const written = new Intl.DateTimeFormat('de-DE', {
      dateStyle: 'full',
      timeStyle: 'short',
      timeZone: options.timezoneId,
    }).format(startsAt);
    await using viewer = await WatchedPage.open(
      browser(),
      `${server.baseUrl}/live/${stream.liveStreamId}`,
      options,
    );
    await viewer.page.locator('#announcement').getByText(`Beginnt am ${written}`).waitFor();
    const short = { day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' } as const;
    const inPlayer = startsAt.toLocaleString('de-DE', { ...short, timeZone: options.timezoneId });
    await viewer.page.getByRole('heading', { name: `Beginnt am ${inPlayer}` }).waitFor();
    const calendar = viewer.page.getByRole('link', { name: 'Zum Kalender hinzufügen' });
    expect(await calendar.getAttribute('href')).toBe(`/live/${stream.liveStreamId}/start.ics`);
    const countdown = viewer.page.locator('.countdown');
    const shown = await countdown.textContent();
    expect(shown).toMatch(/^2[45]:\d\d:\d\d$/);
    await until('the countdown to go on', async () => (await countdown.textContent()) !== shown);
    expect(await axeViolations(viewer.page)).toEqual([]);

    await using channel = await WatchedPage.open(browser(), `${server.baseUrl}/channel/pier-tv`, options);
    const section = channel.page.getByRole('region', { name: 'Demnächst' });
    await section.getByText(written, { exact: true }).waitFor();
    expect(await axeViolations(channel.page)).toEqual([]);
    expect(channel.complaints).toEqual([]);

    await using publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await viewer.page.locator('#announcement').waitFor({ state: 'detached' });
    await until('the channel without the announcement', async () => {
      await channel.page.reload();
      return (await section.count()) === 0;
    });
    expect(viewer.complaints).toEqual([]);
    await publisher.stop();
    await server.api('DELETE', path);
  });

  it('turns into the recording when the stream has ended', async () => {
    const stream = await server.createStream('Harbour camera');
    const shown = { listed: true, showViewers: true };
    await server.api('PATCH', `/live-streams/${stream.liveStreamId}`, shown);
    await server.api('PATCH', '/account/channel', { enabled: true, slug: 'pier-tv', name: 'Pier TV' });
    await using publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey) });
    await using viewer = await WatchedPage.open(browser(), `${server.baseUrl}/live/${stream.liveStreamId}`, {
      locale: 'en-GB',
    });
    const { page } = viewer;
    await until('the stream', async () => (await timeOf(page)) > 1);
    await page.waitForSelector('#badge:visible');
    await page.locator('.byline #viewers', { hasText: '1 viewer' }).waitFor();
    await using channel = await WatchedPage.open(browser(), `${server.baseUrl}/channel/pier-tv`);
    await channel.page.getByText('Watching now: 1').waitFor();
    expect(await axeViolations(channel.page)).toEqual([]);
    await publisher.stop();
    await page.getByText('You’re watching the recording').waitFor();
    const link = page.getByRole('link', { name: 'Open the recording’s page' });
    const recording = new URL((await link.getAttribute('href'))!, server.baseUrl);
    expect(recording.pathname).toMatch(/^\/vod\/vi/);
    await until('the recording in the same page', () =>
      page
        .evaluate<string>(`document.querySelector('millrace-player').src`)
        .then(path => path === recording.pathname),
    );
    expect(await page.isVisible('#badge')).toBe(false);
    await page.reload();
    await page.getByRole('link', { name: 'Watch the recording' }).waitFor();
    await until('the recording in the channel, in place of the live stream', async () => {
      await channel.page.reload();
      const links = channel.page.locator(`a[href="${recording.pathname}"]`);
      return (await links.count()) === 1 && (await channel.page.locator('.hero').count()) === 0;
    });
    expect(channel.complaints).toEqual([]);
  });
});
