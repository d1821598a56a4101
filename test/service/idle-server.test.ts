import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startServer } from '../support/start-server.ts';
import { TimerRecorder } from '../support/timer-recorder.ts';
import { waitUntil } from '../support/wait-until.ts';

/** A server that nobody uses is woken by none of its timers more often. */
const shortestMs = 5_000;

test('no timer wakes a server that nobody uses, after its start and after it was used', async () => {
  using timers = new TimerRecorder();
  await using server = await startServer({ 'delivery.viewerStall': '10s' });
  const isIdle = () =>
    waitUntil(() => timers.pending(shortestMs).length === 0, {
      what: () => `the end of these timers:\n${timers.pending(shortestMs).join('\n')}`,
    });
  await isIdle();

  const { liveStreamId } = await server.createStream();
  const publisher = connect(server.app.rtmpPort, '127.0.0.1');
  await once(publisher, 'connect');
  const leave = new AbortController();
  const viewer = await fetch(`${server.baseUrl}/live/${liveStreamId}/events`, { signal: leave.signal });
  expect(viewer.status).toBe(200);
  await waitUntil(() => timers.pending(shortestMs).length > 0, { what: 'a timer of the connections' });

  publisher.destroy();
  leave.abort();
  await isIdle();
});

test('the event loop is measured from the first scrape on', async () => {
  await using server = await startServer();
  const scrape = async () => await (await fetch(`${server.baseUrl}/metrics`)).text();
  const sample = /^millrace_event_loop_delay_seconds\{quantile="1"\} \d/m;
  expect(await scrape()).not.toMatch(sample);
  await waitUntil(async () => sample.test(await scrape()), { what: 'a delay of the event loop' });
});

test('the health check of the image needs no Node, and tells a server that answers from anything else', async () => {
  const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
  const [, command = ''] = /^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [program = '', ...args] = JSON.parse(command) as string[];
  expect(program).toBe('bash');
  const check = async (port: number) => {
    const env = { PATH: process.env.PATH, MILLRACE_HTTP_PORT: String(port) };
    const result = promisify(execFile)(program, args, { env });
    return result.then(
      () => 0,
      (error: { code: unknown }) => error.code,
    );
  };
  await using server = await startServer();
  expect(await check(server.app.httpPort)).toBe(0);
  // Connects to a port on which nobody listens.
  expect(await check(1)).toBe(1);

  await using other = createServer(socket => {
    // The check has what it wants to know after the first line, and leaves.
    socket.on('error', () => {});
    socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
  });
  await once(other.listen(0, '127.0.0.1'), 'listening');
  expect(await check((other.address() as { port: number }).port)).toBe(1);
});
