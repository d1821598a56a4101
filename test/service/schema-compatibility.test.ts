import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import type { Migration } from '../../src/store/migration.ts';
import { analyticsViewers } from '../../src/store/migrations/0049-analytics-viewers.ts';
import { projectPairs } from '../../src/store/migrations/0051-project-pairs.ts';
import { removedAnalytics } from '../../src/store/migrations/0052-removed-analytics.ts';
import { canonicalEmails } from '../../src/store/migrations/0056-canonical-emails.ts';
import { verifiedEmails } from '../../src/store/migrations/0060-verified-emails.ts';
import { unverifiedChanges } from '../../src/store/migrations/0062-unverified-changes.ts';
import { checkIsCurrent, migrate, migrations } from '../../src/store/migrations.ts';
import { checkPostgresIsCurrent, migratePostgres } from '../../src/store/postgres/postgres-migrations.ts';
import { atEnd, clusterUrl, openClusterDatabase, startTestNode } from '../support/cluster-fixture.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds } from '../support/test-database.ts';

const added: Migration = {
  name: 'an added column',
  sql: 'ALTER TABLE jobs ADD COLUMN extra INTEGER; CREATE TABLE more (id INTEGER PRIMARY KEY, word TEXT) STRICT;',
};
const dropped: Migration = { name: 'a dropped table', sql: 'DROP TABLE more;', isCompatible: false };

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
    expect(await database.migrate(newer)).toBe(1);
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
    expect(
      await database.migrate([...newest, { ...added, sql: added.sql.replace('extra', 'another') }]),
    ).toBe(1);
    await database.check(newest);
  });
});

describe.each(databaseKinds)('playbacks that %s counted before viewers had ids', kind => {
  it('keep their numbers, and new ones go on behind them', async () => {
    const database = await open(kind);
    await database.migrate(migrations.slice(0, migrations.indexOf(analyticsViewers)));
    const columns =
      'project, media_id, media_type, continent, country, device_type, operating_system, browser, referrer';
    await database.run(`INSERT INTO analytics_tuples (number, ${columns}, used_day) VALUES
      (4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20000), (7, 1, 2, 1, 1, 1, 1, 1, 1, 1, 20001)`);
    await database.migrate(migrations);
    const add = (viewer: number) =>
      database.run(`INSERT INTO analytics_tuples (${columns}, viewer_id, used_day)
        VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, ${viewer}, 20002)`);
    await add(1_000);
    await expect(add(1_000)).rejects.toThrow();
    const tuples = `SELECT CAST(t.number AS TEXT) AS number, v.value, CAST(v.used_day AS TEXT) AS day
      FROM analytics_tuples t LEFT JOIN analytics_values v ON v.number = t.viewer_id ORDER BY t.number`;
    expect(await database.rows(tuples)).toEqual([
      { number: '4', value: '', day: '20001' },
      { number: '7', value: '', day: '20001' },
      { number: '8', value: null, day: null },
    ]);
  });
});

describe.each(databaseKinds)(
  'counts of projects that were deleted from %s before their analytics were',
  kind => {
    it('keep their number until they are deleted, so that no other project gets them', async () => {
      const database = await open(kind);
      await database.migrate(migrations.slice(0, migrations.indexOf(removedAnalytics)));
      if (kind === 'SQLite') await database.run('PRAGMA foreign_keys = ON');
      await database.run(`INSERT INTO accounts (id, is_upgraded, is_suspended, is_operator, created_at_ms)
      VALUES ('ac1', 1, 0, 1, 7)`);
      await database.run(
        "INSERT INTO project_pairs (id, account_id, name, created_at_ms) VALUES ('pp1', 'ac1', 'x', 7)",
      );
      for (const [id, environment] of [
        ['pr1', 'sandbox'],
        ['pr2', 'production'],
      ]) {
        await database.run(`INSERT INTO projects (id, account_id, environment, created_at_ms, pair_id)
        VALUES ('${id}', 'ac1', '${environment}', 7, 'pp1')`);
      }
      const count = (projectId: string) =>
        database.run(`INSERT INTO analytics_projects (project_id) VALUES ('${projectId}')`);
      await count('pr1');
      await database.run(`INSERT INTO analytics_tuples (project, media_id, media_type, continent, country, device_type,
        operating_system, browser, referrer, viewer_id, used_day)
      VALUES (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 20000)`);
      await database.run("DELETE FROM projects WHERE id = 'pr1'");
      await database.migrate(migrations);
      await count('pr2');
      const numbers =
        'SELECT CAST(number AS TEXT) AS number, project_id AS id FROM analytics_projects ORDER BY 1';
      expect(await database.rows(numbers)).toEqual([
        { number: '1', id: null },
        { number: '2', id: 'pr2' },
      ]);
      await database.run("DELETE FROM projects WHERE id = 'pr2'");
      expect(await database.rows(`${numbers} DESC LIMIT 1`)).toEqual([{ number: '2', id: null }]);
    });
  },
);

