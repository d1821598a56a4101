import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formWith, pngImage } from '../support/images.ts';
import { startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
beforeEach(async () => {
  server = await startApi();
});
afterEach(() => server.stop());

const create = async (body: Record<string, unknown> = {}) =>
  (await server.call('POST', '/live-streams', { body: { name: 'Pier cam', ...body } })).json;
const mirror = { name: 'Mirror', serverUrl: 'rtmp://mirror.example.net/app', streamKey: 'abcd-1234' };

const png = pngImage();

describe('creating a live stream', () => {
  it('answers 200 with the whole object', async () => {
    const answer = await server.call('POST', '/live-streams', { body: { name: 'Pier cam' } });
    const base = `http://localhost:${server.listener.httpPort}`;
    const id = answer.json.liveStreamId;
    expect(answer.status).toBe(200);
    expect(id).toMatch(/^li[0-9A-Za-z]{22}$/);
    expect(answer.json).toEqual({
      liveStreamId: id,
      name: 'Pier cam',
      streamKey: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      ),
      public: true,
      broadcasting: false,
      restreams: [],
      assets: {
        hls: `${base}/${id}.m3u8`,
        iframe: `<iframe src="${base}/live/${id}" width="100%" height="100%" frameborder="0" scrolling="no" allowfullscreen="true"></iframe>`,
        player: `${base}/live/${id}`,
        thumbnail: `${base}/${id}/thumbnail.jpg`,
      },
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      updatedAt: answer.json.createdAt,
    });
  });

  it('keeps every attribute', async () => {
    const { playerId } = (await server.call('POST', '/players', { body: {} })).json;
    const attributes = { public: false, playerId, restreams: [mirror], record: false };
    const made = await create(attributes);
    expect(made).toMatchObject(attributes);
    expect((await server.call('GET', `/live-streams/${made.liveStreamId}`)).json).toMatchObject(attributes);
  });

  it('gives the assets of a private stream a new token with each answer', async () => {
    const made = await create({ public: false });
    const again = (await server.call('GET', `/live-streams/${made.liveStreamId}`)).json;
    const tokenOf = (view: { assets: { hls: string } }) => view.assets.hls.split('/').at(-2)!;
    const token = tokenOf(again);
    const base = `http://localhost:${server.listener.httpPort}`;
    expect(token).not.toBe(tokenOf(made));
    expect(server.api.privateTokens.mintedAtMs(token, made.liveStreamId)).toBeGreaterThan(
      Date.now() - 10_000,
    );
    expect(again.assets).toMatchObject({
      hls: `${base}/private/${token}/${made.liveStreamId}.m3u8`,
      player: `${base}/live/${made.liveStreamId}?token=${token}`,
      thumbnail: `${base}/private/${token}/${made.liveStreamId}/thumbnail.jpg`,
    });
    expect(again.assets.iframe).toContain(`src="${again.assets.player}"`);
  });

  it('takes five restreams and no more', async () => {
    expect((await create({ restreams: Array(5).fill(mirror) })).restreams).toHaveLength(5);
    const answer = await server.call('POST', '/live-streams', {
      body: { name: 'a', restreams: Array(6).fill(mirror) },
    });
    expect(answer.status).toBe(400);
    expect(answer.json.problems).toEqual([
      {
        type: expect.stringContaining('/invalid-attribute'),
        title: 'An attribute is invalid.',
        name: 'restreams',
        detail: 'This collection should contain 5 elements or less.',
      },
    ]);
  });
});

