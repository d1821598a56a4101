import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runSql, singleValue } from '../support/sql.ts';
import { startApi, type TestAccount, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let nowMs: number;
/** Account of each test. */
let account: TestAccount;
beforeAll(async () => {
  server = await startApi({
    videos: { restoreDays: () => 90 },
    clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
  });
});
beforeEach(async () => {
  nowMs = Date.UTC(2026, 2, 4, 5, 6, 7);
  account = await server.addAccount({ isUpgraded: true });
});
afterAll(() => server.stop());

const call = (method: string, path: string, body?: unknown, key = account.sandboxKey) =>
  server.call(method, path, { key, body });
const video = async () => (await call('POST', '/videos', { title: 'Film' })).json.videoId as string;
const create = (videoId: string, more: object = {}) => call('POST', '/summaries', { videoId, ...more });
const list = async (query = '') => (await call('GET', `/summaries${query}`)).json;
const ids = async (query: string) =>
  (await list(query)).data.map(({ videoId }: { videoId: string }) => videoId);
const source = (summaryId: string, body?: unknown, key?: string) =>
  call(body === undefined ? 'GET' : 'PATCH', `/summaries/${summaryId}/source`, body, key);

describe('a summary', () => {
  it('is created without its text, once per video', async () => {
    const videoId = await video();
    const answer = await create(videoId, { attributes: ['abstract'] });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      summaryId: expect.stringMatching(/^summary_[0-9A-Za-z]{22}$/),
      createdAt: '2026-03-04T05:06:07+00:00',
      updatedAt: '2026-03-04T05:06:07+00:00',
      videoId,
      origin: 'api',
      sourceStatus: 'missing',
    });
    const again = await create(videoId);
    expect(again.status).toBe(409);
    expect(again.json).toEqual({
      type: expect.stringMatching(/\/summary-already-exists$/),
      title: 'A summary already exists or is being created on this video.',
      status: 409,
      name: 'videoId',
      detail: 'Change the source of the summary, or delete the summary first.',
    });
  });

  it('is created once when it is asked for several times at once', async () => {
    const videoId = await video();
    const answers = await Promise.all([1, 2, 3, 4].map(() => create(videoId)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409]);
    expect(await ids(`?videoId=${videoId}`)).toEqual([videoId]);
  });

  it('keeps texts that are written at the same time', async () => {
    const { summaryId } = (await create(await video())).json;
    await Promise.all([
      source(summaryId, { abstract: 'A film.' }),
      source(summaryId, { takeaways: ['One.'] }),
    ]);
    expect((await source(summaryId)).json).toEqual({ abstract: 'A film.', takeaways: ['One.'] });
  });

  it('has no source until it is written', async () => {
    const { summaryId } = (await create(await video())).json;
    const missing = await source(summaryId);
    expect([missing.status, missing.json.name]).toEqual([404, 'summaryId']);
    nowMs += 1_000;
    const written = await source(summaryId, { abstract: 'Boats leave.' });
    expect(written.status).toBe(201);
    expect(written.json).toEqual({ abstract: 'Boats leave.' });
    expect((await source(summaryId, { takeaways: ['one', 'two', 'three'] })).json).toEqual({
      abstract: 'Boats leave.',
      takeaways: ['one', 'two', 'three'],
    });
    expect((await source(summaryId, { takeaways: [] })).status).toBe(201);
    const read = await source(summaryId);
    expect([read.status, read.json]).toEqual([200, { abstract: 'Boats leave.', takeaways: [] }]);
    expect((await list()).data[0]).toMatchObject({
      sourceStatus: 'completed',
      createdAt: '2026-03-04T05:06:07+00:00',
      updatedAt: '2026-03-04T05:06:08+00:00',
    });
  });

  it.each([
    [{ abstract: '' }, 'abstract'],
    [{ abstract: null }, 'abstract'],
    [{ takeaways: ['1', '2', '3', '4'] }, 'takeaways'],
    [{ takeaways: 'one' }, 'takeaways'],
    [{ takeaways: [5] }, 'takeaways[0]'],
    [{ title: 'x' }, 'title'],
  ])('cannot have the source %j', async (body, name) => {
    const { summaryId } = (await create(await video())).json;
    const answer = await source(summaryId, body);
    expect([answer.status, answer.json.name]).toEqual([400, name]);
    expect((await list()).data[0].sourceStatus).toBe('missing');
  });

  it('keeps missing its text when an update has no fields', async () => {
    const { summaryId } = (await create(await video())).json;
    const answer = await source(summaryId, {});
    expect([answer.status, answer.json]).toEqual([201, {}]);
    expect((await list()).data[0].sourceStatus).toBe('missing');
  });

  it('is not generated without a model', async () => {
    const videoId = await video();
    for (const [method, path, body, name] of [
      ['POST', '/summaries', { videoId, origin: 'auto' }, 'origin'],
      ['POST', '/videos', { title: 'x', transcript: true }, 'transcript'],
      ['POST', '/videos', { title: 'x', transcriptSummary: true }, 'transcriptSummary'],
      ['PATCH', `/videos/${videoId}`, { transcript: true }, 'transcript'],
      ['PATCH', `/videos/${videoId}`, { transcriptSummary: true }, 'transcriptSummary'],
    ] as const) {
      const answer = await call(method, path, body);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ title: 'Invalid attributes.', name });
      expect(answer.json.type).toMatch(/\/invalid-attribute$/);
      expect(answer.json.problems).toEqual([
        expect.objectContaining({ name, detail: expect.stringMatching(/not available on this server/) }),
      ]);
    }
    expect((await list()).data).toEqual([]);
    expect((await create(videoId, { origin: 'api' })).status).toBe(201);
    const allowed = {
      transcript: false,
      transcriptSummary: false,
      transcriptSummaryAttributes: ['abstract'],
    };
    expect((await call('PATCH', `/videos/${videoId}`, allowed)).status).toBe(200);
  });

  it('is deleted with its video or by itself', async () => {
    const videoId = await video();
    const first = (await create(videoId)).json.summaryId;
    expect((await call('DELETE', `/summaries/${first}`)).status).toBe(204);
    expect((await call('DELETE', `/summaries/${first}`)).status).toBe(404);
    const second = (await create(videoId)).json.summaryId;
    await call('DELETE', `/videos/${videoId}`);
    // The video is discarded only.
    expect((await list()).pagination.itemsTotal).toBe(0);
    for (const answer of [
      await source(second),
      await source(second, { abstract: 'x' }),
      await create(videoId),
    ]) {
      expect(answer.status).toBe(404);
    }
    await call('PATCH', `/discarded/videos/${videoId}`, { discarded: false });
    expect((await list()).data).toEqual([expect.objectContaining({ summaryId: second })]);
    await call('DELETE', `/videos/${videoId}`);
    await server.api.videos.removal.purgeDiscarded(nowMs + 91 * 24 * 3_600_000);
    const left = 'SELECT count(*) FROM summaries WHERE video_id = ?';
    expect(await singleValue(server.database, left, videoId)).toBe(0);
    expect((await list()).pagination.itemsTotal).toBe(0);
  });

  it('of another project is not found', async () => {
    const videoId = await video();
    const { summaryId } = (await create(videoId)).json;
    const other = await server.addAccount({ isUpgraded: true });
    const strangers = [account.productionKey, other.sandboxKey];
    for (const key of strangers) {
      expect((await source(summaryId, undefined, key)).status).toBe(404);
      expect((await source(summaryId, { abstract: 'x' }, key)).status).toBe(404);
      expect((await call('DELETE', `/summaries/${summaryId}`, undefined, key)).status).toBe(404);
      const made = await call('POST', '/summaries', { videoId }, key);
      expect([made.status, made.json.name]).toEqual([404, 'videoId']);
      for (const query of ['', `?videoId=${videoId}`]) {
        expect((await call('GET', `/summaries${query}`, undefined, key)).json.data).toEqual([]);
      }
    }
  });
});

