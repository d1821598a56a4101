import { existsSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { basic, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, digestOf, digestOfFile, fileForm, noise, UploadsOfTest } from './upload-fixture.ts';

let server: TestApi;
const ready: string[] = [];
const uploads = new UploadsOfTest(() => server);
beforeAll(async () => {
  server = await startApi({
    bodyTimeoutMs: 60_000,
    uploads: { idleTimeoutMs: 500, sourceReady: async videoId => void ready.push(videoId) },
  });
});
afterAll(() => server.stop());

/** Sends bytes as they are; all that came back until the connection was closed by the other side, or `until` stood in it. */
function raw(parts: readonly (string | Buffer)[], until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    let text = '';
    socket.on('data', data => {
      text += data.toString('latin1');
      if (until !== undefined && text.includes(until)) socket.destroy();
    });
    socket.on('close', () => resolve(text));
    socket.on('error', error => (text === '' ? reject(error) : undefined));
    for (const part of parts) socket.write(part);
  });
}

function head(path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: 'x', authorization: basic(sandboxKey), ...headers });
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

const multipart = { 'content-type': 'multipart/form-data; boundary=bound' };
const partHead = '--bound\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n';
const partTail = '\r\n--bound--\r\n';

describe('an upload in one piece', () => {
  it('answers 201 with the video, is byte for byte in its place, and starts what follows', async () => {
    const bytes = noise(300_000);
    const videoId = await uploads.video({ title: 'Harbour' });
    const answer = await uploads.send(videoId, bytes);
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({ videoId, title: 'Harbour' });
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
    expect(await uploads.ingest(videoId)).toEqual({
      status: 'uploaded',
      filesize: 300_000,
      receivedBytes: [],
    });
    expect(ready).toContain(videoId);
    expect(await uploads.leftovers()).toEqual([]);
  });

  it('takes the part with a file name whatever its field is called, and ignores a `videoId`', async () => {
    const videoId = await uploads.video();
    const body = fileForm(noise(10), { field: '10m.mp4', before: { videoId: 'vi-other' } });
    expect((await server.call('POST', `/videos/${videoId}/source`, { body })).status).toBe(201);
  });

  it.each(['before', 'after'] as const)('is refused with an unknown field %s the file', async position => {
    const videoId = await uploads.video();
    const body = fileForm(noise(10), { [position]: { title: 'Harbour' } });
    const answer = await server.call('POST', `/videos/${videoId}/source`, { body });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      title: 'Invalid attributes.',
      name: 'title',
      problems: [{ name: 'title', detail: 'This field was not expected.' }],
    });
    expect(await uploads.ingest(videoId)).toBeUndefined();
    await waitUntil(async () => (await uploads.leftovers()).length === 0);
  });

  it('takes a body without a length', async () => {
    const bytes = noise(200_000);
    const videoId = await uploads.video();
    const chunks = [partHead, bytes.subarray(0, 70_000), bytes.subarray(70_000), partTail];
    const sent = chunks.flatMap(chunk => [`${chunk.length.toString(16)}\r\n`, chunk, '\r\n']);
    const text = await raw(
      [
        head(`/videos/${videoId}/source`, { ...multipart, 'transfer-encoding': 'chunked' }),
        ...sent,
        '0\r\n\r\n',
      ],
      '"videoId"',
    );
    expect(text).toMatch(/^HTTP\/1.1 201 /);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  });

  it('is taken once', async () => {
    const videoId = await uploads.video();
    const bytes = noise(1_000);
    await uploads.send(videoId, bytes);
    for (const range of [undefined, 'part 1/1', 'bytes 0-999/1000']) {
      const answer = await uploads.send(videoId, noise(1_000), range);
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({
        type: expect.stringMatching(/\/video-source-already-uploaded$/),
        title: 'The source of the video is already uploaded.',
        name: 'file',
      });
    }
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  });

  it('is stored once when two come at the same time', async () => {
    const videoId = await uploads.video();
    const both = [noise(200_000), noise(200_000)];
    const statuses = await Promise.all(both.map(async bytes => (await uploads.send(videoId, bytes)).status));
    expect(statuses.toSorted()).toEqual([201, 400]);
    const stored = both[statuses.indexOf(201)]!;
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(stored));
    expect(ready.filter(id => id === videoId)).toEqual([videoId]);
  });

  it.each([
    ['uploaded-file-no-file', () => new FormData()],
    ['uploaded-file-no-file', () => fieldForm()],
    ['uploaded-file-empty', () => fileForm(Buffer.alloc(0))],
    ['uploaded-file-multiple-files', () => twoFiles()],
  ])('is refused: %s', async (code, body) => {
    const videoId = await uploads.video();
    const answer = await server.call('POST', `/videos/${videoId}/source`, { body: body() });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ type: expect.stringMatching(new RegExp(`/${code}$`)), name: 'file' });
    expect(await uploads.ingest(videoId)).toBeUndefined();
    await waitUntil(async () => (await uploads.leftovers()).length === 0);
  });

  it('is stored when its transaction runs again after a conflict', async () => {
    const { json } = await server.call('POST', '/videos', { body: { title: 'Again' } });
    const { database } = server;
    const commit = database.transaction.bind(database);
    const conflict = new Error('deadlock detected');
    const again = vi.spyOn(database, 'transaction').mockImplementation(async work => {
      const first = commit(async transaction => {
        await work(transaction);
        throw conflict;
      });
      await first.catch(error => {
        if (error !== conflict) throw error;
      });
      return commit(work);
    });
    try {
      const bytes = noise(1_000);
      expect((await uploads.send(json.videoId, bytes)).status).toBe(201);
      expect(await uploads.ingest(json.videoId)).toMatchObject({ status: 'uploaded', filesize: 1_000 });
      expect(await digestOfFile(uploads.sourcePath(json.videoId))).toBe(digestOf(bytes));
    } finally {
      again.mockRestore();
    }
  });

  it.each([
    ['an upload', undefined],
    ['a chunk', 'part 1/*'],
  ])(
    'leaves no file when the transaction of %s cannot be committed, and can be repeated',
    async (_, range) => {
      const videoId = await uploads.video();
      const bytes = noise(chunkBytes);
      const path = range === undefined ? uploads.sourcePath(videoId) : uploads.chunkPath(videoId, '1');
      const { database } = server;
      const commit = database.transaction.bind(database);
      const failing = vi.spyOn(database, 'transaction').mockImplementation(work =>
        commit(async transaction => {
          const result = await work(transaction);
          if (existsSync(path)) throw new Error('the disk is full');
          return result;
        }),
      );
      try {
        expect((await uploads.send(videoId, bytes, range)).status).toBe(500);
        expect(existsSync(path)).toBe(false);
      } finally {
        failing.mockRestore();
      }
      expect((await uploads.send(videoId, bytes, range)).status).toBe(201);
      expect(await digestOfFile(path)).toBe(digestOf(bytes));
      rmSync(dirname(path), { recursive: true });
    },
  );

  it('is refused when it is cut short, whether the request ends or the connection', async () => {
    const videoId = await uploads.video();
    const body = `${partHead}half of it`;
    const path = `/videos/${videoId}/source`;
    const ended = await raw(
      [head(path, { ...multipart, 'content-length': String(body.length) }), body],
      '"title"',
    );
    expect(ended).toMatch(/^HTTP\/1.1 400 [\s\S]*"title":"The payload is invalid."/);

    const socket = connect(server.listener.httpPort, '127.0.0.1');
    socket.write(head(path, { ...multipart, 'content-length': '1000000' }));
    socket.write(body);
    await waitUntil(async () => (await uploads.leftovers()).length > 0);
    socket.destroy();
    await waitUntil(async () => (await uploads.leftovers()).length === 0);
    expect(await uploads.ingest(videoId)).toBeUndefined();
    expect(existsSync(uploads.sourcePath(videoId))).toBe(false);
  });

  it('is given up when its sender is silent', async () => {
    const videoId = await uploads.video();
    const headers = { ...multipart, 'content-length': '1000000' };
    const text = await raw([head(`/videos/${videoId}/source`, headers), partHead]);
    expect(text).toMatch(/^HTTP\/1.1 408 /);
    await waitUntil(async () => (await uploads.leftovers()).length === 0);
  });
});

