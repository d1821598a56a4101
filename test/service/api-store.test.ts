import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { AccountsStore } from '../../src/resources/identity/accounts/accounts.store.ts';
import {
  type BootstrapSecrets,
  bootstrapAccount,
} from '../../src/resources/identity/accounts/bootstrap-account.ts';
import { BroadcastHistory } from '../../src/resources/live/broadcasts/broadcast-history.ts';
import { BroadcastsStore } from '../../src/resources/live/broadcasts/broadcasts.store.ts';
import { LiveStreamsStore } from '../../src/resources/live/live-streams/live-streams.store.ts';
import { PrivateTokens } from '../../src/resources/playback/private-sessions/private-tokens.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { migrate, schemaVersion, versionAfter } from '../../src/store/migrations.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { rowsOf, singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';

async function opened(dataDir?: string): Promise<Database> {
  const database = await openDatabase({ dataDir: dataDir ?? (await testTempDir()) });
  onTestFinished(() => database.stop());
  return database;
}

async function withStream(database: Database) {
  const { projectIds } = await database.transaction(transaction =>
    new AccountsStore(database).addAccount({ isUpgraded: false, createdAtMs: 1 }, transaction),
  );
  const stream = {
    liveStreamId: 'li1',
    projectId: projectIds.sandbox,
    name: 'Pier',
    streamKey: 'key',
    public: true,
    playerId: undefined,
    restreams: [],
    qualities: undefined,
    record: undefined,
    source: undefined,
    ultraLowLatency: false,
    viewerClips: false,
    thumbnailType: undefined,
    createdAtMs: 1,
    updatedAtMs: 1,
  };
  await new LiveStreamsStore(database).add(stream);
  return stream;
}

describe('the database', () => {
  it('is opened with the settings that keep it safe and quick', async () => {
    const database = await opened();
    const pragma = (name: string) => singleValue(database, `PRAGMA ${name}`);
    expect(await pragma('journal_mode')).toBe('wal');
    expect(await pragma('foreign_keys')).toBe(1);
    expect(await pragma('synchronous')).toBe(1);
    // Waiting here would block everybody: the writer tries again.
    expect(await pragma('busy_timeout')).toBe(0);
    expect(await pragma('user_version')).toBe(schemaVersion);
  });

  it('has strict tables only', async () => {
    const database = await opened();
    const loose = await rowsOf(
      database,
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'",
    );
    expect(loose).toEqual([]);
  });

  it('can be read by its user only', async () => {
    const dataDir = await testTempDir();
    await opened(dataDir);
    expect((await stat(join(dataDir, 'millrace.db'))).mode & 0o077).toBe(0);
  });

  it('runs a transaction whole or not at all', async () => {
    const database = await opened();
    const stream = await withStream(database);
    await expect(
      database.transaction(async transaction => {
        await transaction.run(transaction.queries.deleteFrom('live_streams'));
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await new LiveStreamsStore(database).find(stream.projectId, 'li1')).toBeDefined();
  });
});

describe('opening', () => {
  it('refuses a database that a newer version made', async () => {
    const dataDir = await testTempDir();
    const newer = new Sqlite(join(dataDir, 'millrace.db'));
    newer.pragma(`user_version = ${schemaVersion + 1}`);
    newer.close();
    await expect(openDatabase({ dataDir })).rejects.toMatchObject({
      code: 'database-unusable',
      message: expect.stringContaining('newer version'),
    });
  });

  it.each([['no database', Buffer.alloc(8_192, 'nonsense')]])(
    'refuses a file that is %s',
    async (_, bytes) => {
      const dataDir = await testTempDir();
      await writeFile(join(dataDir, 'millrace.db'), bytes);
      await expect(openDatabase({ dataDir })).rejects.toMatchObject({ code: 'database-unusable' });
      // The folder is free again.
      await expect(openDatabase({ dataDir })).rejects.toMatchObject({ code: 'database-unusable' });
    },
  );

  it('refuses a folder that cannot be one', async () => {
    const dataDir = join(await testTempDir(), 'file');
    await writeFile(dataDir, '');
    await expect(openDatabase({ dataDir })).rejects.toMatchObject({
      code: 'data-dir-unusable',
      message: expect.stringContaining(dataDir),
    });
  });

  it('takes every step of the schema once, and leaves a failed one undone', async () => {
    const sqlite = new Sqlite(':memory:');
    const steps = [
      { name: 'one', sql: () => 'CREATE TABLE a (x INTEGER) STRICT' },
      { name: 'two', sql: () => 'CREATE TABLE b (x INTEGER) STRICT; CREATE TABLE a (x INTEGER) STRICT' },
    ];
    expect(migrate(sqlite, steps.slice(0, 1))).toBe(1);
    expect(migrate(sqlite, steps.slice(0, 1))).toBe(0);
    expect(() => migrate(sqlite, steps)).toThrow(
      expect.objectContaining({
        code: 'database-unusable',
        message: expect.stringContaining(`Migration ${versionAfter(steps)} (two)`),
      }),
    );
    expect(sqlite.pragma('user_version', { simple: true })).toBe(versionAfter(steps) - 1);
    expect(sqlite.prepare("SELECT name FROM sqlite_schema WHERE name IN ('a', 'b')").all()).toEqual([
      { name: 'a' },
    ]);
    sqlite.close();
  });

  it('is for one process at a time, until that one is killed', async () => {
    const dataDir = await testTempDir();
    const module = resolve(import.meta.dirname, '../../src/store/open-database.ts');
    const program = `
      const { openDatabase } = await import(${JSON.stringify(module)});
      await openDatabase({ dataDir: ${JSON.stringify(dataDir)} });
      console.log('opened');
      setInterval(() => {}, 1000);`;
    const other = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void other.kill('SIGKILL'));
    await once(other.stdout, 'data');
    await expect(openDatabase({ dataDir })).rejects.toMatchObject({
      code: 'data-dir-unusable',
      message: `The data folder ${dataDir} is in use by another process.`,
    });
    other.kill('SIGKILL');
    await once(other, 'exit');
    await opened(dataDir);
  });
});

describe('the first account', () => {
  it('is made once, with secrets that nobody can know afterwards', async () => {
    const database = await opened();
    const options = { isUpgraded: true, adminEmail: 'admin@localhost' };
    const secrets = await bootstrapAccount(database, options);
    const accounts = new AccountsStore(database);
    expect(await accounts.ownerOfKey(secrets!.sandboxKey.reveal())).toMatchObject({
      environment: 'sandbox',
      standing: 'allowed',
    });
    expect(await accounts.ownerOfKey(secrets!.productionKey.reveal())).toMatchObject({
      environment: 'production',
    });
    expect(JSON.stringify(secrets)).not.toContain(secrets!.adminPassword.reveal());
    expect(await bootstrapAccount(database, options)).toBeUndefined();
  });

  it('keeps its secrets, for the user of the server alone, until they have been shown', async () => {
    const folder = await testTempDir();
    const unseenFile = join(folder, 'unseen.json');
    const options = { isUpgraded: true, adminEmail: 'admin@localhost', unseenFile };
    const shown = (secrets: BootstrapSecrets | undefined) =>
      secrets && [secrets.sandboxKey, secrets.productionKey, secrets.adminPassword].map(one => one.reveal());
    const database = await opened();
    await writeFile(unseenFile, 'of a start that made no account');
    const secrets = await bootstrapAccount(database, options);
    expect((await stat(unseenFile)).mode & 0o777).toBe(0o600);
    expect(shown(await bootstrapAccount(database, options))).toEqual(shown(secrets));

    // The file now belongs to an account in another database.
    expect(await bootstrapAccount(await opened(), options)).toBeDefined();
    expect(await bootstrapAccount(database, options)).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  });

  it('is made by one of the servers that start together', async () => {
    const database = await opened();
    const options = { isUpgraded: true, adminEmail: 'admin@localhost' };
    const secrets = await Promise.all([
      bootstrapAccount(database, options),
      bootstrapAccount(database, { ...options, adminEmail: 'other@localhost' }),
    ]);
    expect(secrets.filter(one => one !== undefined)).toHaveLength(1);
    const accounts = await database.all(database.queries.selectFrom('accounts').select('is_operator'));
    expect(accounts).toEqual([{ is_operator: 1 }]);
  });

  it('stays in the sandbox when a later start would upgrade a new one', async () => {
    const database = await opened();
    const options = { isUpgraded: false, adminEmail: 'admin@localhost' };
    const secrets = await bootstrapAccount(database, options);
    expect(await bootstrapAccount(database, { ...options, isUpgraded: true })).toBeUndefined();
    const owner = await new AccountsStore(database).ownerOfKey(secrets!.productionKey.reveal());
    expect(owner).toMatchObject({ standing: 'not-upgraded' });
  });
});

describe('a first API key', () => {
  const pad = '0'.repeat(32);
  it.each([
    [`a:b${pad}`, `other${pad}`],
    [`a b${pad}`, `other${pad}`],
    ['', `other${pad}`],
    [`same${pad}`, `same${pad}`],
  ])('that could not be used is refused: %j and %j', async (sandbox, production) => {
    const database = await opened();
    const keys = { sandboxKey: new Secret(sandbox), productionKey: new Secret(production) };
    await expect(
      bootstrapAccount(database, { ...keys, isUpgraded: true, adminEmail: 'a@b' }),
    ).rejects.toMatchObject({ code: 'config-invalid' });
    expect(await new AccountsStore(database).isEmpty()).toBe(true);
  });
});

describe('a first key or password that is too short', () => {
  const short = 'x'.repeat(31);
  it.each([
    ['bootstrap.sandboxKey', { sandboxKey: new Secret(short) }, 32],
    ['bootstrap.productionKey', { productionKey: new Secret(short) }, 32],
    ['admin.password', { adminPassword: new Secret('eleven char') }, 12],
  ])('is refused: %s', async (setting, given, min) => {
    const database = await opened();
    const options = { ...given, isUpgraded: true, adminEmail: 'a@b' };
    await expect(bootstrapAccount(database, options)).rejects.toMatchObject({
      code: 'config-invalid',
      message: expect.stringMatching(
        new RegExp(`^${setting}: .* at least ${min} characters\\. Set a longer one`),
      ),
    });
    expect(await new AccountsStore(database).isEmpty()).toBe(true);
    // An account that exists keeps what it has.
    await bootstrapAccount(database, { isUpgraded: true, adminEmail: 'a@b' });
    expect(await bootstrapAccount(database, options)).toBeUndefined();
  });
});

describe('the file of first secrets', () => {
  it('has them as JSON for the user of the server alone', async () => {
    const folder = await testTempDir();
    const database = await opened();
    const secretsFile = join(folder, 'secrets.json');
    const secrets = await bootstrapAccount(database, { isUpgraded: true, adminEmail: 'a@b', secretsFile });
    expect(JSON.parse(await readFile(secretsFile, 'utf8'))).toEqual({
      adminEmail: 'a@b',
      adminPassword: secrets!.adminPassword.reveal(),
      sandboxKey: secrets!.sandboxKey.reveal(),
      productionKey: secrets!.productionKey.reveal(),
    });
    expect((await stat(secretsFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['secrets.json']);
  });

  it('never takes the place of another, and no account is made without it', async () => {
    const folder = await testTempDir();
    const database = await opened();
    const options = { isUpgraded: true, adminEmail: 'a@b' };
    const taken = join(folder, 'taken.json');
    await writeFile(taken, 'mine');
    for (const [secretsFile, reason] of [
      [taken, /exists already\. Move it away, or set another path\.$/],
      [join(folder, 'none', 'secrets.json'), /cannot be written: .* Set a path in a folder/],
    ] as const) {
      await expect(bootstrapAccount(database, { ...options, secretsFile })).rejects.toMatchObject({
        code: 'config-invalid',
        message: expect.stringMatching(reason),
      });
    }
    expect(await readFile(taken, 'utf8')).toBe('mine');
    expect(await readdir(folder)).toEqual(['taken.json']);
    expect(await new AccountsStore(database).isEmpty()).toBe(true);
  });

  it('is finished by the next start when a crash came between the account and the file', async () => {
    const folder = await testTempDir();
    const database = await opened();
    const options = { isUpgraded: true, adminEmail: 'a@b' };
    const secretsFile = join(folder, 'secrets.json');
    await writeFile(`${secretsFile}.new`, 'of a start that made no account');
    await bootstrapAccount(database, { ...options, secretsFile });
    const secrets = await readFile(secretsFile, 'utf8');
    await rename(secretsFile, `${secretsFile}.new`);
    expect(await bootstrapAccount(database, { ...options, secretsFile })).toBeUndefined();
    await link(secretsFile, `${secretsFile}.new`);
    expect(await bootstrapAccount(database, { ...options, secretsFile })).toBeUndefined();
    expect(await readFile(secretsFile, 'utf8')).toBe(secrets);
    expect(await readdir(folder)).toEqual(['secrets.json']);
  });
});

describe('broadcasts', () => {
  async function recent(database: Database, stream: { projectId: string; liveStreamId: string }) {
    const page = { currentPage: 1, pageSize: 10 };
    const sort = { field: 'startedAt', direction: 'desc' } as const;
    const store = new BroadcastsStore(database);
    return (await store.list(stream.projectId, stream.liveStreamId, sort, page)).items;
  }

  it('are opened, changed and ended once', async () => {
    const database = await opened();
    const stream = await withStream(database);
    const broadcasts = new BroadcastHistory(database, new Outbox(database, silentLogger));
    const id = await broadcasts.opened({
      liveStreamId: stream.liveStreamId,
      projectId: stream.projectId,
      state: 'starting',
      startedAtMs: 10,
      protocol: 'rtmp',
      remoteAddress: '192.0.2.1',
      encoder: 'OBS',
    });
    await broadcasts.changed(id, {});
    await broadcasts.changed(id, { state: 'live', videoCodec: 'avc1.64001f', width: 1280, height: 720 });
    await broadcasts.ended(id, 20, 'completed');
    await broadcasts.ended(id, 30, 'server-crashed');
    expect(await recent(database, stream)).toEqual([
      expect.objectContaining({
        id,
        state: 'ended',
        started_at_ms: 10,
        ended_at_ms: 20,
        end_reason: 'completed',
        video_codec: 'avc1.64001f',
        audio_codec: null,
        width: 1280,
      }),
    ]);
    expect(await recent(database, { ...stream, projectId: 'another project' })).toEqual([]);
  });

  it('that a crash left open are ended at the next start', async () => {
    const database = await opened();
    const { liveStreamId, projectId } = await withStream(database);
    const broadcasts = new BroadcastHistory(database, new Outbox(database, silentLogger));
    const facts = {
      liveStreamId,
      projectId,
      state: 'live',
      protocol: 'rtmp',
      remoteAddress: '',
      encoder: '',
    };
    const first = await broadcasts.opened({ ...facts, startedAtMs: 1 });
    await broadcasts.ended(first, 2, 'completed');
    await broadcasts.opened({ ...facts, startedAtMs: 3 });
    expect(await broadcasts.endUnfinished(9, 'server-crashed')).toBe(1);
    const ended = await recent(database, { projectId, liveStreamId });
    expect(ended.map(row => row.end_reason)).toEqual(['server-crashed', 'completed']);
    expect(await broadcasts.endUnfinished(10, 'server-crashed')).toBe(0);
  });
});

describe('private tokens', () => {
  it('are good for their own resource, here and after a restart', async () => {
    const database = await opened();
    const clock = { nowMs: () => Date.UTC(2026, 5, 1, 0, 0, 7), monotonicMs: () => 0 };
    const token = (await PrivateTokens.open(database, clock)).mint('li1');
    expect(token).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const again = await PrivateTokens.open(database, clock);
    expect(again.mintedAtMs(token, 'li1')).toBe(clock.nowMs());
    expect(again.mintedAtMs(token, 'li2')).toBeUndefined();
    const last = token.at(-1) === '0' ? '1' : '0';
    expect(again.mintedAtMs(token.slice(0, -1) + last, 'li1')).toBeUndefined();
    for (const wrong of ['', 'x', token.toUpperCase(), `${token}0`])
      expect(again.mintedAtMs(wrong, 'li1')).toBeUndefined();
    expect(again.mint('li1')).not.toBe(token);
  });
});

describe('a list of many', () => {
  it('never looks at all rows to count or to find a page', async () => {
    const database = await opened();
    const plan = async (sql: string) =>
      (await rowsOf<{ detail: string }>(database, `EXPLAIN QUERY PLAN ${sql}`))
        .map(row => row.detail)
        .join('; ');
    for (const column of ['name_folded', 'created_at_ms', 'updated_at_ms']) {
      for (const direction of ['ASC', 'DESC']) {
        const detail = await plan(
          `SELECT id FROM live_streams WHERE project_id = 'p' ORDER BY ${column} ${direction}, id ${direction} LIMIT 25 OFFSET 50`,
        );
        expect(detail).toMatch(/USING COVERING INDEX live_streams_by_/);
        expect(detail).not.toContain('TEMP B-TREE');
      }
    }
    expect(await plan("SELECT total FROM list_totals WHERE project_id = 'p' AND list = 'l'")).toMatch(
      /USING PRIMARY KEY/,
    );
  });
});
