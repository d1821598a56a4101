import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLiveStream, startServerProcess } from '../../scripts/server-process.ts';
import type { LadderConfig } from '../../src/live/transcode/ladder-config.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import type { SandboxLimits } from '../../src/shared/sandbox-limits.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { type LogLine, recordingLogger } from '../support/ingest-client.ts';
import { descendantsOf, isAlive } from '../support/processes.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readRows } from './vod-server-fixture.ts';

/** One small rung, so that the machine keeps up. */
const liveSteps: LadderConfig['renditionsFor'] = () => [
  { name: '100p', width: 178, height: 100, bitsPerSecond: 200_000 },
];
const sourceSeconds = 4;
const graceSeconds = 3;
const everything = {
  'live.segmentTarget': '1s',
  'live.slate': 'last-frame',
  'live.qualities': 'ladder',
  'live.reconnectGrace': `${graceSeconds}s`,
  'recording.enabled': 'true',
  'encode.preset': 'ultrafast',
  'rateLimit.reads': '60000',
  allowPrivateTargets: 'true',
};
const sandboxRules: Partial<SandboxLimits> = {
  maxBroadcastMs: 7000,
  maxRecordingMs: 1500,
  maxRestreamMs: 1000,
};

let server: TestServer;
let tags: FlvTag[];
let dataDir: string;
const log: LogLine[] = [];
const hooks: { readonly type: string; readonly liveStreamId?: string }[] = [];
const receiver = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  hooks.push(JSON.parse(body) as (typeof hooks)[number]);
  response.end();
});

beforeAll(async () => {
  dataDir = await makeTempDir();
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  [server, tags] = await Promise.all([
    startServer(everything, { dataDir, log: recordingLogger(log), liveSteps, sandboxRules }),
    recordTags({ seconds: sourceSeconds, size: '320x180' }),
  ]);
  const events = [
    ...['broadcast.started', 'broadcast.ended', 'restream.stopped', 'alarm.raised'].map(
      name => `live-stream.${name}`,
    ),
    ...['video.source.recorded', 'video.encoding.quality.completed'],
  ];
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  for (const key of [server.productionKey, server.sandboxKey])
    await ask('POST', '/webhooks', { url, events }, key);
});

afterAll(async () => {
  await server?.stop();
  receiver.closeAllConnections();
  receiver.close();
  await removeDir(dataDir);
});

async function ask<Answer>(
  method: string,
  path: string,
  body?: unknown,
  key = server.productionKey,
): Promise<Answer> {
  const answer = await fetch(`${server.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Answer;
}

interface Stream {
  readonly liveStreamId: string;
  readonly streamKey: string;
  readonly assets: { readonly hls: string };
}

interface Broadcast {
  readonly state: string;
  readonly endReason?: string;
  readonly droppedConnections?: number;
}

interface Video {
  readonly videoId: string;
}

interface Status {
  readonly encoding: {
    readonly playable: boolean;
    readonly metadata: { readonly duration: number };
    readonly qualities: readonly {
      readonly type: string;
      readonly quality: string;
      readonly status: string;
    }[];
  };
}

/** Destination that works: another stream, passed through. */
const newMirror = () => ask<Stream>('POST', '/live-streams', { name: 'Mirror', qualities: 'passthrough' });

/** A stream with two destinations: one that takes it, and one where nobody is. */
async function streamWithAll({
  key,
  ...attributes
}: {
  public?: boolean;
  qualities?: string;
  key?: string;
} = {}) {
  const mirror = await newMirror();
  const restreams = [
    { name: 'good', serverUrl: `rtmp://127.0.0.1:${server.app.rtmpPort}/s`, streamKey: mirror.streamKey },
    { name: 'dead', serverUrl: 'rtmp://127.0.0.1:9/s', streamKey: 'key-of-the-dead-one' },
  ];
  const name = 'All at once';
  const stream = await ask<Stream>('POST', '/live-streams', { name, restreams, ...attributes }, key);
  return { stream, mirror };
}

const dataOf = async <Item>(path: string, key?: string) =>
  (await ask<{ data: Item[] }>('GET', path, undefined, key)).data;
const broadcastsOf = ({ liveStreamId }: Stream, key?: string) =>
  dataOf<Broadcast>(`/live-streams/${liveStreamId}/broadcasts`, key);
const videosOf = (liveStreamId: string, key?: string) =>
  dataOf<Video>(`/videos?liveStreamId=${liveStreamId}`, key);
const statusOf = ({ videoId }: Video, key?: string) =>
  ask<Status>('GET', `/videos/${videoId}/status`, undefined, key);
const hooksOf = ({ liveStreamId }: Stream) =>
  hooks.filter(hook => hook.liveStreamId === liveStreamId).map(({ type }) => type);

async function publishAll({ streamKey }: Stream, sent = tags): Promise<RtmpClient> {
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  expect((await client.publish(streamKey)).code).toBe('NetStream.Publish.Start');
  await replay(client, sent);
  return client;
}

