import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { goodKey, startIngest } from '../support/ingest-client.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { waitUntil } from '../support/wait-until.ts';

const wanted = 10_000;
const script = fileURLToPath(new URL('../support/open-silent-connections.ts', import.meta.url));
/** Maximum memory of a silent connection: a socket, its listeners and one small record. */
const maxBytesEach = 10 * 1024;

test.each(['rtmp', 'rtmps'])(
  `${wanted.toLocaleString('en')} connections that say nothing are cheap, harm nobody, and are closed in time (%s)`,
  async protocol => {
    const count = Math.min(wanted, maxOpenFiles() - 1_000);
    if (count < wanted)
      console.log(`only ${count} silent connections: this process may open ${maxOpenFiles()} files`);
    const handshakeTimeoutMs = 4_000;
    const rtmps = { port: 0, secureContext: () => makeSelfSigned('silent') };
    const limits = { maxConnections: count + 10, handshakeTimeoutMs, idleTimeoutMs: 120_000 };
    const ingest = await startIngest({ ...limits, rtmps });
    const port = protocol === 'rtmp' ? ingest.port : ingest.server.rtmpsPort!;
    const publisher = await RtmpClient.connect({ port: ingest.port });
    await publisher.publish(goodKey);

    const rssBefore = process.memoryUsage().rss;
    const crowd = spawn(process.execPath, [script, String(port), String(count)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const startedAtMs = performance.now();
      const [said] = await once(crowd.stdout, 'data', { signal: AbortSignal.timeout(30_000) });
      expect(String(said)).toBe('open\n');
      await waitUntil(() => ingest.counts.get('opened') === count + 1);
      const bytesEach = (process.memoryUsage().rss - rssBefore) / count;
      console.log(
        `${protocol}: ${count} open in ${Math.round(performance.now() - startedAtMs)} ms, ${Math.round(bytesEach)} bytes each`,
      );
      expect(bytesEach).toBeLessThan(maxBytesEach);

      const late = await RtmpClient.connect({ port, tls: protocol === 'rtmps' });
      expect(await late.publish(`${goodKey}-2`)).toMatchObject({ code: 'NetStream.Publish.Start' });
      publisher.sendTag('video', 0, Buffer.from([0x17, 1, 0, 0, 0]));
      await waitUntil(() => ingest.publishers[0]?.tags.length === 1);
      const feed = setInterval(
        () => [publisher, late].map(each => each.sendTag('video', 0, Buffer.from([0x17, 1, 0, 0, 0]))),
        500,
      );
      await waitUntil(() => ingest.counts.get('closed handshake-timeout') === count, {
        timeoutMs: handshakeTimeoutMs + 10_000,
      });
      clearInterval(feed);
      expect(ingest.publishers.flatMap(each => each.closeReasons)).toEqual([]);
      late.destroy();
    } finally {
      crowd.kill('SIGKILL');
      publisher.destroy();
      await ingest.server.stop();
    }
  },
);

/** The soft limit of this process; Node raises it to the hard one at its start. */
function maxOpenFiles(): number {
  try {
    return Number(/Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? wanted);
  } catch {
    return wanted; // No /proc: another system, where the test finds out by itself.
  }
}
