/**
 * Shows the product: a server in a temporary folder on free ports; a film with captions, chapters and a theme that is uploaded
 * through its API and plays while its qualities are made; a live stream that ffmpeg's test picture is published to; a webhook
 * receiver that verifies and prints what happens. The broadcast becomes a video when it ends. With `--restream` it is also sent on to
 * a second server, which goes away and comes back. Ends at Ctrl-C, or after `--seconds N`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findFfmpeg } from '../src/ffmpeg/build/find-ffmpeg.ts';
import { addWebhook } from './demo-dressing.ts';
import { publishTestPicture } from './demo-publisher.ts';
import { DemoReceiver, type WebhookEvent } from './demo-receiver.ts';
import { showRecording } from './demo-recording.ts';
import { DemoDestination, DemoRestream } from './demo-restream.ts';
import { DemoVideo, makeFilm } from './demo-video.ts';
import { LatencyProbe } from './latency-probe.ts';
import { createLiveStream, type ServerProcess, startServerProcess } from './server-process.ts';

/** With `admin@localhost`: of the dashboard. */
const password = 'password-of-this-run';

let code = 0;
const { seconds, isRestreamed } = readOptions();
const ending = new AbortController();
const { signal } = ending;
process.on('SIGINT', () => ending.abort());
process.on('SIGTERM', () => ending.abort());

const folder = await mkdtemp(join(tmpdir(), 'millrace-demo-'));
try {
  await show();
} catch (error) {
  if (!signal.aborted) fail(error);
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log('Stopped, and the temporary folder is gone.');
process.exit(code);

function readOptions(): { seconds: number | undefined; isRestreamed: boolean } {
  try {
    const { values } = parseArgs({ options: { seconds: { type: 'string' }, restream: { type: 'boolean' } } });
    const isRestreamed = values.restream ?? false;
    if (values.seconds === undefined) return { seconds: undefined, isRestreamed };
    const number = Number(values.seconds);
    if (number > 0 && Number.isFinite(number)) return { seconds: number, isRestreamed };
    throw new Error('--seconds: expected a number above 0');
  } catch (error) {
    fail(error);
    process.exit(1);
  }
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  code = 1;
}

async function show(): Promise<void> {
  const ffmpeg = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env);
  const film = join(folder, 'a-film-of-a-minute.mp4');
  console.log('Starting a server, and making a film to upload.');
  const making = makeFilm(ffmpeg.path, film, signal);
  // Awaited below; a failure of the server comes first.
  making.catch(() => {});
  const server = await startServerProcess({
    dataDir: join(folder, 'data'),
    // The receiver of the webhook is on this machine.
    env: {
      MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
      MILLRACE_ADMIN_EMAIL: 'admin@localhost',
      MILLRACE_ADMIN_PASSWORD: password,
    },
    isDetached: true,
  }).catch(async error => {
    ending.abort();
    await making.catch(() => {});
    fail(error);
    throw error;
  });
  void server.exited.then(() => {
    if (!signal.aborted) fail(new Error(`The server ended:\n${server.lines.join('\n')}`));
    ending.abort();
  });
  let receiver: DemoReceiver | undefined;
  let destination: DemoDestination | undefined;
  try {
    receiver = await DemoReceiver.start(tell, body => {
      fail(new Error(`A webhook came whose signature does not hold: ${body}`));
      ending.abort();
    });
    receiver.trust(await addWebhook(server, receiver.address));
    await making;
    await showVideo(server, film);
    if (isRestreamed) destination = await DemoDestination.start(folder);
    await showLive(server, ffmpeg.path, receiver.address, destination);
  } catch (error) {
    // Before the end is told to all: what fails after that fails because of it.
    if (!signal.aborted) fail(error);
  } finally {
    ending.abort();
    await making.catch(() => {});
    const exit = await server.stop();
    // Not thrown: that would hide what went wrong before.
    if (exit.code !== 0)
      fail(new Error(`The server did not stop cleanly (${exit.code}):\n${server.lines.join('\n')}`));
    await destination?.stop();
    await receiver?.stop();
  }
}

