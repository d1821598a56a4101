import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApiDocument, operationsOf, resolveReference } from '../../scripts/api-document.ts';
import { startWireApi, type WireApi } from './wire-calls.ts';

const document = await buildApiDocument();
const lists = operationsOf(document)
  .filter(({ method, operation }) => {
    const answer = operation.responses['200'];
    if (method !== 'GET' || answer === undefined || '$ref' in answer) return false;
    const schema = answer.content?.['application/json']?.schema as { $ref?: string } | undefined;
    const resolved = schema?.$ref === undefined ? schema : resolveReference(document, schema.$ref);
    return Object.hasOwn((resolved as { properties?: object })?.properties ?? {}, 'pagination');
  })
  .map(({ path, operation }) => ({ name: path, operation }));

let server: WireApi;
/** Cookie of a session, for what is shown to people only. */
let cookie: string;
beforeAll(async () => {
  server = await startWireApi();
  cookie = (await server.calls['GET /account/sessions']!()).cookie!;
});
afterAll(() => server.stop());

const pathOf = async (name: string) => (await server.calls[`GET ${name}`]!()).path;
const get = (path: string, key?: string) => server.call('GET', path, { headers: { cookie }, key });

it('the lists of the contract are all there', () => {
  expect(lists.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      ...['/videos', '/discarded/videos', '/live-streams', '/upload-tokens', '/players', '/watermarks'],
      ...['/webhooks', '/tags', '/summaries', '/videos/{videoId}/captions', '/videos/{videoId}/chapters'],
      ...['/data/buckets/{metric}/{breakdown}', '/data/timeseries/{metric}'],
    ]),
  );
});

describe.each(lists)('the list $name', ({ name, operation }) => {
  const sortBy = operation.parameters?.find(parameter => parameter.name === 'sortBy') as
    | { schema: { enum: string[] } }
    | undefined;

  it('has its envelope, and links in their order that keep what was asked for', async () => {
    const path = await pathOf(name);
    const asked = sortBy === undefined ? '' : `sortBy=${sortBy.schema.enum[0]}&sortOrder=desc&`;
    const { status, json } = await get(`${path}?${asked}pageSize=1`);
    expect(status).toBe(200);
    expect(Object.keys(json).filter(key => key !== 'context')).toEqual(['data', 'pagination']);
    const { pagination } = json;
    expect(Object.keys(pagination)).toEqual([
      ...['currentPage', 'currentPageItems', 'pageSize', 'pagesTotal', 'itemsTotal', 'links'],
    ]);
    const { pagesTotal, itemsTotal } = pagination;
    expect([pagination.currentPageItems, pagesTotal]).toEqual([json.data.length, Math.max(1, itemsTotal)]);
    const uri = (page: number) => `${path}?${asked}currentPage=${page}&pageSize=1`;
    expect(pagination.links).toEqual([
      { rel: 'self', uri: uri(1) },
      { rel: 'first', uri: uri(1) },
      ...(pagesTotal > 1 ? [{ rel: 'next', uri: uri(2) }] : []),
      { rel: 'last', uri: uri(pagesTotal) },
    ]);
    for (const link of pagination.links) expect((await get(link.uri)).status).toBe(200);
  });

  it('has nothing past its end, but the way back', async () => {
    const path = await pathOf(name);
    const { status, json } = await get(`${path}?currentPage=900`);
    expect([status, json.data]).toEqual([200, []]);
    expect(json.pagination).toMatchObject({ currentPage: 900, currentPageItems: 0, pageSize: 25 });
    const { links, pagesTotal } = json.pagination;
    expect(links.map(({ rel }: { rel: string }) => rel)).toEqual(['self', 'first', 'previous', 'last']);
    expect(links[3].uri).toBe(`${path}?currentPage=${pagesTotal}&pageSize=25`);
  });

  it.each([
    ['pageSize=0', 'pageSize'],
    ['pageSize=101', 'pageSize'],
    ['pageSize=ten', 'pageSize'],
    ['currentPage=0', 'currentPage'],
    ['limit=5', 'limit'],
    ['page=1', 'page'],
    ['sortBy=unknown', 'sortBy'],
    ['sortOrder=up', 'sortOrder'],
  ])('refuses %s', async (query, field) => {
    const { status, json } = await get(`${await pathOf(name)}?${query}`);
    expect([status, json.title, json.name]).toEqual([
      400,
      expect.stringMatching(/^Invalid attributes\.$|^A query parameter is invalid\.$/),
      field,
    ]);
    if (/[01]$/.test(query) && /pageSize|currentPage/.test(query)) {
      const title = 'This parameter is out of the allowed range of values.';
      expect(json.problems).toEqual([
        expect.objectContaining({ title, name: field, range: expect.anything() }),
      ]);
    }
  });
});

