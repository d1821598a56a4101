import { mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { UploadDependencies } from '../../src/resources/videos/uploads/video-sources.ts';
import type { ResolveHost } from '../../src/shared/network/target-address.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { productionKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { digestOf, digestOfFile, noise, UploadsOfTest } from './upload-fixture.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: TestApi;
let origin: Server;
let originUrl: string;
let handle: Handler;
let asked: { url: string; range: string | undefined }[];
const ready: string[] = [];
const failed: [videoId: string, reason: string][] = [];
const uploads = new UploadsOfTest(() => server);
const bytes = noise(3_000_000);

async function start(settings: Partial<UploadDependencies> = {}) {
  server = await startApi({
    isUpgraded: true,
    uploads: {
      allowPrivateTargets: true,
      sourceReady: async videoId => void ready.push(videoId),
      sourceFailed: async (videoId, reason) => void failed.push([videoId, reason]),
      ...settings,
    },
  });
}

beforeEach(async () => {
  asked = [];
  handle = (_request, response) => response.end(bytes);
  origin = createServer((request, response) => {
    asked.push({ url: request.url ?? '', range: request.headers.range });
    handle(request, response);
  });
  await new Promise<void>(resolve => origin.listen(0, '127.0.0.1', resolve));
  originUrl = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
});
afterEach(async () => {
  await server.stop();
  origin.closeAllConnections();
  await new Promise(resolve => origin.close(resolve));
});

const createFrom = (source: string, key?: string) =>
  server.call('POST', '/videos', {
    body: { title: 'From elsewhere', source },
    key,
  });

const failureOf = (videoId: string) => server.api.uploads.service.failureOf(videoId);

async function expectFailure(videoId: string, reason: RegExp): Promise<void> {
  const failure = await waitUntil(() => failureOf(videoId));
  expect(failure).toMatch(reason);
  const { json } = await server.call('GET', `/videos/${videoId}/status`);
  expect(json.encoding).toMatchObject({ playable: false, failure });
  expect(await uploads.ingest(videoId)).toEqual({ status: 'failed', filesize: null, receivedBytes: [] });
  expect(failed.filter(([id]) => id === videoId)).toEqual([[videoId, failure]]);
  expect(ready).not.toContain(videoId);
  const files = await readdir(join(server.dataDir, 'vod', videoId)).catch(() => []);
  expect(files).toEqual([]);
}

describe('a source from an address', () => {
  it('is answered with 202 at once, fetched, and takes no upload', async () => {
    await start();
    const answer = await createFrom(`${originUrl}/a.mp4`);
    expect(answer.status).toBe(202);
    const { videoId } = answer.json;
    expect((await uploads.ingest(videoId))?.status).toMatch(/^ingest(ing|ed)$/);
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect((await uploads.ingest(videoId))?.filesize).toBe(bytes.length);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
    expect(await readdir(join(server.dataDir, 'vod', videoId))).toEqual(['source']);
    expect(ready.filter(id => id === videoId)).toEqual([videoId]);
    const refused = await uploads.send(videoId, noise(10));
    expect(refused.status).toBe(400);
    expect(refused.json.title).toBe(
      'This video source has already been downloaded when the video was created.',
    );
  });

  it('is followed over five redirects and no more', async () => {
    await start();
    handle = (request, response) => {
      const left = Number(request.url?.slice(1));
      if (left === 0) response.end(bytes);
      else response.writeHead(302, { location: `/${left - 1}` }).end();
    };
    const { videoId } = (await createFrom(`${originUrl}/5`)).json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    await expectFailure((await createFrom(`${originUrl}/6`)).json.videoId, /redirects more than 5 times/);
  });

  it('is not followed to where the server may not connect to, nor to what is no web address', async () => {
    await start();
    handle = (_request, response) =>
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    await expectFailure(
      (await createFrom(`${originUrl}/a`)).json.videoId,
      /not reachable on the public network/,
    );
    handle = (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end();
    await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /not http or https/);
  });

  it('fails at once when the server says no', async () => {
    await start();
    handle = (_request, response) => response.writeHead(404).end();
    await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /responded with status 404/);
    handle = (_request, response) => response.end();
    await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /empty/);
    handle = (_request, response) =>
      response.writeHead(200, { 'content-length': '10000000000' }).flushHeaders();
    await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /smaller than 10000000000 bytes/);
    expect(asked).toHaveLength(3);
  });

  it('that failed gives way to an upload', async () => {
    await start();
    handle = (_request, response) => response.writeHead(404).end();
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await expectFailure(videoId, /responded with status 404/);
    expect((await uploads.send(videoId, bytes)).status).toBe(201);
    const { json } = await server.call('GET', `/videos/${videoId}/status`);
    expect(json.ingest).toMatchObject({ status: 'uploaded', filesize: bytes.length });
    expect(json.encoding).not.toHaveProperty('failure');
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
    expect(ready).toContain(videoId);
    expect((await uploads.send(videoId, bytes)).json.title).toBe(
      'The source of the video is already uploaded.',
    );
  });

  it('of which nothing ever came is given up after six attempts, one that came in part is not', async () => {
    await start();
    handle = (_request, response) => void response.writeHead(503).end();
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await waitUntil(() => asked.length > 0);
    const fetching = server.api.uploads.jobKinds.find(({ kind }) => kind === 'fetch')!;
    const attempt = (number: number) =>
      fetching.run({
        id: 1,
        kind: 'fetch',
        subjectId: videoId,
        payload: null,
        attempt: number,
        signal: new AbortController().signal,
        reportProgress: () => {},
        ensureOwned: async () => {},
        parse: work => work(),
      });
    await expect(attempt(5)).rejects.toThrow('the server responded with status 503');
    await expect(attempt(6)).rejects.toMatchObject({
      code: 'source-unreachable',
      kind: 'invalid',
      message: expect.stringContaining(
        'No data arrived in 6 attempts: the server responded with status 503.',
      ),
    });
    const partial = `${uploads.sourcePath(videoId)}.partial`;
    await mkdir(dirname(partial), { recursive: true });
    await writeFile(partial, 'some');
    await expect(attempt(6)).rejects.toThrow(/^the server responded with status 503$/);
  });

  it('that cannot be stored is not blamed on its server, and no path of this machine is told', async () => {
    await start();
    handle = (_request, response) => void response.writeHead(503).end();
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await waitUntil(() => asked.length > 0);
    const fetching = server.api.uploads.jobKinds.find(({ kind }) => kind === 'fetch')!;
    handle = (_request, response) => response.end(bytes);
    const partial = `${uploads.sourcePath(videoId)}.partial`;
    await mkdir(dirname(partial), { recursive: true });
    await symlink('nowhere/at-all', partial);
    const failure = await fetching
      .run({
        id: 1,
        kind: 'fetch',
        subjectId: videoId,
        payload: null,
        attempt: 6,
        signal: new AbortController().signal,
        reportProgress: () => {},
        ensureOwned: async () => {},
        parse: work => work(),
      })
      .catch((error: unknown) => error);
    expect(failure).toHaveProperty('path');
    await server.database.transaction(async transaction => {
      await fetching.onGiveUp?.({ kind: 'fetch', subjectId: videoId }, failure, transaction);
    });
    expect(await failureOf(videoId)).toBe('The source could not be stored.');
  });

  it('is tried again after a fault of the server', async () => {
    await start();
    handle = (_request, response) => {
      if (asked.length > 1) response.end(bytes);
      else response.writeHead(503).end();
    };
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect(asked).toHaveLength(2);
  });

  it('that breaks off is gone on with', async () => {
    await start();
    handle = (request, response) => {
      const etag = '"one"';
      if (asked.length === 1) {
        response.writeHead(200, { etag, 'content-length': bytes.length });
        response.write(bytes.subarray(0, 2_000_000), () => response.destroy());
      } else {
        expect(request.headers['if-range']).toBe(etag);
        const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1]);
        const rest = bytes.subarray(from);
        response.writeHead(206, {
          etag,
          'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}`,
        });
        response.end(rest);
      }
    };
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect(asked).toHaveLength(2);
    expect(Number(/\d+/.exec(asked[1]?.range ?? '')?.[0])).toBeGreaterThan(0);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  });

  it('that has changed since it broke off begins anew', async () => {
    await start();
    handle = (_request, response) => {
      if (asked.length > 1) return response.writeHead(200, { etag: '"two"' }).end(bytes);
      response.writeHead(200, { etag: '"one"', 'content-length': bytes.length });
      return response.write(noise(1_500_000), () => response.destroy());
    };
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect(asked[1]?.range).toMatch(/^bytes=\d+-$/);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  });

  it('is tried again when the server falls silent', async () => {
    await start({ idleTimeoutMs: 300 });
    handle = (_request, response) => {
      if (asked.length > 1) response.end(bytes);
      else response.write(bytes.subarray(0, 100_000));
    };
    const { videoId } = (await createFrom(`${originUrl}/a`)).json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  });

  it('fails when it takes too long as a whole', async () => {
    await start({ sourceTimeoutMs: () => 300 });
    handle = (_request, response) => void response.write(bytes.subarray(0, 100_000));
    await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /took too long/);
  });

  it('fails when it comes too slowly, however steadily', async () => {
    await start({ minImportRate: { bytesPerSecond: 100_000, windowMs: 100 } });
    let sent = 0;
    const senders: NodeJS.Timeout[] = [];
    handle = (_request, response) => {
      const drip = () => {
        sent += 1;
        response.write(bytes.subarray(0, 10));
      };
      senders.push(setInterval(drip, 10));
    };
    try {
      await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /too slow: it sent \d+ bytes/);
      expect(sent).toBeGreaterThan(1);
      expect(asked).toHaveLength(1);
    } finally {
      senders.forEach(clearInterval);
    }
  });

  it('fails when its headers never come to an end', async () => {
    await start({ idleTimeoutMs: 300 });
    const senders: NodeJS.Timeout[] = [];
    handle = ({ socket }, response) => {
      if (asked.length > 1) return void response.writeHead(404).end();
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      senders.push(setInterval(() => void socket.write('a'), 20));
    };
    try {
      await expectFailure((await createFrom(`${originUrl}/a`)).json.videoId, /responded with status 404/);
    } finally {
      senders.forEach(clearInterval);
    }
  });

  it('of one project waits for its share, and does not hold up those of another', async () => {
    await start();
    handle = ({ url }, response) => {
      if (url === '/fast') response.end(bytes);
    };
    for (const name of ['a', 'b', 'c']) await createFrom(`${originUrl}/${name}`);
    await waitUntil(() => asked.length === 2);
    const { videoId } = (await createFrom(`${originUrl}/fast`, productionKey)).json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect(asked.map(({ url }) => url).toSorted()).toEqual(['/a', '/b', '/fast']);
  });

  it('is refused where it can be told that it leads nowhere', async () => {
    await start({ allowPrivateTargets: false });
    for (const source of [
      'http://127.0.0.1/a.mp4',
      'http://[::1]/a.mp4',
      'http://2130706433/a.mp4',
      'http://[::ffff:10.0.0.1]/a.mp4',
      'http://169.254.169.254/latest',
      'ftp://example.org/a.mp4',
      'file:///etc/passwd',
      'https://',
      'vi0000000000000000000000',
      '../../source',
    ]) {
      const answer = await createFrom(source);
      expect(answer.status, source).toBe(400);
      expect(answer.json).toMatchObject({ title: 'Invalid attributes.', name: 'source' });
    }
    expect((await server.call('GET', '/videos')).json.data).toEqual([]);
  });

  it('is not fetched by a name that leads to this machine', async () => {
    await start({ allowPrivateTargets: false });
    const address = originUrl.replace('127.0.0.1', 'localhost');
    await expectFailure((await createFrom(address)).json.videoId, /not reachable on the public network/);
    expect(asked).toEqual([]);
  });

  it('fails with the same text when its host is unknown as when it is private', async () => {
    const resolve: ResolveHost = async hostname => {
      if (hostname === 'inside.test') return [{ address: '127.0.0.1', family: 4 }];
      throw Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' });
    };
    await start({ allowPrivateTargets: false, resolve });
    for (const host of ['inside.test', 'unknown.test']) {
      const { videoId } = (await createFrom(originUrl.replace('127.0.0.1', host))).json;
      await expectFailure(
        videoId,
        new RegExp(
          `^${host} is not reachable on the public network\\. .* MILLRACE_ALLOW_PRIVATE_TARGETS=true\\.$`,
        ),
      );
    }
    expect(asked).toEqual([]);
  });
});