/** One line for an event that a webhook told. */
function tell({ type, encoding, quality }: WebhookEvent): void {
  const what = [encoding, quality].filter(word => word !== undefined).join(' ');
  console.log(`  webhook, signature verified: ${`${type} ${what}`.trimEnd()}`);
}

async function showVideo(server: ServerProcess, film: string): Promise<void> {
  const video = await DemoVideo.upload(server, film, signal);
  const playableSeconds = await video.untilPlayable(signal);
  console.log(`
VIDEO. It could be played ${playableSeconds.toFixed(1)} s after its last byte was sent. Open this in a browser:

  ${video.player}

It plays as it was uploaded while lower qualities are made: they come into the menu as they are finished, without a pause.
It has captions in two languages, chapters on its bar, and a theme with a colour and a logo.
`);
}

async function showLive(
  server: ServerProcess,
  ffmpegPath: string,
  hook: string,
  destination: DemoDestination | undefined,
): Promise<void> {
  const stream = await createLiveStream(
    server.baseUrl,
    server.productionKey,
    'Demo: a test picture with a clock',
    destination === undefined ? {} : { restreams: [destination.restream] },
  );
  const publishedAtMs = performance.now();
  const publisher = publishTestPicture(
    ffmpegPath,
    `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`,
  );
  const probe = new LatencyProbe(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  try {
    await Promise.race([
      probe.waitUntilPlayable(20_000),
      publisher.exited.then(() => {
        throw new Error('The encoder ended by itself.');
      }),
      whenEnding(),
    ]);
    signal.throwIfAborted();
    const startMs = Math.round(performance.now() - publishedAtMs);
    console.log(`
LIVE. On air ${(startMs / 1000).toFixed(1)} s after the encoder was started. Open this in a browser:

  ${stream.assets.player}

What to look at: the counter in the picture runs, a tone beeps once a second, and the readout beside the LIVE badge
says how far behind you are. Open it twice: both show the same picture. Go back on the bar: it reaches to the beginning.
Any HLS player takes this address:

  ${stream.assets.hls}

DASHBOARD. All of it, to look at and to change. Sign in as admin@localhost with the password ${password}:

  http://localhost:${server.httpPort}/dashboard

API. A guide, and a reference in which you can try every call. Sign in to the dashboard first: calls then run as you. The API key
of this demo is ${server.productionKey}.

  http://localhost:${server.httpPort}/docs

EVENTS. A webhook sends what happens to ${hook}, where its signature is verified. It is told here.

RECORDING. All of it becomes a video when it ends.

${seconds === undefined ? 'Ctrl-C ends it.' : `It ends after ${seconds} s.`}
`);
    const measuring = probe.run();
    const timer = seconds === undefined ? undefined : setTimeout(() => ending.abort(), seconds * 1000);
    const restreaming = destination === undefined ? whenEnding() : showRestream(server, stream, destination);
    await Promise.race([whenEnding(), publisher.exited, measuring, restreaming]);
    clearTimeout(timer);
    if (!signal.aborted) throw new Error('The broadcast ended by itself.');
    await restreaming;
    probe.stop();
    await measuring;
    console.log(probe.report());
    await publisher.stop();
    await showRecording(server, stream.liveStreamId).catch(fail);
  } finally {
    probe.stop();
    await publisher.stop();
  }
}

/** Settles when the demo ends. @throws Error when the restream does not do what it should. */
async function showRestream(
  server: ServerProcess,
  { liveStreamId }: { liveStreamId: string },
  destination: DemoDestination,
): Promise<void> {
  const restream = new DemoRestream(server, liveStreamId, signal);
  try {
    await restream.show(destination);
    await restream.watch();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function whenEnding(): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
