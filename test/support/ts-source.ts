import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ffmpegPath } from './ffmpeg.ts';

/** A camera that sends an endless MPEG transport stream over HTTP. */
export interface TsSource {
  readonly url: string;
  /** Connections so far. */
  readonly connections: number;
  /** Connections at present. */
  readonly open: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startTsSource(): Promise<TsSource> {
  const counts = { connections: 0, open: 0 };
  const server = createServer((_, answer) => {
    counts.connections += 1;
    counts.open += 1;
    const picture = ['-re', '-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=25', '-c:v', 'libx264'];
    const child = spawn(ffmpegPath, [
      ...['-v', 'error', ...picture, '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25'],
      ...['-f', 'mpegts', '-flush_packets', '1', '-'],
    ]);
    child.stdout.pipe(answer);
    answer.once('close', () => {
      counts.open -= 1;
      child.kill('SIGKILL');
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/cam.ts`,
    get connections() {
      return counts.connections;
    },
    get open() {
      return counts.open;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
