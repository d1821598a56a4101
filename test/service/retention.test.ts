import { afterAll, beforeEach, expect, it } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { RetentionStore } from '../../src/resources/videos/retention/retention.store.ts';
import { VideoExpiry } from '../../src/resources/videos/retention/video-expiry.ts';
import { formatAtom } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { singleValue } from '../support/sql.ts';
import { startApi, type TestApi } from '../support/start-api.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const beginsAtMs = Date.UTC(2026, 2, 4);

let nowMs = beginsAtMs;
const servers: TestApi[] = [];
const removedFiles: string[] = [];

async function start(restoreDays: number): Promise<TestApi & { expire: () => Promise<number> }> {
  const server = await startApi({
    clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    videos: { restoreDays: () => restoreDays, removed: async videoId => void removedFiles.push(videoId) },
  });
  servers.push(server);
  const { database } = server;
  const { videos, quotas } = server.api;
  const expiry = new VideoExpiry({
    database,
    store: new RetentionStore(database),
    outbox: new Outbox(database, silentLogger),
    isReceiving: (videoId, transaction) => quotas.isReceiving(videoId, transaction),
    videos: {
      discard: (projectId, videoId, transaction) => videos.discard(projectId, videoId, transaction),
      removeFiles: (projectId, videoId) => videos.removal.remove(projectId, videoId),
    },
    clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
  });
  return Object.assign(server, { expire: () => expiry.run() });
}

let server: Awaited<ReturnType<typeof start>>;
beforeEach(async () => {
  nowMs = beginsAtMs;
  server = await start(90);
});
afterAll(async () => {
  for (const one of servers) await one.stop();
});

const create = async (attributes: Record<string, unknown> = {}, on: TestApi = server): Promise<string> =>
  (await on.call('POST', '/videos', { body: { title: 'Harbour', ...attributes } })).json.videoId;
const view = async (videoId: string) => (await server.call('GET', `/videos/${videoId}`)).json;
const setRetention = (body: Record<string, unknown>) => server.call('PATCH', '/account/retention', { body });
const eventsOf = async (videoId: string, on: TestApi = server) => {
  const projectId = (await on.call('GET', '/account')).json.projectId;
  const events = await new Outbox(on.database, silentLogger).listOfProject(projectId, 0, 100);
  return events
    .filter(event => event.subjectId === videoId)
    .map(({ type, payload }) => ({ type, ...payload }));
};

it('announces a video a day before it expires, then moves it to the trash, each once', async () => {
  const expiresAt = formatAtom(beginsAtMs + 3 * dayMs);
  const videoId = await create({ expiresAt });
  expect((await view(videoId)).expiresAt).toBe(expiresAt);

  nowMs = beginsAtMs + 2 * dayMs - 1;
  expect(await server.expire()).toBe(0);
  expect(await eventsOf(videoId)).toEqual([]);
  nowMs += 1;
  await server.expire();
  await server.expire();
  expect(await eventsOf(videoId)).toEqual([{ type: 'video.expiring', videoId, expiresAt }]);
  expect((await view(videoId)).discarded).toBe(false);

  nowMs = beginsAtMs + 3 * dayMs;
  expect(await server.expire()).toBe(1);
  expect(await server.expire()).toBe(0);
  const deletesAt = formatAtom(nowMs + 90 * dayMs);
  expect((await eventsOf(videoId)).slice(1)).toEqual([{ type: 'video.expired', videoId, deletesAt }]);
  expect((await server.call('GET', `/discarded/videos/${videoId}`)).json.deletesAt).toBe(deletesAt);
  expect(removedFiles).not.toContain(videoId);
});

it('keeps a restored video', async () => {
  const videoId = await create({ expiresAt: formatAtom(beginsAtMs + dayMs) });
  nowMs += dayMs;
  await server.expire();
  await server.call('PATCH', `/discarded/videos/${videoId}`, { body: { discarded: false } });
  nowMs += dayMs;
  expect(await server.expire()).toBe(0);
  expect(await view(videoId)).not.toHaveProperty('expiresAt');
});

it('deletes the files where the trash is turned off', async () => {
  const withoutTrash = await start(0);
  const videoId = await create({ expiresAt: formatAtom(beginsAtMs + hourMs) }, withoutTrash);
  nowMs += hourMs;
  expect(await withoutTrash.expire()).toBe(1);
  expect(removedFiles).toContain(videoId);
  expect(await singleValue(withoutTrash.database, 'SELECT count(*) FROM videos WHERE id = ?', videoId)).toBe(
    0,
  );
  expect((await eventsOf(videoId, withoutTrash)).at(-1)).toEqual({ type: 'video.expired', videoId });
});

