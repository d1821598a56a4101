import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand, startCommand } from '../support/backup-command.ts';
import {
  createPostgresDatabase,
  findPostgres,
  type PostgresServer,
  startPostgres,
} from '../support/postgres.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

if (findPostgres() === undefined)
  process.stderr.write('Copies to PostgreSQL are not tested: it is not installed (Debian: postgresql).\n');

const flags = { publicUrl: 'http://video.example.org', 'http.requestTimeout': '60s' } as const;
const manyRows = 200_000;

/** Requests whose answers must stay the same. */
const questions = [
  '/videos?sortBy=title&sortOrder=asc&pageSize=7&currentPage=2',
  '/videos?tags[]=Straße',
  '/videos?title=ÜBER',
  '/videos?metadata[key]=number%203',
  '/videos?sortBy=createdAt&sortOrder=desc',
  '/tags',
  '/live-streams?sortBy=name&sortOrder=asc',
  '/players?sortBy=name',
  '/webhooks',
  '/upload-tokens?sortBy=ttl&sortOrder=desc',
  '/account',
  '/account/api-keys',
  '/analytics/videos/plays?dimension=browser&filter=last30days',
];

describe.skipIf(findPostgres() === undefined)('npm run database -- copy', () => {
  let postgres: PostgresServer;
  let dataDir: string;
  let before: unknown[];

  beforeAll(async () => {
    [postgres, dataDir] = await Promise.all([startPostgres(), makeTempDir()]);
    const server = await startServer(flags, { dataDir });
    try {
      await fill(server);
      before = await answersOf(server);
    } finally {
      await server.stop();
    }
    addRareRows(dataDir);
  });
  afterAll(async () => {
    await postgres?.stop();
    await removeDir(dataDir);
  });

  let databases = 0;
  const createDatabase = () => {
    databases += 1;
    return createPostgresDatabase(postgres.url, `test_${databases}`);
  };
  async function query<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }
  const hasRows = async (url: string) => {
    const [found] = await query<{ name: string | null }>(url, "SELECT to_regclass('accounts')::text AS name");
    return found?.name != null && (await query(url, 'SELECT 1 FROM accounts')).length > 0;
  };

  test('copies all, with which a server answers as before and goes on numbering', async () => {
    const url = await createDatabase();
    const { code, stdout, stderr } = await runCommand('database', 'copy', '--to', url, '--from', dataDir);
    expect(stderr).toContain(`From: ${dataDir}\nTo: PostgreSQL, postgres://postgres@localhost/`);
    expect(code, stderr).toBe(0);
    const report = stdout.toString();
    expect(report).toMatch(/^videos +31 {2}[0-9a-f]{64}$/m);
    expect(report).toMatch(/^analytics_stays +2 {2}[0-9a-f]{64}$/m);
    expect(report).toMatch(/^Copied \d+ rows of \d+ tables; both databases match\.$/m);
    expect(report).not.toMatch(/video_blocks|video_texts|schema_version/);
    const totals = 'SELECT list, total FROM list_totals ORDER BY project_id, list';
    const sqlite = new Sqlite(join(dataDir, 'millrace.db'), { readonly: true });
    const countedBefore = sqlite.prepare(totals).all();
    const last = sqlite.prepare('SELECT max(number) FROM videos').pluck().get();
    sqlite.close();
    const counted = await query<{ list: string; total: string }>(url, totals);
    expect(counted.map(({ list, total }) => ({ list, total: Number(total) }))).toEqual(countedBefore);
    expect(await query(url, 'SELECT viewer, seen FROM analytics_stays, analytics_playbacks LIMIT 1')).toEqual(
      [{ viewer: '9007199254740993', seen: '-3' }],
    );
    expect(await query(url, 'SELECT last_value AS id FROM events_id_seq')).toEqual([{ id: '501' }]);

    await using server = await startServer({ ...flags, 'database.url': url }, { dataDir });
    expect(await answersOf(server)).toEqual(before);
    const { videoId } = (await (await server.api('POST', '/videos', { title: 'Afterwards' })).json()) as {
      videoId: string;
    };
    const [added] = await query<{ number: string }>(url, `SELECT number FROM videos WHERE id = '${videoId}'`);
    expect(Number(added?.number)).toBe(Number(last) + 1);

    const account = startCommand('account', ['list', `--dataDir=${dataDir}`], {
      env: { MILLRACE_DATABASE_URL: url },
    });
    const listed = await account.ended;
    expect(listed.code, listed.stderr).toBe(0);
    expect(listed.stdout.toString()).toContain('admin@localhost');
    expect(listed.stdout.toString()).toMatch(/ 3\d +6$/m);
    const again = await runCommand('database', 'copy', '--to', url, '--from', dataDir);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain(`A server runs on the data folder ${dataDir}. Stop it`);
  });

  test('refuses a database that has rows, of this product or another, and does not change it', async () => {
    const url = await createDatabase();
    await query(url, 'CREATE TABLE another (a int); INSERT INTO another VALUES (1)');
    const { code, stderr } = await runCommand('database', 'copy', '--to', url, '--from', dataDir);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The PostgreSQL database is not empty: the table another has rows.'),
    ]);
    expect(await query(url, 'SELECT tablename FROM pg_tables WHERE schemaname = current_schema()')).toEqual([
      { tablename: 'another' },
    ]);
  });

  test('refuses a database whose tables are damaged', async () => {
    const url = await createDatabase();
    expect(await hasRows(url)).toBe(false);
    const folder = await testTempDir();
    await (await startServer({ 'database.url': url }, { dataDir: folder })).stop();
    await query(
      url,
      'TRUNCATE accounts, secrets, database_uses, removed_videos, analytics_salts CASCADE; ALTER TABLE videos DROP COLUMN language',
    );
    const { code, stderr } = await runCommand('database', 'copy', '--to', url, '--from', dataDir);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('The tables of SQLite and PostgreSQL differ: videos. Use a new'),
    ]);
  });

  test.each([
    [
      'a user that is unknown',
      (url: string) => url.replace('postgres@', 'nobody:a-password@'),
      /role "nobody"/,
    ],
    ['a database that is unknown', (url: string) => url.replace(/test_\d+/, 'none'), /Create the database/],
    [
      'a server that is not there',
      () => 'postgres://millrace:a-password@127.0.0.1:1/millrace',
      /Check that PostgreSQL is running, and the address in --to\./,
    ],
  ])('says what is wrong with %s, without the password', async (_, change, message) => {
    const to = change(await createDatabase());
    const { code, stderr } = await runCommand('database', 'copy', '--to', to, '--from', dataDir);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('a-password');
  });

  test('leaves nothing where it is killed, and copies the next time', async () => {
    const folder = await testTempDir();
    await (await startServer({}, { dataDir: folder })).stop();
    const sqlite = new Sqlite(join(folder, 'millrace.db'));
    sqlite.exec(`WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${manyRows})
      INSERT INTO removed_webhooks SELECT 'webhook_' || n FROM n`);
    sqlite.close();
    const url = await createDatabase();
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      const { child, ended } = startCommand('database', ['copy', '--to', url, '--from', folder]);
      await waitUntil(
        async () =>
          (
            await query(
              url,
              "SELECT 1 FROM pg_stat_activity WHERE application_name = 'millrace database copy' AND query LIKE 'INSERT INTO \"removed_webhooks\"%'",
            )
          ).length > 0,
        { what: 'the copy inserts', everyMs: 5 },
      );
      child.kill(signal);
      const { code, stderr } = await ended;
      expect(code).toBe(signal === 'SIGKILL' ? null : 130);
      if (signal === 'SIGINT')
        expect(stderr).toContain('Interrupted. The PostgreSQL database is still empty.');
      await waitUntil(
        async () =>
          (
            await query(
              url,
              "SELECT 1 FROM pg_stat_activity WHERE application_name = 'millrace database copy'",
            )
          ).length === 0,
        { what: 'PostgreSQL ends the connection' },
      );
      expect(await hasRows(url)).toBe(false);
      expect(await query(url, 'SELECT 1 FROM removed_webhooks LIMIT 1')).toEqual([]);
    }
    const { code, stdout, stderr } = await runCommand('database', 'copy', '--to', url, '--from', folder);
    expect(code, stderr).toBe(0);
    expect(stdout.toString()).toMatch(new RegExp(`^removed_webhooks +${manyRows} `, 'm'));
  });

  test('refuses a text that PostgreSQL cannot store, and a damaged source', async () => {
    const folder = await testTempDir();
    await (await startServer({}, { dataDir: folder })).stop();
    const path = join(folder, 'millrace.db');
    const sqlite = new Sqlite(path);
    sqlite.exec("INSERT INTO removed_webhooks VALUES ('a' || char(0))");
    sqlite.close();
    const url = await createDatabase();
    const { code, stderr } = await runCommand('database', 'copy', '--to', url, '--from', folder);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /Nothing was copied, because the table removed_webhooks .*U\+0000.*webhook_id|webhook_id.*U\+0000/,
      ),
    ]);
    expect(await hasRows(url)).toBe(false);
    writeFileSync(path, Buffer.alloc(statSync(path).size, 'x'));
    const damaged = await runCommand('database', 'copy', '--to', url, '--from', folder);
    expect([damaged.code, damaged.stderr]).toEqual([
      1,
      expect.stringContaining(`The database ${path} cannot be copied: `),
    ]);
    const empty = await runCommand('database', 'copy', '--to', url, '--from', await testTempDir());
    expect([empty.code, empty.stderr]).toEqual([
      1,
      expect.stringContaining('There is no SQLite database in '),
    ]);
  });

  test('a backup with PostgreSQL has the media only, says so, and is restored beside a dump', async () => {
    const [url, folder] = [await createDatabase(), await testTempDir()];
    const [dataDir, file, restored] = ['data', 'a.tar', 'restored'].map(name => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await using server = await startServer({ 'database.url': url }, { dataDir });
    writeFileSync(join(dataDir, 'note.txt'), 'of the operator');
    const env = { MILLRACE_DATABASE_URL: url, MILLRACE_DATA_DIR: dataDir };
    const run = (name: 'backup' | 'restore', args: string[], more: Record<string, string> = {}) =>
      startCommand(name, args, { env: { ...env, ...more } }).ended;
    const backup = await run('backup', [file]);
    expect([backup.code, backup.stderr]).toEqual([
      0,
      expect.stringMatching(
        /This backup has the media only: the database is PostgreSQL\. Back it up before the media: pg_dump .*\nBacked up /,
      ),
    ]);
    const checked = await run('restore', [file, '--check']);
    expect([checked.code, checked.stdout.toString()]).toEqual([0, expect.stringContaining('is intact')]);
    const { code, stdout } = await run('restore', [file], { MILLRACE_DATA_DIR: restored });
    expect([code, stdout.toString()]).toEqual([
      0,
      expect.stringContaining(
        'The backup contains no database, because it was PostgreSQL. Restore it with pg_restore',
      ),
    ]);
    expect(existsSync(join(restored, 'millrace.db'))).toBe(false);
    expect(readFileSync(join(restored, 'note.txt'), 'utf8')).toBe('of the operator');
    const refused = await run('backup', [join(folder, 'b.tar'), '--database-only']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('pg_dump --format=custom')]);
    expect(server.dataDir).toBe(dataDir);
  });

  test('prints how it is used', async () => {
    const help = await runCommand('database', '--help');
    expect([help.code, help.stdout.toString()]).toEqual([
      0,
      expect.stringMatching(/^Usage: npm run database/),
    ]);
    for (const args of [
      [],
      ['move'],
      ['copy', 'more'],
      ['copy', '--to'],
      ['copy'],
      ['copy', '--to=mysql://u:a-password@h/d'],
    ]) {
      const { code, stderr } = await runCommand('database', ...args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^[^\n]*\. See "npm run database -- --help"\.\n$/);
      expect(stderr).not.toContain('a-password');
    }
  });
});

