import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Migration } from '../../src/store/migration.ts';
import { unverifiedChanges } from '../../src/store/migrations/0062-unverified-changes.ts';
import { videoPlays } from '../../src/store/migrations/0068-video-plays.ts';
import { checkIsCurrent, migrate, migrations } from '../../src/store/migrations.ts';
import { checkPostgresIsCurrent, migratePostgres } from '../../src/store/postgres/postgres-migrations.ts';
import { addColumn, createIndexes, createTable, type Table } from '../../src/store/schema/table.ts';
import { atEnd, clusterUrl, openClusterDatabase, startTestNode } from '../support/cluster-fixture.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const more: Table = {
  columns: { id: 'number', word: 'text NOT NULL', is_new: 'flag NOT NULL DEFAULT 1' },
  indexes: { more_by_word: 'UNIQUE (word)' },
};
const adds = (column: string): Migration => ({
  name: 'an added column',
  sql: dialect => addColumn(dialect, 'jobs', column, 'integer CHECK (id > 0)'),
});
const added: Migration = {
  name: 'an added table',
  sql: dialect =>
    adds('extra').sql(dialect) + createTable(dialect, 'more', more) + createIndexes(dialect, 'more', more),
  rewrites: [
    {
      select: "SELECT name FROM duties WHERE name = 'known'",
      statements: rows =>
        rows.map(row => `INSERT INTO more (word) VALUES ('${(row as { name: string }).name}')`),
    },
  ],
};
const dropped: Migration = { name: 'a dropped table', sql: () => 'DROP TABLE more;', isCompatible: false };

interface Versions {
  migrate(steps: readonly Migration[]): Promise<number>;
  check(steps: readonly Migration[]): Promise<void>;
  run(sql: string): Promise<void>;
  rows(sql: string): Promise<unknown[]>;
}

/** Opens a database without tables. */
async function open(kind: DatabaseKind): Promise<Versions> {
  if (kind === 'SQLite') {
    const sqlite = new Sqlite(join(await testTempDir(), 'millrace.db'));
    atEnd(async () => {
      sqlite.close();
    });
    return {
      migrate: async steps => migrate(sqlite, steps),
      check: async steps => checkIsCurrent(sqlite, steps),
      run: async sql => void sqlite.exec(sql),
      rows: async sql => sqlite.prepare(sql).all(),
    };
  }
  const client = await connect(await clusterUrl());
  await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  return {
    migrate: steps => migratePostgres(client, steps),
    check: steps => checkPostgresIsCurrent(client, steps),
    run: async sql => void (await client.query(sql)),
    rows: async sql => (await client.query(sql)).rows,
  };
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  atEnd(() => client.end());
  return client;
}

describe.each(databaseKinds)('versions that share a database of %s', kind => {
  it('run on a schema that a newer version added to, until it is no longer compatible', async () => {
    const database = await open(kind);
    await database.migrate(migrations);
    const newer = [...migrations, added];
    await database.run("INSERT INTO duties (name, node_id, run_id) VALUES ('known', 'a', 'b')");
    expect(await database.migrate(newer)).toBe(1);
    expect(await database.rows('SELECT CAST(id AS TEXT) AS id, word FROM more WHERE is_new = 1')).toEqual([
      { id: '1', word: 'known' },
    ]);
    expect(await database.migrate(migrations)).toBe(0);
    await database.check(migrations);
    await database.check(newer);
    const newest = [...newer, dropped];
    await expect(database.check(newest)).rejects.toThrow('of an older version');
    expect(await database.migrate(newest)).toBe(1);
    await database.check(newest);
    for (const steps of [migrations, newer]) {
      await expect(database.check(steps)).rejects.toThrow('Use the newer version');
      await expect(database.migrate(steps)).rejects.toThrow('Use the newer version');
    }
    expect(await database.migrate([...newest, adds('another')])).toBe(1);
    await database.check(newest);
  });
});

describe.skipIf(databaseKinds.length === 1)('a migration that is not compatible', () => {
  it('waits until the nodes of older versions have stopped', async () => {
    const url = await clusterUrl();
    const node = await startTestNode('old', await openClusterDatabase(url));
    const client = await connect(url);
    const newest = [...migrations, added, dropped];
    await expect(migratePostgres(client, newest)).rejects.toThrow(
      'Stop the nodes of older versions first: http://old.example (1.0.0).',
    );
    await checkPostgresIsCurrent(client, migrations);
    await node.stop();
    expect(await migratePostgres(client, newest)).toBe(2);
  });
});

