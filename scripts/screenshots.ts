/**
 * Takes the pictures of the dashboard that the documentation shows: `npm run screenshots`, or some with `--only overview,live`, or into
 * another folder with `--into FOLDER`. With `--data FOLDER` what the server was filled with is kept there, and used the next time.
 *
 * A server in a temporary folder gets films, themes, keys and tokens through its API, and records a broadcast. It is then stopped, a
 * month of viewing is written through its own stores, since that takes a month otherwise, and it is started again with a live
 * stream on air that is sent on to a second server, a webhook, and a film that is being encoded. Needs Chromium, and an ffmpeg of version 5 or newer.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findFfmpeg } from '../src/ffmpeg/build/find-ffmpeg.ts';
import { callApi } from './api-call.ts';
import { addWebhook } from './demo-dressing.ts';
import { DemoReceiver } from './demo-receiver.ts';
import { DemoDestination } from './demo-restream.ts';
import { type CreatedStream, createVideo, type ServerProcess, startServerProcess } from './server-process.ts';
import { type FilmStudio, filmPath, makeFilm } from './showcase/films.ts';
import { airFilm, fillLibrary, type Library, lastFilm, sendFilm } from './showcase/library.ts';
import { broadcastOnce, goOnAir, makeStreams, type OnAir } from './showcase/on-air.ts';
import { writePast } from './showcase/past.ts';
import { type Picture, takePictures } from './showcase/take-pictures.ts';

const email = 'anna@example.org';
const password = 'a-password-for-pictures';
const jobsWithinMs = 20 * 60_000;

const { values } = parseArgs({
  options: { only: { type: 'string' }, into: { type: 'string' }, data: { type: 'string' } },
});
const ending = new AbortController();
process.once('SIGINT', () => ending.abort()).once('SIGTERM', () => ending.abort());
const folder = await mkdtemp(join(tmpdir(), 'millrace-screenshots-'));
try {
  await run();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function run(): Promise<void> {
  const { path: ffmpegPath } = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env);
  const studio: FilmStudio = { ffmpegPath, folder, signal: ending.signal };
  const dataDir = join(folder, 'data');
  const start = () =>
    startServerProcess({
      dataDir,
      env: {
        MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
        MILLRACE_ADMIN_EMAIL: email,
        MILLRACE_ADMIN_PASSWORD: password,
      },
      isDetached: true,
      startTimeoutMs: 120_000,
    });
  const receiver = await DemoReceiver.start(
    () => {},
    () => {},
  );
  const shownPath = join(folder, 'shown.json');
  if (values.data !== undefined && existsSync(values.data)) {
    await cp(values.data, folder, { recursive: true });
  } else {
    console.log('Filling a server.');
    const made = await startAndFill(start, studio);
    await writePast(dataDir, [
      ...made.media,
      { mediaId: made.stream.liveStreamId, type: 'live-stream', seconds: 1_500, weight: 9 },
    ]);
    writeFileSync(shownPath, JSON.stringify(made));
    if (values.data !== undefined) await cp(folder, values.data, { recursive: true });
  }
  const shown = JSON.parse(readFileSync(shownPath, 'utf8')) as Filled;
  const server = await start();
  let destination: DemoDestination | undefined;
  let onAir: OnAir | undefined;
  try {
    receiver.trust(await addWebhook(server, receiver.address));
    destination = await DemoDestination.start(folder);
    const restreams = [{ ...destination.restream, name: 'Backup studio' }];
    await callApi(server, 'PATCH', `/live-streams/${shown.stream.liveStreamId}`, { restreams });
    onAir = await goOnAir(server, studio, shown.stream, filmPath(studio, airFilm), 8);
    const { videoId } = await createVideo(server.baseUrl, server.productionKey, {
      title: 'Dusk, rough cut',
      tags: ['landscape'],
    });
    await sendFilm(server, studio, videoId, filmPath(studio, lastFilm));
    const webhooks = await callApi<{ data: { webhookId: string }[] }>(server, 'GET', '/webhooks');
    console.log('Taking pictures.');
    const wanted = values.only?.split(',');
    await takePictures({
      ...{ baseUrl: server.baseUrl, email, password, ffmpegPath },
      folder: values.into ?? fileURLToPath(new URL('../docs/', import.meta.url)),
      pictures: picturesOf(shown, webhooks.data[0]!.webhookId).filter(
        ({ name }) => wanted?.some(part => name.includes(part)) ?? true,
      ),
    });
  } finally {
    await onAir?.stop();
    await destination?.stop();
    await server.stop();
    await receiver.stop();
  }
}

/** What has been made, by its ids. */
interface Filled extends Library {
  readonly stream: CreatedStream;
}

async function startAndFill(start: () => Promise<ServerProcess>, studio: FilmStudio): Promise<Filled> {
  const server = await start();
  try {
    const { shown, recorded } = await makeStreams(server);
    await broadcastOnce(server, studio, recorded, await makeFilm(studio, airFilm), 20);
    const library = await fillLibrary(server, studio);
    await makeFilm(studio, lastFilm);
    await untilIdle(server);
    return { ...library, stream: shown };
  } finally {
    await server.stop();
  }
}

function picturesOf({ stream, videoId, playerId }: Filled, webhookId: string): Picture[] {
  const live = `/dashboard/live/${stream.liveStreamId}?part=health`;
  return [
    // First: a film is being encoded.
    { name: 'dashboard-overview', path: '/dashboard', theme: 'light', seconds: 6 },
    { name: 'dashboard-overview-dark', path: '/dashboard', theme: 'dark', seconds: 6 },
    { name: 'dashboard-live', path: live, theme: 'light', seconds: 60 },
    { name: 'dashboard-live-phone', path: live, theme: 'dark', form: 'phone', seconds: 8 },
    { name: 'dashboard-overview-phone', path: '/dashboard', theme: 'light', form: 'phone', seconds: 6 },
    { name: 'dashboard-videos', path: '/dashboard/videos', theme: 'light' },
    { name: 'dashboard-video', path: `/dashboard/videos/${videoId}`, theme: 'dark', seconds: 6 },
    { name: 'dashboard-analytics', path: '/dashboard/analytics?range=30d', theme: 'light', seconds: 4 },
    { name: 'dashboard-analytics-dark', path: '/dashboard/analytics?range=30d', theme: 'dark', seconds: 4 },
    { name: 'dashboard-player', path: `/dashboard/players/${playerId}`, theme: 'light', seconds: 6 },
    { name: 'dashboard-webhook', path: `/dashboard/webhooks/${webhookId}`, theme: 'light' },
    { name: 'dashboard-keys', path: '/dashboard/keys', theme: 'dark' },
  ];
}

/** Waits until everything is encoded. */
async function untilIdle(server: ServerProcess): Promise<void> {
  const deadlineMs = performance.now() + jobsWithinMs;
  for (;;) {
    ending.signal.throwIfAborted();
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    const counts = [...metrics.matchAll(/^millrace_jobs\{[^}]*\} (\d+)$/gm)].map(([, count]) =>
      Number(count),
    );
    if (counts.every(count => count === 0)) return;
    if (performance.now() > deadlineMs) throw new Error('The films are not encoded in time.');
    await sleep(1_000);
  }
}