it('keeps a video whose date was moved or removed in time', async () => {
  const [moved, kept] = [await create(), await create()];
  const change = (videoId: string, expiresAt: string | null) =>
    server.call('PATCH', `/videos/${videoId}`, { body: { expiresAt } });
  for (const videoId of [moved, kept]) await change(videoId, formatAtom(beginsAtMs + dayMs));
  await server.expire();
  await change(moved, formatAtom(beginsAtMs + 9 * dayMs));
  await change(kept, null);
  nowMs += 8 * dayMs;
  expect(await server.expire()).toBe(0);
  // Announces each date once.
  expect((await eventsOf(moved)).map(({ type }) => type)).toEqual(['video.expiring', 'video.expiring']);
  expect(await view(kept)).not.toHaveProperty('expiresAt');
});

it('refuses a time in the past, and days that are none', async () => {
  const videoId = await create();
  const past = { body: { expiresAt: formatAtom(nowMs) } };
  for (const answer of [
    await server.call('PATCH', `/videos/${videoId}`, past),
    await server.call('POST', '/videos', { body: { title: 'Pier', ...past.body } }),
  ]) {
    expect([answer.status, answer.json.name]).toEqual([400, 'expiresAt']);
    expect(answer.json.problems[0].detail).toBe('This value should be in the future.');
  }
  for (const keepVideosDays of [0, 1.5, 36_501, '7']) {
    expect((await setRetention({ keepVideosDays })).status).toBe(400);
  }
  expect((await setRetention({ applyToExisting: true })).json.name).toBe('applyToExisting');
});

it('gives new videos the retention of the project, and recordings that of their live stream', async () => {
  await setRetention({ keepVideosDays: 30 });
  const { json: stream } = await server.call('POST', '/live-streams', {
    body: { name: 'Pier', keepRecordingsDays: 7 },
  });
  expect(stream.keepRecordingsDays).toBe(7);
  const { projectId } = (await server.call('GET', '/account')).json;
  const record = (videoId: string, liveStreamId: string) =>
    server.database.transaction(transaction =>
      server.api.videos.createRecorded(
        projectId,
        { videoId, liveStreamId, title: 'Pier', public: true, playerId: undefined },
        transaction,
      ),
    );
  const { json: other } = await server.call('POST', '/live-streams', { body: { name: 'Quay' } });
  const own = await record(`vi${'a'.repeat(22)}`, stream.liveStreamId);
  const shared = await record(`vi${'b'.repeat(22)}`, other.liveStreamId);
  expect([own.expiresAtMs, shared.expiresAtMs]).toEqual([beginsAtMs + 7 * dayMs, beginsAtMs + 30 * dayMs]);
  expect((await view(await create())).expiresAt).toBe(formatAtom(beginsAtMs + 30 * dayMs));
  expect(await view(await create({ expiresAt: null }))).not.toHaveProperty('expiresAt');

  const { json } = await server.call('GET', '/account/retention');
  expect(json.keepVideosDays).toBe(30);
  expect(json.next.map((video: { videoId: string }) => video.videoId).slice(0, 2)).toEqual([
    own.videoId,
    expect.any(String),
  ]);
});

it('applies a new retention to existing videos when asked, with a day of notice, and takes it back', async () => {
  const old = await create();
  const own = await create({ expiresAt: formatAtom(beginsAtMs + 400 * dayMs) });
  nowMs += 100 * dayMs;
  // Exceeds one batch.
  const recent = await Promise.all(Array.from({ length: 205 }, () => create()));
  expect((await setRetention({ keepVideosDays: 30 })).json.next.length).toBe(1);
  const { json } = await setRetention({ keepVideosDays: 30, applyToExisting: true });
  expect(json.next[0]).toEqual({ videoId: old, title: 'Harbour', expiresAt: formatAtom(nowMs + dayMs) });
  expect((await view(own)).expiresAt).toBe(formatAtom(beginsAtMs + 400 * dayMs));
  for (const videoId of [recent[0]!, recent.at(-1)!]) {
    expect((await view(videoId)).expiresAt).toBe(formatAtom(nowMs + 30 * dayMs));
  }
  expect((await setRetention({ keepVideosDays: null, applyToExisting: true })).json).toEqual({
    keepVideosDays: null,
    next: [],
  });
});