describe.each(databaseKinds)('accounts that %s had before they had several projects', kind => {
  it('keep everything in one project, and can get another one', async () => {
    const database = await open(kind);
    await database.migrate(migrations.slice(0, migrations.indexOf(projectPairs)));
    if (kind === 'SQLite') await database.run('PRAGMA foreign_keys = ON');
    await database.run(`INSERT INTO accounts (id, is_upgraded, is_suspended, is_operator, created_at_ms)
      VALUES ('ac1', 1, 0, 1, 7)`);
    for (const environment of ['sandbox', 'production']) {
      await database.run(`INSERT INTO projects (id, account_id, environment, created_at_ms, keep_videos_days)
        VALUES ('pr-${environment}', 'ac1', '${environment}', 7, 30)`);
      await database.run(`INSERT INTO videos (id, project_id, title, title_folded, is_public, is_panoramic, has_mp4_support,
          tags, metadata, created_at_ms, published_at_ms, updated_at_ms, description)
        VALUES ('vi-${environment}', 'pr-${environment}', 'x', 'x', 1, 0, 1, '[]', '[]', 1, 1, 1, '')`);
    }
    await database.migrate(migrations);
    expect(await database.rows('SELECT id, account_id, name FROM project_pairs')).toEqual([
      { id: 'pp1', account_id: 'ac1', name: 'Default' },
    ]);
    const projects = 'SELECT id, pair_id, environment FROM projects ORDER BY id';
    expect(await database.rows(projects)).toEqual([
      { id: 'pr-production', pair_id: 'pp1', environment: 'production' },
      { id: 'pr-sandbox', pair_id: 'pp1', environment: 'sandbox' },
    ]);
    expect(await database.rows('SELECT id FROM videos ORDER BY id')).toEqual([
      { id: 'vi-production' },
      { id: 'vi-sandbox' },
    ]);
    const add = (id: string, pair: string) =>
      database.run(`INSERT INTO projects (id, account_id, environment, created_at_ms, pair_id)
        VALUES ('${id}', 'ac1', 'sandbox', 8, '${pair}')`);
    await expect(add('pr3', 'pp1')).rejects.toThrow();
    await database.run(
      `INSERT INTO project_pairs (id, account_id, name, created_at_ms) VALUES ('pp2', 'ac1', 'b', 8)`,
    );
    await add('pr3', 'pp2');
    // Rows that refer to a project still go with it, and no others.
    await expect(database.run(`UPDATE videos SET project_id = 'none'`)).rejects.toThrow();
    await database.run(`DELETE FROM projects WHERE id = 'pr-sandbox'`);
    expect(await database.rows('SELECT id FROM videos')).toEqual([{ id: 'vi-production' }]);
  });
});

describe.each(databaseKinds)('email addresses that %s compared as people read them', kind => {
  it('get one spelling each, and users whose address is that of another one, or none, keep all else', async () => {
    const database = await open(kind);
    await database.migrate(migrations.slice(0, migrations.indexOf(canonicalEmails)));
    if (kind === 'SQLite') await database.run('PRAGMA foreign_keys = ON');
    await database.run(`INSERT INTO accounts (id, is_upgraded, is_suspended, is_operator, created_at_ms)
      VALUES ('ac1', 1, 0, 1, 7)`);
    const users = [
      ['us1', 'Anna@Example.ORG', 5],
      ['us2', 'bert@xn--bcher-kva.example', 9],
      ['us3', 'bert@bücher.example', 8],
      ['us4', 'Carl@BÜRO.example', 6],
      ['us5', 'carl@büro.EXAMPLE', 7],
      ['us6', "d'ora@[127.0.0.1]", 7],
      ['us7', 'eva@example.org', 7],
    ] as const;
    // Skips a user whose address PostgreSQL finds equal to another one.
    const distinct = users.filter(([id]) => kind === 'SQLite' || id !== 'us5');
    for (const [id, email, atMs] of distinct) {
      await database.run(`INSERT INTO users (id, account_id, email, password_hash, created_at_ms)
        VALUES ('${id}', 'ac1', '${email.replaceAll("'", "''")}', 'hash', ${atMs})`);
      await database.run(`INSERT INTO members (account_id, user_id, role, created_at_ms)
        VALUES ('ac1', '${id}', 'owner', ${atMs})`);
    }
    for (const [index, email] of ['Fred@example.org', 'g@bücher.example', 'h@127.0.0.1'].entries()) {
      const hash = (kind === 'SQLite' ? "x'" : "'\\x") + `0${index}`.repeat(32);
      await database.run(`INSERT INTO invitations
          (id, account_id, email, role, token_hash, created_at_ms, expires_at_ms)
        VALUES ('in${index}', 'ac1', '${email}', 'viewer', ${hash}', 1, 2)`);
    }
    await database.migrate(migrations);
    expect(await database.rows('SELECT id, email, former_email FROM users ORDER BY id')).toEqual(
      [
        { id: 'us1', email: 'anna@example.org', former_email: null },
        { id: 'us2', email: 'bert@xn--bcher-kva.example', former_email: null },
        { id: 'us3', email: 'us3@replaced.invalid', former_email: 'bert@bücher.example' },
        { id: 'us4', email: 'carl@xn--bro-hoa.example', former_email: null },
        { id: 'us5', email: 'us5@replaced.invalid', former_email: 'carl@büro.EXAMPLE' },
        { id: 'us6', email: 'us6@replaced.invalid', former_email: "d'ora@[127.0.0.1]" },
        { id: 'us7', email: 'eva@example.org', former_email: null },
      ].filter(({ id }) => distinct.some(([known]) => known === id)),
    );
    expect(await database.rows('SELECT id, email FROM invitations ORDER BY id')).toEqual([
      { id: 'in0', email: 'fred@example.org' },
      { id: 'in1', email: 'g@xn--bcher-kva.example' },
    ]);
    expect(await database.rows('SELECT user_id FROM members')).toHaveLength(distinct.length);
    const add = (id: string, email: string) =>
      database.run(`INSERT INTO users (id, account_id, email, password_hash, created_at_ms)
        VALUES ('${id}', 'ac1', '${email}', 'hash', 1)`);
    await expect(add('us8', 'anna@example.org')).rejects.toThrow();
    await add('us9', 'ANNA@example.org');
    await database.run(`DELETE FROM users WHERE id = 'us1'`);
    expect(await database.rows('SELECT user_id FROM members')).toHaveLength(distinct.length - 1);
  });
});