/** Fills an installation through its API. */
async function fill(server: TestServer): Promise<void> {
  const create = async (path: string, body: unknown) => {
    const response = await server.api('POST', path, body);
    expect(response.status, path).toBeLessThan(300);
    return (await response.json()) as Record<string, string>;
  };
  const videos: string[] = [];
  for (let number = 0; number < 30; number += 1) {
    const { videoId } = await create('/videos', {
      title: number % 3 === 0 ? `Über ${number}` : `Clip ${number} \\ "quoted" {a,b} 🎬`,
      description: `Text of ${number}\n\twith lines`,
      tags: ['straße', `tag ${number % 4}`],
      metadata: [{ key: `number ${number % 5}`, value: String(number) }],
      public: number % 2 === 0,
    });
    videos.push(videoId!);
  }
  for (const name of ['É', 'a', 'B', 'z', 'Ä', ''])
    await create('/live-streams', { name: `Live ${name}`, record: true });
  await create('/players', { name: 'Theme', text: 'rgba(1, 2, 3, 0.5)' });
  await create('/upload-tokens', { ttl: 3600 });
  await create('/upload-tokens', {});
  await create('/webhooks', {
    events: ['video.encoding.quality.completed'],
    url: 'https://hooks.example.org/a',
  });
  const form = new FormData();
  form.set('file', new Blob(['not a video'.repeat(100)]), 'video.mp4');
  const uploaded = await fetch(`${server.baseUrl}/videos/${videos[1]}/source`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${server.productionKey}:`).toString('base64')}` },
    body: form,
  });
  expect(uploaded.status).toBe(201);
  await waitUntil(
    async () => {
      const status = (await (await server.api('GET', `/videos/${videos[1]}/status`)).json()) as {
        ingest: { status: string } | null;
        encoding: { playable: boolean };
      };
      return status.ingest?.status === 'uploaded' && !status.encoding.playable;
    },
    { what: 'the upload' },
  );
  await server.api('DELETE', `/videos/${videos[2]}`);
  await create('/videos', { title: 'One more', tags: ['straße'] });
  for (const mid of videos.slice(0, 5)) {
    const at = Date.now();
    const eve = [1, 2, 4].map(typ => ({ eat: at, typ, vti: 0 }));
    const reported = await fetch(`${server.baseUrl}/watch`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: JSON.stringify({ sat: at, sid: randomUUID(), mid, pid: randomUUID(), ref: '', ver: '1', eve }),
    });
    expect(reported.status).toBeLessThan(300);
  }
}

