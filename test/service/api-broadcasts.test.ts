import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { BroadcastHistory } from '../../src/resources/live/broadcasts/broadcast-history.ts';
import type { IngestHealthSources } from '../../src/resources/live/broadcasts/broadcasts.service.ts';
import { BroadcastsStore } from '../../src/resources/live/broadcasts/broadcasts.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';

const minute = 60_000;
const start = Date.parse('2026-03-04T05:06:07Z');

let server: TestApi;
let history: BroadcastHistory;
const healthHistory = vi.fn<IngestHealthSources['history']>();
const ingestLog = vi.fn<NonNullable<IngestHealthSources['log']>>(() => ({
  connecting: undefined,
  entries: [],
}));
beforeAll(async () => {
  server = await startApi({
    ingestHealth: { health: () => undefined, history: healthHistory, log: ingestLog },
  });
  history = new BroadcastHistory(server.database, new Outbox(server.database, silentLogger), {
    nowMs: () => start + 1000,
    monotonicMs: () => 0,
  });
});
afterAll(() => server.stop());

async function newStream(): Promise<string> {
  const { json } = await server.call('POST', '/live-streams', { body: { name: 'A stream' } });
  return json.liveStreamId;
}

async function open(liveStreamId: string, startedAtMs: number, encoder = ''): Promise<string> {
  return history.opened({
    liveStreamId,
    projectId: await sandboxProjectOf(server.database),
    state: 'starting',
    startedAtMs,
    protocol: 'rtmp',
    remoteAddress: '192.0.2.1',
    encoder,
  });
}

const health = {
  averageBitrateBitsPerSecond: 2_600_000,
  peakBitrateBitsPerSecond: 3_100_000,
  averageFramesPerSecond: 29.97,
  longestKeyframeIntervalSeconds: 2.002,
  droppedFrames: 0,
  missingFrames: 12,
  droppedConnections: 1,
  awaySeconds: 4.2,
};

describe('a live stream', () => {
  it('tells its newest broadcast and how many recordings it has, alone and in the list', async () => {
    const [stream, idle] = [await newStream(), await newStream()];
    const first = await open(stream, start);
    await history.ended(first, start + minute, 'completed', health);
    const second = await open(stream, start + 2 * minute);
    const views = async () => {
      const { json } = await server.call('GET', '/live-streams?pageSize=100');
      const listed = json.data.find((one: { liveStreamId: string }) => one.liveStreamId === stream);
      const alone = (await server.call('GET', `/live-streams/${stream}`)).json;
      return [listed, alone].map(({ lastBroadcast, recordings }) => ({ lastBroadcast, recordings }));
    };
    const running = { lastBroadcast: { startedAt: '2026-03-04T05:08:07+00:00' }, recordings: undefined };
    expect(await views()).toEqual([running, running]);
    await history.ended(second, start + 3 * minute, 'completed', health);
    const videos = [];
    for (const title of ['One', 'Two', 'Discarded', 'Of nothing'])
      videos.push((await server.call('POST', '/videos', { body: { title } })).json.videoId);
    const { queries } = server.database;
    await server.database.run(
      queries.updateTable('videos').set({ live_stream_id: stream }).where('id', 'in', videos.slice(0, 3)),
    );
    await server.call('DELETE', `/videos/${videos[2]}`);
    const ended = { startedAt: '2026-03-04T05:08:07+00:00', endedAt: '2026-03-04T05:09:07+00:00' };
    const both = { lastBroadcast: ended, recordings: 2 };
    expect(await views()).toEqual([both, both]);
    const { json } = await server.call('GET', `/live-streams/${idle}`);
    expect(json).not.toHaveProperty('lastBroadcast');
    expect(json).not.toHaveProperty('recordings');
  });
});

describe('the broadcasts of a live stream', () => {
  it('are told newest first, with what was known at the end of each', async () => {
    const stream = await newStream();
    const first = await open(stream, start, 'obs');
    await history.changed(first, { state: 'live', videoCodec: 'avc1.64001f', width: 1280, height: 720 });
    await history.ended(first, start + minute, 'completed', health);
    const second = await open(stream, start + 2 * minute);
    const { json } = await server.call('GET', `/live-streams/${stream}/broadcasts`);
    expect(json.pagination).toMatchObject({ itemsTotal: 2, currentPage: 1 });
    expect(json.data).toEqual([
      { broadcastId: second, state: 'starting', startedAt: '2026-03-04T05:08:07+00:00', protocol: 'rtmp' },
      {
        broadcastId: first,
        state: 'ended',
        startedAt: '2026-03-04T05:06:07+00:00',
        liveAt: '2026-03-04T05:06:08+00:00',
        endedAt: '2026-03-04T05:07:07+00:00',
        endReason: 'completed',
        protocol: 'rtmp',
        encoder: 'obs',
        videoCodec: 'avc1.64001f',
        width: 1280,
        height: 720,
        ...health,
      },
    ]);
    const oldest = `/live-streams/${stream}/broadcasts?sortBy=startedAt&sortOrder=asc&pageSize=1&currentPage=`;
    const pages = await Promise.all([1, 2, 3].map(page => server.call('GET', `${oldest}${page}`)));
    expect(pages.map(page => page.json.data.map((one: { broadcastId: string }) => one.broadcastId))).toEqual([
      [first],
      [second],
      [],
    ]);
  });

  it('are forgotten 30 days after their end, and beyond the newest 500', async () => {
    const stream = await newStream();
    const running = await open(stream, start);
    for (let index = 1; index <= 520; index += 1) {
      const startedAtMs = start + index * minute;
      await history.ended(await open(stream, startedAtMs), startedAtMs + 1, 'publisher-gone');
    }
    const total = async () =>
      (await server.call('GET', `/live-streams/${stream}/broadcasts?pageSize=1`)).json.pagination.itemsTotal;
    expect(await total()).toBe(501);
    const store = new BroadcastsStore(server.database);
    await store.removeBefore(start + 511 * minute);
    expect(await total()).toBe(11);
    await history.ended(running, start, 'server-crashed');
    await store.removeBefore(start + 600 * minute);
    expect(await total()).toBe(0);
  });

  it.each(['broadcasts', 'health', 'health/history', 'ingest-log'])(
    'and their %s are nobody else’s',
    async what => {
      const stream = await newStream();
      const { sandboxKey } = await server.addAccount();
      const answer = await server.call('GET', `/live-streams/${stream}/${what}`, { key: sandboxKey });
      expect([answer.status, answer.json.name]).toEqual([404, 'liveStreamId']);
    },
  );
});