describe('changing a live stream', () => {
  it('never names a theme that is deleted at the same time', async () => {
    const { liveStreamId } = await create();
    const path = `/live-streams/${liveStreamId}`;
    for (let round = 0; round < 20; round += 1) {
      const { playerId } = (await server.call('POST', '/players', { body: {} })).json;
      const [changed, created] = await Promise.all([
        server.call('PATCH', path, { body: { playerId } }),
        server.call('POST', '/live-streams', { body: { name: 'Pier cam', playerId } }),
        server.call('DELETE', `/players/${playerId}`),
      ]);
      for (const answer of [changed, created]) expect([200, 400]).toContain(answer.status);
      const listed = (await server.call('GET', '/live-streams?pageSize=100')).json.data;
      expect(listed.map((stream: { playerId?: string }) => stream.playerId)).not.toContain(playerId);
    }
  });

  it('leaves what is not sent, replaces lists whole, and unsets with null', async () => {
    const { playerId } = (await server.call('POST', '/players', { body: {} })).json;
    const made = await create({ playerId, restreams: [mirror, mirror] });
    const path = `/live-streams/${made.liveStreamId}`;
    const patch = async (body: unknown) => (await server.call('PATCH', path, { body })).json;
    expect(await patch({ name: 'North' })).toMatchObject({
      name: 'North',
      playerId: made.playerId,
      streamKey: made.streamKey,
    });
    expect(await patch({ restreams: [{ ...mirror, name: 'One' }] })).toMatchObject({
      name: 'North',
      restreams: [{ name: 'One' }],
    });
    expect((await patch({ restreams: [] })).restreams).toEqual([]);
    expect(await patch({ playerId: null })).not.toHaveProperty('playerId');
    expect(made).not.toHaveProperty('qualities');
    expect(await patch({ qualities: 'ladder' })).toMatchObject({ qualities: 'ladder' });
    expect(await patch({ name: 'North' })).toMatchObject({ qualities: 'ladder' });
    expect(await patch({ qualities: null })).not.toHaveProperty('qualities');
    expect((await server.call('PATCH', path, { body: { qualities: 'best' } })).status).toBe(400);
    expect(made).not.toHaveProperty('record');
    for (const record of [true, false]) {
      expect(await patch({ record })).toMatchObject({ record });
      expect(await patch({ name: 'North' })).toMatchObject({ record });
      expect(await server.api.liveStreams.findByStreamKey(made.streamKey)).toMatchObject({ record });
    }
    expect(await patch({ record: null })).not.toHaveProperty('record');
    expect((await server.api.liveStreams.findByStreamKey(made.streamKey))?.record).toBeUndefined();
    expect((await server.call('PATCH', path, { body: { record: 'yes' } })).status).toBe(400);
    expect(await patch({})).toMatchObject({ name: 'North', public: true });
    const refused = await server.call('PATCH', path, { body: { name: null, public: null, restreams: null } });
    expect(refused.json.problems.map((problem: { name: string }) => problem.name)).toEqual([
      'name',
      'public',
      'restreams',
    ]);
  });
});

