/**
 * Shows the product in a temporary folder on free ports: uploads a video with captions, chapters and a theme, publishes a test
 * picture to a live stream, and prints the events that a webhook receiver gets. Ends at Ctrl-C, or after `--seconds N`. `--cluster` shows
 * three servers instead.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findFfmpeg } from '../src/ffmpeg/build/find-ffmpeg.ts';
import { callApi } from './api-call.ts';
import { addTextTracks, createTheme, publishTestPattern, startReceiver } from './demo-fixtures.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { createLiveStream, createVideo, type ServerProcess, startServerProcess } from './server-process.ts';
import { uploadFile } from './upload-file.ts';

const password = 'password-of-this-run';
const videoSeconds = 60;
const pollMs = 100;
const captions = {
  en: [
    'This video is a test picture with a clock.',
    'These are captions. The menu has them in French, too.',
    'The marks on the bar are chapters.',
    'The color of the bar and the logo come from a player theme.',
  ],
  fr: [
    'Cette vidéo est une mire avec une horloge.',
    'Ce sont des sous-titres. Le menu les propose aussi en anglais.',
    'Les repères de la barre sont des chapitres.',
    'La couleur de la barre et le logo viennent d’un thème du lecteur.',
  ],
};
const chapters = ['The clock', 'Captions', 'Chapters', 'Colors'];

const { values } = parseArgs({
  options: { seconds: { type: 'string' }, cluster: { type: 'boolean', default: false } },
});
const ending = new AbortController();
const { signal } = ending;
process.on('SIGINT', () => ending.abort());
process.on('SIGTERM', () => ending.abort());

const folder = await mkdtemp(join(tmpdir(), 'millrace-demo-'));
try {
  if (values.cluster) await (await import('./demo-cluster.ts')).showCluster(signal);
  else await show();
} catch (error) {
  if (!signal.aborted) {
    console.error(error);
    process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log('Stopped and removed the temporary folder.');
process.exit();

async function show(): Promise<void> {
  const { path: ffmpegPath } = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env);
  console.log('Starting a server and creating a video file.');
  const file = join(folder, 'demo.mp4');
  await createFile(ffmpegPath, file);
  const server = await startServerProcess({
    dataDir: join(folder, 'data'),
    env: {
      // The webhook receiver is on this machine.
      MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
      MILLRACE_ADMIN_EMAIL: 'admin@localhost',
      MILLRACE_ADMIN_PASSWORD: password,
    },
    isDetached: true,
  });
  const receiver = await startReceiver(server, ({ type, quality = '' }) =>
    console.log(`  webhook, signature verified: ${type} ${quality}`),
  );
  try {
    await showVideo(server, file);
    await showLive(server, ffmpegPath);
  } finally {
    receiver.close();
    await server.stop();
    receiver.closeAllConnections();
  }
}

function createFile(ffmpegPath: string, path: string): Promise<void> {
  const args = [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:beep_factor=4:sample_rate=48000'],
    ...['-t', String(videoSeconds), '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...['-g', '60', '-c:a', 'aac', '-b:a', '128k', path],
  ];
  return runFfmpeg(ffmpegPath, args, signal);
}

async function showVideo(server: ServerProcess, path: string): Promise<void> {
  const { baseUrl, productionKey: apiKey } = server;
  const { videoId, assets } = await createVideo(baseUrl, apiKey, {
    title: 'Demo video',
    playerId: await createTheme(server, 'Demo'),
  });
  await addTextTracks(server, videoId, captions, chapters, videoSeconds / chapters.length);
  const { lastByteAtMs } = await uploadFile({
    baseUrl,
    apiKey,
    videoId,
    path,
    signal,
    onProgress: () => {},
  });
  await until(async () => {
    const { encoding } = await callApi<{ encoding: { playable: boolean } }>(
      server,
      'GET',
      `/videos/${videoId}/status`,
    );
    return encoding.playable;
  });
  console.log(`
VIDEO. Playable ${((performance.now() - lastByteAtMs) / 1000).toFixed(1)} s after the upload:

  ${assets.player}
`);
}

async function showLive(server: ServerProcess, ffmpegPath: string): Promise<void> {
  const { baseUrl, productionKey, httpPort, rtmpPort } = server;
  const stream = await createLiveStream(baseUrl, productionKey, 'Demo live stream');
  const startedAtMs = performance.now();
  const publisher = publishTestPattern(ffmpegPath, `rtmp://127.0.0.1:${rtmpPort}/s/${stream.streamKey}`);
  try {
    await until(async () => (await fetch(stream.assets.hls)).ok);
    console.log(`
LIVE. On air ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s after the encoder started:

  ${stream.assets.player}

Any HLS player plays ${stream.assets.hls}. The broadcast becomes a video when it ends.

DASHBOARD. Sign in as admin@localhost with the password ${password}:

  http://localhost:${httpPort}/dashboard

API. Documentation in which you can try every call. The API key is ${productionKey}:

  http://localhost:${httpPort}/docs

${values.seconds === undefined ? 'Press Ctrl-C to stop.' : `Stops after ${values.seconds} s.`}
`);
    const wait = values.seconds === undefined ? 2 ** 31 - 1 : Number(values.seconds) * 1000;
    await Promise.race([sleep(wait, undefined, { signal }).catch(() => {}), publisher.exited]);
  } finally {
    await publisher.stop();
  }
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await sleep(pollMs, undefined, { signal });
}
