import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { basicAuthorization, type CreatedVideo, createVideo } from '../../scripts/server-process.ts';
import { ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { leaveOutImages } from '../support/leave-out-images.ts';
import { playerAlone } from '../support/player-page.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { describeInBrowser, mostStalls, until, WatchedPage } from './browser-fixture.ts';

/** `GET /videos/{videoId}/status`, as far as it is looked at here. */
interface Status {
  readonly encoding: {
    readonly playable: boolean;
    readonly qualities: readonly { type: string; quality: string; status: string }[];
  };
}

const framesPerSecond = 10;
/** A key frame every two seconds. */
const carriedCodec = ['-g', String(2 * framesPerSecond), '-c:v', 'libx264'];

describeInBrowser('the page of a video on the server', browser => {
  let server: TestServer;
  let folder: string;
  beforeAll(async () => {
    server = await startServer({ 'encode.preset': 'ultrafast' });
    folder = await makeTempDir();
  });
  afterAll(async () => {
    await server.stop();
    await removeDir(folder);
  });

  const create = (attributes: Record<string, unknown> = {}) =>
    createVideo(server.baseUrl, server.productionKey, { title: 'A film', ...attributes });
  const upload = async ({ videoId }: CreatedVideo, path: string) => {
    const body = new FormData();
    body.set('file', await openAsBlob(path), 'film.mp4');
    const headers = { authorization: basicAuthorization(server.productionKey) };
    const address = `${server.baseUrl}/videos/${videoId}/source`;
    const answer = await fetch(address, { method: 'POST', headers, body });
    expect(answer.status).toBe(201);
  };
  const statusOf = async ({ videoId }: CreatedVideo) =>
    (await (await server.api('GET', `/videos/${videoId}/status`)).json()) as Status;
  const untilEncoded = (video: CreatedVideo) =>
    until('all qualities', async () => {
      const { qualities } = (await statusOf(video)).encoding;
      return qualities.length > 0 && qualities.every(({ status }) => status === 'encoded');
    });
  const handle = <Value>(page: Page, method: string) => page.evaluate<Value>(`window.millrace.${method}()`);
  const openMenu = async (page: Page) => {
    await page.mouse.move(400 + Math.random() * 20, 300);
    await page.click('#settings');
    await page.click('role=menuitem[name*="Quality"]');
  };

  it('waits for the file, plays it as it came, and offers each quality once it is made', async () => {
    const film = await makeFilm(join(folder, 'carried.mp4'), 20, carriedCodec);
    const video = await create({ title: 'Harbour & <sea>' });
    await using viewer = await WatchedPage.openPlayer(browser(), `${video.assets.player}#autoplay;loop`);
    const { page } = viewer;
    await using patient = await WatchedPage.openPlayer(browser(), video.assets.player);
    await viewer.untilPhase('processing');
    expect(await page.isVisible('#poster')).toBe(false);
    expect(await page.title()).toBe('Harbour & <sea>');
    expect(await page.textContent('#status-title')).toBe('This video is being processed');
    expect(await page.textContent('#status-text')).toBe('Playback starts automatically when it’s ready.');

    await upload(video, film);
    const first = await viewer.untilPlayed(1);
    expect(first.isMuted).toBe(false);
    expect(first.stalls).toBeLessThanOrEqual(mostStalls);
    await untilEncoded(video);
    await until('both qualities', async () => (await handle<string[]>(page, 'qualities')).length === 2);
    expect(await handle(page, 'qualities')).toEqual(['360p', '240p']);
    expect((await viewer.video()).stalls).toBeLessThanOrEqual(mostStalls);

    // The buffer from before the qualities were added is still known.
    await page.keyboard.press('0');
    await until('the beginning', async () => (await viewer.video()).time < 1.5);
    await viewer.untilPlayed(0.5);
    for (const height of [360, 240]) {
      await openMenu(page);
      await page.click(`role=menuitemradio[name*="${height}p"]`);
      await until(`${height} lines`, async () => (await viewer.video()).height === height);
      await viewer.untilPlayed(0.5);
    }
    expect((await viewer.video()).stalls).toBeLessThanOrEqual(mostStalls);

    const seek = (await page.locator('#seek').boundingBox())!;
    await page.mouse.click(seek.x + seek.width * 0.8, seek.y + seek.height / 2);
    await until('the position', async () => Math.abs((await viewer.video()).time - 16) < 1);
    await viewer.untilPlayed(0.5);

    // The page came before there was a storyboard.
    await until('the preview', async () => {
      await page.mouse.move(seek.x + seek.width * 0.7, seek.y + seek.height / 2);
      await page.mouse.move(seek.x + seek.width * 0.3, seek.y + seek.height / 2);
      return page.isVisible('media-preview-thumbnail');
    });
    expect(await page.textContent('#preview-time')).toMatch(/^0:0[56]$/);
    expect(viewer.complaints).toEqual([]);

    // A page that was opened before there was a picture of the film shows it too.
    await until('the poster', () =>
      patient.page.evaluate<boolean>('inPlayer("#poster").naturalWidth === 640'),
    );
    expect(await patient.page.isVisible('#poster')).toBe(true);
    expect(patient.complaints).toEqual([]);
    leaveOutImages(server.dataDir);
  });

  it('plays a film while it is encoded, to its full length', async () => {
    const film = await makeFilm(join(folder, 'encoded.mp4'), 16, ['-c:v', 'mpeg4', '-q:v', '4']);
    const video = await create();
    await using viewer = await WatchedPage.openPlayer(browser(), `${video.assets.player}#autoplay`);
    const { page } = viewer;
    await upload(video, film);
    await viewer.untilPlayed(1);
    // The encoder may take longer than the film lasts.
    await page.keyboard.press('k');
    await untilEncoded(video);
    await until('both qualities', async () => (await handle<string[]>(page, 'qualities')).length === 2);
    await until('the whole film', async () => (await handle<number>(page, 'availableSeconds')) > 15.5);
    await page.keyboard.press('9');
    await page.keyboard.press('k');
    await page.waitForSelector('#player.is-at-end');
    const { time } = await viewer.video();
    expect(Math.abs(time - 16)).toBeLessThan(0.2);
    expect(await page.textContent('#time')).toBe('0:16 / 0:16');
    expect(viewer.complaints).toEqual([]);
  });

  it('shows a private film to the browser that came first, to no other, and tells what was watched', async () => {
    const video = await create({ public: false });
    await upload(video, await fixture('h264-aac'));
    expect(video.assets.player).toContain('?token=');
    await until('something to play', async () => (await statusOf(video)).encoding.playable);
    await using viewer = await WatchedPage.openPlayer(browser(), `${video.assets.player}#autoplay`);
    await viewer.untilPlayed(1);
    await viewer.page.reload();
    await viewer.untilPlayed(1);
    expect(viewer.complaints).toEqual([]);

    await using other = await WatchedPage.open(browser(), 'about:blank', { userAgent: 'Another browser' });
    const answer = await other.page.goto(playerAlone(video.assets.player));
    expect(answer?.status()).toBe(404);
    expect(await other.page.textContent('body')).toContain('This link doesn’t work for you');
    const bare = await fetch(`${server.baseUrl}/vod/${video.videoId}`);
    expect(bare.status).toBe(404);

    // Counts the reports of both loads of the page, the first one when it was left.
    const metric = async (path: string): Promise<unknown> => {
      const address = `/data/metrics/${path}?filterBy[mediaId]=${video.videoId}`;
      return ((await (await server.api('GET', address)).json()) as { data: unknown }).data;
    };
    await until('the impressions', async () => (await metric('impression/count')) === 2);
    await until('the plays', async () => (await metric('play/count')) === 2);
    expect(await metric('start/count')).toBe(2);
    expect(await metric('watch-time/sum')).toBeGreaterThan(1);
  });

  it('goes on when a private film is made public, and when it is made private again', async () => {
    const film = await makeFilm(join(folder, 'moved.mp4'), 200, [...carriedCodec, '-an'], '160x90');
    const video = await create({ public: false });
    await upload(video, film);
    await until('something to play', async () => (await statusOf(video)).encoding.playable);
    await using viewer = await WatchedPage.openPlayer(browser(), `${video.assets.player}#autoplay`);
    await viewer.untilPlayed(1);
    let seconds = 0;
    for (const [isPublic, root] of [
      [true, `/vod/${video.videoId}/hls/`],
      [false, `/vod/${video.videoId}/token/`],
    ] as const) {
      await server.api('PATCH', `/videos/${video.videoId}`, { public: isPublic });
      const state = `${server.baseUrl}/vod/${video.videoId}/state`;
      await until('the change', async () => (await fetch(state)).ok === isPublic);
      seconds += 80;
      // The buffer ends before.
      await viewer.page.evaluate(`inPlayer('video').currentTime = ${seconds}`);
      await until('media from the other address', async () =>
        viewer.requests.slice(-5).some(address => address.includes(root)),
      );
      await viewer.untilPlayed(1);
      expect(await viewer.phase()).toBe('ready');
      expect((await viewer.video()).time).toBeGreaterThan(seconds);
    }
  });

  it('says so when the file is no film', async () => {
    const video = await create();
    await using viewer = await WatchedPage.openPlayer(browser(), video.assets.player);
    await viewer.untilPhase('processing');
    await upload(video, await fixture('not-video'));
    await viewer.untilPhase('failed');
    expect(await viewer.page.textContent('#status-title')).toBe('This video couldn’t be processed');
    expect(viewer.complaints).toEqual([]);
  });
});

/** A film with a tone; the picture as these arguments say. */
async function makeFilm(
  path: string,
  seconds: number,
  video: readonly string[],
  size = '640x360',
): Promise<string> {
  await runToEnd(ffmpegPath, [
    ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-y'],
    ...['-f', 'lavfi', '-i', `testsrc2=size=${size}:rate=${framesPerSecond}:duration=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${seconds}`],
    ...[...video, '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', '-aac_coder', 'fast', path],
  ]);
  return path;
}
