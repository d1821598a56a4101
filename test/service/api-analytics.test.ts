import { createPrivateKey, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/shared/clock.ts';
import { signToken } from '../support/sign-token.ts';
import { databaseText, runSql, singleValue } from '../support/sql.ts';
import { productionKey, startApi, type TestApi } from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A time of day at which neither an hour nor a day ends within the tests that do not say so. */
const noon = Date.UTC(2026, 2, 4, 12, 30, 5);

class ClockOfTest implements Clock {
  ms = noon;
  nowMs = () => this.ms;
  monotonicMs = () => this.ms;
}

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1';

const clock = new ClockOfTest();
let server: TestApi;
const viewerAddress = { value: '127.0.0.1' };

interface Watch {
  seconds?: number;
  userAgent?: string;
  address?: string;
  referrer?: string;
  pid?: string;
  ends?: boolean;
  token?: string;
}

/** Sends the reports of a player that plays from the beginning. */
async function watch(mid: string, { seconds = 0, userAgent = chrome, ...more }: Watch = {}) {
  viewerAddress.value = more.address ?? '127.0.0.1';
  const pid = more.pid ?? randomUUID();
  // The player's clock is two hours slow, which nobody is to notice.
  const at = () => clock.ms - 2 * hour;
  const send = async (eve: object[]) => {
    const { referrer: ref = '', token: tok } = more;
    const body = { sat: at(), sid: randomUUID(), mid, pid, ref, tok, ver: '1', eve };
    const headers = { 'user-agent': userAgent, 'content-type': 'text/plain' };
    return server.call('POST', '/watch', { key: null, headers, body });
  };
  const first = [
    { eat: at(), typ: 1, vti: 0 },
    { eat: at(), typ: 2, vti: 0 },
    { eat: at(), typ: 4, vti: 0 },
  ];
  const answer = await send(first);
  for (let watched = 0; watched < seconds; ) {
    const step = Math.min(5, seconds - watched);
    watched += step;
    clock.ms += step * 1000;
    await send([{ eat: at(), typ: 4, vti: watched }]);
  }
  if (more.ends) await send([{ eat: at(), typ: 6, vti: seconds }]);
  await server.api.analytics.tracker.flush();
  return { answer, pid };
}

async function makeVideo(key: string, attributes: object = {}): Promise<string> {
  const answer = await server.call('POST', '/videos', { key, body: { title: 'film', ...attributes } });
  return answer.json.videoId;
}

const get = (path: string, key = productionKey) => server.call('GET', `/data/${path}`, { key });
const number = async (path: string, key = productionKey): Promise<number> => (await get(path, key)).json.data;
const only = (videoId: string) => `filterBy[mediaId][0]=${videoId}`;

beforeAll(async () => {
  server = await startApi({
    clock,
    isUpgraded: true,
    analytics: { addressOf: () => viewerAddress.value, reportsPerMinute: 0 },
  });
});
afterAll(() => server.stop());

describe('what a player reports', () => {
  it('is counted beside reports of ids that no database takes', async () => {
    const video = await makeVideo(productionKey);
    const send = (mid: string) => {
      const eve = [1, 2].map(typ => ({ eat: clock.ms, typ, vti: 0 }));
      const body = { sat: clock.ms, mid, pid: randomUUID(), eve };
      return server.call('POST', '/watch', { key: null, body });
    };
    const ids = [video, 'vi\u0000', "li'", `${video} `, '\ud800', video];
    const answers = await Promise.all(ids.map(send));
    expect(answers.map(({ status }) => status)).toEqual([202, 400, 202, 202, 400, 202]);
    await server.api.analytics.tracker.flush();
    expect(await number(`metrics/play/count?${only(video)}`)).toBe(2);
  });

  it('is counted and shown', async () => {
    const video = await makeVideo(productionKey);
    const { answer } = await watch(video, { seconds: 12, ends: true });
    expect(answer.status).toBe(202);
    expect(answer.text).toBe('');
    expect(answer.headers.get('content-type')).toBeNull();
    expect((await get(`metrics/play/count?${only(video)}`)).json).toEqual({
      context: {
        metric: 'play',
        aggregation: 'count',
        timeframe: { from: '2026-03-03T12:30:17+00:00', to: '2026-03-04T12:30:17+00:00' },
      },
      data: 1,
    });
    for (const [path, value] of [
      ['play/sum', 1],
      ['play/rate', 1],
      ['play/total', 1],
      ['start/count', 1],
      ['end/count', 1],
      ['impression/count', 1],
      ['impression-time/average', 0],
      ['watch-time/sum', 12],
      ['watch-time/average', 12],
      ['view/count', 1],
      ['ccv/peak', 1],
      ['ccv/live', 1],
    ] as const) {
      expect([path, await number(`metrics/${path}?${only(video)}`)]).toEqual([path, value]);
    }
    expect(await number(`metrics/view/count?${only(video)}&viewDuration=30s`)).toBe(0);
  });

  it('is not counted again when it comes again, also after the server forgot the player', async () => {
    const video = await makeVideo(productionKey);
    const { pid } = await watch(video, { seconds: 4 });
    clock.ms += 10 * minute;
    await watch(await makeVideo(productionKey));
    await watch(video, { pid });
    for (const [path, value] of [
      ['impression/count', 1],
      ['play/count', 1],
      ['play/total', 1],
      ['view/count', 0],
      ['watch-time/sum', 4],
    ] as const)
      expect([path, await number(`metrics/${path}?${only(video)}`)]).toEqual([path, value]);
  });

  it.each<[string, object, number]>([
    ['of media that is not here', { mid: 'viNobodyHasThis' }, 202],
    ['without events', { eve: [] }, 202],
    ['of unknown events', { eve: [{ eat: 1, typ: 99 }] }, 202],
    ['with absurd numbers', { sat: -1e308, eve: [{ eat: 1e308, typ: 2, vti: -1e308 }] }, 202],
    ['with what is null', { ref: null, sid: null, eve: [{ eat: noon, typ: 1, vti: null, pau: null }] }, 202],
    ['with unknown fields', { 'x\0': 'y\0', eve: [{ eat: noon, typ: 1, 'x\0': 1 }] }, 202],
    ['without a playback', { pid: '' }, 400],
    ['of a wrong type', { eve: 'all' }, 400],
    ['with too many events', { eve: Array(1_001).fill({}) }, 400],
    ['with far too many events', { eve: Array(10_000).fill({ eat: 1_772_600_765_100, typ: 4 }) }, 413],
  ])('%s is answered in order', async (_, change, status) => {
    const mid = await makeVideo(productionKey);
    const body = { sat: noon, sid: 's', mid, pid: randomUUID(), ref: '', ver: '1', eve: [], ...change };
    const answer = await server.call('POST', '/watch', { key: null, body });
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(answer.json.title).toMatch(/^(Invalid attributes|This attribute is required)\.$/);
  });

  it('of the older protocol is counted alike', async () => {
    const stream = await server.call('POST', '/live-streams', { key: productionKey, body: { name: 'x' } });
    const id = stream.json.liveStreamId;
    viewerAddress.value = '127.0.0.1';
    const iso = () => new Date(clock.ms).toISOString();
    const report = async (session: object, types: string[]) => {
      const events = types.map(type => ({ emitted_at: iso(), type, at: 100 }));
      const body = {
        emitted_at: iso(),
        session: { loaded_at: iso(), live_stream_id: id, ...session },
        events,
      };
      return server.call('POST', '/live', { key: null, body: JSON.stringify(body) });
    };
    const first = await report({}, ['ready', 'play']);
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('application/json');
    expect(first.json).toEqual({ session: expect.stringMatching(/^ps/) });
    const session_id = first.json.session;
    clock.ms += 10_000;
    expect((await report({ session_id }, [])).json).toEqual({ session: session_id });
    clock.ms += 5_000;
    await report({ session_id }, ['pause', 'end']);
    await server.api.analytics.tracker.flush();
    for (const [path, value] of [
      ['impression/count', 1],
      ['play/count', 1],
      ['end/count', 1],
      ['watch-time/sum', 15],
    ] as const)
      expect([path, await number(`metrics/${path}?${only(id)}&filterBy[mediaType]=live-stream`)]).toEqual([
        path,
        value,
      ]);
    const old = await server.call('POST', '/vod', {
      key: null,
      body: { emitted_at: iso(), session: {}, events: [] },
    });
    expect(old.status).toBe(200);
  });
});

describe('buckets and time series', () => {
  let one: string;
  let other: string;
  beforeAll(async () => {
    clock.ms = noon + 40 * day;
    one = await makeVideo(productionKey, { tags: ['Cool stuff'] });
    other = await makeVideo(productionKey);
    await watch(one, { seconds: 6, address: '8.8.8.8', referrer: 'https://example.org/a#b' });
    clock.ms += hour;
    await watch(one, { seconds: 6, address: '8.8.8.8' });
    // Waits longer: viewers within the same ten seconds count as present together.
    clock.ms += 20_000;
    await watch(one, { seconds: 2, userAgent: iphone, address: '2a01:e0a::1' });
    clock.ms += 20_000;
    await watch(other, { seconds: 31, userAgent: iphone, address: '2a01:e0a::1' });
  });
  const buckets = async (path: string) =>
    Object.fromEntries(
      (await get(`buckets/${path}`)).json.data.map((row: { dimensionValue: string; metricValue: number }) => [
        row.dimensionValue,
        row.metricValue,
      ]),
    );

  it.each<[string, () => Record<string, number>]>([
    ['play/media-id', () => ({ [one]: 3, [other]: 1 })],
    ['play/media-type', () => ({ video: 4 })],
    ['play/continent', () => ({ NA: 2, EU: 2 })],
    ['play/country', () => ({ US: 2, FR: 2 })],
    ['play/device-type', () => ({ computer: 2, phone: 2 })],
    ['play/operating-system', () => ({ windows: 2, ios: 2 })],
    ['play/browser', () => ({ chrome: 2, safari: 2 })],
    ['play/referrer', () => ({ '': 3, 'https://example.org/a': 1 })],
    ['play-rate/country', () => ({ US: 1, FR: 1 })],
    ['view/country', () => ({ US: 2, FR: 1 })],
    ['view/country?unique=true', () => ({ US: 1, FR: 1 })],
    ['view/country?viewDuration=30s', () => ({ FR: 1 })],
    ['ccv-peak/country', () => ({ US: 1, FR: 1 })],
    ['play/browser?filterBy[country]=FR', () => ({ safari: 2 })],
    ['play/browser?filterBy[country][0]=FR&filterBy[country][1]=US', () => ({ chrome: 2, safari: 2 })],
    ['play/country?filterBy[country][]=FR', () => ({ FR: 2 })],
    ['play/country?filterBy[tag]=Cool+stuff', () => ({ US: 2, FR: 1 })],
    ['play/country?filterBy[tag]=cool%20stuff', () => ({})],
    ['play/country?filterBy%5Breferrer%5D%5B%5D=https%3A%2F%2Fexample.org%2Fa', () => ({ US: 1 })],
    ['play/country?filterBy[referrer][]=', () => ({ US: 1, FR: 2 })],
    ['play/country?filterBy[mediaType]=live-stream', () => ({})],
    ['play-total/media-id?filterBy[mediaType]=live-stream', () => expect.any(Object)],
  ])('%s', async (path, expected) => {
    expect(await buckets(path)).toEqual(expected());
  });

  it('are sorted and paged, with links that keep the filters', async () => {
    const first = (
      await get('buckets/play/media-id?filterBy[country][0]=US&filterBy[country][1]=FR&pageSize=1')
    ).json;
    expect(first.data).toEqual([{ dimensionValue: one, metricValue: 3 }]);
    expect(first.pagination).toMatchObject({ itemsTotal: 2, pagesTotal: 2, currentPageItems: 1 });
    const next = first.pagination.links.find((link: { rel: string }) => link.rel === 'next').uri;
    expect(next).toBe(
      '/data/buckets/play/media-id?filterBy[country][0]=US&filterBy[country][1]=FR&currentPage=2&pageSize=1',
    );
    const second = await server.call('GET', next, { key: productionKey });
    expect(second.json.data).toEqual([{ dimensionValue: other, metricValue: 1 }]);
    const sorted = async (query: string) =>
      (await get(`buckets/play/country?${query}`)).json.data.map(
        (row: { dimensionValue: string }) => row.dimensionValue,
      );
    expect(await sorted('sortBy=dimensionValue')).toEqual(['FR', 'US']);
    expect(await sorted('sortBy=dimensionValue&sortOrder=desc')).toEqual(['US', 'FR']);
    const total = (await get('buckets/play-total/media-id?sortBy=metricValue&sortOrder=desc&pageSize=1'))
      .json;
    expect(total.data).toEqual([{ dimensionValue: one, metricValue: 3 }]);
    expect(total.context.timeframe).toBeUndefined();
    const videos = await server.call('GET', '/videos?sortBy=plays&sortOrder=desc&pageSize=1', {
      key: productionKey,
    });
    expect(videos.json.data).toMatchObject([{ videoId: one }]);
  });

  it('have a point for every hour of the frame', async () => {
    const { context, data, pagination } = (await get(`timeseries/play?${only(one)}&pageSize=100`)).json;
    expect(context).toMatchObject({ metric: 'play', interval: 'hour' });
    expect(pagination.itemsTotal).toBe(25);
    const found = data.filter((point: { metricValue: number }) => point.metricValue > 0);
    expect(found).toEqual([
      { emittedAt: '2026-04-13T12:00:00+00:00', metricValue: 1 },
      { emittedAt: '2026-04-13T13:00:00+00:00', metricValue: 2 },
    ]);
    expect(data[0].emittedAt).toBe('2026-04-12T13:00:00+00:00');
  });

  it.each([
    ['play?interval=day', 'play', [0, 4]],
    ['watch-time?interval=day', 'watch-time', [0, 45]],
    ['view?interval=day&unique=true', 'unique-view-5', [0, 2]],
    ['ccv-peak?interval=day&unique=true', 'unique-ccv-peak', [0, 1]],
    ['view?interval=day&viewDuration=3s&sortBy=metricValue&sortOrder=desc', 'view-3', [3, 0]],
  ])('%s', async (path, metric, values) => {
    const { context, data } = (await get(`timeseries/${path}`)).json;
    expect(context.metric).toBe(metric);
    expect(data.map((point: { metricValue: number }) => point.metricValue)).toEqual(values);
  });

  it('tell minutes of less than an hour', async () => {
    const from = new Date(clock.ms - 30 * minute).toISOString().replace('.000', '');
    const { data } = (await get(`timeseries/play?interval=minute&from=${from}&pageSize=100`)).json;
    expect(data.length).toBe(31);
    expect(data.reduce((sum: number, point: { metricValue: number }) => sum + point.metricValue, 0)).toBe(3);
  });

  it.each([
    ['metrics/play/count?from=2026-01-01T00:00:00Z', 'from', 'This value should be at most 30 days ago.'],
    [
      'metrics/play/count?unique=true',
      'unique',
      'This parameter can only be used with the "ccv" and "view" metrics.',
    ],
    [
      'metrics/view/count?viewDuration=4s',
      'viewDuration',
      'This view duration is invalid. Use one of "3s", "5s", "10s", "30s".',
    ],
    [
      'timeseries/play?interval=week',
      'interval',
      'This interval is invalid. Use one of "minute", "hour", "day".',
    ],
    [
      'timeseries/play?interval=minute',
      'interval',
      'This interval cannot be used with a timeframe over 60 minutes.',
    ],
    [
      `metrics/play/count?filterBy[referrer][]=${'a'.repeat(2_049)}`,
      'filterBy[referrer]',
      'This value should not contain more than 2048 characters.',
    ],
    ['metrics/play/count?filterBy[colour]=red', 'filterBy[colour]', 'This field was not expected.'],
    ['metrics/play/count?limit=5', 'limit', 'This field was not expected.'],
    [
      'metrics/play/total?filterBy[country]=FR',
      'filterBy[country]',
      'Only "mediaId" and "mediaType" can be used with this metric.',
    ],
    [
      'buckets/play/country?sortBy=name',
      'sortBy',
      'This value should be one of "metricValue", "dimensionValue".',
    ],
  ])('refuse %s', async (path, name, detail) => {
    const { status, json } = await get(path);
    expect(status).toBe(400);
    expect(json).toMatchObject({ title: 'Invalid attributes.', name });
    expect(json.problems).toEqual([
      {
        type: expect.stringMatching(/\/request-invalid-query-parameter$/),
        title: 'A query parameter is invalid.',
        name,
        detail,
      },
    ]);
  });

  it('refuse what is no date by the title that dates have', async () => {
    const { status, json } = await get('metrics/play/count?from=x');
    expect(status).toBe(400);
    expect(json).toMatchObject({ title: 'Invalid attributes.', name: 'from' });
    expect(json.problems).toEqual([
      {
        type: expect.stringMatching(/\/invalid-attribute$/),
        title: 'This attribute must be a ISO-8601 date.',
        name: 'from',
      },
    ]);
  });

  it.each([
    'metrics/play/average',
    'metrics/ccv/count',
    'metrics/constructor/length',
    'buckets/play-total/country',
    'buckets/watch-time/country',
    'buckets/play/mediaId',
    'timeseries/play-total',
    'metrics/play',
  ])('know no %s', async path => {
    const { status, json } = await get(path);
    expect([status, json.title]).toEqual([404, 'Unrecognized request URL.']);
  });
});

describe('analytics', () => {
  it('count what has a tag also where that are many videos', async () => {
    clock.ms = noon + 60 * day;
    const tagged = await Promise.all(
      Array.from({ length: 120 }, () => makeVideo(productionKey, { tags: ['many'] })),
    );
    const [one, other] = [tagged[3]!, tagged[77]!];
    const plain = await makeVideo(productionKey);
    for (const video of [one, other, other, plain]) await watch(video, { seconds: 6, address: '8.8.8.8' });
    // Stores the values as if all had been watched once, long ago.
    const know = 'INSERT INTO analytics_values (value, used_day) VALUES (?, 0) ON CONFLICT DO NOTHING';
    for (const video of tagged) await runSql(server.database, know, video);
    clock.ms += hour;
    const data = async (path: string) => (await get(path)).json.data;
    const tag = 'filterBy[tag]=many';
    expect(await data(`buckets/play/media-id?${tag}`)).toEqual([
      { dimensionValue: other, metricValue: 2 },
      { dimensionValue: one, metricValue: 1 },
    ]);
    expect(await data(`buckets/play/country?${tag}`)).toEqual([{ dimensionValue: 'US', metricValue: 3 }]);
    expect(await data(`buckets/ccv-peak/media-id?${tag}&unique=true&sortBy=metricValue`)).toHaveLength(2);
    expect(await number(`metrics/play/count?${tag}`)).toBe(3);
    expect(await number(`metrics/play/count?${tag}&filterBy[browser]=chrome`)).toBe(3);
    expect(await number(`metrics/view/count?${tag}&unique=true`)).toBe(1);
    const from = new Date(clock.ms - 25 * day).toISOString();
    expect(await number(`metrics/play/count?${tag}&from=${from}`)).toBe(3);
    expect(await number(`metrics/play/count?${tag}&${only(plain)}`)).toBe(0);
  });

  it('show a project its own viewers only, and the sandbox those of a day', async () => {
    clock.ms = noon + 80 * day;
    const sandbox = await makeVideo('sandbox-key-of-tests-0123456789ab');
    const stranger = await server.addAccount({ isUpgraded: true });
    await watch(sandbox);
    clock.ms += hour;
    expect(await number('metrics/play/count', 'sandbox-key-of-tests-0123456789ab')).toBe(1);
    expect(await number('metrics/play/total', 'sandbox-key-of-tests-0123456789ab')).toBe(1);
    for (const key of [productionKey, stranger.sandboxKey, stranger.productionKey]) {
      expect(await number(`metrics/play/count?${only(sandbox)}`, key)).toBe(0);
      expect(await number(`metrics/play/total?${only(sandbox)}`, key)).toBe(0);
      expect(await number(`metrics/ccv/peak?${only(sandbox)}`, key)).toBe(0);
      expect((await get('buckets/play/media-id', key)).json.data).toEqual([]);
    }
    clock.ms += day;
    const from = new Date(clock.ms - 3 * day).toISOString();
    expect(await number(`metrics/play/count?from=${from}`, 'sandbox-key-of-tests-0123456789ab')).toBe(0);
    const { context } = (await get(`metrics/play/count?from=${from}`, 'sandbox-key-of-tests-0123456789ab'))
      .json;
    expect(Date.parse(context.timeframe.from)).toBeGreaterThan(clock.ms - day - 2 * minute);
  });

  it('see viewers that are there at the same time', async () => {
    clock.ms = noon + 120 * day;
    const video = await makeVideo(productionKey);
    const began = clock.ms;
    for (const address of ['8.8.8.8', '8.8.8.8', '1.1.1.1']) {
      clock.ms = began;
      await watch(video, { seconds: 60, address });
    }
    expect(await number('metrics/ccv/live')).toBe(3);
    expect(await number('metrics/ccv/peak')).toBe(3);
    expect(await number('metrics/ccv/peak?unique=true')).toBe(2);
    const from = new Date(began).toISOString();
    expect(await number(`metrics/ccv/average?from=${from}`)).toBe(3);
    expect(await number('metrics/view/count?unique=true')).toBe(2);
    clock.ms += 5 * minute;
    expect(await number('metrics/ccv/live')).toBe(0);
    expect(await number('metrics/ccv/peak')).toBe(3);
  });

  it('are gone after a month, but for the total', async () => {
    const rows = (table: string) => singleValue<number>(server.database, `SELECT count(*) FROM ${table}`);
    const total = await number('metrics/play/total');
    expect(total).toBeGreaterThan(5);
    clock.ms += 34 * day;
    const { cleanup } = server.api.analytics;
    expect(await cleanup.run(AbortSignal.abort())).toBe(0);
    expect(await cleanup.run()).toBeGreaterThan(0);
    for (const table of ['minutes', 'hours', 'sums', 'stays', 'playbacks', 'tuples', 'values', 'salts'])
      expect([table, await rows(`analytics_${table}`)]).toEqual([table, 0]);
    expect(await number('metrics/play/total')).toBe(total);
    await watch(await makeVideo(productionKey));
    expect(await number('metrics/play/count')).toBe(1);
  });

  it('keep no address', async () => {
    const video = await makeVideo(productionKey);
    await watch(video, { address: '203.0.113.77' });
    const stored = await databaseText(server.database);
    expect(stored.includes('203.0.113.77')).toBe(false);
    expect(stored.includes(video)).toBe(true);
  });
});

describe('viewers', () => {
  it('are those that valid tokens of the media name', async () => {
    clock.ms = noon + 200 * day;
    const [video, other] = [await makeVideo(productionKey), await makeVideo(productionKey)];
    const named = { key: productionKey, body: { name: 'Website' } };
    const { signingKeyId, privateKey } = (await server.call('POST', '/account/signing-keys', named)).json;
    const key = { id: signingKeyId, algorithm: 'ES256', privateKey: createPrivateKey(privateKey) } as const;
    const exp = Math.floor(clock.ms / 1000) + hour / 1000;
    const sign = (claims: object) => signToken(key, { sub: video, exp, viewer: 'Zoë #7', ...claims });
    const token = await sign({});
    const refused = [
      await sign({ viewer: undefined }),
      await sign({ exp: exp - (2 * hour) / 1000 }),
      await sign({ sub: other }),
      `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(86)}`,
      'garbage.of.somebody',
    ];
    await watch(video, { seconds: 6, token });
    await watch(video, { token });
    for (const one of refused) await watch(video, { token: one });
    const buckets = async (metric: string) =>
      (await get(`buckets/${metric}/viewer-id?${only(video)}`)).json.data.map(
        (row: { dimensionValue: string; metricValue: number }) => [row.dimensionValue, row.metricValue],
      );
    expect(await buckets('play')).toEqual([
      ['', refused.length],
      ['Zoë #7', 2],
    ]);
    expect(await buckets('view')).toEqual([['Zoë #7', 1]]);
    const filter = 'filterBy[viewerId][]=Zo%C3%AB+%237';
    expect(await number(`metrics/watch-time/sum?${filter}`)).toBe(6);
    expect(await number(`metrics/play/count?filterBy[viewerId][]=&${only(video)}`)).toBe(refused.length);
    const tooLong = { mid: video, pid: 'p', eve: [], tok: 'a'.repeat(1_601) };
    expect((await server.call('POST', '/watch', { key: null, body: tooLong })).status).toBe(400);
  });
});

describe('a restart', () => {
  it('keeps what was counted, and counts nothing of it again', async () => {
    const dataDir = await makeTempDir();
    const report = async (api: TestApi, mid: string, eve: object[]) => {
      const body = { sat: Date.now(), sid: 's', mid, pid: 'p', ref: '', ver: '1', eve };
      expect((await api.call('POST', '/watch', { key: null, body })).status).toBe(202);
      await api.api.analytics.tracker.flush();
    };
    try {
      const first = await startApi({ dataDir });
      const { videoId } = (await first.call('POST', '/videos', { body: { title: 'film' } })).json;
      const beganMs = Date.now() - 60_000;
      const eve = [
        { eat: beganMs, typ: 1, vti: 0 },
        { eat: beganMs + 100, typ: 2, vti: 0 },
        { eat: beganMs + 6_100, typ: 4, vti: 6 },
      ];
      const later = [
        { eat: beganMs + 8_600, typ: 4, vti: 8.5 },
        { eat: beganMs + 11_100, typ: 4, vti: 11 },
      ];
      await report(first, videoId, eve);
      await report(first, videoId, later);
      await first.stop();
      const second = await startApi({ dataDir });
      await report(second, videoId, eve);
      await report(second, videoId, later);
      for (const [path, value] of [
        ['play/count', 1],
        ['view/count', 1],
        ['watch-time/sum', 11],
      ] as const)
        expect([path, (await second.call('GET', `/data/metrics/${path}`)).json.data]).toEqual([path, value]);
      await second.stop();
    } finally {
      await removeDir(dataDir);
    }
  });
});

describe('one address', () => {
  it('can send so much and no more', async () => {
    const limited = await startApi({ analytics: { reportsPerMinute: 8 } });
    try {
      const body = { mid: 'viX', pid: 'p', eve: [] };
      const send = async () => (await limited.call('POST', '/watch', { key: null, body })).status;
      expect([await send(), await send(), await send()]).toEqual([202, 202, 429]);
    } finally {
      await limited.stop();
    }
  });
});
