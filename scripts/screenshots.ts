/**
 * Takes the screenshots of the dashboard in `docs/`: `npm run screenshots`, some of them with `--only overview,live`, or into another
 * folder with `--into FOLDER`. Fills a server in a temporary folder, adds a month of views, and goes live. Needs Chromium and an
 * ffmpeg of version 5 or newer.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findFfmpeg } from '../src/ffmpeg/build/find-ffmpeg.ts';
import { callApi } from './api-call.ts';
import { startReceiver } from './demo-fixtures.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { type FilmStudio, fillServer, goLive, type Library, uploadVideo } from './showcase/fill-server.ts';
import { type Screenshot, takeScreenshots } from './showcase/take-screenshots.ts';
import { writeViewingHistory } from './showcase/viewing-history.ts';

const email = 'anna@example.org';
const password = 'a-password-for-screenshots';
const encodedWithinMs = 20 * 60_000;

const { values } = parseArgs({ options: { only: { type: 'string' }, into: { type: 'string' } } });
const ending = new AbortController();
process.once('SIGINT', () => ending.abort()).once('SIGTERM', () => ending.abort());
const folder = await mkdtemp(join(tmpdir(), 'millrace-screenshots-'));
const dataDir = join(folder, 'data');
try {
  const { path: ffmpegPath } = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env);
  const studio: FilmStudio = { ffmpegPath, folder, signal: ending.signal };
  console.log('Filling a server.');
  const library = await withServer(async server => {
    const filled = await fillServer(server, studio);
    await untilIdle(server);
    return filled;
  });
  const liveMedia = {
    mediaId: library.stream.liveStreamId,
    type: 'live-stream',
    seconds: 1_500,
    weight: 9,
  } as const;
  await writeViewingHistory(dataDir, [...library.media, liveMedia]);
  await withServer(server => show(server, studio, library));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function withServer<Result>(work: (server: ServerProcess) => Promise<Result>): Promise<Result> {
  const server = await startServerProcess({
    dataDir,
    env: {
      MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
      MILLRACE_ADMIN_EMAIL: email,
      MILLRACE_ADMIN_PASSWORD: password,
    },
    isDetached: true,
    startTimeoutMs: 120_000,
  });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

async function show(server: ServerProcess, studio: FilmStudio, library: Library): Promise<void> {
  const receiver = await startReceiver(server, () => {});
  const publisher = await goLive(server, studio, library.stream);
  try {
    const rough = { title: 'Dusk, rough cut', tags: ['landscape'] };
    await uploadVideo(server, studio, 'testsrc2=size=1280x720:rate=25', 90, rough);
    const { data } = await callApi<{ data: { webhookId: string }[] }>(server, 'GET', '/webhooks');
    console.log('Taking screenshots.');
    const wanted = values.only?.split(',');
    await takeScreenshots({
      baseUrl: server.baseUrl,
      email,
      password,
      ffmpegPath: studio.ffmpegPath,
      folder: values.into ?? fileURLToPath(new URL('../docs/', import.meta.url)),
      screenshots: screenshotsOf(library, data[0]!.webhookId).filter(
        ({ name }) => wanted?.some(part => name.includes(part)) ?? true,
      ),
    });
  } finally {
    receiver.close();
    await publisher.stop();
    receiver.closeAllConnections();
  }
}

function screenshotsOf({ stream, videoId, playerId }: Library, webhookId: string): Screenshot[] {
  const live = `/dashboard/live/${stream.liveStreamId}?part=health`;
  return [
    // First: a film is being encoded.
    { name: 'dashboard-overview', path: '/dashboard', theme: 'light', seconds: 6 },
    { name: 'dashboard-overview-dark', path: '/dashboard', theme: 'dark', seconds: 6 },
    { name: 'dashboard-live', path: live, theme: 'light', seconds: 60 },
    { name: 'dashboard-live-phone', path: live, theme: 'dark', form: 'phone', seconds: 8 },
    { name: 'dashboard-overview-phone', path: '/dashboard', theme: 'light', form: 'phone', seconds: 6 },
    { name: 'dashboard-videos', path: '/dashboard/videos', theme: 'light' },
    {
      name: 'dashboard-video',
      path: `/dashboard/videos/${videoId}?part=captions`,
      theme: 'dark',
      seconds: 6,
    },
    { name: 'dashboard-analytics', path: '/dashboard/analytics?range=30d', theme: 'light', seconds: 4 },
    { name: 'dashboard-analytics-dark', path: '/dashboard/analytics?range=30d', theme: 'dark', seconds: 4 },
    { name: 'dashboard-player', path: `/dashboard/players/${playerId}`, theme: 'light', seconds: 6 },
    { name: 'dashboard-webhook', path: `/dashboard/webhooks/${webhookId}`, theme: 'light' },
    { name: 'dashboard-keys', path: '/dashboard/keys', theme: 'dark' },
  ];
}

async function untilIdle(server: ServerProcess): Promise<void> {
  const deadlineMs = performance.now() + encodedWithinMs;
  for (;;) {
    ending.signal.throwIfAborted();
    const metrics = await (await fetch(`${server.baseUrl}/metrics`)).text();
    const counts = [...metrics.matchAll(/^millrace_jobs\{[^}]*\} (\d+)$/gm)].map(([, count]) =>
      Number(count),
    );
    if (counts.every(count => count === 0)) return;
    if (performance.now() > deadlineMs) throw new Error('The videos are not encoded in time.');
    await sleep(1_000);
  }
}