describe('a clone', () => {
  it('has the same bytes, takes no upload, and outlives the video that it was made from', async () => {
    await start();
    const from = await uploads.video();
    await uploads.send(from, bytes);
    const answer = await createFrom(from);
    expect(answer.status).toBe(202);
    const { videoId } = answer.json;
    await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
    expect((await uploads.ingest(videoId))?.filesize).toBe(bytes.length);
    expect((await stat(uploads.sourcePath(videoId))).ino).toBe((await stat(uploads.sourcePath(from))).ino);
    expect(ready).toContain(videoId);
    expect((await uploads.send(videoId, noise(10))).json.title).toBe(
      'This video source has already been copied from an existing video when the video was created.',
    );
    await server.call('DELETE', `/videos/${from}`);
    expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
  });

  it('of a source that was put together is one that was put together, and so is its own clone', async () => {
    await start();
    const from = await uploads.video();
    await uploads.send(from, bytes);
    await runSql(server.database, 'UPDATE video_sources SET is_joined = 1 WHERE video_id = ?', from);
    let source = from;
    for (let generation = 0; generation < 2; generation += 1) {
      const { videoId } = (await createFrom(source)).json;
      await waitUntil(async () => (await uploads.ingest(videoId))?.status === 'ingested');
      source = videoId;
    }
    const isJoined = { is_joined: 1 };
    const sources = await rowsOf(server.database, 'SELECT is_joined FROM video_sources');
    expect(sources).toEqual([isJoined, isJoined, isJoined]);
  });

  it('needs a video of the project with a complete source', async () => {
    await start();
    const empty = await uploads.video();
    expect((await createFrom(empty)).json.problems[0].detail).toBe(
      'The source of this video is not complete.',
    );
    const from = await uploads.video();
    await uploads.send(from, bytes);
    expect((await createFrom(from, productionKey)).status).toBe(400);
  });
});
