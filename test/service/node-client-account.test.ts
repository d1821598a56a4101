import { randomUUID } from 'node:crypto';
import ApiVideoClient from '@api.video/nodejs-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ClientCoverage, clientParts } from '../support/node-client.ts';
import { sandboxKey, startApi, type TestApi } from '../support/start-api.ts';

const coverage = new ClientCoverage();
let server: TestApi;
let client: ApiVideoClient;

beforeAll(async () => {
  server = await startApi();
  client = coverage.client({ apiKey: sandboxKey, baseUri: server.baseUrl });
});
afterAll(() => server.stop());

describe('credentials, by the Node client of the reference API,', () => {
  test('are exchanged for tokens, with all four fields', async () => {
    const token = await client.getAccessToken();
    expect(token).toEqual({
      accessToken: expect.any(String),
      refreshToken: expect.any(String),
      tokenType: 'Bearer',
      expiresIn: 3_600,
    });
    const headers = { authorization: `${token.tokenType} ${token.accessToken}` };
    expect((await server.call('GET', '/videos', { key: null, headers })).status).toBe(200);
  });

  test('are exchanged and refreshed by the part that the client does not show', async () => {
    type Token = { access_token: string; refresh_token: string } & Record<string, unknown>;
    interface Authentication {
      authenticate(payload: { apiKey: string }): Promise<Token>;
      refresh(payload: { refreshToken: string }): Promise<Token>;
    }
    const options = { baseUri: server.baseUrl, apiKey: sandboxKey };
    const part = coverage.hiddenPart<Authentication>('AdvancedAuthenticationApi', options);
    const token = await part.authenticate({ apiKey: sandboxKey });
    expect(Object.values(token)).toEqual(expect.arrayContaining(['Bearer', 3_600]));
    const { refreshToken } = token as unknown as { refreshToken: string };
    const renewed = await part.refresh({ refreshToken });
    expect(Object.values(renewed)).toEqual(expect.arrayContaining(['Bearer', 3_600]));
    for (const refused of [
      () => part.refresh({ refreshToken }),
      () => part.authenticate({ apiKey: 'unknown' }),
    ]) {
      await expect(refused()).rejects.toMatchObject({
        code: 400,
        message: 'The user credentials were incorrect.',
      });
    }
    expect(coverage.missing('AdvancedAuthenticationApi', part)).toEqual([]);
  });

  test('are told apart by what is wrong with them', async () => {
    for (const [apiKey, message] of [
      ['unknown', 'The API key is invalid.'],
      // An empty header is what the client sends when it was made without a key.
      ['', 'The "Authorization" header value is invalid.'],
    ]) {
      const refused = new ApiVideoClient({ apiKey: apiKey!, baseUri: server.baseUrl }).videos.list();
      await expect(refused).rejects.toMatchObject({ code: 401, message });
    }
  });

  test('come with the name of an application and of a kit', async () => {
    const named = coverage.client({
      apiKey: sandboxKey,
      baseUri: server.baseUrl,
      applicationName: 'harbour',
      applicationVersion: '1.2.3',
      sdkName: 'kit',
      sdkVersion: '4.5',
    });
    expect((await named.videos.list()).data).toEqual([]);
  });
});

test('errors, by the Node client of the reference API, have title, detail, type and status', async () => {
  const { videoId } = await client.videos.create({ title: 'Harbour' });
  const refused = client.videos.update(videoId, { language: 'xx' as 'fr', title: null as never });
  const error = await refused.catch(reason => reason);
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    message: 'Invalid attributes.',
    code: 400,
    problemDetails: {
      type: expect.stringMatching(/\/invalid-attribute$/),
      title: 'Invalid attributes.',
      status: 400,
      detail: expect.any(String),
      problems: expect.arrayContaining([
        expect.objectContaining({ name: 'title', title: 'An attribute is invalid.' }),
        expect.objectContaining({ name: 'language' }),
      ]),
    },
  });
  await expect(client.videos.get('vi/../x?y')).rejects.toMatchObject({ code: 404 });
  await client.videos.delete(videoId);
});

