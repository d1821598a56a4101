import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLogger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import { connectS3 } from '../../src/storage/s3/open-s3-storage.ts';
import { copyObject } from '../../src/storage/s3/s3-multipart.ts';
import type { S3Storage } from '../../src/storage/s3/s3-storage.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { proxiedBucket, type S3Proxy, type S3ProxyFault, type S3Request } from '../support/s3-proxy.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { collect, readAll, sha256, writeNew } from '../support/storage-files.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const mebibyte = 1024 ** 2;
const publishScript = fileURLToPath(new URL('../support/publish-to-s3.ts', import.meta.url));

if (s3Missing !== undefined) console.log(`Skipped: ${s3Missing}`);

describe.skipIf(s3Missing !== undefined)('an S3 storage', () => {
  let server: S3Server;
  let proxy: S3Proxy;
  let bucket: string;
  let url: string;
  let root: string;

  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server?.stop());

  beforeEach(async () => {
    ({ bucket, proxy } = await proxiedBucket(server));
    url = server.url(bucket, { endpoint: proxy.endpoint });
    root = await testTempDir();
  });

  async function opened(options: Partial<Parameters<typeof openTestS3Storage>[0]> = {}): Promise<S3Storage> {
    const storage = await openTestS3Storage({ url, dataDir: root, ...options });
    onTestFinished(() => storage.stop());
    return storage;
  }

  const source = () => join(root, 'vod', 'v1', 'source');
  const work = (bytes: Buffer) => writeNew(join(root, 'work', 'a'), bytes);

  describe('does not open', () => {
    it.each<[what: string, url: () => string, message: RegExp]>([
      [
        'with a wrong secret',
        () => server.url(bucket, { secret: 'wrong' }),
        /SignatureDoesNotMatch.*Check the key/,
      ],
      ['without its bucket', () => server.url('no-such-bucket'), /NoSuchBucket.*Create the bucket/],
      [
        'at an address where nothing listens',
        () => server.url(bucket, { endpoint: 'http://127.0.0.1:1' }),
        /ECONNREFUSED.*Check that the S3 server runs/,
      ],
    ])('%s', async (_what, urlOf, message) => {
      const opening = openTestS3Storage({ url: urlOf(), dataDir: root, startPatienceMs: 500 });
      await expect(opening).rejects.toMatchObject({
        code: 'storage-unusable',
        message: expect.stringMatching(message),
      });
    });

    it('where it cuts its answers, and says so after seconds', async () => {
      proxy.fault = ({ method }) => (method === 'GET' ? { kind: 'cut', afterBytes: 20 } : undefined);
      await expect(opened({ startPatienceMs: 500 })).rejects.toMatchObject({
        code: 'storage-unusable',
        message: expect.stringContaining('Check that the S3 server runs, and its address'),
      });
    });

    it('where it may not write', async () => {
      proxy.fault = ({ method }) =>
        method === 'PUT' ? { kind: 'answer', status: 403, code: 'AccessDenied' } : undefined;
      await expect(opened()).rejects.toMatchObject({ code: 'storage-unusable' });
    });
  });

  it('waits at its start for an S3 server that starts, too', async () => {
    await server.kill();
    const opening = opened({ startPatienceMs: 120_000 });
    await sleep(1_500);
    await server.start();
    expect(await (await opening).findFault()).toBeUndefined();
  });

  it.each([-20, 20])('works while the clocks differ by %i minutes, and says so', async minutes => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + minutes * 60_000 });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const warned: string[] = [];
    const log = { ...silentLogger, warn: (event: string) => warned.push(event) };
    const storage = await opened({ log, canRedirect: true });
    const bytes = randomBytes(20 * mebibyte);

    await storage.publish(await work(bytes), source());

    expect((await storage.find(source()))?.bytes).toBe(bytes.length);
    expect(warned).toContain('storage-clock-differs');
    const address = await storage.downloadUrl(source(), {
      expiresSeconds: 60,
      contentType: 'video/mp4',
      contentDisposition: 'attachment',
    });
    expect(sha256(Buffer.from(await (await fetch(address!)).arrayBuffer()))).toBe(sha256(bytes));
  });

  it.each<[what: string, isWarned: boolean, fault: (request: S3Request) => S3ProxyFault | undefined]>([
    [
      'wants Content-MD5',
      false,
      ({ headers }) =>
        headers['content-md5'] === undefined
          ? { kind: 'answer', status: 400, code: 'MissingContentMD5' }
          : undefined,
    ],
    [
      'knows no newer checksums',
      false,
      ({ headers }) =>
        Object.keys(headers).some(name => /^x-amz-(?:sdk-)?checksum/.test(name))
          ? { kind: 'answer', status: 400, code: 'InvalidArgument' }
          : undefined,
    ],
    [
      'answers 501 to requests for many',
      true,
      () => ({ kind: 'answer', status: 501, code: 'NotImplemented' }),
    ],
    [
      'answers 405 to requests for many',
      true,
      () => ({ kind: 'answer', status: 405, code: 'MethodNotAllowed' }),
    ],
    ['answers 404 to requests for many', true, () => ({ kind: 'answer', status: 404, code: 'NoSuchKey' })],
    ['refuses requests for many', true, () => ({ kind: 'answer', status: 403, code: 'AccessDenied' })],
    [
      'ignores requests for many',
      true,
      () => ({ kind: 'answer', status: 200, code: 'OK', body: '<DeleteResult/>' }),
    ],
    [
      'answers nothing to requests for many',
      true,
      () => ({ kind: 'answer', status: 200, code: 'OK', body: '' }),
    ],
    [
      'refuses each object of a request for many',
      true,
      () => ({
        kind: 'answer',
        status: 200,
        code: 'OK',
        body: '<DeleteResult><Error><Key>a</Key><Code>NotImplemented</Code></Error></DeleteResult>',
      }),
    ],
    [
      'answers an error with the status of success',
      true,
      () => ({ kind: 'answer', status: 200, code: 'OK', body: '<Error><Code>NotImplemented</Code></Error>' }),
    ],
    [
      'answers 400 in HTML',
      true,
      () => ({ kind: 'answer', status: 400, code: 'x', body: '<html><body>Bad <br>request' }),
    ],
    ['answers 403 without a text', true, () => ({ kind: 'answer', status: 403, code: 'x', body: '' })],
    [
      'answers 501 with XML of its own',
      true,
      () => ({ kind: 'answer', status: 501, code: 'x', body: '<a:Fault xmlns:a="urn:a"><a:Why/></a:Fault>' }),
    ],
    ['answers 411', true, () => ({ kind: 'answer', status: 411, code: 'MissingContentLength' })],
    ['answers 415', true, () => ({ kind: 'answer', status: 415, code: '', body: '{"error":"no"}' })],
    ['answers 302', true, () => ({ kind: 'answer', status: 302, code: '', body: '' })],
    ['cuts its answers to requests for many', true, () => ({ kind: 'cut', afterBytes: 20 })],
    ['answers 503 to requests for many', true, () => ({ kind: 'answer', status: 503, code: 'SlowDown' })],
  ])('removes folders from a server that %s', async (_what, isWarned, fault) => {
    proxy.fault = request => (/[?&]delete\b/.test(request.path) ? fault(request) : undefined);
    const warned: string[] = [];
    const storage = await opened({ log: { ...silentLogger, warn: (event: string) => warned.push(event) } });
    expect(warned.includes('storage-without-batches')).toBe(isWarned);
    const paths = Array.from({ length: 9 }, (_, number) => join(root, 'vod', 'v1', `part-${number}`));
    for (const path of paths) await storage.publish(await work(Buffer.from(path)), path);

    await storage.remove(join(root, 'vod', 'v1'));

    for (const path of paths) expect(await storage.find(path)).toBeUndefined();
    const singles = proxy.count(({ method, path }) => method === 'DELETE' && path.includes('/part-'));
    expect(singles).toBe(isWarned ? paths.length : 0);
    expect(proxy.count(({ path }) => path.includes('.millrace-check'))).toBeGreaterThan(0);
  });

  it('removes folders one object at a time once its server refuses requests for many', async () => {
    const storage = await opened();
    await storage.publish(await work(Buffer.from('a')), source());
    proxy.fault = ({ path }) =>
      /[?&]delete\b/.test(path) ? { kind: 'answer', status: 501, code: 'NotImplemented' } : undefined;

    await storage.remove(join(root, 'vod', 'v1'));

    expect(await storage.find(source())).toBeUndefined();
  });

  it('gives an address to download from, which ends', async () => {
    const storage = await opened({ canRedirect: true });
    const bytes = randomBytes(1_000);
    await storage.publish(await work(bytes), source());
    const address = await storage.downloadUrl(source(), {
      expiresSeconds: 60,
      contentType: 'video/mp4',
      contentDisposition: 'attachment; filename="a.mp4"',
    });
    const response = await fetch(address!);

    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="a.mp4"');
    expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes);
    expect(address).toContain('X-Amz-Expires=60');
  });

  describe('survives', () => {
    it.each<[what: string, fault: (request: S3Request) => S3ProxyFault | undefined]>([
      ['errors of the server', () => ({ kind: 'answer', status: 500, code: 'InternalError' })],
      ['requests to slow down', () => ({ kind: 'answer', status: 503, code: 'SlowDown' })],
      ['broken connections', () => ({ kind: 'reset' })],
      ['answers that end in the middle', () => ({ kind: 'cut', afterBytes: 1_000 })],
      ['slow answers', () => ({ kind: 'delay', ms: 200 })],
    ])('%s', async (_what, fault) => {
      const storage = await opened();
      const otherRoot = await testTempDir();
      const other = await opened({ dataDir: otherRoot });
      const path = join(otherRoot, 'vod', 'v1', 'source');
      const bytes = randomBytes(20 * mebibyte);
      let requests = 0;
      proxy.fault = request => {
        requests += 1;
        return requests % 2 === 1 ? fault(request) : undefined;
      };

      await storage.publish(await work(bytes), source());
      await storage.copy(source(), join(root, 'vod', 'v2', 'source'));
      await storage.remove(join(root, 'vod', 'v2'));

      expect(sha256(await readAll(other, path))).toBe(sha256(bytes));
      expect(await other.withLocal(path, async local => sha256(await readFile(local)))).toBe(sha256(bytes));
      expect(await collect(other.list(join(otherRoot, 'vod')))).toHaveLength(1);
    });

    it('a server that is gone for a while: publishing waits, and cached files are read', async () => {
      const storage = await opened();
      const uuid = '7f1c9a52-5e0e-4a0e-9c57-0a53a1a4b7c1';
      const image = join(root, 'vod', 'v1', `thumbnail-${uuid}.jpg`);
      await storage.publish(await work(randomBytes(1_000)), image);
      await server.kill();
      onTestFinished(() => server.start().catch(() => {}));

      const bytes = randomBytes(20 * mebibyte);
      const publishing = storage.publish(await work(bytes), source());
      expect(await storage.findFault()).toContain('storage-unavailable');
      expect(await readAll(storage, image)).toHaveLength(1_000);
      await expect(storage.find(image)).rejects.toMatchObject({ code: 'storage-unavailable', status: 503 });
      await server.start();
      await publishing;

      expect((await storage.find(source()))?.bytes).toBe(bytes.length);
      await waitUntil(async () => (await storage.findFault()) === undefined);
    });

    it('a bucket that disappears, without taking its files for removed', async () => {
      const storage = await opened();
      await storage.publish(await work(randomBytes(10)), source());
      proxy.fault = () => ({ kind: 'answer', status: 404, code: 'NoSuchBucket' });
      vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 60_000);
      onTestFinished(() => {
        vi.restoreAllMocks();
      });

      await expect(storage.find(source())).rejects.toMatchObject({ code: 'storage-unavailable' });
    });
  });

  it('copies an object that is too large for one request in parts', async () => {
    const storage = await opened();
    const bytes = randomBytes(17 * mebibyte);
    await storage.publish(await work(bytes), source());
    const { objects } = await connectS3({ url: new Secret(url), log: silentLogger });
    onTestFinished(() => objects.stop());
    const version = (await objects.find('vod/v1/source'))!;

    await copyObject(
      objects,
      { from: 'vod/v1/source', to: 'vod/v2/source', version },
      undefined,
      8 * mebibyte,
    );

    expect(
      proxy.count(({ method, path }) => method === 'PUT' && path.includes('vod/v2/source?partNumber')),
    ).toBe(3);
    expect(sha256(await readAll(storage, join(root, 'vod', 'v2', 'source')))).toBe(sha256(bytes));
  });

  it('sends only a few dozen requests at once, and uploads never hold up readers', async () => {
    const storage = await opened();
    const image = join(root, 'vod', 'v1', 'storyboard.jpg');
    await storage.publish(await work(randomBytes(1_000)), image);
    proxy.fault = ({ method }) => ({ kind: 'delay', ms: method === 'PUT' ? 120_000 : 50 });
    proxy.maxRunning = 0;
    const abort = new AbortController();
    const uploads = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        writeNew(join(root, 'work', `${index}`), randomBytes(100)).then(from => {
          const published = storage.publish(from, join(root, 'vod', `v${index}`, 'source'), abort.signal);
          return { published };
        }),
      ),
    );
    await waitUntil(() => proxy.maxRunning >= 8);
    await Promise.all(Array.from({ length: 150 }, (_, index) => storage.find(`${image}.${index}`)));
    abort.abort(new Error('enough'));
    await Promise.allSettled(uploads.map(({ published }) => published));

    expect(proxy.maxRunning).toBeGreaterThan(20);
    expect(proxy.maxRunning).toBeLessThanOrEqual(48 + 8);
  });

  it('aborts what it cannot finish, and leaves the file where it was', async () => {
    const storage = await opened();
    const from = await work(randomBytes(20 * mebibyte));
    proxy.fault = ({ path }) =>
      path.includes('partNumber=2') ? { kind: 'answer', status: 403, code: 'AccessDenied' } : undefined;

    await expect(storage.publish(from, source())).rejects.toMatchObject({ code: 'storage-unavailable' });

    expect(existsSync(from)).toBe(true);
    expect(await storage.find(source())).toBeUndefined();
    // A busy server may be asked twice.
    expect(proxy.count(({ method, path }) => method === 'DELETE' && path.includes('uploadId'))).not.toBe(0);
    expect(await storage.abortOldUploads(Date.now() + 25 * 3_600_000)).toBe(0);
  });

  it('stops an upload with its signal', async () => {
    const storage = await opened();
    const from = await work(randomBytes(40 * mebibyte));
    const abort = new AbortController();
    const reason = new Error('enough');
    proxy.fault = ({ path }) => {
      if (path.includes('partNumber=2')) abort.abort(reason);
      return undefined;
    };

    await expect(storage.publish(from, source(), abort.signal)).rejects.toBe(reason);

    expect(existsSync(from)).toBe(true);
    expect(await storage.find(source())).toBeUndefined();
  });

  it.each(['publish', 'keep'])('loses nothing when the server is killed during %s', async verb => {
    const bytes = randomBytes(40 * mebibyte);
    const from = verb === 'keep' ? await writeNew(source(), bytes) : await work(bytes);
    proxy.fault = ({ path }) => (path.includes('partNumber=4') ? { kind: 'delay', ms: 60_000 } : undefined);
    const child = spawn(process.execPath, [publishScript, url, root, verb, from, source()], {
      stdio: 'inherit',
    });
    await waitUntil(() => proxy.count(({ path }) => path.includes('partNumber=')) >= 4);
    child.kill('SIGKILL');
    await once(child, 'exit');
    proxy.fault = () => undefined;

    const storage = await opened();
    expect(existsSync(from)).toBe(true);
    if (verb === 'publish') expect(await storage.find(source())).toBeUndefined();
    expect(await storage.abortOldUploads(Date.now())).toBe(0);
    expect(await storage.abortOldUploads(Date.now() + 25 * 3_600_000)).toBe(1);
    if (verb === 'keep') await storage.keep([from]);
    else await storage.publish(from, source());

    const fresh = await testTempDir();
    const other = await opened({ dataDir: fresh });
    expect(sha256(await readAll(other, join(fresh, 'vod', 'v1', 'source')))).toBe(sha256(bytes));
  });
});
