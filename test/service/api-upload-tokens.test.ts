import { existsSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { basic, productionKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, digestOf, digestOfFile, fileForm, noise, UploadsOfTest } from './upload-fixture.ts';

let server: TestApi;
let nowMs: number;
const uploads = new UploadsOfTest(() => server);
beforeEach(async () => {
  nowMs = Date.parse('2026-03-04T05:06:07Z');
  server = await startApi({
    clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
    isUpgraded: true,
  });
});
afterEach(() => server.stop());

const create = async (body: Record<string, unknown> = {}) =>
  (await server.call('POST', '/upload-tokens', { body })).json;

/** Uploads with a token, and with an `Authorization` that is to be ignored. */
function upload(token: string, body: FormData, range?: string, userAgent?: string) {
  return server.call('POST', `/upload?token=${token}`, {
    body,
    key: null,
    headers: {
      authorization: '',
      ...(range === undefined ? {} : { 'content-range': range }),
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    },
  });
}

describe('an upload token', () => {
  it('is made, read, listed and deleted', async () => {
    const answer = await server.call('POST', '/upload-tokens', { body: { ttl: 3_600 } });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      token: expect.stringMatching(/^to[0-9A-Za-z]{22}$/),
      ttl: 3_600,
      createdAt: '2026-03-04T05:06:07+00:00',
      expiresAt: '2026-03-04T06:06:07+00:00',
    });
    const path = `/upload-tokens/${answer.json.token}`;
    expect((await server.call('GET', path)).json).toEqual(answer.json);
    expect((await server.call('GET', '/upload-tokens')).json).toMatchObject({
      data: [answer.json],
      pagination: { itemsTotal: 1 },
    });
    expect((await server.call('GET', path, { key: productionKey })).status).toBe(404);
    expect((await server.call('DELETE', path)).status).toBe(204);
    const gone = await server.call('GET', path);
    expect(gone.status).toBe(404);
    expect(gone.json.name).toBe('uploadToken');
    expect((await server.call('DELETE', path)).status).toBe(404);
  });

  it('never expires without a ttl', async () => {
    for (const body of [undefined, '', {}, { ttl: 0 }]) {
      const { status, json: token } = await server.call('POST', '/upload-tokens', { body });
      expect(status).toBe(200);
      expect(token).toMatchObject({ ttl: 0 });
      expect(token).not.toHaveProperty('expiresAt');
    }
  });

  it.each([-1, 2_147_483_648, 1.5, '60', null])('refuses a ttl of %j', async ttl => {
    const answer = await server.call('POST', '/upload-tokens', { body: { ttl } });
    expect(answer.status).toBe(400);
    expect(answer.json.name).toBe('ttl');
  });

  it('is in lists, sorted, until it expires', async () => {
    for (const ttl of [300, 100, 0, 200]) {
      await create({ ttl });
      nowMs += 1_000;
    }
    const ttlsOf = async (query: string) => {
      const { json } = await server.call('GET', `/upload-tokens${query}`);
      return {
        ttls: json.data.map((token: { ttl: number }) => token.ttl),
        total: json.pagination.itemsTotal,
      };
    };
    expect(await ttlsOf('')).toEqual({ ttls: [200, 0, 100, 300], total: 4 });
    expect(await ttlsOf('?sortBy=createdAt')).toEqual({ ttls: [300, 100, 0, 200], total: 4 });
    expect(await ttlsOf('?sortBy=ttl&sortOrder=desc')).toEqual({ ttls: [300, 200, 100, 0], total: 4 });
    expect(await ttlsOf('?sortBy=ttl&pageSize=1&currentPage=2')).toEqual({ ttls: [100], total: 4 });
    nowMs += 150_000;
    expect(await ttlsOf('?sortBy=ttl')).toEqual({ ttls: [0, 200, 300], total: 3 });
  });
});

