import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Transaction } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import { connectPostgres } from '../../src/store/postgres/postgres-database.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase, postgresUrlOf } from '../support/test-database.ts';

const count = (connection: Database | Transaction) =>
  singleValue<number>(connection, 'SELECT count(*) FROM database_uses');

describe.each(databaseKinds)('a transaction of %s', kind => {
  let database: Database;
  beforeEach(async () => {
    database = await openTestDatabase(await testTempDir(), kind);
  });
  afterEach(() => database.stop());

  const insert = (connection: Database | Transaction, began: number, last = began) =>
    connection.run(
      connection.queries.insertInto('database_uses').values({ began_at_ms: began, last_at_ms: last }),
    );
  const readLast = async (connection: Database | Transaction, began: number) => {
    const query = connection.queries
      .selectFrom('database_uses')
      .select('last_at_ms as last')
      .where('began_at_ms', '=', began);
    return (await connection.first(query))?.last;
  };
  it('commits all that was written through its handle, and reads it before', async () => {
    const result = await database.transaction(async transaction => {
      await insert(transaction, 1);
      await insert(transaction, 2);
      expect(await count(transaction)).toBe(2);
      return 'done';
    });
    expect([result, await count(database)]).toEqual(['done', 2]);
  });

  it('that throws writes nothing, and leaves those beside it alone', async () => {
    const results = await Promise.allSettled([
      database.transaction(transaction => insert(transaction, 1)),
      database.transaction(async transaction => {
        await insert(transaction, 2);
        throw new Error('half done');
      }),
      insert(database, 3),
      // Violates the primary key.
      database.transaction(async transaction => {
        await insert(transaction, 4);
        await insert(transaction, 4);
      }),
      database.transaction(transaction => insert(transaction, 5)),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
    expect(results[1]).toMatchObject({ reason: new Error('half done') });
    expect(await Promise.all([1, 2, 3, 4, 5].map(began => readLast(database, began)))).toEqual([
      1,
      undefined,
      3,
      undefined,
      5,
    ]);
  });

  it('that joins another one is committed and rolled back with it', async () => {
    const both = (isFailing: boolean) =>
      database.transaction(async outer => {
        await insert(outer, 1);
        const inner = await outer.transaction(async transaction => {
          await insert(transaction, 2);
          return transaction;
        });
        expect(inner).toBe(outer);
        if (isFailing) throw new Error('no');
      });
    await expect(both(true)).rejects.toThrow('no');
    expect(await count(database)).toBe(0);
    await both(false);
    expect(await count(database)).toBe(2);
  });

  it('is not seen by others before its commit, who can read meanwhile', async () => {
    await insert(database, 1, 10);
    const { promise: isWritten, resolve: written } = Promise.withResolvers<void>();
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    const change = database.transaction(async transaction => {
      await runSql(transaction, 'UPDATE database_uses SET last_at_ms = 20');
      await insert(transaction, 2);
      written();
      await isRead;
    });
    await isWritten;
    expect([await readLast(database, 1), await count(database)]).toEqual([10, 1]);
    read();
    await change;
    expect([await readLast(database, 1), await count(database)]).toEqual([20, 2]);
  });

  it('refuses queries beside its handle, and those that come after its end', async () => {
    const { promise: leftOver, resolve } = Promise.withResolvers<Transaction>();
    const beside = database.transaction(async transaction => {
      resolve(transaction);
      await insert(transaction, 1);
      await nextTurn();
      await count(database);
    });
    await expect(beside).rejects.toThrow('must use the handle of the transaction');
    await expect(database.transaction(() => database.transaction(async () => undefined))).rejects.toThrow(
      'must use the handle of the transaction',
    );
    await expect(database.transaction(() => insert(database, 1))).rejects.toThrow('must use the handle');
    await expect(insert(await leftOver, 2)).rejects.toThrow('The transaction has ended.');
    expect((await leftOver).afterCommit.bind(await leftOver, () => {})).toThrow('The transaction has ended.');
    expect(await count(database)).toBe(0);
  });

  it('that is shared takes in queries without a handle, and other transactions', async () => {
    const heard: string[] = [];
    const shared = database.sharedTransaction(async () => {
      await insert(database, 1, 10);
      await database.transaction(async transaction => {
        await runSql(transaction, 'UPDATE database_uses SET last_at_ms = 20');
        // Only code without any transaction of its own may leave out the handle.
        await expect(count(database)).rejects.toThrow('must use the handle');
      });
      database.afterCommit(() => heard.push('committed'));
      expect([await readLast(database, 1), heard]).toEqual([20, []]);
      return 'done';
    });
    expect([await shared, heard, await readLast(database, 1)]).toEqual(['done', ['committed'], 20]);
  });

  it('that is shared writes nothing when a part of it fails, also when its work ignores that', async () => {
    const failure = new Error('refused');
    const rejected = database.sharedTransaction(async () => {
      await insert(database, 1);
      throw failure;
    });
    await expect(rejected).rejects.toBe(failure);
    const ignored = database.sharedTransaction(async () => {
      await insert(database, 2);
      await database.transaction(() => Promise.reject(failure)).catch(() => {});
    });
    await expect(ignored).rejects.toBe(failure);
    expect(await count(database)).toBe(0);
  });

  it('that is shared leaves alone what its work started and did not wait for', async () => {
    const { promise: later, resolve } = Promise.withResolvers<void>();
    let inserted: Promise<number> | undefined;
    const failed = database.sharedTransaction(async () => {
      inserted = later.then(() => insert(database, 1));
      throw new Error('refused');
    });
    await expect(failed).rejects.toThrow('refused');
    resolve();
    expect([await inserted, await count(database)]).toEqual([1, 1]);
  });

  it('may be followed by queries of the code that it started', async () => {
    const { promise: counted, resolve } = Promise.withResolvers<number | undefined>();
    await database.transaction(async transaction => {
      await insert(transaction, 1);
      transaction.afterCommit(() => void count(database).then(resolve));
      setImmediate(() => {});
    });
    expect(await counted).toBe(1);
  });

  it('calls listeners in order after its commit, before its caller goes on, and none after a rollback', async () => {
    const order: string[] = [];
    const outcome = database.transaction(async transaction => {
      transaction.afterCommit(() => order.push('first'));
      await insert(transaction, 1);
      await transaction.transaction(async inner => inner.afterCommit(() => order.push('second')));
      order.push('work');
    });
    await outcome.then(() => order.push('caller'));
    const failing = database.transaction(async transaction => {
      transaction.afterCommit(() => order.push('never'));
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    database.afterCommit(() => order.push('at once'));
    expect(order).toEqual(['work', 'first', 'second', 'caller', 'at once']);
  });

  it('calls the other listeners, and keeps what was written, when a listener throws', async () => {
    const called: string[] = [];
    const outcome = database.transaction(async transaction => {
      await insert(transaction, 1);
      transaction.afterCommit(() => {
        throw new Error('a listener');
      });
      transaction.afterCommit(() => called.push('other'));
    });
    await expect(outcome).rejects.toThrow('a listener');
    expect([called, await count(database)]).toEqual([['other'], 1]);
  });

  it('writes all or nothing, and tells which, when its work ignores that a query failed', async () => {
    const called: string[] = [];
    const outcome = database.transaction(async transaction => {
      transaction.afterCommit(() => called.push('committed'));
      await insert(transaction, 1);
      await runSql(transaction, 'SELECT no_such_function()').catch(() => {});
    });
    // SQLite undoes only the query.
    if (kind === 'SQLite') await outcome;
    else await expect(outcome).rejects.toThrow('The transaction was rolled back.');
    expect([called, await count(database)]).toEqual(kind === 'SQLite' ? [['committed'], 1] : [[], 0]);
  });

  it('with the same lock sees what the one before has committed', async () => {
    const add = () =>
      database.transaction(async transaction => {
        await transaction.lock('database uses', 'one');
        const total = (await count(transaction)) ?? 0;
        await nextTurn();
        if (total < 5) await insert(transaction, total);
      });
    await Promise.all(Array.from({ length: 12 }, add));
    expect(await count(database)).toBe(5);
  });

  it('gives rows that a statement returns, whoever runs it', async () => {
    const upsert = (connection: Database | Transaction) =>
      connection.first(
        connection.queries
          .insertInto('database_uses')
          .values({ began_at_ms: 1, last_at_ms: 1 })
          .onConflict(conflict =>
            conflict.column('began_at_ms').doUpdateSet(({ eb }) => ({
              last_at_ms: eb('database_uses.last_at_ms', '+', 1),
            })),
          )
          .returning('last_at_ms as last'),
      );
    const rows = [await upsert(database), await database.transaction(upsert), await upsert(database)];
    expect(rows).toEqual([{ last: 1 }, { last: 2 }, { last: 3 }]);
    const all = await Promise.all(Array.from({ length: 20 }, () => upsert(database)));
    expect(all.map(row => row?.last).sort((one, other) => one! - other!)).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 4),
    );
  });
});

describe.runIf(databaseKinds.includes('PostgreSQL'))('a deadlock in PostgreSQL', () => {
  it('repeats a transaction, and a statement of its own', async () => {
    const database = await openTestDatabase(await testTempDir(), 'PostgreSQL');
    onTestFinished(() => database.stop());
    // A sequence goes on after a rollback.
    await runSql(
      database,
      `CREATE SEQUENCE attempts;
       CREATE FUNCTION deadlock_once() RETURNS trigger LANGUAGE plpgsql AS $body$
       BEGIN
         IF nextval('attempts') % 2 = 1 THEN RAISE EXCEPTION USING ERRCODE = 'deadlock_detected'; END IF;
         RETURN NEW;
       END $body$;
       CREATE TRIGGER deadlocks AFTER INSERT ON database_uses FOR EACH ROW EXECUTE FUNCTION deadlock_once()`,
    );
    const insert = (connection: Database | Transaction, at: number) =>
      connection.run(
        connection.queries.insertInto('database_uses').values({ began_at_ms: at, last_at_ms: at }),
      );
    await database.transaction(transaction => insert(transaction, 1));
    await insert(database, 2);
    expect(await count(database)).toBe(2);
  });
});

describe.runIf(databaseKinds.includes('PostgreSQL'))('a lost connection to PostgreSQL', () => {
  it('fails its transaction, whether it runs a query or waits, and the next one goes on', async () => {
    const database = await openTestDatabase(await testTempDir(), 'PostgreSQL');
    onTestFinished(() => database.stop());
    const { promise: isLost, resolve: lost } = Promise.withResolvers<void>();
    const { promise: pid, resolve: began } = Promise.withResolvers<number | undefined>();
    const waiting = database.transaction(async transaction => {
      began(await singleValue<number>(transaction, 'SELECT pg_backend_pid()'));
      await isLost;
    });
    const outcomes = Promise.allSettled([
      waiting,
      database.transaction(transaction =>
        runSql(transaction, 'SELECT pg_terminate_backend(pg_backend_pid())'),
      ),
    ]);
    await runSql(database, 'SELECT pg_terminate_backend(?)', await pid);
    await sleep(100);
    lost();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await database.transaction(transaction => singleValue(transaction, 'SELECT 1'))).toBe(1);
  });

  it('that no longer responds is given up, and the next query uses another one', async () => {
    const url = await postgresUrlOf(await testTempDir());
    const database = await connectPostgres({ url, responseTimeoutMs: 300 });
    onTestFinished(() => database.stop());
    const pid = (await singleValue<number>(database, 'SELECT pg_backend_pid()'))!;
    process.kill(pid, 'SIGSTOP');
    onTestFinished(() => void process.kill(pid, 'SIGCONT'));
    await expect(count(database)).rejects.toThrow('timeout');
    expect(await count(database)).toBe(0);
  });
});
