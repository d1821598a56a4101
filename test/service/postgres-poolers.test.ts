import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { connectPostgres } from '../../src/store/postgres/postgres-database.ts';
import { pgbouncerMissing, startPgbouncer } from '../support/pgbouncer.ts';
import {
  createPostgresDatabase,
  findPostgres,
  type PostgresServer,
  runOnPostgres,
  startPostgres,
} from '../support/postgres.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const missing = findPostgres() === undefined ? 'PostgreSQL is not installed' : pgbouncerMissing;
if (missing !== undefined) console.log(`Skipped: ${missing}`);

const countLocks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";

describe.skipIf(missing !== undefined)('PostgreSQL', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  async function pooled(
    mode: 'session' | 'transaction' | 'statement',
    url = postgres.url,
    poolSize?: number,
  ): Promise<string> {
    const pooler = await startPgbouncer(url, mode, poolSize);
    onTestFinished(() => pooler.stop());
    return pooler.url;
  }

  it.each(['session', 'transaction'] as const)(
    'behind PgBouncer with pool_mode = %s is used by one server at a time, start after start',
    async mode => {
      const url = await pooled(mode);
      const onPooled = vi.fn();
      const direct = await connectPostgres({ url: postgres.url });
      onTestFinished(() => direct.stop());
      for (let start = 0; start < 2; start += 1) {
        const first = await connectPostgres({ url, onPooled });
        const second = await connectPostgres({ url });
        try {
          await first.start();
          await expect(second.start()).rejects.toThrow('Another server uses this PostgreSQL database.');
          expect(await first.transaction(transaction => singleValue(transaction, 'SELECT 1'))).toBe(1);
        } finally {
          await first.stop();
          await second.stop();
        }
        await waitUntil(async () => (await singleValue(direct, countLocks)) === 0);
      }
      expect(onPooled).toHaveBeenCalledTimes(mode === 'transaction' ? 2 : 0);
    },
  );

  it('behind PgBouncer with pool_mode = transaction is not shared by servers, which would not hear from each other', async () => {
    const url = await pooled('transaction');
    await expect(connectPostgres({ url, isShared: true })).rejects.toMatchObject({
      code: 'database-unusable',
      message: expect.stringContaining('pool_mode = session'),
    });
    const shared = await connectPostgres({ url: await pooled('session'), isShared: true });
    await shared.stop();
  });

  it.each(['session', 'transaction'] as const)(
    'behind PgBouncer with pool_mode = %s serves the API, also after a start on the same data',
    async mode => {
      const name = `served_by_${mode}`;
      const url = await pooled(mode, await createPostgresDatabase(postgres.url, name));
      const dataDir = await testTempDir();
      for (const count of [1, 2]) {
        await using server = await startServer({ 'database.url': url }, { dataDir });
        expect((await server.api('POST', '/videos', { title: `Video ${count}` })).status).toBe(201);
        const list = (await (await server.api('GET', '/videos')).json()) as { data: unknown[] };
        expect(list.data).toHaveLength(count);
      }
    },
  );

  it('behind PgBouncer with too few connections is refused with what it needs, and used with as many', async () => {
    const fewer = [
      ['session', 1],
      ['session', 2],
      ['session', 5],
      ['transaction', 1],
    ] as const;
    await Promise.all(
      fewer.map(async ([mode, size]) => {
        await expect(
          connectPostgres({ url: await pooled(mode, postgres.url, size) }),
          `${mode} ${size}`,
        ).rejects.toMatchObject({
          code: 'database-unusable',
          message: expect.stringMatching(
            /needs 6 with pool_mode = session, or 2 with pool_mode = transaction/,
          ),
        });
      }),
    );
    for (const [mode, size] of [
      ['session', 6],
      ['transaction', 2],
    ] as const) {
      const database = await connectPostgres({ url: await pooled(mode, postgres.url, size) });
      try {
        await database.start();
        database.signals.listen('events', () => {});
        const answers = Array.from({ length: 10 }, () =>
          database.transaction(transaction => singleValue(transaction, 'SELECT 1')),
        );
        expect(await Promise.all(answers)).toEqual(Array(10).fill(1));
      } finally {
        await database.stop();
      }
    }
  });

  it('behind PgBouncer with pool_mode = statement is refused with the mode to use', async () => {
    await expect(connectPostgres({ url: await pooled('statement') })).rejects.toMatchObject({
      code: 'database-unusable',
      message: expect.stringContaining('use pool_mode = session'),
    });
  });

  it('that becomes read-only is unavailable, and its connections are replaced', async () => {
    const database = await connectPostgres({ url: postgres.url });
    const behind = await Promise.all(
      (['session', 'transaction'] as const).map(async mode => {
        const url = await pooled(mode, await createPostgresDatabase(postgres.url, `demoted_${mode}`));
        const one = await connectPostgres({ url });
        onTestFinished(() => one.stop());
        await one.start();
        await runSql(one, 'CREATE TABLE tags_of_test (name TEXT)');
        return one;
      }),
    );
    const writeBehind = () =>
      Promise.allSettled(behind.map(one => runSql(one, "INSERT INTO tags_of_test VALUES ('a')")));
    const writer = () => runSql(database, "INSERT INTO tags_of_test VALUES ('a')");
    const ofServer =
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'millrace%'";
    const pids = async () =>
      new Set(
        await singleValue<string[]>(database, `SELECT array_agg(pid::text) FROM (${ofServer}) AS found`),
      );
    try {
      await database.start();
      database.signals.listen('events', () => {});
      await runSql(database, 'CREATE TABLE tags_of_test (name TEXT)');
      await Promise.all(Array.from({ length: 5 }, writer));
      const before = await pids();
      await runOnPostgres(postgres.url, 'ALTER SYSTEM SET default_transaction_read_only = on');
      await runOnPostgres(postgres.url, 'SELECT pg_reload_conf()');
      for (const one of [database, ...behind])
        await waitUntil(async () => (await one.findFault()) !== undefined);
      const refused = { status: 'rejected', reason: expect.objectContaining({ code: 'database-unusable' }) };
      expect(await writeBehind()).toEqual([refused, refused]);

      await expect(writer()).rejects.toMatchObject({ code: 'database-unusable' });
      await expect(
        database.transaction(transaction => runSql(transaction, 'DELETE FROM tags_of_test')),
      ).rejects.toMatchObject({
        code: 'database-unusable',
      });
      await expect(connectPostgres({ url: postgres.url })).rejects.toThrow('give the address of the primary');

      await waitUntil(async () => ![...(await pids())].some(pid => before.has(pid)));
      const writable = `${postgres.url}&options=${encodeURIComponent('-c default_transaction_read_only=off')}`;
      await runOnPostgres(writable, 'ALTER SYSTEM RESET default_transaction_read_only');
      await runOnPostgres(writable, 'SELECT pg_reload_conf()');
      for (const one of [database, ...behind])
        await waitUntil(async () => (await one.findFault()) === undefined);
      await writer();
      expect(await writeBehind()).toMatchObject([{ status: 'fulfilled' }, { status: 'fulfilled' }]);
      await waitUntil(async () => (await singleValue(database, countLocks)) === 3);
    } finally {
      await database.stop();
    }
  });
});
