import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { attributeError } from '../../src/http/routing/validation.ts';
import type { Clip } from '../../src/resources/videos/videos/video.ts';
import type { VideoSourceImporter } from '../../src/resources/videos/videos/video-source-importer.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { productionKey, sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let begun: [videoId: string, plan: unknown][];
let removed: string[];
let taken: [videoId: string, watermarkId: string][];

/** Takes addresses, and does nothing but note what it was told. */
const sources: VideoSourceImporter<{ address: string; clip?: Clip | undefined }> = {
  plan: async (_, source, clip) => {
    if (!URL.canParse(source)) throw attributeError('source', 'Neither an address nor a video of yours.');
    return clip === undefined ? { address: source } : { address: source, clip };
  },
  begin: async (videoId, plan) => void begun.push([videoId, plan]),
};

beforeAll(async () => {
  server = await startApi({
    isUpgraded: true,
    videos: {
      sources,
      watermarkExists: async (_, id) => id === 'watermark_1',
      takeWatermark: async (...copy) => taken.push(copy) > 0,
      playerExists: async (_, id) => id.startsWith('pl'),
      removed: async videoId => void removed.push(videoId),
    },
  });
});
beforeEach(async () => {
  [begun, removed, taken] = [[], [], []];
  await runSql(server.database, 'DELETE FROM videos');
});
afterAll(() => server.stop());

const create = async (body: Record<string, unknown> = {}) =>
  (await server.call('POST', '/videos', { body: { title: 'Harbour', ...body } })).json;
const rowOf = async (id: string) =>
  (await rowsOf<Record<string, unknown>>(server.database, 'SELECT * FROM videos WHERE id = ?', id))[0]!;