describe('an upload with a token', () => {
  it('makes a video with the name of the file', async () => {
    const { token } = await create();
    const bytes = noise(10_000);
    const answer = await upload(token, fileForm(bytes, { name: 'my holiday.mov', field: 'any' }));
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ title: 'my holiday.mov', public: true, tags: [] });
    const { videoId } = answer.json;
    expect((await server.call('GET', `/videos/${videoId}`)).json.title).toBe('my holiday.mov');
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
    // The token can be used again, for another video.
    expect((await upload(token, fileForm(bytes))).json.videoId).not.toBe(videoId);
  });

  it.each([
    ['é中.mp4', 'é中.mp4'],
    ['/films/me/a.mp4', 'a.mp4'],
    ['C:\\videos\\b.mp4', 'b.mp4'],
    [`${'x'.repeat(2_000)}.mp4`, 'x'.repeat(1_024)],
    ['   ', 'Untitled'],
  ])('takes %j for a title', async (name, title) => {
    const { token } = await create();
    expect((await upload(token, fileForm(noise(10), { name }))).json.title).toBe(title);
  });

  it.each(['before', 'after'] as const)('fills the video that is named %s the file', async position => {
    const { token } = await create();
    const videoId = await uploads.video({ title: 'Kept' });
    const answer = await upload(token, fileForm(noise(10), { [position]: { videoId } }));
    expect(answer.json).toMatchObject({ videoId, title: 'Kept' });
    const again = await upload(token, fileForm(noise(10), { [position]: { videoId } }));
    expect(again.json.title).toBe('The source of the video is already uploaded.');
    const unknown = await upload(token, fileForm(noise(10), { [position]: { videoId: 'vi-unknown' } }));
    expect(unknown.status).toBe(404);
    expect(unknown.json.name).toBe('videoId');
  });

  it('does not reach videos of another project', async () => {
    const { token } = await create();
    const body = { title: 'Theirs' };
    const { videoId } = (await server.call('POST', '/videos', { body, key: productionKey })).json;
    expect((await upload(token, fileForm(noise(10), { after: { videoId } }))).status).toBe(404);
  });

  it('goes on, part by part, with the video of the first', async () => {
    const { token } = await create();
    const pieces = [noise(chunkBytes), noise(chunkBytes), noise(100)];
    const first = await upload(token, fileForm(pieces[0]!, { name: 'first.mp4' }), 'part 1/*');
    const { videoId } = first.json;
    for (const [index, range] of ['part 2/*', 'part 3/3'].entries()) {
      const form = fileForm(pieces[index + 1]!, { name: 'other.mp4', after: { videoId } });
      const answer = await upload(token, form, range);
      expect(answer.json).toMatchObject({ videoId, title: 'first.mp4' });
    }
    await waitUntil(() => existsSync(uploads.sourcePath(videoId)));
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(Buffer.concat(pieces)));
  });

  it('finds the video of parts that do not name it', async () => {
    const { token } = await create();
    const other = (await create()).token;
    const big = noise(chunkBytes);
    const send = async (range: string, bytes = big, by = token) =>
      (await upload(by, fileForm(bytes), range)).json.videoId as string;
    const older = await send('part 1/3');
    nowMs += 1_000;
    const newer = await send('part 1/3');
    nowMs += 1_000;
    const another = await send('part 1/2');
    expect(new Set([older, newer, another]).size).toBe(3);
    expect(await send('part 2/3')).toBe(newer);
    // The same part again, with the same bytes, and with others.
    expect(await send('part 2/3')).toBe(newer);
    expect(await send('part 2/3', noise(chunkBytes))).toBe(older);
    expect(await send('part 3/3', noise(10))).toBe(newer);
    expect(await send('part 3/3', noise(10))).toBe(older);
    expect([older, newer, another]).not.toContain(await send('part 2/2', noise(10), other));
    expect(await send('part 2/2', noise(10))).toBe(another);
    for (const videoId of [older, newer, another]) {
      expect((await uploads.ingest(videoId))?.status).toBe('uploaded');
    }
  });

  it('makes one video of parts that come at once and do not name it', async () => {
    const { token } = await create();
    const pieces = [noise(chunkBytes), noise(chunkBytes), noise(chunkBytes), noise(10)];
    const answers = await Promise.all(
      pieces.map((piece, index) => upload(token, fileForm(piece), `part ${index + 1}/${pieces.length}`)),
    );
    const [videoId, ...others] = new Set(answers.map(({ json }) => json.videoId));
    expect(others).toEqual([]);
    await waitUntil(() => existsSync(uploads.sourcePath(videoId)));
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(Buffer.concat(pieces)));
  });

  it('takes later parts only from the client that began the upload, of the same file', async () => {
    const { token } = await create();
    const [first, last] = [noise(chunkBytes), noise(10)];
    const send = async (range: string, userAgent: string, name = 'a.mp4') => {
      const form = fileForm(range.startsWith('part 1') ? first : last, { name });
      return (await upload(token, form, range, userAgent)).json.videoId as string;
    };
    const begun = await send('part 1/2', 'alice');
    expect(await send('part 2/2', 'bob')).not.toBe(begun);
    expect(await send('part 2/2', 'alice', 'b.mp4')).not.toBe(begun);
    expect((await uploads.ingest(begun))?.receivedParts).toEqual({ parts: [1], total: 2 });
    expect(await send('part 2/2', 'alice')).toBe(begun);
    expect((await uploads.ingest(begun))?.status).toBe('uploaded');
    // The first part may come after the second, when a client sends them at once.
    const later = await send('part 2/2', 'carol');
    expect(await send('part 1/2', 'carol')).toBe(later);
  });

  it('is not continued with another token, nor when it was begun with a key', async () => {
    const [{ token }, { token: other }] = [await create(), await create()];
    const { videoId } = (await upload(token, fileForm(noise(chunkBytes)), 'part 1/2')).json;
    const byKey = await uploads.video();
    await uploads.send(byKey, noise(chunkBytes), 'part 1/2');
    for (const [named, by] of [
      [videoId, other],
      [byKey, token],
    ] as const) {
      for (const position of ['before', 'after']) {
        const form = fileForm(noise(10), { [position]: { videoId: named } });
        const { status, json } = await upload(by, form, 'part 2/2');
        expect([status, json.detail]).toEqual([400, expect.stringContaining('started with another token')]);
      }
      expect((await uploads.ingest(named))?.status).toBe('uploading');
    }
    expect((await uploads.send(videoId, noise(10), 'part 2/2')).status).toBe(201);
  });

  it('opens a private video only for the client whose upload created it', async () => {
    const { token } = await create();
    const container = await uploads.video({ public: false });
    const filled = await upload(token, fileForm(noise(10), { before: { videoId: container } }));
    expect(filled.status).toBe(201);
    expect(filled.json.assets.player).toBe(`http://localhost:${server.listener.httpPort}/vod/${container}`);
    expect(filled.text).not.toContain('token');

    const { videoId } = (await upload(token, fileForm(noise(chunkBytes)), 'part 1/3', 'alice')).json;
    await server.call('PATCH', `/videos/${videoId}`, { body: { public: false } });
    const part = (bytes: Buffer, range: string, userAgent: string) =>
      upload(token, fileForm(bytes, { after: { videoId } }), range, userAgent);
    expect((await part(noise(chunkBytes), 'part 2/3', 'bob')).text).not.toContain('token');
    expect((await part(noise(10), 'part 3/3', 'alice')).json.assets.player).toContain('?token=');
  });

  it('makes no video when the file is refused', async () => {
    const { token } = await create();
    expect((await upload(token, fileForm(Buffer.alloc(0)))).status).toBe(400);
    expect((await upload(token, fileForm(noise(10)), 'part 1/2')).status).toBe(400);
    expect((await upload(token, fileForm(noise(10)), 'part 1')).status).toBe(400);
    expect((await server.call('GET', '/videos')).json.data).toEqual([]);
  });

  it('ends with the token', async () => {
    const { token } = await create({ ttl: 60 });
    const part = fileForm(noise(chunkBytes));
    const { videoId } = (await upload(token, part, 'part 1/2')).json;
    nowMs += 60_000;
    const late = await upload(token, fileForm(noise(10), { after: { videoId } }), 'part 2/2');
    expect(late.status).toBe(401);
    expect(late.json.title).toBe('The upload token is invalid or expired.');
    const deleted = (await create()).token;
    await server.call('DELETE', `/upload-tokens/${deleted}`);
    expect((await upload(deleted, fileForm(noise(10)))).status).toBe(401);
    const missing = await server.call('POST', '/upload', { body: fileForm(noise(10)), key: null });
    expect(missing.status).toBe(401);
    expect(missing.json.title).toBe('The upload token is missing.');
  });

  it('ends with the account', async () => {
    const { token } = await create();
    const production = (await server.call('POST', '/upload-tokens', { body: {}, key: productionKey })).json
      .token;
    const { accountId } = (await server.api.accounts.ownerOfKey(productionKey))!;
    await server.api.accounts.setStanding(accountId, { isUpgraded: false });
    expect((await upload(production, fileForm(noise(10)))).status).toBe(401);
    expect((await upload(token, fileForm(noise(10)))).status).toBe(201);
    await server.api.accounts.setStanding(accountId, { isSuspended: true });
    const answer = await upload(token, fileForm(noise(10)));
    expect(answer.status).toBe(403);
    expect(answer.json.title).toBe('Suspended account');
  });

  it('ignores credentials, right or wrong', async () => {
    const { token } = await create();
    for (const authorization of [basic('wrong'), 'nonsense']) {
      const answer = await server.call('POST', `/upload?token=${token}`, {
        body: fileForm(noise(10)),
        key: null,
        headers: { authorization },
      });
      expect(answer.status).toBe(201);
    }
  });
});

it('uploads with a token count against the limit of the project', async () => {
  await server.stop();
  server = await startApi({ rateLimits: { uploads: 2, writes: 0, reads: 0 } });
  const { token } = await create();
  expect((await upload(token, fileForm(noise(10)))).headers.get('x-ratelimit-remaining')).toBe('1');
  const videoId = await uploads.video();
  expect((await uploads.send(videoId, noise(10))).status).toBe(201);
  expect((await upload(token, fileForm(noise(10)))).status).toBe(429);
});
