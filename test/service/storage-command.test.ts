import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CommandResult, startCommand } from '../support/backup-command.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { proxiedBucket, type S3Proxy } from '../support/s3-proxy.ts';
import { openTestS3Storage } from '../support/s3-storage.ts';
import { startServer } from '../support/start-server.ts';
import { readAll, sha256, writeNew } from '../support/storage-files.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const stored = {
  'vod/vi1/source': randomBytes(20 * 1024 ** 2),
  'vod/vi1/hls-7/video-0.mp4': randomBytes(3_000_000),
  'vod/vi1/hls-7/video-0.mp4.index': randomBytes(1_000),
  'vod/vi2/source': Buffer.alloc(0),
  'watermarks/watermark_1': randomBytes(5_000),
  'players/pl1/logo.png': randomBytes(5_000),
  'live/li1/thumbnail.jpg': randomBytes(5_000),
  'uploads/vi3/part-1': randomBytes(100),
};
const notStored = {
  'live/li1/br1/video.mp4': randomBytes(100),
  'vod/.removed-1/source': randomBytes(100),
};

if (s3Missing !== undefined) console.log(`Skipped: ${s3Missing}`);

describe.skipIf(s3Missing !== undefined)('npm run storage -- copy', () => {
  let server: S3Server;
  let proxy: S3Proxy;
  let bucket: string;
  let url: string;
  let dataDir: string;

  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server?.stop());

  beforeEach(async () => {
    ({ bucket, proxy } = await proxiedBucket(server));
    url = server.url(bucket, { endpoint: proxy.endpoint, prefix: 'media' });
    dataDir = await testTempDir();
    for (const [name, bytes] of Object.entries({ ...stored, ...notStored })) {
      await writeNew(join(dataDir, name), bytes);
    }
  });

  const copy = (folder: string, ...args: string[]): Promise<CommandResult> =>
    startCommand('storage', ['copy', `--dataDir=${folder}`, ...args], {
      env: { MILLRACE_STORAGE_URL: url },
    }).ended;

  async function filesIn(folder: string): Promise<string[]> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter(entry => entry.isFile() && !entry.name.startsWith('millrace.lock'))
      .map(entry => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();
  }

  it('moves all stored files into the bucket, and back', async () => {
    const there = await copy(dataDir);

    expect(there.stderr).toContain(`From: ${dataDir}\nTo: s3://${bucket}/media/ at ${proxy.endpoint}`);
    expect(there.code, there.stderr).toBe(0);
    expect(there.stdout.toString()).toMatch(/^vod +4 +24\.0 MB$/m);
    expect(there.stdout.toString()).toContain('Copied 8 files, and compared all bytes.');
    expect(await filesIn(dataDir)).toEqual(
      [...Object.keys(notStored), ...Object.keys(stored).map(name => `moved-to-s3/${name}`)].sort(),
    );
    const storage = await openTestS3Storage({ url, dataDir });
    for (const [name, bytes] of Object.entries(stored)) {
      expect(sha256(await readAll(storage, join(dataDir, name)))).toBe(sha256(bytes));
    }
    await storage.stop();

    const folder = await testTempDir();
    const back = await copy(folder, '--to', 'data-folder');
    expect(back.code, back.stderr).toBe(0);
    expect(await filesIn(folder)).toEqual(Object.keys(stored).sort());
    for (const [name, bytes] of Object.entries(stored)) {
      expect(sha256(await readFile(join(folder, name)))).toBe(sha256(bytes));
    }
  });

  it.each(['there', 'back'])('continues after it was killed on the way %s', async way => {
    if (way === 'back') expect((await copy(dataDir)).code).toBe(0);
    const folder = way === 'back' ? await testTempDir() : dataDir;
    const to = way === 'back' ? ['--to', 'data-folder'] : ['--to', url];
    const isLarge = (path: string) => path.includes('/vod/vi1/source');
    proxy.requests.length = 0;
    proxy.fault = ({ path, range }) =>
      isLarge(path) && (path.includes('partNumber') || range !== undefined)
        ? { kind: 'delay', ms: 60_000 }
        : undefined;
    const { child, ended } = startCommand('storage', ['copy', `--dataDir=${folder}`, ...to], {
      env: { MILLRACE_STORAGE_URL: url },
    });
    const copied = Object.keys(stored).filter(name => name !== 'vod/vi1/source');
    await waitUntil(async () => {
      if (way === 'there')
        return (
          (await readFile(join(folder, 'storage-copy.jsonl'), 'utf8')).split('\n').length > copied.length
        );
      const names = await filesIn(folder);
      return copied.every(name => names.includes(name));
    });
    child.kill('SIGKILL');
    await ended;
    proxy.fault = () => undefined;
    proxy.requests.length = 0;

    const again = await copy(folder, ...to);

    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout.toString()).toContain('Copied 8 files');
    const repeated = proxy.requests.filter(
      ({ method, path }) => method === (way === 'back' ? 'GET' : 'PUT') && path.includes('/video-0.mp4'),
    );
    expect(repeated).toEqual([]);
  });

  it('ends with an error when the bytes differ, and leaves the files where they were', async () => {
    proxy.fault = ({ method, path, range }) =>
      method === 'GET' && range !== undefined && path.includes('/logo.png') ? { kind: 'flip' } : undefined;
    const { code, stderr } = await copy(dataDir);

    expect(code).toBe(1);
    expect(stderr).toContain('The storage has other bytes than');
    expect(await filesIn(dataDir)).toEqual(expect.arrayContaining(Object.keys(stored)));
  });

  it('refuses a data folder that a server uses, wrong credentials and wrong usage', async () => {
    const running = await startServer({}, { dataDir });
    const busy = await copy(dataDir).finally(() => running.stop());
    expect(busy.code).toBe(1);
    expect(busy.stderr).toContain('is in use by another process');

    const denied = await copy(dataDir, '--to', server.url(bucket, { secret: 'wrong' }));
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain('cannot be used');
    expect(denied.stderr).not.toContain('wrong');

    expect((await copy(dataDir, '--to', 'https://example.org')).code).toBe(2);
  });

  it('is told of by backups, which have the database only', async () => {
    const [folder, restored] = [await testTempDir(), await testTempDir()];
    const file = join(folder, 'a.tar');
    const env = { MILLRACE_STORAGE_URL: url, MILLRACE_DATA_DIR: dataDir };
    const run = (name: 'backup' | 'restore', args: string[], more: Record<string, string> = {}) =>
      startCommand(name, args, { env: { ...env, ...more } }).ended;
    const running = await startServer({}, { dataDir });
    const backup = await run('backup', [file]).finally(() => running.stop());
    expect([backup.code, backup.stderr]).toEqual([
      0,
      expect.stringContaining(
        'This backup has the database only: the media is in a bucket. Protect the media',
      ),
    ]);
    expect(backup.stderr).toContain(`Media: s3://${bucket}/media/ at ${proxy.endpoint}`);
    const { code, stdout } = await run('restore', [file], { MILLRACE_DATA_DIR: restored });
    expect([code, stdout.toString()]).toEqual([
      0,
      expect.stringContaining(
        'The settings refer to a bucket, which was not changed: it must have the media.',
      ),
    ]);
    expect(await filesIn(restored)).toEqual(['millrace.db']);
    const refused = await run('backup', [join(folder, 'b.tar')], {
      MILLRACE_DATABASE_URL: 'postgres://nobody@localhost/none',
    });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('There is nothing to back up here: the database is PostgreSQL'),
    ]);
  });
});