describe('creating a video', () => {
  it('answers 201 with the whole object, in the order of the contract', async () => {
    const answer = await server.call('POST', '/videos', { body: { title: 'Harbour at dawn' } });
    const base = `http://localhost:${server.listener.httpPort}`;
    const id = answer.json.videoId;
    expect(answer.status).toBe(201);
    expect(id).toMatch(/^vi[0-9A-Za-z]{22}$/);
    const expected = {
      videoId: id,
      title: 'Harbour at dawn',
      description: '',
      public: true,
      panoramic: false,
      mp4Support: true,
      tags: [],
      metadata: [],
      languageOrigin: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      publishedAt: answer.json.createdAt,
      updatedAt: answer.json.createdAt,
      discarded: false,
      discardedAt: null,
      deletesAt: null,
      source: { type: 'upload', uri: `/videos/${id}/source` },
      assets: {
        hls: `${base}/vod/${id}/hls/manifest.m3u8`,
        iframe: `<iframe src="${base}/vod/${id}" width="100%" height="100%" frameborder="0" scrolling="no" allowfullscreen="true"></iframe>`,
        player: `${base}/vod/${id}`,
        thumbnail: `${base}/vod/${id}/thumbnail.jpg`,
        mp4: `${base}/vod/${id}/mp4/source.mp4`,
      },
    };
    expect(answer.json).toEqual(expected);
    expect(Object.keys(answer.json)).toEqual(Object.keys(expected));
    expect((await server.call('GET', `/videos/${id}`)).json).toEqual(answer.json);
  });

  it('keeps every attribute', async () => {
    const attributes = {
      description: 'Boats, mostly.',
      panoramic: true,
      mp4Support: false,
      playerId: 'pl7Zx4CvBn2Mq9WeRt5YuIoP',
      tags: ['sea', 'two words', 'sea'],
      metadata: [
        { key: 'shot', value: '12' },
        { key: 'shot', value: '' },
      ],
      language: 'no',
    };
    const made = await create(attributes);
    expect(made).toMatchObject({ ...attributes, languageOrigin: 'api' });
    expect(made.assets).not.toHaveProperty('mp4');
  });

  it('takes what only a language model could do as long as it is not asked for', async () => {
    const made = await create({
      transcript: false,
      transcriptSummary: false,
      transcriptSummaryAttributes: ['abstract'],
      language: null,
    });
    expect(made.languageOrigin).toBeNull();
    expect(made).not.toHaveProperty('transcript');
    expect(made).not.toHaveProperty('language');
  });

  it('keeps clip and watermark without showing them', async () => {
    const watermark = { id: 'watermark_1', top: '10px', right: '2.5%', width: 'initial', opacity: '50%' };
    const made = await create({ clip: { startTimecode: '00:00:01.5', endTimecode: '90' }, watermark });
    expect(made).not.toHaveProperty('clip');
    expect(made).not.toHaveProperty('watermark');
    const row = await rowOf(made.videoId);
    expect(row).toMatchObject({ clip_start_ms: 1_500, clip_end_ms: 90_000 });
    expect(JSON.parse(row.watermark as string)).toEqual(watermark);
    expect(taken).toEqual([[made.videoId, 'watermark_1']]);
  });

  it('gives the assets of a private video a new token with each answer', async () => {
    const made = await create({ public: false });
    const again = (await server.call('GET', `/videos/${made.videoId}`)).json;
    const tokenOf = (view: { assets: { hls: string } }) => view.assets.hls.split('/').at(-3)!;
    const token = tokenOf(again);
    const page = `http://localhost:${server.listener.httpPort}/vod/${made.videoId}`;
    expect(token).not.toBe(tokenOf(made));
    expect(server.api.privateTokens.mintedAtMs(token, made.videoId)).toBeDefined();
    expect(again.assets).toEqual({
      hls: `${page}/token/${token}/hls/manifest.m3u8`,
      iframe: expect.stringContaining(`src="${page}?token=${token}"`),
      player: `${page}?token=${token}`,
      thumbnail: `${page}/token/${token}/thumbnail.jpg`,
      mp4: `${page}/token/${token}/mp4/source.mp4`,
    });
    const listed = (await server.call('GET', '/videos')).json.data[0];
    expect(tokenOf(listed)).not.toBe(token);
  });

  it('with a source answers 202 and begins it with the video', async () => {
    const answer = await server.call('POST', '/videos', {
      body: { title: 'Fetched', source: 'https://media.example/a.mp4' },
    });
    expect(answer.status).toBe(202);
    expect(answer.json.source).toEqual({ type: 'upload', uri: `/videos/${answer.json.videoId}/source` });
    expect(begun).toEqual([[answer.json.videoId, { address: 'https://media.example/a.mp4' }]]);
  });

  it('with a source that cannot be used makes nothing', async () => {
    const answer = await server.call('POST', '/videos', { body: { title: 'Fetched', source: 'nothing' } });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title: 'Invalid attributes.', name: 'source' });
    expect((await server.call('GET', '/videos')).json.pagination.itemsTotal).toBe(0);
  });

  it('with a source that cannot be begun leaves no video', async () => {
    const { begin } = sources;
    sources.begin = () => {
      throw new Error('no room');
    };
    try {
      const body = { title: 'Fetched', source: 'https://media.example/a.mp4' };
      expect((await server.call('POST', '/videos', { body })).status).toBe(500);
    } finally {
      sources.begin = begin;
    }
    expect((await server.call('GET', '/videos')).json.pagination.itemsTotal).toBe(0);
  });

  it('tells what may be an answer in the API document', async () => {
    const { responses } = (await server.call('GET', '/openapi.json')).json.paths['/videos'].post;
    const reference = { $ref: '#/components/schemas/Video' };
    for (const status of [201, 202]) {
      expect(responses[status].content['application/json'].schema).toEqual(reference);
    }
    expect(responses[201].description).not.toBe(responses[202].description);
  });
});

