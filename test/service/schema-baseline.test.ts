import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/shared/secret.ts';
import { migrate, schemaVersion } from '../../src/store/migrations.ts';
import { openDatabase, openDatabaseWithoutLock } from '../../src/store/open-database.ts';
import { migratePostgres } from '../../src/store/postgres/postgres-migrations.ts';
import { baseline } from '../../src/store/schema/baseline.ts';
import { addSqlFunctions } from '../../src/store/sql-functions.ts';
import { runCommand } from '../support/backup-command.ts';
import { atEnd, clusterUrl } from '../support/cluster-fixture.ts';
import { runOnPostgres } from '../support/postgres.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds } from '../support/test-database.ts';

const root = resolve(import.meta.dirname, '../..');

function fixture(name: string): Buffer {
  return gunzipSync(readFileSync(join(root, 'test/fixtures/schema-62', name)));
}

interface Place {
  readonly dataDir: string;
  /** URL of PostgreSQL. */
  readonly url: string | undefined;
}

/** Without tables, or with what a version with schema 62 made. */
async function placeWith(kind: DatabaseKind, content: 'nothing' | 'schema 62'): Promise<Place> {
  const dataDir = await testTempDir();
  const isOld = content === 'schema 62';
  if (kind === 'SQLite') {
    if (isOld) writeFileSync(join(dataDir, 'millrace.db'), fixture('millrace.db.gz'));
    return { dataDir, url: undefined };
  }
  const url = await clusterUrl();
  await runOnPostgres(url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  if (isOld) await runOnPostgres(url, fixture('postgres.sql.gz').toString());
  return { dataDir, url };
}

async function runIn(place: Place, sql: string): Promise<void> {
  if (place.url === undefined) {
    const sqlite = new Sqlite(join(place.dataDir, 'millrace.db'));
    addSqlFunctions(sqlite);
    sqlite.exec(sql);
    sqlite.close();
  } else {
    await runOnPostgres(place.url, sql);
  }
}

/** Takes back what the migrations to schema 62 have done to tables. */
async function makeBaseline(place: Place): Promise<void> {
  const sql = 'DROP TABLE unverified_changes; ALTER TABLE accounts DROP COLUMN is_unclaimed;';
  await runIn(place, sql);
  await setVersion(place, baseline.version);
}

async function open({ dataDir, url }: Place): Promise<void> {
  const database = await openDatabase({
    dataDir,
    isShared: true,
    url: url === undefined ? undefined : new Secret(url),
  });
  await database.stop();
}

/** Everything that the schema consists of, without the white space in it. */
async function schemaOf({ dataDir, url }: Place): Promise<string[]> {
  const rows = url === undefined ? sqliteSchema(dataDir) : await postgresSchema(url);
  return rows.map(row =>
    JSON.stringify(row)
      .replace(/\\n/g, ' ')
      .replace(/\\"(\w+)\\"/g, '$1')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),;]) ?/g, '$1'),
  );
}

function sqliteSchema(dataDir: string): unknown[] {
  const sqlite = new Sqlite(join(dataDir, 'millrace.db'), { readonly: true });
  try {
    return [
      sqlite.pragma('user_version'),
      ...sqlite.prepare('SELECT * FROM schema_compatibility').all(),
      ...sqlite.prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name').all(),
      // Orders triggers as well: the last one of a table fires first.
      ...sqlite
        .prepare("SELECT tbl_name, name FROM sqlite_schema WHERE type = 'trigger' ORDER BY tbl_name, rowid")
        .all(),
    ];
  } finally {
    sqlite.close();
  }
}

async function postgresSchema(url: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const rows: unknown[] = [];
    for (const query of [
      'SELECT version FROM schema_version',
      'SELECT min_version FROM schema_compatibility',
      `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), l.collname, a.attnotnull, a.attidentity,
          pg_get_expr(d.adbin, d.adrelid) AS default
        FROM pg_class c
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
          LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
          LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY c.relname, a.attnum`,
      `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2`,
      `SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2`,
      `SELECT g.tgrelid::regclass::text, g.tgname, pg_get_triggerdef(g.oid) FROM pg_trigger g
        WHERE NOT g.tgisinternal ORDER BY 1, 2`,
      `SELECT p.proname, p.provolatile, p.proisstrict, p.prosrc FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE p.pronamespace = 'public'::regnamespace AND l.lanname IN ('sql', 'plpgsql') ORDER BY 1`,
      `SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' ORDER BY 1`,
      `SELECT collname FROM pg_collation WHERE collnamespace = 'public'::regnamespace ORDER BY 1`,
    ]) {
      rows.push(...(await client.query(query)).rows);
    }
    return rows;
  } finally {
    await client.end();
  }
}

