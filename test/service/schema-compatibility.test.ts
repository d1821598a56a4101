import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Migration } from '../../src/store/migration.ts';
import { checkIsCurrent, migrate, migrations } from '../../src/store/migrations.ts';
import { checkPostgresIsCurrent, migratePostgres } from '../../src/store/postgres/postgres-migrations.ts';
import { addColumn, createIndexes, createTable, type Table } from '../../src/store/schema/table.ts';
import { atEnd, clusterUrl, openClusterDatabase, startTestNode } from '../support/cluster-fixture.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds } from '../support/test-database.ts';

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
