import { once } from 'node:events';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { type CreatedStream, createLiveStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { isToldOfTheEnd, StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

const productionKey = 'production-key-of-this-test-0123456789';
const flags = { 'live.segmentTarget': '1s' };
let server: TestServer;
/** One that waits for publishers for a shorter time than a busy machine may need to start one. */
let impatient: TestServer;
let tags: FlvTag[];

beforeAll(async () => {
  [server, impatient, tags] = await Promise.all([
    startServer({ ...flags, 'live.reconnectGrace': '60s' }),
    startServer({ ...flags, 'live.reconnectGrace': '3s' }),
    recordTags({ seconds: 10 }),
  ]);
});

afterAll(async () => {
  await Promise.all([server?.stop(), impatient?.stop()]);
});

function publish(stream: CreatedStream, seconds?: number, on = server, gopSeconds = 1): Publisher {
  return publishTestPicture({
    url: on.rtmpUrl(stream.streamKey),
    size: '160x90',
    gopSeconds,
    seconds,
  });
}

const masterUrl = (stream: CreatedStream, on = server) => `${on.baseUrl}/${stream.liveStreamId}.m3u8`;

async function isBroadcasting(stream: CreatedStream, on = server): Promise<boolean> {
  const answer = await on.api('GET', `/live-streams/${stream.liveStreamId}`);
  return ((await answer.json()) as { broadcasting: boolean }).broadcasting;
}

/** State of the newest broadcast of a stream in the database. */
function journalOf(stream: CreatedStream, on = server): { state: string; end_reason: string | null } {
  const database = new Sqlite(join(on.dataDir, 'millrace.db'), { readonly: true });
  try {
    return database
      .prepare('SELECT state, end_reason FROM broadcasts WHERE live_stream_id = ? ORDER BY rowid DESC')
      .get(stream.liveStreamId) as { state: string; end_reason: string | null };
  } finally {
    database.close();
  }
}

describe.concurrent('a publisher that drops', () => {
  test('and reconnects in time continues the same playlist, with stills in between', async () => {
    const stream = await server.createStream();
    await using first = publish(stream);
    const watch = await StreamMonitor.begin(masterUrl(stream));
    await watch.until(({ realSegments }) => realSegments >= 3, 'three segments');
    await first.kill();
    await watch.until(({ latest }) => latest!.segments.at(-1)!.uri.startsWith('still-'), 'a still');
    expect(await isBroadcasting(stream)).toBe(true);
    expect(journalOf(stream).state).toBe('waiting');
    const before = watch.realSegments;

    await using second = publish(stream);
    await watch.until(({ realSegments }) => realSegments >= before + 3, 'segments after the stills');
    expect(journalOf(stream).state).toBe('live');
    const listed = watch.latest!.segments;
    expect(listed.some(({ discontinuity, gap }) => discontinuity || gap)).toBe(false);
    expect(new URL((await StreamMonitor.begin(masterUrl(stream))).mediaUrl).pathname).toBe(
      new URL(watch.mediaUrl).pathname,
    );
    await second.stop();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
  });

  test('and does not reconnect ends the broadcast, and the next publisher begins another', async () => {
    const stream = await impatient.createStream();
    await using first = publish(stream, undefined, impatient);
    const watch = await StreamMonitor.begin(masterUrl(stream, impatient));
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    await first.kill();
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(await isBroadcasting(stream, impatient)).toBe(false);
    expect(journalOf(stream, impatient)).toEqual({ state: 'ended', end_reason: 'publisher-gone' });

    await using second = publish(stream, undefined, impatient);
    const other = await waitUntil(
      async () => {
        const found = await StreamMonitor.begin(masterUrl(stream, impatient));
        await found.stop();
        return found.mediaUrl === watch.mediaUrl ? undefined : found;
      },
      { what: 'another broadcast' },
    );
    expect(other.latest?.mediaSequence).toBe(1);
    await second.stop();
  });

  test('on a silent connection gives way to a new one after three seconds', async () => {
    const stream = await server.createStream();
    const silent = await RtmpClient.connect({ port: server.app.rtmpPort });
    await silent.publish(stream.streamKey);
    const watching = StreamMonitor.begin(masterUrl(stream));
    await replay(
      silent,
      tags.filter(tag => tag.timestampMs < 3000),
    );
    const watch = await watching;
    const taken = await waitUntil(
      async () => {
        const client = await RtmpClient.connect({ port: server.app.rtmpPort });
        const status = await client.publish(stream.streamKey);
        if (status.code === 'NetStream.Publish.Start') return client;
        expect(status.description).toBe(
          'Another encoder is already publishing with this stream key. Stop it first.',
        );
        await client.closed();
        return undefined;
      },
      { everyMs: 250, what: 'the new connection to be taken' },
    );
    expect((await silent.nextStatus()).description).toBe(
      'Another connection is publishing to this live stream.',
    );
    await silent.closed();
    await replay(
      taken,
      tags.filter(tag => tag.timestampMs < 4000),
    );
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(await watch.samples('video')).toHaveLength((3 + 4) * 25);
    taken.destroy();
  });
});

describe.concurrent('a broadcast that is ended over the API', () => {
  test('by complete ends the playlist, disconnects the publisher, and refuses it until it is allowed again', async () => {
    const stream = await server.createStream();
    await using publisher = publish(stream);
    const watch = await StreamMonitor.begin(masterUrl(stream));
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    expect((await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`)).status).toBe(202);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(await isBroadcasting(stream)).toBe(false);
    expect(journalOf(stream)).toEqual({ state: 'ended', end_reason: 'completed' });
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain('The broadcast was ended on the server.');

    await using again = publish(stream);
    expect((await again.exited).code).not.toBe(0);
    expect(again.stderr).toContain(
      'Stop the encoder for a minute, or choose "Allow again" in the dashboard.',
    );
    const path = `/live-streams/${stream.liveStreamId}`;
    const until = expect.stringMatching(/^\d{4}-/);
    expect(await (await server.api('GET', path)).json()).toMatchObject({
      refusedEncoder: { name: expect.stringMatching(/Lavf|FMLE/), address: '127.0.0.1', until },
    });
    const allowed = await server.api('PUT', `${path}/allow-again`);
    expect(allowed.status).toBe(200);
    expect(await allowed.json()).not.toHaveProperty('refusedEncoder');
    await using other = publish(stream);
    await waitUntil(() => isBroadcasting(stream), { what: 'the new broadcast' });
    await other.stop();
  });

  test('by delete ends the playlist, disconnects the publisher, and leaves nothing', async () => {
    const stream = await server.createStream();
    // In segments that are so long, hardly a viewer is between two requests when the broadcast ends.
    await using publisher = publish(stream, undefined, server, 4);
    const watch = await StreamMonitor.begin(masterUrl(stream));
    await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
    const segment = new URL(watch.segments.get(watch.newestMsn)!.uri, watch.mediaUrl);
    const { mediaUrl, newestMsn } = watch;
    const waiting = [1, 2, 2].map(ahead => isToldOfTheEnd(mediaUrl, newestMsn + ahead));
    expect((await server.api('DELETE', `/live-streams/${stream.liveStreamId}`)).status).toBe(204);
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain('This live stream was deleted.');
    for (const url of [masterUrl(stream), watch.mediaUrl, segment]) {
      await waitUntil(async () => (await fetch(url)).status === 404, {
        what: `404 of ${url}`,
      });
    }
    await watch.stop();
    expect(await Promise.all(waiting)).toContain(true);
    expect(await refusalOf(stream.streamKey)).toContain('The stream key is not known.');
  });

  test('complete without a broadcast does nothing', async () => {
    const stream = await server.createStream();
    expect((await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`)).status).toBe(202);
  });
});

test.concurrent('an encoder that stops ends its broadcast, and viewers and listeners hear of it in order', async () => {
  const stream = await impatient.createStream();
  const { liveStreamId } = stream;
  const socket = new WebSocket(`${impatient.baseUrl}/events?subjectId=${liveStreamId}`, {
    auth: `${impatient.productionKey}:`,
  });
  const told: string[] = [];
  socket.on('message', data => {
    const { type, state } = JSON.parse(String(data)) as { type: string; state?: string };
    if (type === 'broadcast.stats' && told.at(-1) !== state) told.push(state!);
    if (type === 'live-stream.broadcast.ended') told.push('ended');
  });
  await once(socket, 'open');
  await using publisher = publish(stream, undefined, impatient);
  const watch = await StreamMonitor.begin(masterUrl(stream, impatient));
  await watch.until(({ realSegments }) => realSegments >= 2, 'two segments');
  await waitUntil(() => told.includes('live'));
  await publisher.stop();
  await watch.untilEnd();
  expect(await watch.brokenRules()).toEqual([]);
  await waitUntil(() => told.includes('ended'));
  expect(told).toEqual(['live', 'stopping', 'ended']);
  expect(await isBroadcasting(stream, impatient)).toBe(false);
  expect(journalOf(stream, impatient)).toEqual({ state: 'ended', end_reason: 'publisher-stopped' });
  socket.terminate();
});

const isBetween = (min: number, value: unknown, max: number) => Number(value) > min && Number(value) < max;

describe.concurrent('who listens to events', () => {
  test('gets the start of a broadcast, statistics each second, the loss of its publisher, and its end', async () => {
    const stream = await server.createStream();
    const { liveStreamId } = stream;
    const socket = new WebSocket(`${server.baseUrl}/events?subjectId=${liveStreamId}`, {
      auth: `${server.productionKey}:`,
    });
    const messages: Record<string, unknown>[] = [];
    socket.on('message', data => messages.push(JSON.parse(String(data))));
    await once(socket, 'open');
    const heard = (what: (message: Record<string, unknown>) => boolean, count = 1) =>
      waitUntil(
        () => {
          const found = messages.filter(what);
          return found.length >= count && found;
        },
        { what: () => `${what}, not ${JSON.stringify(messages)}` },
      );
    await using publisher = publish(stream);
    await heard(({ type }) => type === 'live-stream.broadcast.started');
    const watch = await StreamMonitor.begin(masterUrl(stream));
    // A busy machine does not publish in step.
    const [stats] = await heard(
      ({ type, viewers, durationSeconds, framesPerSecond, bitrateBitsPerSecond }) =>
        type === 'broadcast.stats' &&
        viewers === 1 &&
        Number(durationSeconds) >= 3 &&
        isBetween(15, framesPerSecond, 60) &&
        isBetween(20_000, bitrateBitsPerSecond, 5_000_000),
    );
    expect(stats).toMatchObject({
      liveStreamId,
      broadcastId: expect.any(String),
      state: 'live',
      droppedFrames: 0,
      keyframeIntervalSeconds: expect.closeTo(1, 2),
    });
    await publisher.kill();
    await heard(
      ({ state, framesPerSecond, bitrateBitsPerSecond }) =>
        state === 'waiting' && framesPerSecond === 0 && bitrateBitsPerSecond === 0,
    );
    await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
    const [ended] = await heard(({ type }) => type === 'live-stream.broadcast.ended');
    expect(ended).toMatchObject({ liveStreamId, eventId: expect.stringMatching(/^\d+$/) });
    await watch.stop();
    socket.terminate();
  });
});

/** Reason that a publisher with this key is told. */
async function refusalOf(streamKey: string): Promise<string> {
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  const { level, description } = await client.publish(streamKey);
  await client.closed();
  return `${level}: ${description}`;
}

describe.concurrent('who may not publish', () => {
  test('a second publisher gets a reason, and the first one is not disturbed', async () => {
    const stream = await server.createStream();
    await using first = publish(stream, 6);
    const watch = await StreamMonitor.begin(masterUrl(stream));
    // An ffmpeg may take longer to start than the first one publishes.
    expect(await refusalOf(stream.streamKey)).toBe(
      'error: Another encoder is already publishing with this stream key. Stop it first.',
    );
    expect(await first.exited).toMatchObject({ code: 0 });
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(await watch.samples('video')).toHaveLength(6 * 30);
  });

  test('an unknown key is refused with a reason, which the log of each live stream tells there', async () => {
    expect(await refusalOf('5f0f2c1e-7a44-4d0c-9b5e-2f6b1d9c8e37')).toBe(
      "error: The stream key is not known. Check the key in your encoder's settings.",
    );
    const { liveStreamId } = await server.createStream();
    const log = await server.api('GET', `/live-streams/${liveStreamId}/ingest-log`);
    expect(await log.json()).toMatchObject({
      data: [{ type: 'refused', reason: 'unknown-key', address: '127.0.0.1' }],
    });
  });
});

describe('accounts', () => {
  function setAccount(column: 'is_suspended' | 'is_upgraded', value: 0 | 1): void {
    const database = new Sqlite(join(server.dataDir, 'millrace.db'));
    database.prepare(`UPDATE accounts SET ${column} = ?`).run(value);
    database.close();
  }

  test('a suspended account may not publish', async () => {
    const stream = await server.createStream();
    setAccount('is_suspended', 1);
    try {
      expect(await refusalOf(stream.streamKey)).toBe(
        'error: This account is suspended. Ask the operator of the server.',
      );
    } finally {
      setAccount('is_suspended', 0);
    }
  });

  test('an account that is not upgraded may publish to the sandbox only', async () => {
    const production = await createLiveStream(server.baseUrl, productionKey, 'production');
    const sandbox = await createLiveStream(server.baseUrl, server.sandboxKey, 'a trial');
    setAccount('is_upgraded', 0);
    try {
      expect(await refusalOf(production.streamKey)).toBe(
        'error: This account cannot use production. Use a sandbox live stream, or upgrade the account.',
      );
      const client = await RtmpClient.connect({ port: server.app.rtmpPort });
      expect((await client.publish(sandbox.streamKey)).code).toBe('NetStream.Publish.Start');
      await client.close();
    } finally {
      setAccount('is_upgraded', 1);
    }
  });
});