describe('analytics, by the Node client of the reference API,', () => {
  const referrer = 'https://page.example.org/watch?a=b&c=d';
  let mediaId: string;
  const from = () => new Date(Date.now() - 50 * 60_000);
  const to = () => new Date(Date.now() + 5 * 60_000);

  beforeAll(async () => {
    mediaId = (await client.videos.create({ title: 'Film', tags: ['Cool stuff'] })).videoId;
    const at = Date.now();
    const eve = [1, 2].map(typ => ({ eat: at, typ, vti: 0 }));
    const report = { sat: at, sid: randomUUID(), mid: mediaId, pid: randomUUID(), ref: referrer, ver: '1' };
    const headers = {
      'user-agent':
        'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
    };
    await server.call('POST', '/watch', { key: null, headers, body: { ...report, eve } });
    await server.api.analytics.tracker.flush();
  });

  /** Everything that the viewer of the film fits. */
  const fitting = () => ({
    mediaId: [mediaId, 'vi0000000000000000000000'],
    mediaType: 'video' as const,
    deviceType: ['computer', 'phone'],
    operatingSystem: ['windows'],
    browser: ['chrome', 'opera'],
    tag: 'Cool stuff',
    referrer: [referrer],
  });
  const elsewhere = { continent: ['AN' as const], country: ['AQ'] };

  test('are numbers', async () => {
    const of = async (more: object) =>
      client.analytics.getAggregatedMetrics({
        metric: 'play',
        aggregation: 'count',
        from: from(),
        to: to(),
        ...more,
      });
    expect(await of({ filterBy: fitting() })).toMatchObject({
      context: { metric: 'play', aggregation: 'count', timeframe: { from: expect.any(Date) } },
      data: 1,
    });
    expect((await of({ filterBy: { ...fitting(), ...elsewhere } })).data).toBe(0);
    expect((await of({ filterBy: { tag: 'cool stuff' } })).data).toBe(0);
    const view = { metric: 'view', viewDuration: '3s', unique: true };
    expect(await of({ ...view, filterBy: fitting() })).toMatchObject({
      context: { metric: 'unique-view-3' },
      data: 0,
    });
    for (const [metric, aggregation] of [
      ...(['rate', 'total', 'sum'] as const).map(name => ['play', name] as const),
      ...(['start', 'end', 'impression', 'view'] as const).map(name => [name, 'count'] as const),
      ...(['impression-time', 'watch-time'] as const).flatMap(
        name => [[name, 'average'] as const, [name, 'sum'] as const] as const,
      ),
      ...(['average', 'peak', 'live'] as const).map(name => ['ccv', name] as const),
    ]) {
      const { data } = await client.analytics.getAggregatedMetrics({ metric, aggregation });
      expect([metric, aggregation, typeof data]).toEqual([metric, aggregation, 'number']);
    }
    await expect(of({ aggregation: 'peak' })).rejects.toMatchObject({
      code: 404,
      message: 'Unrecognized request URL.',
    });
  });

  test('are broken down', async () => {
    const page = { sortBy: 'metricValue', sortOrder: 'desc', currentPage: 1, pageSize: 5 } as const;
    for (const breakdown of [
      ...(['media-id', 'media-type', 'continent', 'country'] as const),
      ...(['device-type', 'operating-system', 'browser', 'referrer'] as const),
    ]) {
      const { context, data, pagination } = await client.analytics.getMetricsBreakdown({
        metric: 'play',
        breakdown,
        from: from(),
        to: to(),
        filterBy: fitting(),
        ...page,
      });
      expect(context).toMatchObject({ metric: 'play', breakdown });
      expect(data.map(({ metricValue }) => metricValue)).toEqual([1]);
      expect(pagination).toMatchObject({ itemsTotal: 1, pageSize: 5 });
    }
    const total = { metric: 'play-total', breakdown: 'media-id' } as const;
    expect((await client.analytics.getMetricsBreakdown(total)).data).toMatchObject([
      { dimensionValue: mediaId, metricValue: 1 },
    ]);
    const nobody = await client.analytics.getMetricsBreakdown({
      metric: 'view',
      breakdown: 'country',
      unique: true,
      viewDuration: '30s',
      filterBy: elsewhere,
    });
    expect(nobody).toMatchObject({ context: { metric: 'unique-view-30' }, data: [] });
  });

  test('are a series', async () => {
    const range = { from: from(), to: new Date(Date.now() + 60_000) };
    const page = { sortBy: 'emittedAt', sortOrder: 'desc', currentPage: 1, pageSize: 100 } as const;
    const { context, data } = await client.analytics.getMetricsOverTime({
      metric: 'play',
      interval: 'minute',
      ...range,
      filterBy: fitting(),
      ...page,
    });
    expect(context).toMatchObject({
      metric: 'play',
      interval: 'minute',
      timeframe: { to: expect.any(Date) },
    });
    expect(data.map(({ metricValue }) => metricValue).filter(value => value !== 0)).toEqual([1]);
    for (const { emittedAt } of data) expect(emittedAt).toMatch(/^[-\dT:]{19}\+00:00$/);
    const nobody = await client.analytics.getMetricsOverTime({
      metric: 'view',
      unique: true,
      viewDuration: '10s',
      filterBy: elsewhere,
    });
    expect(nobody.context).toMatchObject({ metric: 'unique-view-10', interval: 'hour' });
    expect(new Set(nobody.data.map(({ metricValue }) => metricValue))).toEqual(new Set([0]));
  });

  test('are all that the client knows of them', () => {
    expect(coverage.missing('analytics', client.analytics)).toEqual([]);
  });
});

test('every part of the Node client is exercised by a test file', () => {
  const videos = ['videos', 'uploadTokens'];
  const resources = [
    ...['captions', 'chapters', 'liveStreams', 'playerThemes'],
    ...['watermarks', 'webhooks', 'tags', 'summaries'],
  ];
  expect([...videos, ...resources, 'analytics'].sort()).toEqual([...clientParts].sort());
});