async function setVersion({ dataDir, url }: Place, version: number): Promise<void> {
  if (url !== undefined) return runOnPostgres(url, `UPDATE schema_version SET version = ${version}`);
  const sqlite = new Sqlite(join(dataDir, 'millrace.db'));
  sqlite.pragma(`user_version = ${version}`);
  sqlite.close();
}

/** Runs a program that kills itself, and waits for its end. */
async function runUntilKilled(program: string): Promise<void> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code, signal] = await once(child, 'exit');
  expect([code, signal]).toEqual([null, 'SIGKILL']);
}

const createHalf = `
  const { createBaseline } = await import('./src/store/schema/baseline.ts');
  const halfOf = sql => sql.slice(0, sql.indexOf('CREATE INDEX videos_by_creation'));
  const kill = () => process.kill(process.pid, 'SIGKILL');`;

const killedOnSqlite = ({ dataDir }: Place) => `${createHalf}
  const { default: Sqlite } = await import('better-sqlite3');
  const { exec } = Sqlite.prototype;
  Sqlite.prototype.exec = function (sql) {
    if (sql !== createBaseline('sqlite')) return exec.call(this, sql);
    exec.call(this, halfOf(sql));
    kill();
  };
  const { openDatabase } = await import('./src/store/open-database.ts');
  await openDatabase({ dataDir: ${JSON.stringify(dataDir)} });`;

const killedOnPostgres = ({ url }: Place) => `${createHalf}
  const { default: pg } = await import('pg');
  const { migratePostgres } = await import('./src/store/postgres/postgres-migrations.ts');
  const client = new pg.Client(${JSON.stringify(url)});
  await client.connect();
  await migratePostgres({
    query: async (sql, values) => {
      if (sql !== createBaseline('postgres')) return client.query(sql, values);
      await client.query(halfOf(sql));
      kill();
    },
  });`;

describe.each(databaseKinds)('the schema of a new database on %s', kind => {
  it.each([
    ['62', false],
    ['61', true],
  ])('is that of a database which an earlier version made with schema %s', async (_, isBaseline) => {
    const [fresh, old] = [await placeWith(kind, 'nothing'), await placeWith(kind, 'schema 62')];
    if (isBaseline) await makeBaseline(old);
    for (const place of [fresh, old]) await open(place);
    const schema = await schemaOf(fresh);
    expect(schema.length).toBeGreaterThan(300);
    expect(await schemaOf(old)).toEqual(schema);
  });

  it('is whole or missing when the server that creates it is killed', async () => {
    const [fresh, killed] = [await placeWith(kind, 'nothing'), await placeWith(kind, 'nothing')];
    await runUntilKilled(kind === 'SQLite' ? killedOnSqlite(killed) : killedOnPostgres(killed));
    for (const place of [fresh, killed]) await open(place);
    expect(await schemaOf(killed)).toEqual(await schemaOf(fresh));
  });

  it('is refused for a database of an earlier version, which names the version to start first', async () => {
    const place = await placeWith(kind, 'schema 62');
    await setVersion(place, baseline.version - 1);
    const { dataDir, url } = place;
    const before = await schemaOf(place);
    const options = { dataDir, url: url === undefined ? undefined : new Secret(url) };
    for (const opened of [openDatabase, openDatabaseWithoutLock]) {
      await expect(opened(options)).rejects.toThrow(
        `has schema 60 of an older version, which this one cannot migrate. Open it once with the version of commit ${baseline.commit}`,
      );
    }
    expect(await schemaOf(place)).toEqual(before);
  });
});

it.skipIf(databaseKinds.length === 1)(
  'is created once by servers that start together on PostgreSQL',
  async () => {
    const place = await placeWith('PostgreSQL', 'nothing');
    const clients = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const client = new pg.Client({ connectionString: place.url });
        await client.connect();
        atEnd(() => client.end());
        return client;
      }),
    );
    await Promise.all(clients.map(client => migratePostgres(client)));
    const other = await placeWith('PostgreSQL', 'nothing');
    await open(other);
    expect(await schemaOf(place)).toEqual(await schemaOf(other));
  },
);

