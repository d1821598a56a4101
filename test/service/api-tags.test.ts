import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSql } from '../support/sql.ts';
import { startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
beforeAll(async () => {
  server = await startApi({ isUpgraded: true, videos: { restoreDays: () => 90 } });
});
afterAll(() => server.stop());

/** Creates an account for each test. */
async function newCaller() {
  const { sandboxKey: key, productionKey, projectIds } = await server.addAccount({ isUpgraded: true });
  const list = async (query = '', other = key) =>
    (await server.call('GET', `/tags${query}`, { key: other })).json;
  return {
    key,
    productionKey,
    projectId: projectIds.sandbox,
    list,
    /** `value videoCount` of each tag. */
    tags: async (query = '') =>
      (await list(query)).data.map(
        (tag: { value: string; videoCount: number }) => `${tag.value} ${tag.videoCount}`,
      ),
    video: async (...tags: string[]) =>
      (await server.call('POST', '/videos', { key, body: { title: 'Film', tags } })).json.videoId as string,
    call: (method: string, path: string, body?: unknown) => server.call(method, path, { key, body }),
  };
}

describe('tags', () => {
  it('are listed with integer counts, by value unless said otherwise, without regard to case', async () => {
    const caller = await newCaller();
    await caller.video('drone', 'Été', 'Zebra');
    await caller.video('drone', 'apple');
    await caller.video('drone', 'apple', 'drone');
    expect(await caller.list()).toEqual({
      data: [
        { value: 'apple', videoCount: 2 },
        { value: 'drone', videoCount: 3 },
        { value: 'Été', videoCount: 1 },
        { value: 'Zebra', videoCount: 1 },
      ],
      pagination: {
        currentPage: 1,
        currentPageItems: 4,
        pageSize: 25,
        pagesTotal: 1,
        itemsTotal: 4,
        links: ['self', 'first', 'last'].map(rel => ({ rel, uri: '/tags?currentPage=1&pageSize=25' })),
      },
    });
    expect(await caller.tags('?sortOrder=desc')).toEqual(['Zebra 1', 'Été 1', 'drone 3', 'apple 2']);
    expect(await caller.tags('?sortBy=videoCount')).toEqual(['Été 1', 'Zebra 1', 'apple 2', 'drone 3']);
    expect(await caller.tags('?sortBy=videoCount&sortOrder=desc')).toEqual([
      'drone 3',
      'apple 2',
      'Zebra 1',
      'Été 1',
    ]);
  });

  it('are found by a part of their text', async () => {
    const caller = await newCaller();
    await caller.video('Été 2026', 'été', 'ETERNAL', 'winter', '100% "sure"_');
    expect(await caller.tags('?value=ete')).toEqual(['été 1', 'Été 2026 1', 'ETERNAL 1']);
    expect(await caller.tags('?value=%C3%89T%C3%89')).toHaveLength(3);
    expect(await caller.tags('?value=%25%20%22s')).toEqual(['100% "sure"_ 1']);
    expect(await caller.tags('?value=nothing')).toEqual([]);
    expect(await caller.tags('?value=')).toHaveLength(5);
    const page = await caller.list('?value=ete&pageSize=2&currentPage=2&sortBy=videoCount');
    expect(page.data).toEqual([{ value: 'ETERNAL', videoCount: 1 }]);
    expect(page.pagination).toMatchObject({ itemsTotal: 3, pagesTotal: 2 });
    expect(page.pagination.links[1].uri).toBe('/tags?value=ete&sortBy=videoCount&currentPage=1&pageSize=2');
  });

  it('follow changes of videos', async () => {
    const caller = await newCaller();
    const videoId = await caller.video('a', 'b');
    await caller.video('b');
    await caller.call('PATCH', `/videos/${videoId}`, { tags: ['b', 'c'] });
    expect(await caller.tags()).toEqual(['b 2', 'c 1']);
    await caller.call('DELETE', `/videos/${videoId}`);
    expect((await caller.list()).pagination.itemsTotal).toBe(1);
    expect(await caller.tags()).toEqual(['b 1']);
    await caller.call('PATCH', `/discarded/videos/${videoId}`, { discarded: false });
    expect((await caller.list()).pagination.itemsTotal).toBe(2);
  });

  it('belong to a project', async () => {
    const caller = await newCaller();
    await caller.video('mine');
    for (const key of [caller.productionKey, (await newCaller()).key]) {
      expect(await caller.list('', key)).toMatchObject({ data: [], pagination: { itemsTotal: 0 } });
    }
  });

  it.each([
    'sortBy=name',
    'sortOrder=up',
    'valu=x',
    `value=${'x'.repeat(1_025)}`,
    'pageSize=101',
    'value[]=x',
  ])('cannot be asked for with %s', async query => {
    expect((await server.call('GET', `/tags?${query}`)).status).toBe(400);
  });

  it('are listed and searched in steps when there are many', async () => {
    const caller = await newCaller();
    await runSql(
      server.database,
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 24999)
         INSERT INTO tags (project_id, is_discarded, tag, videos)
         SELECT ?, 0, 'Tag ' || substr(CAST(100000 + i AS TEXT), 2) || CASE i % 10 WHEN 7 THEN ' Été' ELSE ' x' END, 1 + i % 3 FROM n`,
      caller.projectId,
    );
    const last = await caller.list('?currentPage=1000');
    const counted = await caller.list('?sortBy=videoCount&sortOrder=desc&currentPage=250&pageSize=100');
    const rare = await caller.list('?value=ete&currentPage=100');
    const all = await caller.list('?value=tag&sortBy=videoCount&currentPage=1000');
    expect(last.data.at(-1)).toEqual({ value: 'Tag 24999 x', videoCount: 1 });
    expect(counted.data.at(-1)).toEqual({ value: 'Tag 00000 x', videoCount: 1 });
    expect(rare.pagination.itemsTotal).toBe(2_500);
    expect(rare.data.at(-1).value).toBe('Tag 24997 Été');
    expect(all.pagination.itemsTotal).toBe(25_000);
    expect(all.data.at(-1)).toEqual({ value: 'Tag 24998 x', videoCount: 3 });
    expect(await caller.tags('?value=nowhere')).toEqual([]);
  });
});