describe.each(databaseKinds)('users that %s had before addresses were proved', kind => {
  it('are verified where the database tells that nobody else set them up', async () => {
    const database = await open(kind);
    await database.migrate(migrations.slice(0, migrations.indexOf(verifiedEmails)));
    await database.run(`INSERT INTO accounts (id, is_upgraded, is_suspended, is_operator, created_at_ms)
      VALUES ('ac1', 1, 0, 1, 10000)`);
    const add = (id: string, atMs: number) =>
      database.run(`INSERT INTO users (id, account_id, email, password_hash, created_at_ms)
        VALUES ('${id}', 'ac1', '${id}@example.org', 'hash', ${atMs})`);
    const link = (id: string, atMs: number) =>
      database.run(`INSERT INTO identities (issuer, subject, user_id, created_at_ms)
        VALUES ('https://login.example', '${id}', '${id}', ${atMs})`);
    let number = 0;
    const reset = (id: string, atMs: number, kind = 'user') => {
      number += 1;
      return database.run(`INSERT INTO audit_entries
          (account_id, number, at_ms, actor_kind, actor_id, action, summary, action_position)
        VALUES ('ac1', ${number}, ${atMs}, '${kind}', '${id}', 'password.reset', 'x', ${number})`);
    };
    const blob = (byte: string) => (kind === 'SQLite' ? `x'${byte}'` : `'\\x${byte}'`);
    const addPasskey = (id: string, byte: string, atMs: number) =>
      database.run(`INSERT INTO passkeys
          (id, user_id, name, credential_id, public_key, counter, transports, created_at_ms)
        VALUES ('pk${byte}', '${id}', 'x', ${blob(byte)}, ${blob(byte)}, 0, '[]', ${atMs})`);
    await add('first', 10_000);
    await add('invited', 20_000);
    await add('by-provider', 30_000);
    await link('by-provider', 30_002);
    await add('linked-later', 40_000);
    await link('linked-later', 90_000);
    await add('reset', 50_000);
    await reset('reset', 60_000);
    await addPasskey('reset', '01', 70_000);
    await add('prepared-and-reset', 50_000);
    await addPasskey('prepared-and-reset', '02', 55_000);
    await reset('prepared-and-reset', 60_000);
    await add('codes-and-reset', 50_000);
    await database.run(`INSERT INTO two_factor (user_id, secret, last_step, created_at_ms)
      VALUES ('codes-and-reset', ${blob('03')}, 0, 55000)`);
    await reset('codes-and-reset', 60_000);
    await add('by-operator', 50_000);
    await reset('by-operator', 60_000, 'operator');
    await database.migrate(migrations);
    const verified = 'SELECT id FROM users WHERE verified_at_ms IS NOT NULL ORDER BY id';
    expect(await database.rows(verified)).toEqual([{ id: 'by-provider' }, { id: 'first' }, { id: 'reset' }]);
    expect(await database.rows('SELECT id FROM users')).toHaveLength(8);
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