function untilSome<Item>(list: () => Promise<Item[]>, what: string): Promise<Item[]> {
  return waitUntil(
    async () => {
      const items = await list();
      return items.length > 0 && items;
    },
    { what },
  );
}

describe.concurrent('ladder, recording, restreams, rewind and slate at once', () => {
  test('a private broadcast whose publisher is killed, reconnects, and stops', async () => {
    const { stream, mirror } = await streamWithAll({ public: false });
    const { hls } = (await ask<Stream>('GET', `/live-streams/${stream.liveStreamId}`)).assets;
    const watching = StreamMonitor.beginAll(server.baseUrl + new URL(hls).pathname);
    const first = await publishAll(stream);
    const watches = await watching;
    expect([...watches.keys()].toSorted()).toEqual(['100p', 'audio', 'source']);
    first.socket.resetAndDestroy();
    const shown = watches.get('source')!.realSegments;
    await watches.get('100p')!.until(({ realSegments }) => realSegments >= shown + 1, 'a slate');
    const second = await publishAll(stream);
    await waitUntil(async () => (await broadcastsOf(mirror))[0]?.state === 'live', { what: 'the mirror' });
    second.destroy();

    for (const watch of watches.values()) await watch.untilEnd();
    const videos = await untilSome(() => videosOf(stream.liveStreamId), 'a recording');
    await waitUntil(async () => (await statusOf(videos[0]!)).encoding.playable, {
      what: 'the recording to be playable',
    });
    for (const watch of watches.values()) expect(await watch.brokenRules()).toEqual([]);
    expect(await broadcastsOf(stream)).toMatchObject([
      { state: 'ended', endReason: 'publisher-gone', droppedConnections: 2 },
    ]);
    expect(videos).toHaveLength(1);
    expect((await statusOf(videos[0]!)).encoding.metadata.duration).toBe(2 * sourceSeconds);
    // The mirror waits in its own grace, or has just ended; it was never anything but one broadcast.
    expect(await broadcastsOf(mirror)).toHaveLength(1);
    await waitUntil(
      async () => (await statusOf(videos[0]!)).encoding.qualities.every(({ status }) => status === 'encoded'),
      { what: 'all qualities of the recording', timeoutMs: encodeTimeoutMs },
    );
    await waitUntil(() => hooksOf(stream).length >= 5, { what: () => `all hooks: ${hooksOf(stream)}` });
    expect(hooksOf(stream).slice(0, 3)).toEqual([
      'live-stream.broadcast.started',
      'live-stream.broadcast.ended',
      'video.source.recorded',
    ]);
    expect(new Set(hooksOf(stream).slice(3))).toEqual(new Set(['video.encoding.quality.completed']));
  });

  test('a deleted stream leaves its recording only', async () => {
    const { stream } = await streamWithAll();
    const publishing = publishAll(stream);
    await waitUntil(() => hooksOf(stream).includes('live-stream.broadcast.started'));
    await waitUntil(() => existsSync(join(dataDir, 'live', stream.liveStreamId)));
    await ask('DELETE', `/live-streams/${stream.liveStreamId}`);
    await publishing;
    const videos = await untilSome(() => videosOf(stream.liveStreamId), 'what was recorded');
    expect(videos).toHaveLength(1);
    expect((await fetch(`${server.baseUrl}/${stream.liveStreamId}.m3u8`)).status).toBe(404);
    await waitUntil(() => !existsSync(join(dataDir, 'live', stream.liveStreamId)));
    await waitUntil(() => hooksOf(stream).includes('video.source.recorded'));
    expect(hooksOf(stream).filter(type => type.startsWith('live-stream.broadcast'))).toHaveLength(2);
  });

  test('broadcasts in immediate succession are separate, each with its recording', async () => {
    const { stream } = await streamWithAll({ qualities: 'passthrough' });
    const short = tags.filter(({ timestampMs }) => timestampMs < 1500);
    for (let count = 0; count < 3; count += 1) {
      await publishAll(stream, short);
      await ask('PUT', `/live-streams/${stream.liveStreamId}/complete`);
      await ask('PUT', `/live-streams/${stream.liveStreamId}/allow-again`);
    }
    await waitUntil(async () => (await videosOf(stream.liveStreamId)).length === 3, { what: 'three videos' });
    expect((await broadcastsOf(stream)).map(({ endReason }) => endReason)).toEqual(
      Array(3).fill('completed'),
    );
    await waitUntil(() => hooksOf(stream).filter(type => type.endsWith('broadcast.ended')).length === 3);
    expect(hooksOf(stream).filter(type => type.endsWith('broadcast.started'))).toHaveLength(3);
  });

  test('sandbox broadcasts, recordings and restreams end at their time limits', async () => {
    const key = server.sandboxKey;
    const { stream, mirror } = await streamWithAll({ key });
    const client = await publishAll(stream);
    await replay(client, tags, { timestampOf: ({ timestampMs }) => timestampMs + sourceSeconds * 1000 });
    const [ended] = await waitUntil(async () => {
      const broadcasts = await broadcastsOf(stream, key);
      return broadcasts[0]?.state === 'ended' && broadcasts;
    });
    expect(ended).toMatchObject({ endReason: 'sandbox-limit' });
    await waitUntil(() => client.isClosed, { what: 'the end of the connection' });
    const [video] = await untilSome(() => videosOf(stream.liveStreamId, key), 'a recording');
    const { duration } = await waitUntil(async () => (await statusOf(video!, key)).encoding.metadata);
    expect(duration).toBeLessThanOrEqual(2);
    expect(await broadcastsOf(mirror)).toHaveLength(1);
    await waitUntil(() => hooksOf(stream).includes('live-stream.restream.stopped'));
  });
});