describe('attributes', () => {
  it('that are missing have an answer of their own', async () => {
    const answer = await server.call('POST', '/videos', { body: {} });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title: 'This attribute is required.', name: 'title' });
    expect(answer.json.type).toMatch(/attribute-required$/);
  });

  it.each<[string, Record<string, unknown>, object]>([
    ['title', { title: '' }, { detail: 'This value should not be blank.' }],
    [
      'title',
      { title: 'a'.repeat(1_025) },
      { detail: 'This value should not contain more than 1024 characters.' },
    ],
    ['title', { title: 'a\0b' }, {}],
    ['title', { title: 5 }, { detail: 'This value must be of type string.' }],
    ['description', { description: 'a'.repeat(10_001) }, {}],
    ['public', { public: 'true' }, { detail: 'This value must be of type boolean.' }],
    ['playerId', { playerId: 'unknown' }, { detail: 'This player theme does not exist.' }],
    ['tags', { tags: 'sea' }, { title: 'This attribute must be an array.' }],
    [
      'tags',
      { tags: Array(101).fill('a') },
      { detail: 'This collection should contain 100 elements or less.' },
    ],
    ['tags[1]', { tags: ['a', ''] }, {}],
    ['metadata', { metadata: { shot: '12' } }, { title: 'This attribute must be an array.' }],
    ['metadata[0][value]', { metadata: [{ key: 'shot', value: 12 }] }, {}],
    ['metadata[0][extra]', { metadata: [{ key: 'a', value: 'b', extra: 'c' }] }, {}],
    [
      'language',
      { language: 'e_n' },
      {
        detail: 'The "language" attribute must contain only letters and dashes (for example "fr", "fr-BE").',
      },
    ],
    ['language', { language: 'xx' }, { detail: 'The "language" attribute is not valid.' }],
    ['transcript', { transcript: true }, { detail: expect.stringContaining('not available') }],
    ['transcriptSummary', { transcriptSummary: true }, { detail: expect.stringContaining('not available') }],
    ['clip[startTimecode]', { clip: { startTimecode: '1:00' } }, {}],
    ['clip[endTimecode]', { clip: { startTimecode: '10', endTimecode: '00:00:10' } }, {}],
    ['watermark[id]', { watermark: { id: 'watermark_2' } }, { detail: 'This watermark does not exist.' }],
    ['watermark[id]', { watermark: { top: '1px' } }, {}],
    ['watermark[top]', { watermark: { id: 'watermark_1', top: '10' } }, {}],
    ['watermark[top]', { watermark: { id: 'watermark_1', top: 'initial' } }, {}],
    ['watermark[opacity]', { watermark: { id: 'watermark_1', opacity: '101%' } }, {}],
    ['scheduledAt', { scheduledAt: '2026-03-04' }, { detail: 'This field was not expected.' }],
    ['videoId', { videoId: 'vi1' }, { detail: 'This field was not expected.' }],
  ])('refuse %s as in %j', async (name, attributes, problem) => {
    const answer = await server.call('POST', '/videos', { body: { title: 'a', ...attributes } });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      title: 'Invalid attributes.',
      name,
      problems: [{ name, ...problem }],
    });
    expect((await server.call('GET', '/videos')).json.pagination.itemsTotal).toBe(0);
  });
});

describe('changing a video', () => {
  it('leaves what is not sent, replaces lists whole, and unsets with null', async () => {
    const made = await create({
      playerId: 'pl1',
      tags: ['a'],
      metadata: [{ key: 'k', value: 'v' }],
      language: 'fr',
    });
    const patch = async (body: unknown) =>
      (await server.call('PATCH', `/videos/${made.videoId}`, { body })).json;
    expect(await patch({ title: 'North' })).toMatchObject({
      title: 'North',
      playerId: 'pl1',
      tags: ['a'],
      language: 'fr',
    });
    expect(await patch({ tags: ['b', 'c'], metadata: [] })).toMatchObject({ tags: ['b', 'c'], metadata: [] });
    const unset = await patch({ playerId: null, language: null, mp4Support: false, description: 'x' });
    expect(unset).not.toHaveProperty('playerId');
    expect(unset).not.toHaveProperty('language');
    expect(unset.assets).not.toHaveProperty('mp4');
    expect(unset).toMatchObject({ languageOrigin: null, description: 'x', title: 'North' });
  });

  it('takes an empty object, and says when it was', async () => {
    const made = await create();
    const before = (await rowOf(made.videoId)).updated_at_ms as number;
    await expect.poll(() => Date.now()).toBeGreaterThan(before);
    const answer = await server.call('PATCH', `/videos/${made.videoId}`, { body: {} });
    expect(answer.status).toBe(200);
    expect(answer.json.title).toBe('Harbour');
    expect(await rowOf(made.videoId)).toMatchObject({ created_at_ms: before, published_at_ms: before });
    expect((await rowOf(made.videoId)).updated_at_ms).toBeGreaterThan(before);
  });

  it.each(['videoId', 'source', 'clip', 'watermark', 'scheduledAt'])('refuses %s', async name => {
    const made = await create();
    const answer = await server.call('PATCH', `/videos/${made.videoId}`, { body: { [name]: 'x' } });
    expect(answer.status).toBe(400);
    expect(answer.json.problems).toMatchObject([{ name, detail: 'This field was not expected.' }]);
  });

  it('refuses a title of null, an unknown player theme and transcripts', async () => {
    const made = await create();
    const namesOf = async (body: unknown) =>
      (await server.call('PATCH', `/videos/${made.videoId}`, { body })).json.problems.map(
        (problem: { name: string }) => problem.name,
      );
    expect(await namesOf({ title: null, public: null })).toEqual(['title', 'public']);
    expect(await namesOf({ transcript: true })).toEqual(['transcript']);
    expect(await namesOf({ playerId: 'unknown' })).toEqual(['playerId']);
  });
});