it.each(databaseKinds)('content of an earlier version is served from %s', async kind => {
  const { dataDir, url } = await placeWith(kind, 'schema 62');
  await using server = await startServer(url === undefined ? {} : { 'database.url': url }, {
    dataDir,
    isFirstStart: true,
  });
  const list = async (path: string) => (await server.api('GET', path)).json();
  expect(await list('/live-streams')).toMatchObject({
    data: [{ name: 'Harbour', restreams: [{ name: 'x' }] }],
  });
  expect(await list('/videos?title=mowen')).toMatchObject({
    data: [{ title: 'Möwen', tags: ['sea', 'Birds'] }],
  });
  expect(await list('/tags')).toMatchObject({ pagination: { itemsTotal: 2 } });
  expect(await list('/webhooks')).toMatchObject({ pagination: { itemsTotal: 1 } });
  expect((await server.api('POST', '/videos', { title: 'New', tags: ['sea'] })).status).toBe(201);
  expect(await list('/videos')).toMatchObject({ pagination: { itemsTotal: 2 } });
});

it.each(databaseKinds)('plays that an earlier version counted sort the lists on %s', async kind => {
  const place = await placeWith(kind, 'schema 62');
  const copied =
    'project_id, title, title_folded, is_public, is_panoramic, has_mp4_support, tags, metadata, created_at_ms, published_at_ms, updated_at_ms, description';
  await runIn(
    place,
    `WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < 2500)
       INSERT INTO videos (id, ${copied}) SELECT id || n, ${copied} FROM videos, copies;
     INSERT INTO analytics_projects (project_id) SELECT DISTINCT project_id FROM videos WHERE true ON CONFLICT DO NOTHING;
     DELETE FROM analytics_totals;
     INSERT INTO analytics_totals (project, media_id, media_type, plays)
       SELECT p.number, v.id, 'video', v.number % 50 FROM videos v JOIN analytics_projects p ON p.project_id = v.project_id
       WHERE v.number % 50 > 0;`,
  );
  const { dataDir, url } = place;
  await using server = await startServer(url === undefined ? {} : { 'database.url': url }, {
    dataDir,
    isFirstStart: true,
  });
  const get = async <T>(path: string) => (await (await server.api('GET', path)).json()) as { data: T[] };
  const plays: number[] = [];
  const found = new Set<string>();
  for (let page = 1; page <= 26; page += 1) {
    const { data } = await get<{ videoId: string }>(
      `/videos?sortBy=plays&sortOrder=desc&pageSize=100&currentPage=${page}`,
    );
    const ids = data.map(({ videoId }) => videoId);
    const filter = ids.map(id => `filterBy[mediaId][]=${id}`).join('&');
    const totals = await get<{ dimensionValue: string; metricValue: number }>(
      `/data/buckets/play-total/media-id?pageSize=100&${filter}`,
    );
    const counted = new Map(totals.data.map(row => [row.dimensionValue, row.metricValue]));
    for (const id of ids) {
      found.add(id);
      plays.push(counted.get(id) ?? 0);
    }
  }
  expect([found.size, plays.length, plays[0], plays.at(-1)]).toEqual([2_501, 2_501, 49, 0]);
  expect(plays).toEqual(plays.toSorted((a, b) => b - a));
});

it.each([
  ['restored from a backup of an earlier version', 62],
  ['not restored from a backup of a version before the baseline', baseline.version - 1],
])('a database is %s', async (_, version) => {
  const place = await placeWith('SQLite', 'schema 62');
  await setVersion(place, version);
  const folder = await testTempDir();
  const archive = join(folder, 'a.tar');
  const restored = join(folder, 'data');
  const backup = await runCommand('backup', archive, `--dataDir=${place.dataDir}`);
  expect([backup.code, backup.stderr]).toEqual([0, expect.stringContaining('Backed up')]);
  const restore = await runCommand('restore', archive, `--dataDir=${restored}`);
  if (version >= baseline.version) {
    expect([restore.code, restore.stderr]).toEqual([0, expect.any(String)]);
    expect(await schemaOf({ dataDir: restored, url: undefined })).toEqual(await schemaOf(place));
  } else {
    expect(restore.code).toBe(1);
    expect(restore.stderr).toContain(
      `The database of the backup has schema 60 of an older version, which this one cannot migrate. Open it once with the version of commit ${baseline.commit}`,
    );
    expect(readdirSync(restored)).not.toContain('millrace.db');
  }
});

it('is not created in a database that has other tables', () => {
  const sqlite = new Sqlite(':memory:');
  sqlite.exec('CREATE TABLE accounts (x INTEGER) STRICT');
  expect(() => migrate(sqlite)).toThrow('The tables of the database :memory: could not be created');
  expect(sqlite.pragma('user_version', { simple: true })).toBe(0);
  expect(sqlite.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'accounts' }]);
  sqlite.close();
  expect(schemaVersion).toBeGreaterThanOrEqual(baseline.version);
});