/** Values at the limits of their types. */
function addRareRows(dataDir: string): void {
  const sqlite = new Sqlite(join(dataDir, 'millrace.db'));
  sqlite.exec(`
    DELETE FROM analytics_stays; DELETE FROM analytics_playbacks;
    INSERT INTO analytics_playbacks (number, key, seen, watched_ms, last_event_ms, touched_at_ms)
      VALUES (7, x'00ff5c22', -3, 5, 0.1, 6), (9, x'', 1, 5, 1e300, 6);
    INSERT INTO analytics_stays VALUES (1, 1, 7, 2, 3, 9007199254740993, 1), (1, 1, 9, 2, 3, -9223372036854775808, 0);
    UPDATE analytics_playbacks SET seen = -3;
    DELETE FROM sqlite_sequence WHERE name = 'events';
    INSERT INTO sqlite_sequence VALUES ('events', 500)`);
  sqlite.close();
}

async function answersOf(server: TestServer): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const question of questions) {
    const response = await server.api('GET', question);
    // Tokens of private videos, free ports and the last use of a key differ with each answer.
    const text = (await response.text())
      .replaceAll(/(token[=/])[0-9a-f-]{36}/g, '$1TOKEN')
      .replaceAll(/("rtmp":"[^"]*):\d+\/s"/g, '$1"')
      .replaceAll(/("srt":"srt:\/\/[^":]*):\d+/g, '$1')
      .replaceAll(/("lastUsedAt":)"[^"]+"/g, '$1null');
    answers.push([question, response.status, JSON.parse(text)]);
  }
  return answers;
}
