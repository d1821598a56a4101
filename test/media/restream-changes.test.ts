import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';
import { decodeVideo } from './decoded.ts';

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly rendition?: string;
  readonly since?: string;
  readonly reason?: string;
  readonly retries?: number;
  readonly droppedFrames?: number;
}

/** The only rendition below the source. */
const half = { name: '240p', width: 160, height: 90, bitsPerSecond: 200_000 };

let here: TestServer;
let there: TestServer;

beforeAll(async () => {
  const quick = { 'live.segmentTarget': '1s', 'live.stopGrace': '1s' };
  [here, there] = await Promise.all([
    startServer(
      { ...quick, allowPrivateTargets: 'true' },
      { sandboxRules: { maxRestreamMs: 2_000 }, liveSteps: () => [half] },
    ),
    startServer(quick),
  ]);
});

afterAll(async () => {
  await Promise.all([here?.stop(), there?.stop()]);
});

const authorization = (key: string) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`;

/** A live stream of `here`, and what it is sent to. */
function controlOf({ liveStreamId }: CreatedStream, key: string) {
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`${here.baseUrl}/live-streams/${liveStreamId}${path}`, {
      method,
      headers: { authorization: authorization(key) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    expect(answer.status).toBeLessThan(300);
    return answer.json() as Promise<unknown>;
  };
  const shown = async () => ((await ask('GET', '/restreams')) as { data: Shown[] }).data;
  let last: readonly Shown[] = [];
  return {
    shown,
    change: (restreams: readonly object[]) => ask('PATCH', '', { restreams }),
    until: (index: number, state: string) =>
      waitUntil(
        async () => {
          last = await shown();
          return last[index]?.state === state ? last[index] : undefined;
        },
        { what: () => `${state} at ${index}: ${JSON.stringify(last)}`, everyMs: 50 },
      ),
  };
}

function destinationOf(name: string, { streamKey }: CreatedStream, change: object = {}) {
  return { name, serverUrl: `rtmp://localhost:${there.app.rtmpPort}/s`, streamKey, ...change };
}

async function untilThere({ liveStreamId }: CreatedStream, isLive: boolean): Promise<void> {
  const isAsExpected = async () => {
    const answer = await there.api('GET', `/live-streams/${liveStreamId}`);
    return ((await answer.json()) as { broadcasting: boolean }).broadcasting === isLive;
  };
  await waitUntil(isAsExpected, { what: `a broadcast that is ${isLive ? 'live' : 'over'}`, everyMs: 50 });
}

function publish(stream: CreatedStream, size = '160x90') {
  return publishTestPicture({ url: here.rtmpUrl(stream.streamKey), size, gopSeconds: 1 });
}

