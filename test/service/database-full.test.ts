import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../src/store/sqlite-database.ts';
import { startApi, type TestApi } from '../support/start-api.ts';

describe('a database that has no room left', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api?.stop());

  it('refuses writes while the disk is full, still answers reads, and recovers later', async () => {
    const pragma = (source: string) =>
      (api.database as SqliteDatabase).readNow(({ sqlite }) => sqlite.pragma(source, { simple: true }));
    const description = 'A long text. '.repeat(300);
    const create = (title: string) => api.call('POST', '/videos', { body: { title, description } });
    const { json: first } = await create('first');
    const pages = Number(pragma('page_count'));
    const pagesBefore = pragma(`max_page_count = ${pages + 5}`);
    expect(pagesBefore).toBe(pages + 5);

    let created = 0;
    let refused = await create('next');
    while (refused.status === 201 && created < 200) {
      created += 1;
      refused = await create('next');
    }
    expect(refused.status).toBe(503);
    expect(refused.json).toEqual({
      type: expect.stringMatching(/\/disk-full$/),
      title: "The server's disk is full.",
      status: 503,
    });
    const listed = await api.call('GET', '/videos');
    expect(listed.json).toMatchObject({ pagination: { itemsTotal: created + 1 } });
    expect((await api.call('GET', `/videos/${first.videoId}`)).status).toBe(200);

    pragma('max_page_count = 1000000');
    expect((await create('last')).status).toBe(201);
  });
});