it('a live stream that does not broadcast has no health and no alarms', async () => {
  const { json } = await server.call('GET', `/live-streams/${await newStream()}/health`);
  expect(json).toEqual({ broadcasting: false, alarms: [] });
});

it('the ingest log tells who connected and why others were refused', async () => {
  const stream = await newStream();
  const encoder = { protocol: 'rtmp', encoder: '', address: '192.0.2.1' };
  const refusal = { reason: 'already-publishing', message: 'Stop the other one first.', times: 3 };
  const told = {
    connecting: { protocol: 'rtmp', encoder: '', waitingFor: 'keyframe' },
    entries: [
      { atMs: start, type: 'refused', ...encoder, ...refusal },
      { atMs: start + 1000, type: 'connected', ...encoder, encoder: 'OBS' },
    ],
  } as const;
  ingestLog.mockReturnValueOnce(told);
  const { json } = await server.call('GET', `/live-streams/${stream}/ingest-log`);
  expect(ingestLog).toHaveBeenLastCalledWith(stream, '127.0.0.1');
  expect(json).toEqual({
    connecting: { protocol: 'rtmp', waitingFor: 'keyframe' },
    data: [
      {
        happenedAt: '2026-03-04T05:06:07+00:00',
        type: 'refused',
        protocol: 'rtmp',
        address: '192.0.2.1',
        ...refusal,
      },
      { happenedAt: '2026-03-04T05:06:08+00:00', type: 'connected', ...encoder, encoder: 'OBS' },
    ],
  });
  expect((await server.call('GET', `/live-streams/${stream}/ingest-log`)).json).toEqual({ data: [] });

  const made = await server.call('POST', '/account/api-keys', { body: { scopes: ['read'] } });
  ingestLog.mockReturnValueOnce(told);
  const seen = await server.call('GET', `/live-streams/${stream}/ingest-log`, {
    key: made.json.sandbox.apiKey,
  });
  expect(seen.json.data).toHaveLength(2);
  expect(JSON.stringify(seen.json)).not.toContain(encoder.address);
});

describe('the health of the last minutes', () => {
  const historyOf = async (stream: string, query = '') =>
    server.call('GET', `/live-streams/${stream}/health/history${query}`);

  it('is told with times, without what is not known, while a broadcast goes on and after its end', async () => {
    const stream = await newStream();
    const unknown = { bitrateBitsPerSecond: undefined, framesPerSecond: undefined };
    const samples = [
      {
        atMs: start,
        bitrateBitsPerSecond: 2_600_000,
        framesPerSecond: 30,
        audioDriftMilliseconds: -3,
        viewers: 2,
      },
      { atMs: start + 10_000, ...unknown, audioDriftMilliseconds: undefined, viewers: 0 },
    ];
    const told = { broadcastId: 'br1', startedAtMs: start, stepSeconds: 10, samples };
    healthHistory.mockReturnValueOnce({ ...told, endedAtMs: undefined });
    const running = await historyOf(stream, '?minutes=60');
    expect(healthHistory).toHaveBeenLastCalledWith(stream, 3_600);
    expect(running.json).toEqual({
      broadcasting: true,
      broadcastId: 'br1',
      startedAt: '2026-03-04T05:06:07+00:00',
      stepSeconds: 10,
      data: [
        {
          measuredAt: '2026-03-04T05:06:07+00:00',
          bitrateBitsPerSecond: 2_600_000,
          framesPerSecond: 30,
          audioDriftMilliseconds: -3,
          viewers: 2,
        },
        { measuredAt: '2026-03-04T05:06:17+00:00', viewers: 0 },
      ],
    });
    healthHistory.mockReturnValueOnce({ ...told, endedAtMs: start + minute });
    const ended = await historyOf(stream);
    expect(healthHistory).toHaveBeenLastCalledWith(stream, 300);
    expect(ended.json).toMatchObject({ broadcasting: false, endedAt: '2026-03-04T05:07:07+00:00' });
  });

  it('is empty where nothing is remembered, and takes 1 to 720 minutes', async () => {
    const stream = await newStream();
    expect((await historyOf(stream)).json).toEqual({ broadcasting: false, data: [] });
    for (const minutes of ['0', '721', '1.5', 'x']) {
      const { status, json } = await historyOf(stream, `?minutes=${minutes}`);
      expect([minutes, status, json.problems?.[0]?.name ?? json.name]).toEqual([minutes, 400, 'minutes']);
    }
  });
});
