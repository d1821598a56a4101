import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { canDecodeImage } from '../../src/vod/images/can-decode-image.ts';
import { formWith, jpegImage, pngImage, webpImage } from '../support/images.ts';
import { makeMediaTools } from '../support/media-tools.ts';
import { basic, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let now: number;
beforeEach(async () => {
  now = Date.UTC(2026, 2, 4, 5, 6, 7);
  const tools = makeMediaTools();
  server = await startApi({
    isUpgraded: true,
    clock: { nowMs: () => now, monotonicMs: () => performance.now() },
    images: {
      requestFrame: async () => {},
      canDecode: path => canDecodeImage(tools, path, { signal: AbortSignal.timeout(60_000), ids: {} }),
    },
  });
});
afterEach(() => server.stop());

const png = pngImage(8, 4);
const upload = (body: FormData, key?: string) => server.call('POST', '/watermarks', { body, key });
const create = async (bytes = png): Promise<string> =>
  (await upload(formWith(['file', bytes, 'mark.png']))).json.watermarkId;
const files = () =>
  existsSync(join(server.dataDir, 'watermarks')) ? readdirSync(join(server.dataDir, 'watermarks')) : [];
const list = async (query = '', key?: string) =>
  (await server.call('GET', `/watermarks${query}`, key === undefined ? {} : { key })).json;
const idsOf = (page: { data: { watermarkId: string }[] }) => page.data.map(({ watermarkId }) => watermarkId);

describe('uploading a watermark', () => {
  it('answers 200 with its id and its time', async () => {
    const answer = await upload(formWith(['file', png, 'mark.gif']));
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      watermarkId: expect.stringMatching(/^watermark_[0-9A-Za-z]{22}$/),
      createdAt: '2026-03-04T05:06:07+00:00',
    });
    expect(readFileSync(join(server.dataDir, 'watermarks', answer.json.watermarkId))).toEqual(png);
  });

  it.each([
    [
      'Only [jpeg, jpg, JPG, JPEG, png, PNG] extensions are supported.',
      () => formWith(['a', webpImage, 'a.png']),
    ],
    [
      'Only [jpeg, jpg, JPG, JPEG, png, PNG] extensions are supported.',
      () => formWith(['a', Buffer.from('GIF89a'), 'a.png']),
    ],
    ['There is no uploaded file in the request.', () => formWith(['file', Buffer.from('text')])],
    [
      'There is more than one uploaded file in the request.',
      () => formWith(['a', png, 'a.png'], ['b', png, 'b.png']),
    ],
    ['The uploaded file is empty.', () => formWith(['a', Buffer.alloc(0), 'a.png'])],
    ['The uploaded file is too large.', () => formWith(['a', Buffer.alloc(8 * 1_024 * 1_024 + 1), 'a.png'])],
    ['The uploaded file is invalid.', () => formWith(['a', jpegImage, 'only a head.jpg'])],
    [
      'The uploaded file is invalid.',
      () => formWith(['a', pngImage(1, 1, { width: 4_097, height: 1 }), 'a.png']),
    ],
  ])('is refused: %s', async (title, body) => {
    const answer = await upload(body());
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title, name: 'file' });
    expect((await list()).data).toEqual([]);
    expect(files()).toEqual([]);
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });
});

describe('the list of watermarks', () => {
  it('is in the order of their creation, the newest first unless said otherwise', async () => {
    const ids: string[] = [];
    for (let number = 0; number < 3; number += 1) {
      ids.push(await create());
      now += 1_000;
    }
    expect(idsOf(await list())).toEqual(ids.toReversed());
    expect(idsOf(await list('?sortBy=createdAt'))).toEqual(ids);
    expect(idsOf(await list('?sortBy=createdAt&sortOrder=desc'))).toEqual(ids.toReversed());
    const page = await list('?sortBy=createdAt&currentPage=2&pageSize=2');
    expect(idsOf(page)).toEqual(ids.slice(2));
    expect(page.pagination).toMatchObject({ currentPage: 2, itemsTotal: 3, pagesTotal: 2 });
    expect(idsOf(await list('?currentPage=9'))).toEqual([]);
  });

  it.each(['sortBy=updatedAt', 'pageSize=101', 'currentPage=0', 'title=a'])('refuses %s', async query => {
    expect((await server.call('GET', `/watermarks?${query}`)).status).toBe(400);
  });

  it('counts what is there', async () => {
    const id = await create();
    await create();
    await server.call('DELETE', `/watermarks/${id}`);
    expect((await list()).pagination.itemsTotal).toBe(1);
  });
});

