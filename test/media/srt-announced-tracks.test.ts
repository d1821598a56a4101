import { spawn } from 'node:child_process';
import { Transform } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ffmpegPath } from '../support/ffmpeg.ts';
import { hasSrtTools } from '../support/srt-ingest.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

const packetBytes = 188;
/** Streams of ffmpeg, of which all are announced. */
const pids = { video: 0x100, main: 0x101, second: 0x102, third: 0x103 };

/** Publishes video and three audio tracks, of which some send nothing. */
function publish(url: string, silent: readonly number[]): void {
  const source = spawn(ffmpegPath, [
    ...['-v', 'error', '-re', '-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25'],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=48000'],
    ...['-map', '0', '-map', '1', '-map', '1', '-map', '1', '-c:v', 'libx264', '-preset', 'ultrafast'],
    ...['-pix_fmt', 'yuv420p', '-g', '25', '-tune', 'zerolatency', '-c:a', 'aac', '-b:a', '64k'],
    ...['-f', 'mpegts', '-muxdelay', '0', '-flush_packets', '1', '-'],
  ]);
  const sender = spawn('srt-live-transmit', ['-q', 'file://con', url], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  sender.stdin.on('error', () => {});
  source.stdout.pipe(withoutStreams(silent)).pipe(sender.stdin);
  onTestFinished(() => void [source, sender].map(child => child.kill('SIGKILL')));
}

function withoutStreams(left: readonly number[]): Transform {
  let rest = Buffer.alloc(0);
  return new Transform({
    transform(bytes: Buffer, _encoding, done) {
      rest = Buffer.concat([rest, bytes]);
      const packets: Buffer[] = [];
      for (; rest.length >= packetBytes; rest = rest.subarray(packetBytes)) {
        if (!left.includes(rest.readUInt16BE(1) & 0x1fff)) packets.push(rest.subarray(0, packetBytes));
      }
      done(null, Buffer.concat(packets));
    },
  });
}

describe.skipIf(!hasSrtTools)(
  'tracks that are announced and never sent (skipped where srt-tools is missing)',
  () => {
    let server: TestServer;

    beforeAll(async () => {
      server = await startServer({ 'live.segmentTarget': '1s' });
    });

    afterAll(() => server?.stop());

    test.concurrent.each([
      ['additional audio', [pids.second, pids.third], ['video 0', 'audio 0']],
      ['the main audio', [pids.main], ['video 0', 'audio 1', 'audio 2']],
      ['all audio', [pids.main, pids.second, pids.third], ['video 0']],
      ['video', [pids.video], ['audio 0', 'audio 1', 'audio 2']],
    ])('do not hold up the others: %s', async (_, silent, expected) => {
      const stream = await server.createStream();
      publish(`srt://127.0.0.1:${server.app.srtPort}?streamid=${stream.streamKey}`, silent);
      let health: { state?: string; tracks?: { kind: string; trackId: number }[] } = {};
      await waitUntil(
        async () => {
          const answer = await server.api('GET', `/live-streams/${stream.liveStreamId}/health`);
          health = (await answer.json()) as typeof health;
          return health.state === 'live' && health.tracks!.length >= expected.length;
        },
        { what: () => `a broadcast with ${expected}, not ${JSON.stringify(health)}` },
      );
      expect(health.tracks!.map(({ kind, trackId }) => `${kind} ${trackId}`)).toEqual(expected);
      const watch = await StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
      await watch.until(({ realSegments }) => realSegments >= 3, 'three segments');
      await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
      await watch.untilEnd();
      // CODECS has those of the audio renditions, too.
      const broken = (await watch.brokenRules()).filter(rule => !rule.startsWith('CODECS'));
      expect(broken).toEqual([]);
    });
  },
);