describe.concurrent('a broadcast', () => {
  test('gets, changes and loses destinations while it is live, and the others never notice', async () => {
    const stream = await here.createStream();
    const [steady, one, other] = await Promise.all([1, 2, 3].map(() => there.createStream()));
    const { shown, change, until } = controlOf(stream, here.productionKey);
    const socket = new WebSocket(`${here.baseUrl.replace('http', 'ws')}/events`, {
      headers: { authorization: authorization(here.productionKey) },
    });
    const told: Record<string, unknown>[] = [];
    socket.on('message', data => told.push(JSON.parse(String(data))));
    await once(socket, 'open');
    await using publisher = publish(stream!);
    const source = await StreamMonitor.begin(`${here.baseUrl}/${stream!.liveStreamId}.m3u8`);
    await source.until(({ realSegments }) => realSegments >= 1, 'a broadcast without destinations');

    const kept = destinationOf('Steady', steady!);
    await change([kept]);
    const { since } = await until(0, 'live');
    const mirror = await StreamMonitor.begin(`${there.baseUrl}/${steady!.liveStreamId}.m3u8`);

    await change([kept, destinationOf('Other', one!)]);
    await until(1, 'live');
    await untilThere(one!, true);

    await change([kept, destinationOf('Other', one!, { enabled: false })]);
    await until(1, 'disabled');
    await untilThere(one!, false);
    const isToldOff = () => told.some(({ position, state }) => position === 1 && state === 'disabled');
    await waitUntil(isToldOff, { what: 'the state in the feed' });

    await change([kept, destinationOf('Other', one!, { enabled: true })]);
    const enabled = await until(1, 'live');
    await untilThere(one!, true);

    await change([destinationOf('Renamed', one!), { ...kept, rendition: 'source' }]);
    expect(await shown()).toMatchObject([
      { name: 'Renamed', state: 'live', since: enabled.since },
      { name: 'Steady', state: 'live', since },
    ]);

    await change([destinationOf('Renamed', other!), kept]);
    await until(0, 'live');
    await Promise.all([untilThere(other!, true), untilThere(one!, false)]);

    await change([kept]);
    await untilThere(other!, false);
    expect(await shown()).toMatchObject([
      { name: 'Steady', state: 'live', since, retries: 0, droppedFrames: 0 },
    ]);

    await here.api('PUT', `/live-streams/${stream!.liveStreamId}/complete`);
    await source.until(({ latest }) => latest!.endList, 'the end');
    await mirror.until(({ latest }) => latest!.endList, 'the end there');
    socket.terminate();
    expect(told.filter(({ type }) => type === 'live-stream.restream.stopped')).toEqual([]);
    const [sent, received] = await Promise.all([decodeVideo(source.mediaUrl), decodeVideo(mirror.mediaUrl)]);
    // Stills at the end repeat pictures.
    const [pictures, copies] = [sent, received].map(frames => [...new Set(frames.map(({ hash }) => hash))]);
    const places = copies!.map(hash => pictures!.indexOf(hash));
    expect(places).toEqual(places.map((_, index) => pictures!.indexOf(copies![0]!) + index));
    await publisher.stop();
  });

  test('gives each destination the rendition that is chosen, and the source for one that is not encoded', async () => {
    const stream = await here.createStream();
    const [steady, target] = await Promise.all([1, 2].map(() => there.createStream()));
    const { shown, change, until } = controlOf(stream, here.productionKey);
    const kept = destinationOf('Steady', steady!);
    await here.api('PATCH', `/live-streams/${stream.liveStreamId}`, { qualities: 'ladder' });
    await change([kept, destinationOf('Other', target!, { rendition: '240p' })]);
    await using publisher = publish(stream, '320x180');
    const { since } = await until(0, 'live');
    const untilWide = (width: number) =>
      waitUntil(
        async () => {
          const answer = await there.api('GET', `/live-streams/${target!.liveStreamId}/health`);
          return ((await answer.json()) as { width?: number }).width === width;
        },
        { what: `a picture that is ${width} wide`, everyMs: 50 },
      );
    await untilWide(160);
    expect(await until(1, 'live')).toMatchObject({ rendition: '240p' });

    await change([kept, destinationOf('Other', target!, { rendition: '360p' })]);
    await untilWide(320);
    expect(await until(1, 'live')).toMatchObject({ rendition: 'source' });

    await change([kept, destinationOf('Other', target!, { rendition: '240p' })]);
    await untilWide(160);
    expect(await shown()).toMatchObject([
      { rendition: 'source', state: 'live', since, retries: 0, droppedFrames: 0 },
      { rendition: '240p' },
    ]);
    await publisher.stop();
  });

  test('of the sandbox gives a destination no more time when it is switched off and on', async () => {
    const key = here.sandboxKey;
    const created = await fetch(`${here.baseUrl}/live-streams`, {
      method: 'POST',
      headers: { authorization: authorization(key) },
      body: JSON.stringify({ name: 'Sandbox' }),
    });
    const stream = (await created.json()) as CreatedStream;
    const [target, other] = await Promise.all([1, 2].map(() => there.createStream()));
    const { shown, change, until } = controlOf(stream, key);
    const broadcastsThere = async () => {
      const answer = await there.api('GET', `/live-streams/${target!.liveStreamId}/broadcasts`);
      return ((await answer.json()) as { data: object[] }).data.length;
    };
    await using publisher = publish(stream);
    const destination = destinationOf('Mirror', target!);
    await change([destination]);
    await until(0, 'live');
    expect((await until(0, 'stopped')).reason).toBe('sandbox-limit');
    await untilThere(target!, false);

    for (const changes of [{ name: 'Another' }, { rendition: '240p' }, {}]) {
      await change([{ ...destination, ...changes, enabled: false }]);
      expect(await shown()).toMatchObject([{ state: 'disabled' }]);
      await change([{ ...destination, ...changes }]);
      expect(await shown()).toMatchObject([{ state: 'stopped', reason: 'sandbox-limit' }]);
    }
    await change([destination, destinationOf('Other', other!)]);
    await until(1, 'live');
    expect(await shown()).toMatchObject([{ state: 'stopped' }, { state: 'live' }]);
    expect(await broadcastsThere()).toBe(1);
    await publisher.stop();
  });
});