describe('restreams', () => {
  const backup = { ...mirror, name: 'Backup', streamKey: 'efgh-5678' };
  const change = async (id: string, body: unknown) =>
    await server.call('PATCH', `/live-streams/${id}`, { body });

  it('are enabled and get the source unless they say otherwise, and are shown as they were set', async () => {
    const restreams = [mirror, { ...backup, enabled: false, rendition: '720p' }];
    const made = await create({ restreams });
    expect(made.restreams).toEqual(restreams);
    expect((await server.call('GET', '/live-streams')).json.data[0].restreams).toEqual(restreams);
    const expected = [
      { ...mirror, isEnabled: true, rendition: undefined },
      { ...backup, isEnabled: false, rendition: '720p' },
    ];
    expect((await server.api.liveStreams.findByStreamKey(made.streamKey))?.restreams).toEqual(expected);
    const explicit = [{ ...mirror, enabled: true, rendition: 'source' }, restreams[1]];
    expect((await change(made.liveStreamId, { restreams: explicit })).json.restreams).toEqual(explicit);
    expect((await server.api.liveStreams.findByStreamKey(made.streamKey))?.restreams).toEqual(expected);
  });

  it('reach the broadcast of their live stream with the change that replaces them', async () => {
    const [one, other] = [await create({ restreams: [mirror] }), await create({ restreams: [mirror] })];
    await change(one.liveStreamId, { name: 'North' });
    await change(other.liveStreamId, { restreams: [{ ...backup, enabled: 'no' }] });
    expect(server.live.destinations.size).toBe(0);
    await change(one.liveStreamId, { restreams: [{ ...backup, enabled: false }, mirror] });
    expect([...server.live.destinations]).toEqual([
      [
        one.liveStreamId,
        [
          { ...backup, isEnabled: false, rendition: undefined },
          { ...mirror, isEnabled: true, rendition: undefined },
        ],
      ],
    ]);
    await change(one.liveStreamId, { restreams: [] });
    expect(server.live.destinations.get(one.liveStreamId)).toEqual([]);
  });

  it('of changes that come at once are those that were stored last', async () => {
    const { liveStreamId } = await create();
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        change(liveStreamId, { restreams: [{ ...mirror, name: `Mirror ${index}` }] }),
      ),
    );
    const [stored] = (await server.call('GET', `/live-streams/${liveStreamId}`)).json.restreams;
    expect(server.live.destinations.get(liveStreamId)).toMatchObject([{ name: stored.name }]);
  });

  it('of another account stay as they are, and so does its broadcast', async () => {
    const { liveStreamId } = await create({ restreams: [mirror] });
    const { sandboxKey: key } = await server.addAccount();
    const path = `/live-streams/${liveStreamId}`;
    expect((await server.call('PATCH', path, { key, body: { restreams: [] } })).status).toBe(404);
    expect((await server.call('GET', `${path}/restreams`, { key })).status).toBe(404);
    expect(server.live.destinations.size).toBe(0);
    expect((await server.call('GET', path)).json.restreams).toEqual([mirror]);
  });

  it('say which of their fields is wrong', async () => {
    const restreams = [
      { ...mirror, rendition: '721p' },
      { ...mirror, enabled: 'yes', colour: 'red' },
      { ...mirror, enabled: null, rendition: null },
    ];
    const answer = await server.call('POST', '/live-streams', { body: { name: 'a', restreams } });
    expect(answer.status).toBe(400);
    expect(answer.json.problems.map((problem: { name: string }) => problem.name)).toEqual([
      'restreams[0][rendition]',
      'restreams[1][enabled]',
      'restreams[1][colour]',
      'restreams[2][enabled]',
      'restreams[2][rendition]',
    ]);
    expect(answer.json.problems[0].detail).toBe(
      'This value should be one of "source", "240p", "360p", "480p", "720p", "1080p", "2160p".',
    );
  });

  it('are idle or disabled without a broadcast, and can get what the live stream is encoded to', async () => {
    const { liveStreamId } = await create({ restreams: [mirror, { ...backup, enabled: false }] });
    const shown = async () => (await server.call('GET', `/live-streams/${liveStreamId}/restreams`)).json;
    const { serverUrl } = mirror;
    expect(await shown()).toEqual({
      data: [
        { name: 'Mirror', serverUrl, state: 'idle' },
        { name: 'Backup', serverUrl, state: 'disabled' },
      ],
      renditions: ['source'],
    });
    await change(liveStreamId, { qualities: 'ladder' });
    expect((await shown()).renditions).toEqual(['source', '240p', '360p', '480p', '720p', '1080p', '2160p']);
  });
});

describe('broadcasting', () => {
  it('is what the live room says', async () => {
    const made = await create();
    server.live.broadcasting.add(made.liveStreamId);
    expect((await server.call('GET', `/live-streams/${made.liveStreamId}`)).json.broadcasting).toBe(true);
    expect((await server.call('GET', '/live-streams')).json.data[0].broadcasting).toBe(true);
  });

  it('is completed with 202 and an empty answer, on air or not', async () => {
    const made = await create();
    const answer = await server.call('PUT', `/live-streams/${made.liveStreamId}/complete`);
    expect(answer.status).toBe(202);
    expect(answer.text).toBe('');
    expect(answer.headers.get('content-type')).toBeNull();
    expect(server.live.completed).toEqual([made.liveStreamId]);
  });

  it('is published to with a new key only, once that was asked for', async () => {
    const made = await create();
    const answer = await server.call('POST', `/live-streams/${made.liveStreamId}/stream-key`);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ liveStreamId: made.liveStreamId, name: 'Pier cam' });
    expect(answer.json.streamKey).not.toBe(made.streamKey);
    expect(await server.api.liveStreams.findByStreamKey(made.streamKey)).toBeUndefined();
    const owner = await server.api.liveStreams.findByStreamKey(answer.json.streamKey);
    expect(owner?.liveStreamId).toBe(made.liveStreamId);
  });

  it('ends before the stream is deleted', async () => {
    const made = await create();
    server.live.broadcasting.add(made.liveStreamId);
    const answer = await server.call('DELETE', `/live-streams/${made.liveStreamId}`);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('content-type')).toBeNull();
    expect(server.live.removed).toContain(made.liveStreamId);
    expect((await server.call('GET', `/live-streams/${made.liveStreamId}`)).status).toBe(404);
    expect((await server.call('DELETE', `/live-streams/${made.liveStreamId}`)).status).toBe(404);
    expect(await server.api.liveStreams.findByStreamKey(made.streamKey)).toBeUndefined();
  });

  it('finds out whose a stream key is', async () => {
    const made = await create();
    expect(await server.api.liveStreams.findByStreamKey(made.streamKey)).toMatchObject({
      liveStreamId: made.liveStreamId,
      environment: 'sandbox',
      accountSuspended: false,
      accountUpgraded: false,
      name: 'Pier cam',
    });
    expect(await server.api.liveStreams.findByStreamKey('nothing')).toBeUndefined();
  });
});

