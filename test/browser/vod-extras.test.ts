import { openAsBlob } from 'node:fs';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization, type CreatedVideo, createVideo } from '../../scripts/server-process.ts';
import { fixture } from '../support/fixtures.ts';
import { formWith, pngImage } from '../support/images.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { describeInBrowser, until, WatchedPage } from './browser-fixture.ts';

const captions = (words: string) => Buffer.from(`WEBVTT\n\n00:00.000 --> 00:30.000\n${words}\n`);
const chapters = Buffer.from('WEBVTT\n\n00:00.000 --> 00:30.000\nOpening\n');

interface ShownTrack {
  readonly mode: string;
  readonly language: string;
  readonly activeCues: Iterable<{ readonly text: string }> | null;
}

describeInBrowser('what an owner adds to a player page', browser => {
  let server: TestServer;
  let playerId: string;
  beforeAll(async () => {
    server = await startServer({ 'encode.preset': 'ultrafast' });
    const theme = {
      trackPlayed: 'rgba(10, 20, 30, .5)',
      hideTitle: true,
      forceAutoplay: true,
      forceLoop: true,
    };
    ({ playerId } = (await (await server.api('POST', '/players', theme)).json()) as { playerId: string });
    await sendLogo('javascript:alert(1)');
  });
  afterAll(() => server.stop());

  const send = async (path: string, body: FormData) => {
    const headers = { authorization: basicAuthorization(server.productionKey) };
    expect((await fetch(`${server.baseUrl}${path}`, { method: 'POST', headers, body })).ok).toBe(true);
  };
  const sendLogo = (link: string) =>
    send(
      `/players/${playerId}/logo`,
      formWith(['link', Buffer.from(link)], ['file', pngImage(20, 10), 'a.png']),
    );
  const logoWidth = (page: Page) =>
    page.locator('#logo').evaluate(logo => (logo.querySelector('img')?.naturalWidth ?? 0) as number);
  const styleOf = (page: Page, name: string) =>
    page
      .locator('#player')
      .evaluate<string, string>(
        (player, property) =>
          player.ownerDocument.defaultView.getComputedStyle(player).getPropertyValue(property),
        name,
      );
  const wordsOf = (page: Page) =>
    page.locator('video').evaluate(video =>
      [...(video.textTracks as Iterable<ShownTrack>)]
        .filter(track => track.mode === 'showing')
        .flatMap(track => [...(track.activeCues ?? [])].map(cue => `${track.language}: ${cue.text}`))
        .join(),
    );

  it('is in the playlist too, where players of others find the captions', async () => {
    const { videoId } = await createVideo(server.baseUrl, server.productionKey, {
      title: 'Pier',
      public: false,
    });
    await send(`/videos/${videoId}/captions/fr`, formWith(['file', captions('Bonjour'), 'a.vtt']));
    await server.api('PATCH', `/videos/${videoId}/captions/fr`, { default: true });
    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
    await send(`/videos/${videoId}/source`, film);
    const ask = async (path: string) => (await server.api('GET', `/videos/${videoId}${path}`)).json();
    await until('the video', async () => {
      const { encoding } = (await ask('/status')) as { encoding: { playable: boolean } };
      return encoding.playable;
    });
    const { assets } = (await ask('')) as CreatedVideo;

    await using viewer = await WatchedPage.openBare(browser(), assets.hls);
    const { page } = viewer;
    await page.evaluate(`(() => {
      const hls = new Hls();
      const video = document.querySelector('video');
      hls.attachMedia(video);
      hls.loadSource(${JSON.stringify(assets.hls)});
      video.play();
    })()`);
    await until('the captions', async () => (await wordsOf(page)) === 'fr: Bonjour');
  });

  it('is in the page of a video, also what changes while it is open', async () => {
    const { videoId, assets } = await createVideo(server.baseUrl, server.productionKey, {
      title: 'Pier',
      playerId,
    });
    for (const [language, words] of [
      ['en', 'Hello'],
      ['fr-CA', 'Bonjour'],
    ] as const) {
      await send(`/videos/${videoId}/captions/${language}`, formWith(['file', captions(words), 'a.vtt']));
    }
    await send(`/videos/${videoId}/chapters/en`, formWith(['file', chapters, 'a.vtt']));
    await server.api('PATCH', `/videos/${videoId}/captions/fr-CA`, { default: true });
    const film = new FormData();
    film.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
    await send(`/videos/${videoId}/source`, film);

    await using viewer = await WatchedPage.openPlayer(browser(), assets.player);
    const { page } = viewer;
    await viewer.untilPlayed(0.5);
    await until('the default captions', async () => (await wordsOf(page)) === 'fr-CA: Bonjour');
    await until('the chapter', async () => (await page.textContent('#chapter-name')) === 'Opening');
    await page.mouse.move(300, 300);
    await page.click('#captions');
    const names = await page.locator('role=menuitemradio').allTextContents();
    expect(names.join()).toMatch(/English.*Français \(Canada\)/);
    await page.keyboard.press('Escape');
    expect(await styleOf(page, '--track-played')).toBe('rgba(10, 20, 30, .5)');
    expect(await page.isVisible('#title')).toBe(false);
    await until('the logo', async () => (await logoWidth(page)) === 20);
    expect(await page.locator('#logo a').count()).toBe(0);

    await server.api('PATCH', `/players/${playerId}`, {
      hideTitle: false,
      enableControls: false,
      trackPlayed: 'rgba(1, 2, 3, 1)',
    });
    await sendLogo('https://brand.example.net/');
    await send(`/videos/${videoId}/captions/fr-CA`, formWith(['file', captions('Bonsoir'), 'a.vtt']));
    await until('the link', async () => (await page.locator('#logo a').count()) === 1);
    expect(await page.getAttribute('#logo a', 'href')).toBe('https://brand.example.net/');
    expect(await page.getAttribute('#logo a', 'rel')).toBe('noopener noreferrer');
    await until('the other captions', async () => (await wordsOf(page)) === 'fr-CA: Bonsoir');
    expect(await styleOf(page, '--track-played')).toBe('rgba(1, 2, 3, 1)');
    expect(await page.getAttribute('#player', 'class')).toMatch(/hide-controls/);
    expect(await page.getAttribute('#player', 'class')).not.toMatch(/hide-title/);
    expect(viewer.complaints).toEqual([]);
  });

  it('is in the page of a live stream', async () => {
    const look = { backgroundBottom: 'rgba(4, 5, 6, 1)', hideTitle: true, enableControls: false };
    await server.api('PATCH', `/players/${playerId}`, look);
    const { assets } = (await (
      await server.api('POST', '/live-streams', { name: 'Pier cam', playerId })
    ).json()) as { assets: { player: string } };
    await using viewer = await WatchedPage.open(browser(), 'about:blank', { locale: 'de-DE' });
    const { page } = viewer;
    const { promise: isLogoShown, resolve: showTexts } = Promise.withResolvers<void>();
    await page.route(/\/assets\/de-/, async route => {
      await isLogoShown;
      await route.continue();
    });
    await page.goto(`${assets.player}?embed`);
    await viewer.untilPhase('waiting');
    expect(await styleOf(page, '--bar-background')).toBe('rgba(4, 5, 6, 1)');
    for (const hidden of ['hide-title', 'hide-controls'])
      expect(await page.getAttribute('#player', 'class')).toContain(hidden);
    await until('the logo', async () => (await logoWidth(page)) === 20);
    expect(await page.getAttribute('#logo a', 'aria-label')).toBe('Visit the owner’s site');
    showTexts();
    await page.locator('#logo').getByLabel('Website des Anbieters öffnen').waitFor();
    expect(viewer.complaints).toEqual([]);
  });
});
