/**
 * Shows the product: a server in a temporary folder on free ports, a live stream made through its API, and ffmpeg's test picture
 * published to it. Ends at Ctrl-C, or after `--seconds N`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findFfmpeg } from '../src/ffmpeg/find-ffmpeg.ts';
import { LatencyProbe } from './latency-probe.ts';
import { createLiveStream, startServerProcess } from './server-process.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string' } } });
const seconds = values.seconds === undefined ? undefined : Number(values.seconds);
if (seconds !== undefined && !(seconds > 0)) {
  console.error('--seconds: expected a number above 0');
  process.exit(1);
}

const { promise: ended, resolve: end } = Promise.withResolvers<void>();
process.on('SIGINT', () => end());
process.on('SIGTERM', () => end());

const folder = await mkdtemp(join(tmpdir(), 'millrace-demo-'));
let code = 0;
try {
  await show();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  code = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(code);

async function show(): Promise<void> {
  const ffmpeg = await findFfmpeg(process.env.MILLRACE_FFMPEG_PATH, process.env.PATH);
  const server = await startServerProcess({ dataDir: folder, isDetached: true });
  try {
    const stream = await createLiveStream(
      server.baseUrl,
      server.sandboxKey,
      'Demo: a test picture with a clock',
    );
    const publishedAtMs = performance.now();
    const publisher = spawn(
      ffmpeg.path,
      [
        ...['-hide_banner', '-loglevel', 'error'],
        ...['-re', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
        ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:beep_factor=4:sample_rate=48000'],
        ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
        ...[
          '-g',
          '60',
          '-keyint_min',
          '60',
          '-sc_threshold',
          '0',
          '-b:v',
          '2500k',
          '-maxrate',
          '2500k',
          '-bufsize',
          '2500k',
        ],
        ...[
          '-c:a',
          'aac',
          '-b:a',
          '128k',
          '-f',
          'flv',
          `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`,
        ],
      ],
      // Ctrl-C is ours to pass on, in the order of the ends below.
      { stdio: ['ignore', 'inherit', 'inherit'], detached: true },
    );
    const publisherEnded = new Promise<void>(resolve => publisher.once('exit', () => resolve()));
    const probe = new LatencyProbe(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    try {
      await probe.waitUntilPlayable(20_000);
      const startMs = Math.round(performance.now() - publishedAtMs);
      console.log(`
On air ${(startMs / 1000).toFixed(1)} s after the encoder was started. Open this in a browser:

  ${stream.assets.player}

What to look at: the counter in the picture runs, a tone beeps once a second, and the readout beside the LIVE badge
says how far behind you are. Open it twice: both show the same picture. Any HLS player takes this address:

  ${stream.assets.hls}

${seconds === undefined ? 'Ctrl-C ends it.' : `It ends after ${seconds} s.`}
`);
      const measuring = probe.run();
      if (seconds !== undefined) setTimeout(end, seconds * 1000);
      await Promise.race([ended, publisherEnded, server.exited, measuring]);
      probe.stop();
      await measuring;
      if (server.child.exitCode !== null) throw new Error(`The server ended:\n${server.lines.join('\n')}`);
      if (publisher.exitCode !== null && publisher.exitCode !== 0)
        throw new Error('The encoder ended by itself.');
      console.log(probe.report());
    } finally {
      probe.stop();
      publisher.kill('SIGINT');
      await publisherEnded;
    }
  } finally {
    const exit = await server.stop();
    // Not thrown: that would hide what went wrong before.
    if (exit.code !== 0) {
      console.error(`The server did not stop cleanly (${exit.code}):\n${server.lines.join('\n')}`);
      code = 1;
    }
  }
  console.log('Stopped, and the temporary folder is gone.');
}