describe('an upload that cannot be', () => {
  const oversize = { ...multipart, 'content-length': '10000300000' };

  it.each([
    ['404 for an unknown video', '/videos/vi0000000000000000000000/source', {}, 404, 'resource-not-found'],
    ['401 without a key', '/videos/x/source', { authorization: 'Basic !' }, 401, 'authentication-invalid'],
    ['401 without a token', '/upload', {}, 401, 'authentication-missing-upload-token'],
    ['401 with a wrong token', '/upload?token=no', {}, 401, 'authentication-invalid-upload-token'],
    ['400 for more than there may be', '', oversize, 400, 'uploaded-file-too-large'],
    ['400 for a header that is wrong', '', { 'content-range': 'part 0/2' }, 400, 'by-part-part-zero'],
    ['400 for a part that is too small', '', { 'content-range': 'part 1/2' }, 400, 'uploaded-file-too-small'],
    ['400 for a range of another size', '', { 'content-range': 'bytes 0-9999999/10000000' }, 400, 'mismatch'],
    ['400 for a small range', '', { 'content-range': 'bytes 0-99/10000000' }, 400, 'range-too-small'],
  ])('answers %s before its body is read', async (_what, path, headers, status, code) => {
    const target = path === '' ? `/videos/${await uploads.video()}/source` : path;
    // No byte of the body is ever sent.
    const sent = head(target, { ...multipart, 'content-length': '1000000', ...headers });
    const text = await raw([sent], '"status"');
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*${code}`));
    expect(text).toContain('Connection: close');
  });

  it('is heard by a client that sends all of it first', async () => {
    const bytes = Buffer.alloc(20_000_000);
    const text = await raw([
      head('/upload?token=no', { ...multipart, 'content-length': String(bytes.length) }),
      bytes,
    ]);
    expect(text).toMatch(/^HTTP\/1.1 401 [\s\S]*The upload token is invalid or expired/);
  });

  it('answers 503 where too little room would be left, with nothing stored', async () => {
    const full = await startApi({ uploads: { minFreeBytes: () => 1e15 } });
    try {
      const { json } = await full.call('POST', '/videos', { body: { title: 'a' } });
      const answer = await full.call('POST', `/videos/${json.videoId}/source`, { body: fileForm(noise(10)) });
      expect(answer.status).toBe(503);
      expect(answer.json).toMatchObject({ title: "The server's disk is full." });
      expect(await full.api.uploads.service.ingestOf(json.videoId)).toBeUndefined();
    } finally {
      await full.stop();
    }
  });
});

function fieldForm(): FormData {
  const form = new FormData();
  form.append('file', 'only text');
  return form;
}

function twoFiles(): FormData {
  const form = fileForm(noise(10));
  form.append('another', new Blob([new Uint8Array(noise(10))]), 'b.mp4');
  return form;
}