describe.skipIf(databaseKinds.length === 1)('the migration to plays of videos', () => {
  it('counts the plays that a node writes meanwhile', async () => {
    const url = await clusterUrl();
    const [client, node] = [await connect(url), await connect(url)];
    await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await migratePostgres(client, migrations.slice(0, migrations.indexOf(videoPlays)));
    await client.query(`
      INSERT INTO accounts (id, is_upgraded, is_suspended, is_operator, created_at_ms) VALUES ('ac1', 1, 0, 0, 0);
      INSERT INTO project_pairs (id, account_id, name, created_at_ms) VALUES ('pp1', 'ac1', 'x', 0);
      INSERT INTO projects (id, pair_id, account_id, environment, created_at_ms)
        VALUES ('pr1', 'pp1', 'ac1', 'production', 0);
      INSERT INTO analytics_projects (project_id) VALUES ('pr1');
      INSERT INTO videos (id, project_id, title, title_folded, is_public, is_panoramic, has_mp4_support, tags, metadata,
        created_at_ms, published_at_ms, updated_at_ms, description)
        VALUES ('vi1', 'pr1', '', '', 1, 0, 0, '[]', '[]', 0, 0, 0, '')`);
    await node.query('BEGIN');
    await node.query(`INSERT INTO analytics_totals (project, media_id, media_type, plays)
      SELECT number, 'vi1', 'video', 3 FROM analytics_projects`);
    const migrated = migratePostgres(client);
    await waitUntil(async () => {
      const { rows } = await node.query(`SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
      return rows.length > 0;
    });
    await node.query('COMMIT');
    await migrated;
    expect((await client.query('SELECT plays FROM videos')).rows).toEqual([{ plays: '3' }]);
  });
});

describe.each(databaseKinds)('changes of unverified users that %s had before they were remembered', kind => {
  it('are found in the audit log, as are creators of API keys and accounts without a verified owner', async () => {
    const database = await open(kind);
    await database.migrate(migrations.slice(0, migrations.indexOf(unverifiedChanges)));
    const blob = (byte: string) => (kind === 'SQLite' ? `x'${byte}'` : `'\\x${byte}'`);
    for (const [account, user, verifiedAt] of [
      ['ac1', 'us1', '10000'],
      ['ac2', 'us2', 'NULL'],
    ]) {
      await database.run(`INSERT INTO accounts (id, is_upgraded, is_suspended, is_operator, created_at_ms)
        VALUES ('${account}', 1, 0, 0, 10000)`);
      await database.run(`INSERT INTO users (id, account_id, email, password_hash, created_at_ms, verified_at_ms)
        VALUES ('${user}', '${account}', '${user}@example.org', 'hash', 10000, ${verifiedAt})`);
      await database.run(`INSERT INTO project_pairs (id, account_id, name, created_at_ms)
        VALUES ('pp${account}', '${account}', 'x', 10000)`);
      await database.run(`INSERT INTO projects (id, pair_id, account_id, environment, created_at_ms)
        VALUES ('pr${account}', 'pp${account}', '${account}', 'sandbox', 10000)`);
    }
    for (const [account, user] of [
      ['ac1', 'us1'],
      ['ac1', 'us2'],
      ['ac2', 'us2'],
    ]) {
      await database.run(`INSERT INTO members (account_id, user_id, role, created_at_ms)
        VALUES ('${account}', '${user}', 'owner', 10000)`);
    }
    let number = 0;
    const entry = (user: string, action: string, target: string, changed = 'NULL', atMs = 20_000) => {
      number += 1;
      return database.run(`INSERT INTO audit_entries (account_id, number, at_ms, project_id, actor_kind, actor_id,
          action, summary, target_kind, target_id, changed, action_position)
        VALUES ('ac1', ${number}, ${atMs}, 'prac1', 'user', '${user}', '${action}', 'x', '${action.split('.')[0]}',
          '${target}', ${changed}, ${number})`);
    };
    for (const [id, atMs] of [
      ['1', 20_000],
      ['2', 30_000],
    ] as const) {
      await database.run(
        `INSERT INTO key_pairs (id, account_id, created_at_ms) VALUES ('kp${id}', 'ac1', ${atMs})`,
      );
      await database.run(`INSERT INTO api_keys (id, pair_id, project_id, key_hash, created_at_ms)
        VALUES ('ak${id}', 'kp${id}', 'prac1', ${blob(`0${id}`.repeat(32))}, ${atMs})`);
    }
    await entry('us2', 'api-key.create', 'kp1', 'NULL', 20_005);
    await entry('us2', 'webhook.create', 'wh1');
    await entry('us2', 'webhook.update', 'wh1', `'["url"]'`);
    await entry('us1', 'webhook.create', 'wh2');
    await entry('us2', 'live-stream.create', 'li1');
    await entry('us2', 'live-stream.update', 'li2', `'["name"]'`);
    await entry('us2', 'live-stream.update', 'li3', `'["restreams"]'`);
    await database.run(`INSERT INTO hooks (id, project_id, kind, url, timeout_ms, on_failure, signature_secret, created_at_ms)
      VALUES ('ho1', 'prac1', 'play', 'https://x.example', 5000, 'allow', 's', 20000)`);
    await entry('us2', 'hook.replace', 'play');
    await database.migrate(migrations);
    expect(
      await database.rows('SELECT kind, target_id FROM unverified_changes ORDER BY target_id, kind'),
    ).toEqual([
      { kind: 'hook', target_id: 'ho1' },
      { kind: 'destination', target_id: 'li1' },
      { kind: 'stream-key', target_id: 'li1' },
      { kind: 'destination', target_id: 'li3' },
      { kind: 'webhook', target_id: 'wh1' },
    ]);
    expect(await database.rows('SELECT id, user_id FROM api_keys ORDER BY id')).toEqual([
      { id: 'ak1', user_id: 'us2' },
      { id: 'ak2', user_id: null },
    ]);
    expect(await database.rows('SELECT id FROM accounts WHERE is_unclaimed = 1')).toEqual([{ id: 'ac2' }]);
  });
});

describe.skipIf(databaseKinds.length === 1)('a migration that is not compatible', () => {
  it('waits until the nodes of older versions have stopped', async () => {
    const url = await clusterUrl();
    const node = await startTestNode('old', await openClusterDatabase(url));
    const client = await connect(url);
    const newest = [...migrations, added, dropped];
    await expect(migratePostgres(client, newest)).rejects.toThrow(
      'Stop the nodes of older versions first: http://old.example (1.0.0).',
    );
    await checkPostgresIsCurrent(client, migrations);
    await node.stop();
    expect(await migratePostgres(client, newest)).toBe(2);
  });
});
