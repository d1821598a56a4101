import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { ffmpegPath, publishTestPicture, runToEnd } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { decodeVideo } from './decoded.ts';

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly reason?: string;
  readonly retries?: number;
  readonly lastError?: string;
  readonly droppedFrames?: number;
  readonly bitrateBitsPerSecond?: number;
}

let here: TestServer;
let there: TestServer;

beforeAll(async () => {
  const quick = { 'live.segmentTarget': '1s', 'live.reconnectGrace': '10s' };
  [here, there] = await Promise.all([
    startServer({ ...quick, allowPrivateTargets: 'true' }, { sandboxRules: { maxRestreamMs: 2_000 } }),
    startServer(quick),
  ]);
});

afterAll(async () => {
  await Promise.all([here?.stop(), there?.stop()]);
});

/** A request with a key of `here`. */
async function ask(method: string, path: string, body?: unknown, key = here.productionKey): Promise<unknown> {
  const answer = await fetch(`${here.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return answer.headers.get('content-type') === null ? undefined : answer.json();
}

async function streamTo(
  destinations: readonly [url: string, key: string][],
  key?: string,
): Promise<CreatedStream> {
  const restreams = destinations.map(([serverUrl, streamKey], index) => ({
    name: `destination ${index}`,
    serverUrl,
    streamKey,
  }));
  return (await ask('POST', '/live-streams', { name: 'Sent on', restreams }, key)) as CreatedStream;
}

async function shownOf(stream: CreatedStream, key?: string): Promise<readonly Shown[]> {
  const path = `/live-streams/${stream.liveStreamId}/restreams`;
  return ((await ask('GET', path, undefined, key)) as { data: Shown[] }).data;
}

/** Waits until a destination is as wished. */
function until(
  stream: CreatedStream,
  index: number,
  isIt: (shown: Shown) => boolean,
  key?: string,
): Promise<Shown> {
  let last: Shown | undefined;
  return waitUntil(
    async () => {
      last = (await shownOf(stream, key))[index];
      return last !== undefined && isIt(last) ? last : undefined;
    },
    { what: () => JSON.stringify(last), everyMs: 100 },
  );
}

function publish(stream: CreatedStream) {
  return publishTestPicture({ url: here.rtmpUrl(stream.streamKey), size: '160x90', gopSeconds: 1 });
}

/** Starts a server of another kind, as a process. */
async function startOther(port: number, folder: string): Promise<ChildProcess> {
  const library = createRequire(import.meta.url).resolve('node-media-server');
  const child = spawn(
    process.execPath,
    [
      '-e',
      `const Server = require(${JSON.stringify(library)});
       new Server({ bind: '127.0.0.1', rtmp: { port: ${port} } }).run();`,
    ],
    // The server writes into the folder that it is in.
    { stdio: 'ignore', cwd: folder },
  );
  const isListening = async () => {
    const answer = createServer();
    answer.listen(port, '127.0.0.1');
    const [error] = (await Promise.race([
      once(answer, 'listening').then(() => []),
      once(answer, 'error'),
    ])) as unknown[];
    answer.close();
    return error !== undefined;
  };
  await waitUntil(isListening, { what: 'the other server', everyMs: 50 });
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

describe.concurrent('a broadcast', () => {
  test('is sent on picture by picture, goes on in the same connection when its publisher comes back, and never waits for the dead', async () => {
    const target = await there.createStream();
    const dead = await freePort();
    const stream = await streamTo([
      [`rtmp://127.0.0.1:${dead}/live`, 'a-key-of-nobody'],
      [`rtmp://localhost:${there.app.rtmpPort}/s`, target.streamKey],
    ]);
    expect(await shownOf(stream)).toEqual([
      { name: 'destination 0', serverUrl: `rtmp://127.0.0.1:${dead}/live`, state: 'idle' },
      { name: 'destination 1', serverUrl: `rtmp://localhost:${there.app.rtmpPort}/s`, state: 'idle' },
    ]);
    const first = publish(stream);
    await until(stream, 1, ({ state }) => state === 'live');
    expect(await until(stream, 0, ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'connection-refused',
      lastError: `127.0.0.1:${dead} refuses connections. Check the address and port of the destination.`,
    });
    const watch = await StreamMonitor.begin(`${here.baseUrl}/${stream.liveStreamId}.m3u8`);
    const mirror = await StreamMonitor.begin(`${there.baseUrl}/${target.liveStreamId}.m3u8`);
    await mirror.until(({ realSegments }) => realSegments >= 2, 'two segments');
    await until(stream, 1, ({ bitrateBitsPerSecond = 0 }) => bitrateBitsPerSecond > 100_000);
    await first.kill();
    await using second = publish(stream);
    const before = mirror.realSegments;
    await mirror.until(({ realSegments }) => realSegments >= before + 3, 'segments of the second publisher');
    const shown = (await shownOf(stream))[1]!;
    expect(shown).toMatchObject({ state: 'live', retries: 0, droppedFrames: 0 });
    expect(shown.lastError).toBeUndefined();
    expect(JSON.stringify(await shownOf(stream))).not.toContain(target.streamKey);

    await ask('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await watch.until(({ latest }) => latest!.endList, 'the end');
    await there.api('PUT', `/live-streams/${target.liveStreamId}/complete`);
    await mirror.until(({ latest }) => latest!.endList, 'the end there');
    expect(await shownOf(stream)).toMatchObject([{ state: 'idle' }, { state: 'idle' }]);
    const [source, copy] = await Promise.all([decodeVideo(watch.mediaUrl), decodeVideo(mirror.mediaUrl)]);
    // Stills repeat pictures.
    const [sent, received] = [source, copy].map(frames => [...new Set(frames.map(({ hash }) => hash))]);
    const places = new Map(sent!.map((hash, index) => [hash, index]));
    const order = received!.map(hash => places.get(hash) ?? -1);
    expect(order.filter(place => place === -1)).toEqual([]);
    const gaps = order.flatMap((place, index) =>
      index === 0 || place === order[index - 1]! + 1 ? [] : [{ after: order[index - 1]!, next: place }],
    );
    // Skips the gap between two publishers: the first one's last frames may be missing, as the second begins with
    // a keyframe.
    expect(gaps.slice(1), `of ${order.length} pictures, gaps at ${JSON.stringify(gaps)}`).toEqual([]);
    await second.stop();
  });

  test('goes to another kind of server too, again after that was killed', async () => {
    const port = await freePort();
    const folder = await makeTempDir();
    let other = await startOther(port, folder);
    try {
      const stream = await streamTo([[`rtmp://127.0.0.1:${port}/live`, 'mirror-key']]);
      await using _publisher = publish(stream);
      await until(stream, 0, ({ state }) => state === 'live');
      other.kill('SIGKILL');
      expect((await until(stream, 0, ({ state }) => state === 'retrying')).reason).toMatch(/closed|refused/);
      other = await startOther(port, folder);
      await until(stream, 0, ({ state, retries = 0 }) => state === 'live' && retries > 0);
      const played = await runToEnd(ffmpegPath, [
        ...['-v', 'error', '-i', `rtmp://127.0.0.1:${port}/live/mirror-key`, '-frames:v', '10'],
        ...['-map', '0:v', '-map', '0:a', '-f', 'framemd5', '-'],
      ]);
      expect(played.split('\n').filter(line => /^0,/.test(line)).length).toBe(10);
      await ask('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    } finally {
      other.kill('SIGKILL');
      await removeDir(folder);
    }
  });

  test('of the sandbox is sent on until its time is over, which is told, and goes on itself', async () => {
    const key = here.sandboxKey;
    const target = await there.createStream();
    const stream = await streamTo([[`rtmp://127.0.0.1:${there.app.rtmpPort}/s`, target.streamKey]], key);
    const socket = new WebSocket(
      `${here.baseUrl.replace('http', 'ws')}/events?subjectId=${stream.liveStreamId}`,
      {
        headers: { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
      },
    );
    const told: Record<string, unknown>[] = [];
    socket.on('message', data => told.push(JSON.parse(String(data))));
    await once(socket, 'open');
    await using _publisher = publish(stream);
    await until(stream, 0, ({ state }) => state === 'live', key);
    const mirror = await StreamMonitor.begin(`${there.baseUrl}/${target.liveStreamId}.m3u8`);
    expect(await until(stream, 0, ({ state }) => state === 'stopped', key)).toMatchObject({
      reason: 'sandbox-limit',
      retries: 0,
    });
    await mirror.until(
      ({ latest }) => latest!.segments.at(-1)!.uri.startsWith('stopped-'),
      'the end of what comes',
    );
    const watch = await StreamMonitor.begin(`${here.baseUrl}/${stream.liveStreamId}.m3u8`);
    const before = watch.realSegments;
    await watch.until(({ realSegments }) => realSegments > before + 1, 'more segments');
    expect(await shownOf(stream, key)).toMatchObject([{ state: 'stopped' }]);
    const moments = () => told.filter(({ type }) => type === 'restream.state');
    await waitUntil(() => moments().some(({ state }) => state === 'stopped'), { what: 'the feed' });
    socket.terminate();
    expect(moments().map(({ state }) => state)).toContain('live');
    expect(moments().at(-1)).toMatchObject({ position: 0, name: 'destination 0', reason: 'sandbox-limit' });
    expect(told.filter(({ type }) => type === 'live-stream.restream.stopped')).toEqual([
      {
        type: 'live-stream.restream.stopped',
        eventId: expect.any(String),
        emittedAt: expect.any(String),
        liveStreamId: stream.liveStreamId,
        name: 'destination 0',
        reason: 'sandbox-limit',
      },
    ]);
    expect(JSON.stringify(told)).not.toContain(target.streamKey);
    await ask('PUT', `/live-streams/${stream.liveStreamId}/complete`, undefined, key);
  });

  test('that is sent to its own stream is refused there, and nothing turns in a circle', async () => {
    const stream = await streamTo([]);
    const restreams = [
      { name: 'itself', serverUrl: `rtmp://localhost:${here.app.rtmpPort}/s`, streamKey: stream.streamKey },
    ];
    await ask('PATCH', `/live-streams/${stream.liveStreamId}`, { restreams });
    await using _publisher = publish(stream);
    expect(await until(stream, 0, ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'refused',
      lastError: expect.stringContaining('Another encoder is already publishing'),
    });
    await ask('DELETE', `/live-streams/${stream.liveStreamId}`);
  });
});

test('destinations end with their broadcasts and are counted in metrics', async () => {
  await waitUntil(() => here.app.ffmpegProcesses() === 0, { what: 'the end of all processes' });
  const text = await (await fetch(`${here.baseUrl}/metrics`)).text();
  const metric = (name: string) => Number(new RegExp(`^millrace_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  expect(metric('restream_bytes_out_total')).toBeGreaterThan(100_000);
  expect(metric('restream_retries_total')).toBeGreaterThan(0);
  for (const state of ['connecting', 'live', 'retrying', 'stopped']) {
    expect(metric(`restreams\\{state="${state}"\\}`)).toBe(0);
  }
});
