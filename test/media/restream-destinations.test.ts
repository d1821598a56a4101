import { once } from 'node:events';
import { readSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { describeVideoTag } from '../../src/media/flv/flv-tag.ts';
import {
  goodKey,
  type IngestFixture,
  type RecordedPublisher,
  startIngest,
} from '../support/ingest-client.ts';
import { recordTags } from '../support/replay.ts';
import { startRestreamSession } from '../support/restream-session.ts';
import { answerHandshake } from '../support/rtmp-handshake.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { waitUntil } from '../support/wait-until.ts';

let tags: FlvTag[];
let otherTags: FlvTag[];
let door: IngestFixture;

beforeAll(async () => {
  [tags, otherTags, door] = await Promise.all([
    recordTags({ seconds: 2, gopSeconds: 0.4 }),
    recordTags({ seconds: 8, gopSeconds: 2, size: '128x72' }),
    startIngest({ handshakeTimeoutMs: 60_000, idleTimeoutMs: 60_000 }),
  ]);
});

afterAll(async () => {
  await door?.server.stop();
});

let keys = 0;
/** A key that the door takes, used by one test only. */
function newKey(): string {
  keys += 1;
  return `${goodKey}-${keys}-${'x'.repeat(150)}`;
}
const urlOf = (port: number, app = 'live') => `rtmp://destination.test:${port}/${app}`;
const publishersOf = (key: string): RecordedPublisher[] =>
  door.publishers.filter(({ request }) => request.streamKey === key);
const media = (publisher: RecordedPublisher | undefined, kind: FlvTag['kind']) =>
  publisher?.tags.filter(tag => tag.kind === kind && tag.body.length > 5) ?? [];
const isKeyframe = ({ kind, body }: FlvTag) =>
  kind === 'video' && describeVideoTag(body)?.role === 'keyframe';
const isConfig = ({ kind, body }: FlvTag) =>
  kind === 'video' ? describeVideoTag(body)?.role === 'config' : body[1] === 0;

/** A server of TCP that ends with its scope. */
async function listen(onSocket: (socket: Socket) => void): Promise<AsyncDisposable & { port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

describe.concurrent('a destination', () => {
  test('by name gets what came in, byte for byte, from a keyframe on and from the time 0', async () => {
    const key = newKey();
    await using session = startRestreamSession([{ url: urlOf(door.port), key }]);
    session.play(tags);
    await waitUntil(() => media(publishersOf(key)[0], 'video').length > 40, { what: 'frames' });
    const [publisher] = publishersOf(key);
    expect(publisher!.request).toMatchObject({ streamKey: key });
    for (const kind of ['video', 'audio'] as const) {
      const got = media(publisher, kind);
      const config = tags.find(tag => tag.kind === kind && isConfig(tag))!;
      expect(publisher!.tags.find(tag => tag.kind === kind)!.body).toEqual(config.body);
      // The end of a sequence is no frame.
      const sent = tags.filter(tag => tag.kind === kind && !isConfig(tag) && tag.body.length > 5);
      const frames = got.filter(tag => !isConfig(tag));
      const first = sent.findIndex(({ body }) => body.equals(frames[0]!.body));
      expect(frames.map(({ body }) => sent.findIndex(tag => tag.body.equals(body)))).toEqual(
        frames.map((_, index) => (first + index) % sent.length),
      );
      if (kind === 'video') expect(describeVideoTag(frames[0]!.body)!.role).toBe('keyframe');
      expect(frames[0]!.timestampMs).toBeLessThan(50);
    }
    expect(session.status()).toMatchObject({
      state: 'live',
      retries: 0,
      droppedFrames: 0,
      lastError: undefined,
    });
  });

  test('that refuses a key is said to, with no key in any line of the log', async ({ onTestFinished }) => {
    const [key, token] = ['wrong-key-wrong-key-wrong-key', 'token=wrong-token'];
    const description = `Neither ${key} nor ${token} is known.`;
    const strict = await startIngest({
      gate: { request: async () => ({ accepted: false, reason: 'unknown-key', description }) },
    });
    onTestFinished(() => strict.server.stop());
    const url = urlOf(strict.port, `live?${token}`);
    await using session = startRestreamSession([{ url, key }]);
    session.play(tags);
    const status = await session.until('a refusal', ({ state }) => state === 'retrying');
    expect(status).toMatchObject({
      reason: 'refused',
      lastError: expect.stringContaining('Neither [key] nor [key] is known.'),
    });
    await session.until('another try', ({ retries }) => retries > 0);
    expect(session.log.length).toBeGreaterThan(0);
    expect(JSON.stringify([session.log, session.status()])).not.toMatch(/wrong-(key|token)/);
  });

  test('that starts late and restarts is reconnected, while another one misses nothing', async () => {
    const [key, otherKey] = [newKey(), newKey()];
    let isThere = false;
    const sockets = new Set<Socket>();
    await using relay = await listen(socket => {
      if (!isThere) {
        socket.resetAndDestroy();
        return;
      }
      const onward = connect(door.port, '127.0.0.1');
      onward.on('error', () => {});
      socket.pipe(onward).pipe(socket);
      sockets.add(socket).add(onward);
    });
    await using session = startRestreamSession([
      { url: urlOf(relay.port), key },
      { url: urlOf(door.port), key: otherKey },
    ]);
    const publisher = session.play(tags);
    await session.until('a failure', ({ state }) => state === 'retrying');
    isThere = true;
    await session.until('media', ({ state }) => state === 'live');
    await waitUntil(() => media(publishersOf(key)[0], 'video').length > 10, { what: 'frames' });
    for (const socket of sockets) socket.destroy();
    expect(await session.until('its end to be noticed', ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'closed',
    });
    await session.until('media again', ({ state }) => state === 'live');
    await waitUntil(() => media(publishersOf(key)[1], 'video').length > 10, { what: 'frames again' });
    expect(session.status().retries).toBeGreaterThanOrEqual(2);

    const [other, ...more] = publishersOf(otherKey);
    expect(more).toEqual([]);
    const times = media(other, 'video').map(({ timestampMs }) => timestampMs);
    const gaps = times.slice(1).map((at, index) => at - times[index]!);
    expect(Math.max(...gaps)).toBeLessThan(100);
    expect(session.status(1)).toMatchObject({ state: 'live', retries: 0, droppedFrames: 0 });

    // An end while there is nothing to send is no failure of the destination: it is not waited for any longer than the first time.
    const waits = () =>
      session.log.filter(({ event }) => event === 'restream-failed').map(({ data }) => data.retryMs);
    expect(waits().at(-1)).toBeGreaterThan(125);
    await publisher.stop();
    session.disconnectPublisher();
    for (const socket of sockets) socket.destroy();
    await session.until('its end to be noticed', ({ state }) => state === 'retrying');
    expect(waits().at(-1)).toBeLessThanOrEqual(125);
    session.play(tags);
    await session.until('media of the publisher that is back', ({ state }) => state === 'live');
  });

  test.each([
    ['stops reading', 0],
    ['reads one byte per second', 1],
  ])('that %s skips to a keyframe, then is disconnected, and holds up nothing', async (_, bytesPerSecond) => {
    const [key, otherKey] = [newKey(), newKey()];
    let isReading = true;
    await using relay = await listen(socket => {
      const onward = connect(door.port, '127.0.0.1');
      onward.on('error', () => {});
      onward.on('data', bytes => socket.write(bytes));
      socket.on('data', bytes => {
        onward.write(bytes);
        if (isReading || socket.isPaused()) return;
        socket.pause();
        const timer = setInterval(() => readBytes(socket, bytesPerSecond), 1_000);
        socket.on('close', () => clearInterval(timer));
      });
      socket.on('close', () => onward.destroy());
    });
    await using session = startRestreamSession(
      [
        { url: urlOf(relay.port), key },
        { url: urlOf(door.port), key: otherKey },
      ],
      { times: { stallMs: 4_500 } },
    );
    session.play(heavier(tags, 300_000));
    await session.until('media', ({ state }) => state === 'live');
    await waitUntil(() => media(publishersOf(otherKey)[0], 'video').length > 5, { what: 'frames' });
    isReading = false;
    const status = await session.until('a stall', ({ state }) => state === 'retrying');
    expect(status).toMatchObject({
      reason: 'stalled',
      lastError: expect.stringContaining('accepted no data'),
    });
    expect(status.droppedFrames).toBeGreaterThan(0);
    const before = media(publishersOf(otherKey)[0], 'video').length;
    await waitUntil(() => media(publishersOf(otherKey)[0], 'video').length > before + 10, { what: 'frames' });
    expect(session.status(1)).toMatchObject({ state: 'live', retries: 0, droppedFrames: 0 });
  });

  test('that reads slowly skips to keyframes, and stays connected', async () => {
    const key = newKey();
    let isSlow = false;
    await using relay = await listen(socket => {
      const onward = connect(door.port, '127.0.0.1');
      onward.on('error', () => {});
      onward.on('data', bytes => socket.write(bytes));
      socket.on('data', bytes => {
        onward.write(bytes);
        if (!isSlow) return;
        socket.pause();
        setTimeout(() => socket.resume(), 20);
      });
      socket.on('close', () => onward.destroy());
    });
    await using session = startRestreamSession([{ url: urlOf(relay.port), key }], {
      times: { stallMs: 4_500 },
    });
    session.play(heavier(tags, 300_000));
    await session.until('media', ({ state }) => state === 'live');
    isSlow = true;
    await session.until('dropped frames', ({ droppedFrames }) => droppedFrames > 20);
    const before = publishersOf(key)[0]!.tags.length;
    const isResumed = () => {
      const later = publishersOf(key)[0]!
        .tags.slice(before)
        .filter(({ kind }) => kind === 'video');
      const jump = later.findIndex(
        ({ timestampMs }, index) => index > 0 && timestampMs - later[index - 1]!.timestampMs > 100,
      );
      return jump === -1 ? undefined : later[jump];
    };
    expect(isKeyframe(await waitUntil(isResumed, { what: 'frames after those that are missing' }))).toBe(
      true,
    );
    expect(session.status()).toMatchObject({ state: 'live', retries: 0 });
  });

  test('that sends malformed RTMP while it is live is disconnected, and tried again', async () => {
    const key = newKey();
    const sockets = new Set<Socket>();
    await using relay = await listen(socket => {
      const onward = connect(door.port, '127.0.0.1');
      onward.on('error', () => {});
      socket.pipe(onward).pipe(socket);
      socket.on('close', () => onward.destroy());
      sockets.add(socket);
    });
    await using session = startRestreamSession([{ url: urlOf(relay.port), key }]);
    session.play(tags);
    await session.until('media', ({ state }) => state === 'live');
    for (const socket of sockets) socket.write(Buffer.alloc(3_000, 0x2a));
    expect(await session.until('a failure', ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'failed',
      lastError: 'The destination sends malformed RTMP.',
    });
    await session.until('media again', ({ state }) => state === 'live');
    await waitUntil(() => media(publishersOf(key)[1], 'video').length > 5, { what: 'frames again' });
  });

  test('gets HEVC as Enhanced RTMP, byte for byte', async () => {
    const key = newKey();
    // Sends HEVC, which nobody decodes here.
    const hevc = tags.map((tag): FlvTag => {
      if (tag.kind !== 'video') return tag;
      const isKey = isKeyframe(tag) || isConfig(tag);
      const first = (isKey ? 0x90 : 0xa0) | (isConfig(tag) ? 0 : 1);
      return {
        ...tag,
        body: Buffer.concat([Buffer.from([first]), Buffer.from('hvc1'), tag.body.subarray(2)]),
      };
    });
    await using session = startRestreamSession([{ url: urlOf(door.port), key }]);
    session.play(hevc);
    await waitUntil(() => media(publishersOf(key)[0], 'video').length > 20, { what: 'frames' });
    const received = media(publishersOf(key)[0], 'video').map(({ body }) => body.toString('base64'));
    const sent = new Set(hevc.map(({ body }) => body.toString('base64')));
    expect(received.filter(body => !sent.has(body))).toEqual([]);
    expect(session.status()).toMatchObject({ state: 'live', retries: 0 });
  });

  test('that does not speak RTMP is said not to, or times out when it is silent', async () => {
    await using silent = await listen(() => {});
    await using web = await listen(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await using session = startRestreamSession(
      [silent, web].map(({ port }) => ({ url: urlOf(port), key: 'key' })),
      { times: { firstRetryMs: 60_000, maxRetryMs: 60_000 }, dialTimeoutMs: 2_000 },
    );
    session.play(tags);
    const hasFailed = ({ state }: { state: string }) => state === 'retrying';
    expect(await session.until('an answer that is no RTMP', hasFailed, 1)).toMatchObject({
      reason: 'failed',
      lastError: `The server at destination.test:${web.port} does not speak RTMP.`,
    });
    expect(await session.until('the end of its time', hasFailed)).toMatchObject({ reason: 'timed-out' });
  });

  test('that only completes the handshake times out, and one that sends malformed RTMP is disconnected at once', async () => {
    await using mute = await listen(socket => answerHandshake(socket, () => {}));
    await using endless = await listen(socket =>
      answerHandshake(socket, () => {
        // The first chunk of a command (RTMP 5.3.1), then sound for as long as it is read.
        socket.write(
          Buffer.concat([Buffer.from([3, 0, 0, 0, 0, 0, 200, 20, 0, 0, 0, 0]), Buffer.alloc(128)]),
        );
        const sound = Buffer.concat([Buffer.from([5, 0, 0, 0, 0, 0, 128, 8, 0, 0, 0, 0]), Buffer.alloc(128)]);
        const flood = Buffer.concat(Array<Buffer>(500).fill(sound));
        const pour = () => {
          while (!socket.destroyed && socket.write(flood));
        };
        socket.on('drain', pour);
        pour();
      }),
    );
    await using session = startRestreamSession(
      [mute, endless].map(({ port }) => ({ url: urlOf(port), key: 'key' })),
      { times: { acceptMs: 5_000, firstRetryMs: 60_000, maxRetryMs: 60_000 } },
    );
    session.play(tags);
    expect(await session.until('a failure', ({ state }) => state === 'retrying', 1)).toMatchObject({
      reason: 'failed',
      lastError: 'The destination sends malformed RTMP.',
    });
    expect(await session.until('a failure', ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'timed-out',
    });
  });

  test('that has little patience gets a stream whose keyframes are far apart', async ({ onTestFinished }) => {
    const impatient = await startIngest({ handshakeTimeoutMs: 6_000 });
    onTestFinished(() => impatient.server.stop());
    const rare = await recordTags({ seconds: 8, gopSeconds: 8 });
    await using session = startRestreamSession([{ url: urlOf(impatient.port), key: goodKey }]);
    session.play(rare);
    await session.until('media', ({ state }) => state === 'live');
    await waitUntil(() => media(impatient.publishers[0], 'video').length > 40, { what: 'frames' });
    const [config, first] = media(impatient.publishers[0], 'video');
    expect([isConfig(config!), first!.body.equals(rare.find(tag => isKeyframe(tag))!.body)]).toEqual([
      true,
      true,
    ]);
    expect(session.status()).toMatchObject({ retries: 0, lastError: undefined });
  });

  test('that nothing listens at is tried again', async () => {
    const gone = await listen(() => {});
    await gone[Symbol.asyncDispose]();
    await using session = startRestreamSession([{ url: urlOf(gone.port), key: 'key' }]);
    session.play(tags);
    expect(await session.until('two tries', ({ retries }) => retries >= 2)).toMatchObject({
      state: 'retrying',
      reason: 'connection-refused',
    });
  });

  test('whose name is unknown or resolves to a private address is not connected', async () => {
    const key = newKey();
    const lost = async () => {
      throw Object.assign(new Error('queryA ENOTFOUND'), {
        code: 'ENOTFOUND',
        syscall: 'queryA',
        hostname: 'x',
      });
    };
    await using nameless = startRestreamSession([{ url: urlOf(door.port), key }], { resolve: lost });
    await using inside = startRestreamSession([{ url: urlOf(door.port), key }], { allowPrivate: false });
    await using hidden = startRestreamSession([{ url: urlOf(door.port), key }], {
      allowPrivate: false,
      resolve: lost,
    });
    nameless.play(tags);
    inside.play(tags);
    hidden.play(tags);
    expect(await nameless.until('a failure', ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'name-not-found',
      lastError: 'The name destination.test was not found. Check the address of the destination.',
    });
    // The owner of the stream must not learn which names the server's network has.
    for (const session of [inside, hidden]) {
      expect(await session.until('a failure', ({ state }) => state === 'retrying')).toMatchObject({
        reason: 'not-public',
        lastError: expect.stringMatching(
          /^destination\.test is not reachable on the public network\. .*MILLRACE_ALLOW_PRIVATE_TARGETS=true\.$/,
        ),
      });
    }
    expect(publishersOf(key)).toEqual([]);
  });

  test('goes on in the same connection when the publisher is away for a while, and in another when it sends something else', async () => {
    const key = newKey();
    await using session = startRestreamSession([{ url: urlOf(door.port), key }]);
    const first = session.play(tags);
    await waitUntil(() => media(publishersOf(key)[0], 'video').length > 10, { what: 'frames' });
    await first.stop();
    session.disconnectPublisher();
    const before = media(publishersOf(key)[0], 'video').length;
    const second = session.play(tags);
    await waitUntil(() => media(publishersOf(key)[0], 'video').length > before + 10, { what: 'more frames' });
    const times = media(publishersOf(key)[0], 'video').map(({ timestampMs }) => timestampMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(publishersOf(key)).toHaveLength(1);
    await second.stop();
    session.disconnectPublisher();
    session.play(otherTags);
    await waitUntil(() => media(publishersOf(key)[1], 'video').length > 10, { what: 'other frames' });
    const config = otherTags.find(tag => tag.kind === 'video' && isConfig(tag))!;
    const [newConfig, firstFrame] = media(publishersOf(key)[1], 'video');
    expect(newConfig!.body).toEqual(config.body);
    // Nothing is left out while the former connection ends.
    expect(firstFrame!.body.equals(otherTags.find(isKeyframe)!.body)).toBe(true);
    expect(session.status()).toMatchObject({ retries: 0, lastError: undefined });
  });

  test('is told the end when the broadcast ends, and nothing is left', async () => {
    const key = newKey();
    await using session = startRestreamSession([{ url: urlOf(door.port), key }]);
    session.play(tags);
    await waitUntil(() => media(publishersOf(key)[0], 'video').length > 10, { what: 'frames' });
    await session.end();
    expect(session.restreams.ofStream('li-test')).toBeUndefined();
    await waitUntil(() => publishersOf(key)[0]!.closeReasons.length > 0, { what: 'its end' });
    expect(publishersOf(key)[0]!.closeReasons).toEqual(['unpublished']);
  });
});

test('a destination over TLS is sent to when its certificate is of a name that is trusted, and only then', async () => {
  const { cert, key: certKey } = makeSelfSigned('destination.test');
  const secure = await startIngest({
    rtmps: { port: 0, secureContext: () => ({ cert, key: certKey }) },
  });
  onTestFinished(() => secure.server.stop());
  const url = `rtmps://destination.test:${secure.server.rtmpsPort}/live`;
  {
    await using session = startRestreamSession([{ url, key: goodKey }]);
    session.play(tags);
    expect(await session.until('a failure', ({ state }) => state === 'retrying')).toMatchObject({
      reason: 'tls',
      lastError: expect.stringContaining('self-signed certificate'),
    });
  }
  const usual = getCACertificates('default');
  setDefaultCACertificates([...usual, cert]);
  onTestFinished(() => setDefaultCACertificates(usual));
  await using session = startRestreamSession([
    { url, key: goodKey },
    { url: url.replace('destination.test', 'another.test'), key: goodKey },
  ]);
  session.play(tags);
  await waitUntil(() => media(secure.publishers[0], 'video').length > 10, { what: 'frames' });
  expect(secure.publishers[0]!.request).toMatchObject({ protocol: 'rtmps', streamKey: goodKey });
  expect(await session.until('a failure', ({ state }) => state === 'retrying', 1)).toMatchObject({
    reason: 'tls',
    lastError: expect.stringContaining('another.test'),
  });
});

/** The same frames with as many bytes more of filler data in each (H.264 7.3.2.7). */
function heavier(all: readonly FlvTag[], bytes: number): FlvTag[] {
  const filler = Buffer.alloc(4 + bytes, 0xff);
  filler.writeUInt32BE(bytes);
  filler[4] = 12;
  filler[filler.length - 1] = 0x80;
  return all.map(tag =>
    tag.kind === 'video' && !isConfig(tag) ? { ...tag, body: Buffer.concat([tag.body, filler]) } : tag,
  );
}

/** Reads as few bytes as no stream of Node would. */
function readBytes(socket: Socket, count: number): void {
  // Gone shortly before the socket tells of its end.
  const { _handle: handle } = socket as Socket & { _handle: { fd: number } | null };
  if (handle !== null && count > 0) readSync(handle.fd, Buffer.alloc(count));
}