it('a list of nothing has one page', async () => {
  const { sandboxKey } = await server.addAccount();
  for (const { name } of lists.filter(({ name }) => !/[{]|account/.test(name))) {
    const { json } = await get(name, sandboxKey);
    expect([name, json]).toEqual([
      name,
      {
        data: [],
        pagination: {
          currentPage: 1,
          currentPageItems: 0,
          pageSize: 25,
          pagesTotal: 1,
          itemsTotal: 0,
          links: ['self', 'first', 'last'].map(rel => ({ rel, uri: `${name}?currentPage=1&pageSize=25` })),
        },
      },
    ]);
  }
});

describe('videos are found by every form in which clients send', () => {
  let found: string;
  const ids = async (query: string) => {
    const { status, json } = await get(`/videos?${query}`);
    expect([query, status]).toEqual([query, 200]);
    return json.data.map(({ videoId }: { videoId: string }) => videoId);
  };
  beforeAll(async () => {
    const create = async (tags: string[], metadata: object[], title = 'Form') =>
      (await server.call('POST', '/videos', { body: { title, tags, metadata } })).json.videoId;
    found = await create(
      ['form a', 'b', 'A,B'],
      [
        { key: 'Author', value: 'Jane Doe' },
        { key: 'the format', value: 'Tutorial' },
      ],
      'Forms of a + b & ü',
    );
    await create(['form a'], [{ key: 'Author', value: 'Jane Doe' }]);
    await create(['b', 'A', 'B'], [{ key: 'the format', value: 'Tutorial' }]);
  });

  it.each([
    'tags[]=form%20a&tags[]=b',
    'tags%5B%5D=form+a&tags%5B%5D=b',
    'tags[0]=form+a&tags[1]=b',
    'tags%5B0%5D=form%20a&tags%5B1%5D=b',
    'tags[][0]=form+a&tags[][1]=b',
    'tags%5B%5D%5B0%5D=form+a&tags%5B%5D%5B1%5D=b',
    'tags=form+a&tags=b',
    'tags=A,B',
    'tags=A%2CB',
    'metadata[Author]=Jane+Doe&metadata[the+format]=Tutorial',
    'metadata%5BAuthor%5D=Jane%20Doe&metadata%5Bthe%20format%5D=Tutorial',
    'tags[]=b&metadata[Author]=Jane+Doe',
    'title=forms%20of%20a%20%2B%20b',
    'title=OF+A+%2B+B+%26+%C3%BC',
    'title=forms&tags[]=b&sortBy=title&sortOrder=asc&currentPage=1&pageSize=10',
  ])('%s', async query => {
    expect(await ids(query)).toEqual([found]);
  });

  it('and by no other', async () => {
    for (const query of ['tags[]=B&tags[]=form+a', 'tags[]=FORM+A', 'metadata[author]=Jane+Doe']) {
      expect([query, await ids(query)]).toEqual([query, []]);
    }
  });
});

describe('analytics are filtered by every form in which clients send', () => {
  const referrer = 'https://page.example.org/a?b=c&d';
  beforeAll(async () => {
    const at = Date.now();
    const eve = [1, 2].map(typ => ({ eat: at, typ, vti: 0 }));
    const report = { sat: at, sid: randomUUID(), mid: server.ids.videoId, pid: randomUUID(), ver: '1' };
    await server.call('POST', '/watch', { key: null, body: { ...report, ref: referrer, eve } });
    await server.api.analytics.tracker.flush();
  });
  const count = async (query: string) => {
    const { status, json } = await get(`/data/metrics/play/count?${query}`);
    expect([query, status]).toEqual([query, 200]);
    return json.data;
  };

  it.each([
    'filterBy[mediaId][0]=ID',
    'filterBy%5BmediaId%5D%5B0%5D=ID',
    'filterBy[mediaId][]=viNone&filterBy[mediaId][]=ID',
    'filterBy[mediaId]=ID',
    'filterBy[mediaType]=video',
    'filterBy[tag]=sea',
    `filterBy[referrer][0]=${encodeURIComponent(referrer)}`,
    `filterBy[referrer]=${encodeURIComponent(referrer)}&filterBy[mediaId][0]=ID&filterBy[mediaType]=video`,
  ])('%s', async form => {
    const query = form.replaceAll('ID', server.ids.videoId!);
    expect(await count(query)).toBe(1);
    expect(await count(query.replace(/(?<==)[^&]+$/, encodeURIComponent('live-stream')))).toBe(0);
  });

  it.each(['%s', '%z', '%p'])('with dates such as %s', async form => {
    const text = (ms: number) => {
      const iso = new Date(ms).toISOString().slice(0, 19);
      if (form === '%s') return `${iso}Z`;
      return form === '%z' ? `${iso}%2B00:00` : `${iso}.5Z`;
    };
    const now = Date.now();
    expect(await count(`from=${text(now - 600_000)}&to=${text(now + 600_000)}`)).toBe(1);
    expect(await count(`from=${text(now - 600_000)}&to=${text(now - 500_000)}`)).toBe(0);
  });
});