describe('the list', () => {
  const names = async (query: string) =>
    (await server.call('GET', `/live-streams${query}`)).json.data.map((item: { name: string }) => item.name);

  it('is empty at first', async () => {
    expect((await server.call('GET', '/live-streams')).json).toEqual({
      data: [],
      pagination: {
        currentPage: 1,
        currentPageItems: 0,
        pageSize: 25,
        pagesTotal: 1,
        itemsTotal: 0,
        links: [
          { rel: 'self', uri: '/live-streams?currentPage=1&pageSize=25' },
          { rel: 'first', uri: '/live-streams?currentPage=1&pageSize=25' },
          { rel: 'last', uri: '/live-streams?currentPage=1&pageSize=25' },
        ],
      },
    });
  });

  it('has pages whose links keep the filters', async () => {
    for (let number = 1; number <= 5; number += 1) await create({ name: `Cam ${number}` });
    const { json } = await server.call('GET', '/live-streams?pageSize=2&name=cam&currentPage=2&sortBy=name');
    expect(json.data.map((item: { name: string }) => item.name)).toEqual(['Cam 3', 'Cam 4']);
    const uri = (page: number) => `/live-streams?name=cam&sortBy=name&currentPage=${page}&pageSize=2`;
    expect(json.pagination).toEqual({
      currentPage: 2,
      currentPageItems: 2,
      pageSize: 2,
      pagesTotal: 3,
      itemsTotal: 5,
      links: [
        { rel: 'self', uri: uri(2) },
        { rel: 'first', uri: uri(1) },
        { rel: 'previous', uri: uri(1) },
        { rel: 'next', uri: uri(3) },
        { rel: 'last', uri: uri(3) },
      ],
    });
    const next = await server.call('GET', uri(3));
    expect(next.json.data).toHaveLength(1);
    expect((await server.call('GET', uri(4))).json).toMatchObject({
      data: [],
      pagination: { itemsTotal: 5 },
    });
  });

  it('counts what is there after creating and deleting', async () => {
    const first = await create();
    await create();
    await server.call('DELETE', `/live-streams/${first.liveStreamId}`);
    expect((await server.call('GET', '/live-streams')).json.pagination.itemsTotal).toBe(1);
  });

  it('is sorted and searched without case and accents', async () => {
    for (const name of ['beta', 'Ärger', 'Zeta', 'alpha']) await create({ name });
    expect(await names('?sortBy=name')).toEqual(['alpha', 'Ärger', 'beta', 'Zeta']);
    expect(await names('?sortBy=name&sortOrder=desc')).toEqual(['Zeta', 'beta', 'Ärger', 'alpha']);
    expect(await names('?name=arg')).toEqual(['Ärger']);
    expect(await names('?name=%25')).toEqual([]);
    expect(await names('?name=T+A')).toEqual([]);
    expect((await names('?sortBy=createdAt')).length).toBe(4);
  });

  it('finds by stream key and by id', async () => {
    const made = await create();
    await create({ name: 'other' });
    expect(await names(`?streamKey=${made.streamKey}`)).toEqual(['Pier cam']);
    expect(await names('?streamKey=none')).toEqual([]);
    expect(await names(`?liveStreamId=${made.liveStreamId}`)).toEqual(['Pier cam']);
    expect(await names('?liveStreamId=li0')).toEqual([]);
  });

  it.each([
    [
      'currentPage=0',
      'currentPage',
      { title: 'This parameter is out of the allowed range of values.', range: { min: 1 } },
    ],
    [
      'pageSize=101',
      'pageSize',
      { title: 'This parameter is out of the allowed range of values.', range: { min: 1, max: 100 } },
    ],
    ['pageSize=0', 'pageSize', { range: { min: 1, max: 100 } }],
    ['pageSize=ten', 'pageSize', { detail: 'This value must be of type integer.' }],
    ['currentPage=99999999999999999999', 'currentPage', {}],
    ['sortBy=colour', 'sortBy', { detail: 'This value should be one of "name", "createdAt", "updatedAt".' }],
    ['sortOrder=up', 'sortOrder', {}],
    ['limit=5', 'limit', { detail: 'This field was not expected.' }],
    ['page=1', 'page', { detail: 'This field was not expected.' }],
    ['__proto__=1', '__proto__', { detail: 'This field was not expected.' }],
    ['name[x]=1', 'name', { detail: 'This value must be of type string.' }],
  ])('refuses %s', async (query, name, problem) => {
    const answer = await server.call('GET', `/live-streams?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      title: 'Invalid attributes.',
      name,
      problems: [{ name, ...problem }],
    });
  });
});

describe('a thumbnail', () => {
  const upload = (id: string, body: FormData | string) =>
    server.call('POST', `/live-streams/${id}/thumbnail`, { body });

  it('is stored, replaced and deleted', async () => {
    const { liveStreamId: id, assets } = await create();
    expect(await server.api.liveStreams.thumbnailPath(id)).toBeUndefined();
    const answer = await upload(id, formWith(['any name', png, 'holiday.txt']));
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ hasThumbnail: true, assets: { thumbnail: assets.thumbnail } });
    const path = (await server.api.liveStreams.thumbnailPath(id))!;
    expect(await readFile(path)).toEqual(png);
    await upload(id, formWith(['file', Buffer.concat([png, png]), 'again.png']));
    expect((await readFile(path)).length).toBe(png.length * 2);
    const deleted = await server.call('DELETE', `/live-streams/${id}/thumbnail`);
    expect(deleted.status).toBe(200);
    expect(deleted.json).toMatchObject({ assets: { thumbnail: assets.thumbnail } });
    expect(deleted.json).not.toHaveProperty('hasThumbnail');
    expect(await server.api.liveStreams.thumbnailPath(id)).toBeUndefined();
    expect(existsSync(path)).toBe(false);
    expect((await server.call('DELETE', `/live-streams/${id}/thumbnail`)).status).toBe(200);
  });

  it.each([
    ['There is no uploaded file in the request.', formWith(['file', Buffer.from('text')])],
    ['There is no uploaded file in the request.', '{"file":"x"}'],
    [
      'There is more than one uploaded file in the request.',
      formWith(['a', png, 'a.png'], ['b', png, 'b.png']),
    ],
    ['The uploaded file is empty.', formWith(['a', Buffer.alloc(0), 'a.png'])],
    ['The uploaded file is too large.', formWith(['a', Buffer.alloc(9 * 1_024 * 1_024), 'a.png'])],
    [
      'Only [jpeg, jpg, JPG, JPEG] extensions are supported.',
      formWith(['a', Buffer.from('GIF89a'), 'a.jpg']),
    ],
    ['The uploaded file is invalid.', formWith(['a', png.subarray(0, 20), 'a.png'])],
  ])('is refused: %s', async (title, body) => {
    const { liveStreamId: id } = await create();
    const answer = await upload(id, body);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title, name: 'file' });
    expect(await server.api.liveStreams.thumbnailPath(id)).toBeUndefined();
    await expect.poll(() => readdir(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it('of an unknown stream answers 404 without the file being read', async () => {
    const answer = await upload('li0000000000000000000000', formWith(['file', png, 'a.png']));
    expect(answer.status).toBe(404);
    expect(answer.json.name).toBe('liveStreamId');
  });

  it('goes with its stream', async () => {
    const { liveStreamId: id } = await create();
    await upload(id, formWith(['file', png, 'a.png']));
    await server.call('DELETE', `/live-streams/${id}`);
    expect(existsSync(join(server.dataDir, 'live', id))).toBe(false);
  });
});