describe('a list of summaries', () => {
  it('is filtered and sorted, with exact totals', async () => {
    const videos: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      nowMs += 1_000;
      const videoId = await video();
      videos.push(videoId);
      await create(videoId);
    }
    const [first, second, third] = videos as [string, string, string];
    nowMs += 1_000;
    const summaryOf = async (videoId: string) => (await list(`?videoId=${videoId}`)).data[0].summaryId;
    await source(await summaryOf(first), { abstract: 'x' });
    expect(await ids('')).toEqual([third, second, first]);
    expect(await ids('?sortBy=createdAt')).toEqual([first, second, third]);
    expect(await ids('?sortBy=updatedAt&sortOrder=desc')).toEqual([first, third, second]);
    expect(await ids('?sortBy=videoId')).toEqual(videos.toSorted());
    expect(await ids('?sourceStatus=completed')).toEqual([first]);
    expect(await ids('?sourceStatus=missing&origin=api')).toEqual([third, second]);
    expect(await ids('?sourceStatus=waiting')).toEqual([]);
    expect(await ids('?origin=auto')).toEqual([]);
    expect(await ids(`?videoId=${first}&sourceStatus=missing`)).toEqual([]);
    expect((await list(`?videoId=${first}`)).pagination).toMatchObject({ itemsTotal: 1 });
    const page = await list('?sourceStatus=missing&pageSize=1&currentPage=2');
    expect(page.data).toEqual([expect.objectContaining({ videoId: second })]);
    expect(page.pagination).toMatchObject({ itemsTotal: 2, pagesTotal: 2 });
    expect(page.pagination.links[1].uri).toBe('/summaries?sourceStatus=missing&currentPage=1&pageSize=1');
    expect((await list()).pagination.itemsTotal).toBe(3);
    expect((await call('GET', '/summaries?sourceStatus=done')).status).toBe(400);
  });

  it('reads late pages in steps', async () => {
    const numbers = 'WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 20999)';
    const digits = 'substr(CAST(100000 + i AS TEXT), 2)';
    const { projectIds, accountId } = account;
    await runSql(
      server.database,
      `${numbers} INSERT INTO videos (id, project_id, title, title_folded, description, is_public, is_panoramic,
           has_mp4_support, tags, metadata, created_at_ms, published_at_ms, updated_at_ms)
         SELECT ? || ${digits}, ?, 'x', 'x', '', 1, 0, 1, '[]', '[]', 1, 1, 1 FROM n`,
      ...[accountId, projectIds.sandbox],
    );
    await runSql(
      server.database,
      `${numbers} INSERT INTO summaries (id, project_id, video_id, source_status, created_at_ms, updated_at_ms)
         SELECT 'summary_' || ${digits}, ?, ? || ${digits},
           CASE WHEN i < 20500 THEN 'missing' ELSE 'completed' END, 1000 + i / 3, 0 FROM n`,
      ...[projectIds.sandbox, accountId],
    );
    const page = async (query: string) =>
      (await list(`?pageSize=2&${query}`)).data.map((one: { summaryId: string }) => one.summaryId);
    expect(await page('currentPage=10001')).toEqual(['summary_00999', 'summary_00998']);
    expect(await page('currentPage=10001&sortBy=updatedAt')).toEqual(['summary_20000', 'summary_20001']);
    expect(await page('currentPage=10250&sortBy=createdAt&sourceStatus=missing')).toEqual([
      'summary_20498',
      'summary_20499',
    ]);
  });
});