test("nothing runs on afterwards, and the log has no errors, no keys, and only the dead destination's warnings", async () => {
  await waitUntil(() => server.app.ffmpegProcesses() === 0, {
    what: () => `the end of ${server.app.ffmpegProcesses()} processes`,
    timeoutMs: encodeTimeoutMs,
  });
  // The machine's limit on open files and its ffmpegs are no concern of this test, and neither is media that is late on a busy machine.
  const expected = new Set([
    'descriptor-limit-low',
    'ffmpeg-not-maintained',
    'restream-failed',
    'alarm-raised',
    'encoding-paused',
    'keyframe-interval-too-long',
    'publish-refused',
  ]);
  const loud = log.filter(({ level, event }) => /warn|error/.test(level) && !expected.has(event));
  expect(loud).toEqual([]);
  const told = JSON.stringify(log.filter(({ level }) => level !== 'debug'));
  expect(told).not.toContain('key-of-the-dead-one');
});

test('a killed server takes its processes along, and repairs its state at the next start', async () => {
  const folder = await makeTempDir();
  const env = {
    MILLRACE_LIVE_SEGMENT_TARGET: '1s',
    MILLRACE_LIVE_QUALITIES: 'ladder',
    MILLRACE_LIVE_SLATE: 'last-frame',
    MILLRACE_ENCODE_PRESET: 'ultrafast',
    MILLRACE_ALLOW_PRIVATE_TARGETS: 'true',
  };
  const killed = await startServerProcess({ dataDir: folder, env });
  const mirror = await newMirror();
  const restreams = [
    { name: 'good', serverUrl: `rtmp://127.0.0.1:${server.app.rtmpPort}/s`, streamKey: mirror.streamKey },
  ];
  const stream = await createLiveStream(killed.baseUrl, killed.productionKey, 'Cut off', { restreams });
  await using publisher = publishTestPicture({
    url: `rtmp://127.0.0.1:${killed.rtmpPort}/s/${stream.streamKey}`,
    size: '480x270',
    gopSeconds: 1,
    fps: 15,
  });
  await waitUntil(async () => (await broadcastsOf(mirror))[0]?.state === 'live', {
    what: 'the mirror',
  });
  const recorded = () =>
    readdirSync(join(folder, 'vod')).some(
      name =>
        (statSync(join(folder, 'vod', name, 'recording-1.mp4'), { throwIfNoEntry: false })?.size ?? 0) >
        20_000,
    );
  await waitUntil(recorded, { what: 'a recording of more than its first part' });
  const master = `${killed.baseUrl}/${stream.liveStreamId}.m3u8`;
  const hasSegment = async () => {
    const uri = /^.*\/source\/index\.m3u8$/m.exec(await (await fetch(master)).text())?.[0] ?? '';
    return /^segment-/m.test(await (await fetch(new URL(uri, master))).text());
  };
  await waitUntil(hasSegment, { what: 'a whole segment' });
  const children = descendantsOf(killed.child.pid!);
  // The encoder of the ladder.
  expect(children.length).toBeGreaterThanOrEqual(1);
  killed.child.kill('SIGKILL');
  await Promise.all([killed.exited, publisher.exited]);
  await waitUntil(() => !children.some(isAlive), {
    what: 'the end of its processes',
  });

  const again = await startServerProcess({ dataDir: folder, env });
  try {
    await waitUntil(() => readRows(folder, 'SELECT * FROM recordings').length === 0, {
      what: 'the recording',
    });
    expect(readRows(folder, 'SELECT end_reason FROM broadcasts')).toEqual([{ end_reason: 'server-crashed' }]);
    expect(readRows(folder, 'SELECT is_playable FROM video_encodings')).toEqual([{ is_playable: 1 }]);
    await waitUntil(() => !existsSync(join(folder, 'live', stream.liveStreamId)));
    expect(again.lines.filter(line => line.includes('"level":"error"'))).toEqual([]);
  } finally {
    await again.stop();
    await removeDir(folder);
  }
});