describe('a watermark', () => {
  it('cannot be fetched', async () => {
    const answer = await server.call('GET', `/watermarks/${await create()}`);
    expect(answer.status).toBe(405);
    expect(answer.json.title).toBe('Method is not allowed for this route.');
  });

  it('is shown as it was uploaded, to its own project', async () => {
    const path = `/watermarks/${await create()}/image`;
    const { headers } = await server.call('GET', path);
    expect([headers.get('content-type'), headers.get('content-length')]).toEqual([
      'image/png',
      String(png.length),
    ]);
    const response = await fetch(server.baseUrl + path, { headers: { authorization: basic(sandboxKey) } });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(png);
    const head = await fetch(server.baseUrl + path, {
      method: 'HEAD',
      headers: { authorization: basic(sandboxKey) },
    });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(png.length)]);
    const foreign = await server.call('GET', path, { key: productionKey });
    expect([foreign.status, foreign.json.name]).toEqual([404, 'watermarkId']);
    rmSync(join(server.dataDir, 'watermarks', path.split('/')[2]!));
    expect((await server.call('GET', path)).status).toBe(404);
  });

  it('has a name, which can be changed and removed', async () => {
    const named = await upload(formWith(['file', png, 'mark.png'], ['name', Buffer.from('Harbour logo')]));
    expect(named.json).toMatchObject({ name: 'Harbour logo' });
    const path = `/watermarks/${named.json.watermarkId}`;
    const rename = async (name: string | null | undefined) =>
      (await server.call('PATCH', path, { body: { name } })).json.name;
    expect(await rename('Night')).toBe('Night');
    expect(await rename(' \n')).toBeUndefined();
    const blank = await upload(formWith(['file', png, 'mark.png'], ['name', Buffer.from('  ')]));
    expect(blank.json).not.toHaveProperty('name');
    await server.call('DELETE', `/watermarks/${blank.json.watermarkId}`);
    expect(await rename(' Night ')).toBe('Night');
    expect(await rename(undefined)).toBe('Night');
    expect((await list()).data).toEqual([expect.objectContaining({ name: 'Night' })]);
    expect(await rename(null)).toBeUndefined();
    expect((await list()).data[0]).not.toHaveProperty('name');
    expect((await server.call('PATCH', path, { body: { name: 'x' }, key: productionKey })).status).toBe(404);
  });

  it('has a name of at most 100 characters', async () => {
    const name = 'n'.repeat(101);
    const created = await upload(formWith(['file', png, 'mark.png'], ['name', Buffer.from(name)]));
    expect([created.status, created.json.name]).toEqual([400, 'name']);
    expect(files()).toEqual([]);
    const changed = await server.call('PATCH', `/watermarks/${await create()}`, { body: { name } });
    expect([changed.status, changed.json.name]).toEqual([400, 'name']);
  });

  it('is deleted for good', async () => {
    const id = await create();
    const answer = await server.call('DELETE', `/watermarks/${id}`);
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([204, '', null]);
    expect(files()).toEqual([]);
    const again = await server.call('DELETE', `/watermarks/${id}`);
    expect(again.status).toBe(404);
    expect(again.json).toMatchObject({ name: 'watermarkId' });
  });

  it('belongs to one project', async () => {
    const id = await create();
    const foreign = await server.call('DELETE', `/watermarks/${id}`, { key: productionKey });
    expect(foreign.status).toBe(404);
    expect((await list('', productionKey)).data).toEqual([]);
    const body = { title: 'Harbour', watermark: { id } };
    const refused = await server.call('POST', '/videos', { body, key: productionKey });
    expect(refused.status).toBe(400);
    expect(refused.json).toMatchObject({ name: 'watermark[id]' });
    expect(idsOf(await list())).toEqual([id]);
  });

  it('stays with the videos that were created with it', async () => {
    const id = await create();
    const body = { title: 'Harbour', watermark: { id, left: '10px' } };
    const { videoId } = (await server.call('POST', '/videos', { body })).json;
    await server.call('DELETE', `/watermarks/${id}`);
    expect(readFileSync(join(server.dataDir, 'vod', videoId, 'watermark'))).toEqual(png);
    expect((await server.call('POST', '/videos', { body })).status).toBe(400);
  });

  it('is copied completely or not at all when it is deleted meanwhile', async () => {
    const id = await create();
    const body = { title: 'Race', watermark: { id } };
    const make = () => server.call('POST', '/videos', { body });
    const [, ...made] = await Promise.all([
      server.call('DELETE', `/watermarks/${id}`),
      ...[make(), make(), make(), make(), make()],
    ]);
    const created = made.filter(({ status }) => status === 201).map(({ json }) => json.videoId);
    for (const { status } of made) expect([201, 400]).toContain(status);
    for (const videoId of created) {
      expect(readFileSync(join(server.dataDir, 'vod', videoId, 'watermark'))).toEqual(png);
    }
    const folder = join(server.dataDir, 'vod');
    expect(existsSync(folder) ? readdirSync(folder).toSorted() : []).toEqual(created.toSorted());
  });
});
