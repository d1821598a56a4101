import { openAsBlob } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { basicAuthorization, createVideo } from '../../scripts/server-process.ts';
import { machineAddresses } from '../../src/webrtc/ice/ice-candidates.ts';
import { FirefoxPage, firefoxPath } from '../support/firefox.ts';
import { fixture } from '../support/fixtures.ts';
import { findInPlayer, playerAlone } from '../support/player-page.ts';
import type { TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { missingWebKit, WebKitPage } from '../support/webkit.ts';
import { publishPicture, until } from './browser-fixture.ts';
import { email, password, startDashboard } from './dashboard-fixture.ts';

const missingFirefox = firefoxPath === undefined ? 'Firefox is not installed' : undefined;
for (const reason of [missingFirefox, missingWebKit]) {
  if (reason !== undefined) process.stderr.write(`Tests with another browser are skipped: ${reason}.\n`);
}

const readState = `(() => {
  const inPlayer = ${findInPlayer};
  const video = inPlayer('video');
  return {
    time: video?.currentTime ?? 0,
    width: video?.videoWidth ?? 0,
    isPaused: video?.paused ?? true,
    readyState: video?.readyState ?? 0,
    error: video?.error?.message ?? '',
    phase: inPlayer('#player')?.dataset.phase ?? '',
  };
})()`;

const isMuted = `(${findInPlayer})('video').muted`;

interface PlayerState {
  readonly time: number;
  readonly width: number;
}

let server: TestServer;
let firefox: Promise<FirefoxPage> | undefined;
beforeAll(async () => {
  server = await startDashboard({ 'live.stopGrace': '100ms' });
});
afterAll(async () => {
  await (await firefox?.catch(() => undefined))?.close();
  await server?.stop();
});

/** The Firefox of all tests that need no preferences of their own: to start one takes seconds. It stays open. */
async function sharedFirefox() {
  firefox ??= FirefoxPage.launch();
  const page = await firefox;
  return { page, [Symbol.asyncDispose]: () => page.goto('about:blank') };
}

async function ownPage<Page extends AsyncDisposable>(launch: () => Promise<Page>) {
  const page = await launch();
  return { page, [Symbol.asyncDispose]: () => page[Symbol.asyncDispose]() };
}

async function startBroadcast() {
  const stream = await server.createStream();
  const publisher = publishPicture({ url: server.rtmpUrl(stream.streamKey), gopSeconds: 1, size: '160x90' });
  return { stream, [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose]() };
}

async function uploadVideo() {
  const video = await createVideo(server.baseUrl, server.productionKey, { title: 'A film' });
  const body = new FormData();
  body.set('file', await openAsBlob(await fixture('h264-aac')), 'film.mp4');
  const headers = { authorization: basicAuthorization(server.productionKey) };
  const address = `${server.baseUrl}/videos/${video.videoId}/source`;
  expect((await fetch(address, { method: 'POST', headers, body })).status).toBe(201);
  return video;
}

/** Pictures that move. */
async function untilPlaying(page: FirefoxPage | WebKitPage, timeoutMs?: number): Promise<void> {
  let first: number | undefined;
  let state: PlayerState | undefined;
  await waitUntil(
    async () => {
      state = await page.evaluate<PlayerState>(readState);
      if (state.width === 0 || state.time === 0) return false;
      first ??= state.time;
      return state.time > first + 1;
    },
    {
      what: () => `a video that plays: ${JSON.stringify(state)}`,
      timeoutMs,
    },
  );
}

describe.each([
  ['Firefox', missingFirefox, sharedFirefox],
  ['WebKitGTK', missingWebKit, () => ownPage(WebKitPage.launch)],
] as const)('%s', (_, missing, open) => {
  test.skipIf(missing !== undefined)('plays a video', async () => {
    await using opened = await open();
    const { page } = opened;
    const video = await uploadVideo();
    await page.goto(playerAlone(`${video.assets.player}#autoplay;muted;loop`));
    await untilPlaying(page);
    // Pauses as WebKitGTK sometimes does when the audio output opens.
    await page.evaluate(
      `(() => { const video = (${findInPlayer})('video'); video.muted = false; video.pause(); })()`,
    );
    await until('sound that is off again', () => page.evaluate<boolean>(isMuted));
    await untilPlaying(page);
  });

  test.skipIf(missing !== undefined)('plays a broadcast, and keeps it muted', async () => {
    await using broadcast = await startBroadcast();
    const url = playerAlone(`${server.baseUrl}/live/${broadcast.stream.liveStreamId}#autoplay;muted`);
    // WebKitGTK sometimes hangs when its media begins, and answers its driver no more.
    const isMutedWhilePlaying = async (timeoutMs: number): Promise<void> => {
      await using opened = await open();
      const { page } = opened;
      await page.goto(url);
      await untilPlaying(page, timeoutMs);
      await until('sound that is off', () => page.evaluate<boolean>(isMuted));
    };
    await isMutedWhilePlaying(25_000)
      .catch(() => isMutedWhilePlaying(25_000))
      .catch(() => isMutedWhilePlaying(60_000));
  });
});

test.skipIf(missingFirefox !== undefined)(
  'Firefox without H.264 for WebRTC plays over HLS, and the menu says why',
  async () => {
    await using opened = await sharedFirefox();
    const { page } = opened;
    await using broadcast = await startBroadcast();
    const { liveStreamId } = broadcast.stream;
    await server.api('PATCH', `/live-streams/${liveStreamId}`, { ultraLowLatency: true });
    await page.goto(`${server.baseUrl}/docs`);
    await page.evaluate(`localStorage.setItem('millrace.player', '{"ultraLowLatency":true}')`);
    await page.goto(playerAlone(`${server.baseUrl}/live/${liveStreamId}#autoplay;muted`));
    await untilPlaying(page);
    await page.evaluate(`(${findInPlayer})('#settings').click()`);
    await until('the reason', () =>
      page.evaluate<boolean>(`(${findInPlayer})('#menu').textContent.includes('H.264')`),
    );
  },
);

/** Firefox without the OpenH264 plug-in, which this machine may not offer either. */
async function openStudio(server: TestServer, { page }: { readonly page: FirefoxPage }) {
  const { liveStreamId } = await server.createStream();
  await page.goto(`${server.baseUrl}/dashboard`);
  const body = JSON.stringify({ email, password });
  const headers = `{ 'content-type': 'application/json' }`;
  const signedIn = `fetch('/auth/session', { method: 'POST', headers: ${headers}, body: ${JSON.stringify(body)} }).then(({ ok }) => ok)`;
  expect(await page.evaluate(signedIn)).toBe(true);
  await page.goto(`${server.baseUrl}/dashboard/live/${liveStreamId}/studio`);
  // The header of the page has a button of this name, too.
  const press = (name: string) =>
    until(name, () =>
      page.evaluate<boolean>(`(() => {
        const isWanted = button => button.textContent === ${JSON.stringify(name)} && button.getAttribute('aria-disabled') !== 'true';
        const button = [...document.querySelectorAll('main button')].find(isWanted);
        button?.click();
        return button !== undefined;
      })()`),
    );
  await press('Turn on camera');
  await press('Go live');
  const shows = (text: string) =>
    until(text, () => page.evaluate<boolean>(`document.body.textContent.includes(${JSON.stringify(text)})`));
  return { liveStreamId, shows };
}

describe.skipIf(missingFirefox !== undefined)('the studio in Firefox', () => {
  const hasOtherAddress = machineAddresses().some(
    address => address !== '::1' && !address.startsWith('127.'),
  );

  // Firefox sends from the addresses of networks only.
  test.skipIf(!hasOtherAddress).each([
    ['AV1', {}, 'av01'],
    ['VP8, of which viewers get H.264', { 'media.webrtc.codec.video.av1.enabled': false }, 'avc1'],
  ] as const)('goes live with %s', async (codec, preferences, played) => {
    await using server = await startDashboard({ host: '0.0.0.0', 'live.stopGrace': '100ms' });
    await using opened = await ownPage(() => FirefoxPage.launch(preferences));
    const { liveStreamId, shows } = await openStudio(server, opened);
    await shows('You’re live');
    await until('viewers can play it', async () => {
      const response = await fetch(`${server.baseUrl}/${liveStreamId}.m3u8`);
      return response.ok && (await response.text()).includes(played);
    });
    await shows(`sends ${codec.slice(0, 3)}`);
  });

  test('says that it does not connect to a server on 127.0.0.1', async () => {
    await using opened = await sharedFirefox();
    const { shows } = await openStudio(server, opened);
    await shows('it listens on 127.0.0.1 only');
  });
});