describe('a video', () => {
  it('is deleted with all that belongs to it', async () => {
    const made = await create({ tags: ['a'], metadata: [{ key: 'k', value: 'v' }] });
    const answer = await server.call('DELETE', `/videos/${made.videoId}`);
    expect(answer.status).toBe(204);
    expect(answer.headers.get('content-type')).toBeNull();
    expect(removed).toEqual([made.videoId]);
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const again = await server.call(
        method,
        `/videos/${made.videoId}`,
        method === 'PATCH' ? { body: {} } : {},
      );
      expect(again.status).toBe(404);
      expect(again.json.name).toBe('videoId');
    }
    for (const table of ['video_tags', 'tags', 'video_metadata']) {
      expect(await singleValue(server.database, `SELECT count(*) FROM ${table}`)).toBe(0);
    }
  });

  it('of another project is not there', async () => {
    const made = await create({ tags: ['a'] });
    for (const method of ['GET', 'DELETE']) {
      expect((await server.call(method, `/videos/${made.videoId}`, { key: productionKey })).status).toBe(404);
    }
    for (const query of ['', '?title=harbour', '?tags[]=a', '?sortBy=title']) {
      const { json } = await server.call('GET', `/videos${query}`, { key: productionKey });
      expect(json.pagination.itemsTotal).toBe(0);
    }
  });

  it('of a recording says which live stream it is of', async () => {
    const projectId = await sandboxProjectOf(server.database);
    const recorded = {
      videoId: 'viRecorded0000000000000',
      liveStreamId: 'li1',
      title: 'Recorded',
      public: true,
      playerId: undefined,
    };
    const video = await server.database.transaction(transaction =>
      server.api.videos.createRecorded(projectId, recorded, transaction),
    );
    const { source } = (await server.call('GET', `/videos/${video.videoId}`)).json;
    expect(source).toEqual({
      type: 'liveStream',
      uri: `/videos/${video.videoId}/source`,
      liveStream: { liveStreamId: 'li1', links: [{ rel: 'self', uri: '/live-streams/li1' }] },
    });
    const { json } = await server.call('GET', '/videos?liveStreamId=li1');
    expect(json.data).toHaveLength(1);
    expect((await server.call('GET', '/videos?liveStreamId=li2')).json.data).toEqual([]);
  });

  it('is told to have changed when something that belongs to it has', async () => {
    const { videoId } = await create();
    const projectId = await sandboxProjectOf(server.database);
    const before = (await rowOf(videoId)).updated_at_ms as number;
    await expect.poll(() => Date.now()).toBeGreaterThan(before);
    expect(await server.api.videos.touch(projectId, videoId)).toBe(true);
    expect((await rowOf(videoId)).updated_at_ms).toBeGreaterThan(before);
    expect(await server.api.videos.touch(projectId, 'vi0')).toBe(false);
    await expect(server.api.videos.viewOf(projectId, 'vi0', { hidesPrivate: true })).rejects.toThrow(
      expect.objectContaining({ code: 'resource-not-found', details: { name: 'videoId' } }),
    );
  });
});
