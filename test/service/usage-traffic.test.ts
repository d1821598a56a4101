import { once } from 'node:events';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TrafficStore } from '../../src/operations/usage/traffic.store.ts';
import { Traffic } from '../../src/operations/usage/traffic.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { withFaultyCommits } from '../support/faulty-commits.ts';
import { openFilesIn } from '../support/open-files.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { FolderVideos, videoId } from '../support/vod-fixture.ts';
import { waitUntil } from '../support/wait-until.ts';
import { publicStream, startDelivery } from './delivery-fixture.ts';
import { MovedClock } from './webhook-fixture.ts';

const megabyte = 1024 * 1024;
const dayMs = 86_400_000;
const clock = new MovedClock();
let api: TestApi;
let project: string;

beforeAll(async () => {
  api = await startApi({ clock });
  project = await sandboxProjectOf(api.database);
});
afterAll(() => api.stop());

/** Delivery whose viewers are counted for the sandbox project of the API. */
async function delivering(protocol: 'HTTP/1.1' | 'HTTP/2') {
  const videos = new FolderVideos(await testTempDir());
  videos.set(videoId, { projectId: project });
  let sent = { live: 0, vod: 0 };
  const server = await startDelivery(protocol, {
    vod: videos,
    observer: {
      bytesOut: (count, payer) => {
        if (payer === undefined) return;
        sent[payer.deliveryKind] += count;
        api.api.traffic.record(project, payer.deliveryKind, count);
      },
      viewerDropped() {},
      request() {},
    },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return Object.assign(server, {
    videos,
    /** Returns the counts since the last call. */
    sent() {
      const { live, vod } = sent;
      sent = { live: 0, vod: 0 };
      return [live, vod];
    },
  });
}

const bandwidth = async () => (await api.call('GET', '/usage')).json.bandwidth;

describe.each(['HTTP/1.1', 'HTTP/2'] as const)('what viewers are sent over %s', protocol => {
  it('counts the bytes of bodies', async () => {
    const server = await delivering(protocol);
    const { slice } = await server.videos.addBytes(64 * 1024);
    server.videos.give(videoId, '720p/video-1-0.m4s', [Buffer.from('head'), slice]);
    const path = `/vod/${videoId}/hls/720p/video-1-0.m4s`;
    const whole = await server.ask(path);
    expect([whole.status, server.sent()]).toEqual([200, [0, 64 * 1024 + 4]]);
    expect((await server.ask(path, { range: 'bytes=2-1001' })).status).toBe(206);
    expect(server.sent()).toEqual([0, 1_000]);
    expect((await server.ask(path, {}, 'HEAD')).status).toBe(200);
    expect((await server.ask(path, { 'if-none-match': whole.headers.etag! })).status).toBe(304);
    expect(server.sent()).toEqual([0, 0]);
    const page = await server.ask(`/vod/${videoId}`);
    expect(server.sent()).toEqual([0, page.body.length]);
  });

  it('counts media and playlists of live streams', async () => {
    const server = await delivering(protocol);
    server.begin('b1').mediaByName.set('part-1.m4s', [Buffer.alloc(60_000), Buffer.alloc(5_000)]);
    await server.ask(`/${publicStream}/b1/source/part-1.m4s`);
    const { body } = await server.ask(`/${publicStream}/b1/source/index.m3u8`);
    expect(server.sent()).toEqual([65_000 + body.length, 0]);
    await server.ask('/live/liUnknown000000000000000');
    expect(server.sent()).toEqual([0, 0]);
  });
});

describe('traffic', () => {
  it('counts what was sent to a viewer who disconnected', async () => {
    const server = await delivering('HTTP/1.1');
    const film = 64 * megabyte;
    await server.videos.giveFile(videoId, 'mp4', Buffer.alloc(film), 'video/mp4');
    const socket = net.connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET /vod/${videoId}/mp4/source.mp4 HTTP/1.1\r\nHost: x\r\n\r\n`);
    let read = 0;
    await new Promise<void>(resolve => {
      socket.on('data', chunk => {
        read += chunk.length;
        if (read > 4 * megabyte) resolve();
      });
    });
    socket.destroy();
    await waitUntil(() => openFilesIn(server.videos.folder).length === 0);
    const [, counted] = server.sent();
    expect(counted).toBeGreaterThan(4 * megabyte - 1_000);
    expect(counted).toBeLessThan(film / 2);
  });

  it('belongs to the day on which it was sent', async () => {
    const { traffic } = api.api;
    const before = await bandwidth();
    const today = new Date(clock.nowMs()).toISOString().slice(0, 10);
    expect(before.days).toHaveLength(30);
    expect(before.days.at(-1).date).toBe(today);
    const toMidnightMs = dayMs - (clock.nowMs() % dayMs);
    clock.move(toMidnightMs - 1);
    traffic.record(project, 'live', 700);
    clock.move(1);
    traffic.record(project, 'vod', 11);
    const after = await bandwidth();
    expect(after.days.at(-1)).toEqual({ date: '2026-03-05', bytes: 11, liveBytes: 0, videoBytes: 11 });
    expect(after.days.at(-2)).toEqual({
      date: '2026-03-04',
      bytes: before.todayBytes + 700,
      liveBytes: before.days.at(-1).liveBytes + 700,
      videoBytes: before.days.at(-1).videoBytes,
    });
    expect([after.todayBytes, after.last30DaysBytes]).toEqual([11, before.last30DaysBytes + 711]);
    await traffic.flush();
    expect(await bandwidth()).toEqual(after);
    clock.move(30 * dayMs);
    expect((await bandwidth()).last30DaysBytes).toBe(0);
  });

  it('is kept for 400 days', async () => {
    const { traffic } = api.api;
    const days = () => singleValue<number>(api.database, 'SELECT count(*) FROM traffic');
    const other = await api.addAccount();
    traffic.record(project, 'vod', 1);
    traffic.record(other.projectIds.sandbox, 'vod', 1);
    await traffic.flush();
    const kept = (await days())!;
    await runSql(api.database, 'DELETE FROM accounts WHERE id = ?', other.accountId);
    traffic.record(other.projectIds.sandbox, 'vod', 1);
    await traffic.flush();
    expect(await days()).toBe(kept - 1);
    clock.move(400 * dayMs);
    await traffic.removeOld();
    expect(await days()).toBe(1);
    clock.move(dayMs);
    expect(await traffic.removeOld()).toBe(1);
  });

  it('of many projects is written for each of them', async () => {
    const { traffic } = api.api;
    const accounts = await Promise.all(Array.from({ length: 300 }, () => api.addAccount()));
    const projects = accounts.flatMap(({ projectIds }) => [projectIds.sandbox, projectIds.production]);
    for (const [index, id] of projects.entries()) traffic.record(id, 'vod', index + 1);
    const written = traffic.flush();
    traffic.record(projects[599]!, 'vod', 10_000);
    await written;
    await traffic.flush();
    const bytes = (id: string) =>
      singleValue<number>(api.database, 'SELECT vod_bytes FROM traffic WHERE project_id = ?', id);
    expect(await Promise.all(projects.map(bytes))).toEqual([
      ...Array.from({ length: 599 }, (_, index) => index + 1),
      10_600,
    ]);
  });

  it('is kept while the database cannot be written, and added once when only the answer was lost', async () => {
    const faulty = withFaultyCommits(api.database);
    const store = new TrafficStore(faulty.database);
    const traffic = new Traffic({ store, clock, log: silentLogger });
    const { projectIds } = await api.addAccount();
    // Commits of SQLite always answer.
    for (const fault of ['before', api.database.dialect === 'postgres' ? 'after' : 'before'] as const) {
      faulty.fault = fault;
      traffic.record(projectIds.sandbox, 'live', 5);
      await traffic.flush();
      traffic.record(projectIds.sandbox, 'live', 6);
      await traffic.flush();
      faulty.fault = undefined;
      await traffic.flush();
    }
    await traffic.stop();
    const [day] = (await store.since(projectIds.sandbox, 0)).values();
    expect(day).toEqual({ liveBytes: 22, vodBytes: 0 });
  });
});
