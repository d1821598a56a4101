import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Connection, Transaction } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { SqliteConnection } from '../../src/store/sqlite-connection.ts';
import type { SqliteDatabase } from '../../src/store/sqlite-database.ts';
import { SqliteWriter } from '../../src/store/sqlite-writer.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let database: Database;
let path: string;

beforeEach(async () => {
  const dataDir = await testTempDir();
  database = await openDatabase({ dataDir });
  onTestFinished(() => database.stop());
  path = join(dataDir, 'millrace.db');
  await runSql(database, 'CREATE TABLE notes (number INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)');
});

const addTo = (connection: Connection, text: string) =>
  runSql(connection, 'INSERT INTO notes (text) VALUES (?)', text);
const add = (text: string) => addTo(database, text);
const addInTransaction = (...texts: string[]) =>
  database.transaction(async transaction => {
    for (const text of texts) await addTo(transaction, text);
  });
/** A transaction takes works for a few milliseconds only: on a busy machine, the first one alone can take as long. */
const standStill = () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
};
const notes = async () =>
  (await rowsOf<{ text: string }>(database, 'SELECT text FROM notes ORDER BY number')).map(
    ({ text }) => text,
  );
/** The connection that writes, while it does not. */
const pragma = (source: string) =>
  (database as SqliteDatabase).readNow(({ sqlite }) => sqlite.pragma(source, { simple: true }));

describe('writes', () => {
  it('are committed before their callers resume, all of one event loop iteration together', async () => {
    standStill();
    const other = new Sqlite(path);
    onTestFinished(() => void other.close());
    const seen = other.prepare<[], number>('SELECT count(*) FROM notes').pluck();
    const before = (database as SqliteDatabase).commits;
    const counts = await Promise.all(
      [add('a'), addInTransaction('b', 'c'), add('d'), addInTransaction('e')].map(async written => {
        await written;
        return seen.get();
      }),
    );
    expect(counts).toEqual([5, 5, 5, 5]);
    expect((database as SqliteDatabase).commits).toBe(before + 1);
  });

  it.runIf(process.platform === 'linux')('that change the same pages write no temporary file', async () => {
    standStill();
    const temporaryFiles = () =>
      readdirSync('/proc/self/fd')
        .map(name => `/proc/self/fd/${name}`)
        .filter(path => existsSync(path) && /\/(#\d+|etilqs_\w+) \(deleted\)$/.test(readlinkSync(path)));
    await addInTransaction(...Array.from({ length: 40 }, (_, index) => `${index} ${'x'.repeat(3_000)}`));
    const append = (text: string) =>
      database.transaction(async transaction => {
        await runSql(transaction, 'UPDATE notes SET text = text || ?', text);
        return temporaryFiles();
      });
    expect((await Promise.all([append('a'), append('b'), append('c')])).flat()).toEqual([]);
    expect((await notes())[39]).toMatch(/xabc$/);
  });

  it('are done in the order in which they were asked for', async () => {
    await Promise.all(
      ['a', 'b', 'c', 'd'].map((text, index) => (index % 2 ? addInTransaction(text) : add(text))),
    );
    expect(await notes()).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each([0, 1, 2, 3])('are undone one by one when they fail, as number %i does', async failing => {
    standStill();
    const write = (text: string, index: number) =>
      index === failing ? addInTransaction(`half of ${text}`, 'twice', 'twice') : addInTransaction(text);
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map(write));
    const done = ['a', 'b', 'c', 'd'].filter((_, index) => index !== failing);
    expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([failing]);
    expect(results[failing]).toMatchObject({ reason: { code: 'SQLITE_CONSTRAINT_UNIQUE' } });
    expect(await notes()).toEqual(done);
  });

  it('of one statement are undone when they fail, alone and among others', async () => {
    await add('a');
    await expect(runSql(database, `INSERT INTO notes (text) VALUES ('b'), ('a')`)).rejects.toThrow(/UNIQUE/);
    const results = await Promise.allSettled([
      add('c'),
      runSql(database, `INSERT INTO notes (text) VALUES ('d'), ('a')`),
      add('e'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await notes()).toEqual(['a', 'c', 'e']);
  });

  it('all fail when SQLite rolls back their transaction, and nothing more is written through its handles', async () => {
    standStill();
    const lateFailures: unknown[] = [];
    const results = await Promise.allSettled([
      add('first'),
      database.transaction(async transaction => {
        await addTo(transaction, 'second');
        await runSql(transaction, 'ROLLBACK');
        await runSql(transaction, 'SELECT no_such_function()').catch(() => {});
        await addTo(transaction, 'outside').catch(error => lateFailures.push(error));
      }),
      add('last'),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(lateFailures).toEqual([expect.objectContaining({ message: 'The transaction has ended.' })]);
    expect(await notes()).toEqual(['last']);
  });

  it('fail when the disk is full, and go on when it no longer is', async () => {
    await add('first');
    const pages = Number(pragma('page_count'));
    pragma(`max_page_count = ${pages + 3}`);
    const long = 'x'.repeat(3_000);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 === 0 ? add(`${index}${long}`) : addInTransaction(`${index}${long}`, `${index} ${long}`),
      ),
    );
    const failures = results.filter(result => result.status === 'rejected');
    expect(failures.length).toBeGreaterThan(10);
    for (const { reason } of failures) expect(reason).toMatchObject({ code: 'SQLITE_FULL' });
    const kept = (await notes()).length;
    pragma('max_page_count = 1000000');
    await addInTransaction('last');
    expect(await notes()).toHaveLength(kept + 1);
    const halves = (await notes())
      .map(text => text.split(/[ x]/)[0])
      .filter(name => /^\d*[13579]$/.test(name!));
    expect(halves.length % 2).toBe(0);
  });

  it('fail once when another process keeps the database, and go on when it no longer does', async () => {
    let nowMs = 0;
    const now = vi.spyOn(performance, 'now').mockImplementation(() => {
      nowMs += 1000;
      return nowMs;
    });
    onTestFinished(() => now.mockRestore());
    const other = new Sqlite(path);
    try {
      other.exec('BEGIN IMMEDIATE');
      const isBusy = { status: 'rejected', reason: expect.objectContaining({ code: 'database-unusable' }) };
      expect(await Promise.allSettled([add('a')])).toEqual([isBusy]);
      expect(await Promise.allSettled(['a', 'b'].map(text => add(text)))).toEqual([isBusy, isBusy]);
      expect(await notes()).toEqual([]);
      other.exec('ROLLBACK');
      await add('c');
      expect(await notes()).toEqual(['c']);
    } finally {
      other.close();
    }
  });

  it('that wait at the end of the database are done, and those that come later fail', async () => {
    const before = [add('before'), addInTransaction('before, too')];
    const slow = database.transaction(async transaction => {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      await addTo(transaction, 'slow');
    });
    await database.stop();
    await Promise.all([...before, slow]);
    await expect(add('after')).rejects.toThrow(/not open/);
    await expect(addInTransaction('after')).rejects.toThrow(/not open/);
    await expect(notes()).rejects.toThrow(/not open/);
    const reopened = new Sqlite(path, { readonly: true });
    expect(reopened.prepare('SELECT text FROM notes ORDER BY number').pluck().all()).toEqual([
      'before',
      'before, too',
      'slow',
    ]);
    reopened.close();
  });

  it('survive a kill at any moment once their callers have resumed', async () => {
    const dataDir = await testTempDir();
    const module = new URL('../../src/store/open-database.ts', import.meta.url).href;
    const program = `
      const { writeSync } = await import('node:fs');
      const { openDatabase } = await import('${module}');
      const database = await openDatabase({ dataDir: ${JSON.stringify(dataDir)} });
      const query = (sql, parameters = []) => ({ compile: () => ({ sql, parameters }) });
      await database.run(query('CREATE TABLE notes (number INTEGER PRIMARY KEY)'));
      await database.start();
      const insert = query('INSERT INTO notes DEFAULT VALUES RETURNING number');
      const writeOn = async inTransaction => {
        for (;;) {
          const { number } = await (inTransaction ? database.transaction(transaction => transaction.first(insert)) : database.first(insert));
          writeSync(1, number + '\\n');
        }
      };
      for (let writer = 0; writer < 16; writer += 1) void writeOn(writer % 2 === 0);`;
    // A file takes all that is written at once, however late it is read.
    const toldPath = join(dataDir, 'told');
    const toldFile = openSync(toldPath, 'w');
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', toldFile, 'inherit'],
    });
    closeSync(toldFile);
    onTestFinished(() => void child.kill('SIGKILL'));
    const closed = once(child, 'close');
    await waitUntil(() => statSync(toldPath).size > 20_000);
    child.kill('SIGKILL');
    await closed;
    const told = readFileSync(toldPath, 'utf8');
    const reopened = await openDatabase({ dataDir });
    const kept = new Set(
      (await rowsOf<{ number: number }>(reopened, 'SELECT number FROM notes')).map(({ number }) => number),
    );
    await reopened.stop();
    const heard = told.split('\n').slice(0, -1).map(Number);
    expect(heard.length).toBeGreaterThan(1_000);
    expect(heard.filter(number => !kept.has(number))).toEqual([]);
  });
});

describe('a transaction that fails', () => {
  it('gives its own reason while another process begins to write', async () => {
    const connection = new SqliteConnection(new Sqlite(path, { timeout: 0 }));
    const other = new Sqlite(path);
    onTestFinished(() => {
      other.close();
      connection.close();
    });
    const prepare = connection.prepare.bind(connection);
    const released: Promise<unknown>[] = [];
    vi.spyOn(connection, 'prepare').mockImplementation(sql => {
      const statement = prepare(sql);
      if (sql !== 'ROLLBACK') return statement;
      return Object.assign(Object.create(statement), {
        run: () => {
          statement.run();
          other.exec('BEGIN IMMEDIATE');
          released.push(nextTurn().then(() => other.exec('ROLLBACK')));
        },
      });
    });
    const writer = new SqliteWriter(connection, { mayBegin: () => undefined });
    const work = (text: string, run: () => unknown) =>
      writer.addWork({
        run: async () => {
          connection.sqlite.prepare('INSERT INTO notes (text) VALUES (?)').run(text);
          run();
        },
        abandon: () => {},
        committed: () => {},
      });
    const fail = () => {
      throw new Error('its own reason');
    };
    const results = await Promise.allSettled([work('a', fail), work('b', () => {}), work('c', fail)]);
    await Promise.all(released);
    expect(results).toMatchObject([
      { reason: { message: 'its own reason' } },
      { status: 'fulfilled' },
      { reason: { message: 'its own reason' } },
    ]);
    await writer.finish();
    expect(await notes()).toEqual(['b']);
  });
});

describe('work that waits for something else than the database', () => {
  it('is ended, and others go on', async () => {
    const connection = new SqliteConnection(new Sqlite(path));
    onTestFinished(() => connection.close());
    const insert = (text: string) =>
      connection.sqlite.prepare('INSERT INTO notes (text) VALUES (?)').run(text);
    const abandoned: string[] = [];
    const writer = new SqliteWriter(connection, { mayBegin: () => undefined, maxWorkMs: 50 });
    const work = (name: string, run: () => Promise<unknown>) =>
      writer.addWork({ run, abandon: () => abandoned.push(name), committed: () => {} });
    const results = await Promise.allSettled([
      work('before', async () => insert('before')),
      work('stuck', () => {
        insert('stuck');
        return new Promise(() => {});
      }),
      // The inner statement would wait for this one.
      work('itself', async () => {
        insert('itself');
        await writer.addStatement(() => insert('later'));
      }),
      writer.addStatement(() => insert('after')),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(abandoned).toEqual(['stuck', 'itself']);
    await writer.finish();
    expect((await notes()).sort()).toEqual(['after', 'before', 'later']);
  });
});

describe('reads', () => {
  it('see the last commit while a transaction waits, and through its handle what it has written', async () => {
    await add('a');
    const { promise: isRead, resolve } = Promise.withResolvers<void>();
    let inside: Promise<unknown> | undefined;
    const { promise: handle, resolve: opened } = Promise.withResolvers<Transaction>();
    const change = database.transaction(async transaction => {
      await addTo(transaction, 'b');
      inside = rowsOf(transaction, 'SELECT text FROM notes');
      opened(transaction);
      await isRead;
    });
    await handle;
    expect(await notes()).toEqual(['a']);
    expect((database as SqliteDatabase).readNow(({ sqlite }) => sqlite.readonly)).toBe(true);
    expect(await inside).toHaveLength(2);
    resolve();
    await change;
    expect(await notes()).toEqual(['a', 'b']);
    expect((database as SqliteDatabase).readNow(({ sqlite }) => sqlite.readonly)).toBe(false);
  });

  it('beside many writers see each of them at once or not at all', async () => {
    let isDone = false;
    const torn: number[] = [];
    const reading = (async () => {
      while (!isDone) {
        const { length } = await notes();
        if (length % 3 !== 0) torn.push(length);
        await nextTurn();
      }
    })();
    await Promise.all(
      Array.from({ length: 8 }, async (_, writer) => {
        for (let round = 0; round < 20; round += 1) {
          const name = `${writer} ${round}`;
          await database.transaction(async transaction => {
            await addTo(transaction, `${name} a`);
            await addTo(transaction, `${name} b`);
            if (round % 4 === 0) await nextTurn();
            await addTo(transaction, `${name} c`);
          });
        }
      }),
    );
    isDone = true;
    await reading;
    expect(torn).toEqual([]);
    expect(await notes()).toHaveLength(8 * 20 * 3);
  });
});

describe('the log of the database', () => {
  const mebibyte = 1_024 * 1_024;
  const logBytes = () => statSync(`${path}-wal`).size;
  const addMany = (count: number, from = 0) =>
    Promise.all(Array.from({ length: count }, (_, index) => add(`${from + index} ${'x'.repeat(8_000)}`)));

  it('is written into the file by a thread, and restarts however many writes come', async () => {
    await database.start(new AbortController().signal);
    // Writes enough that an endless log would be of 190 MiB and more.
    for (let round = 0; round < 100; round += 1) await addMany(100, round * 100);
    expect(await notes()).toHaveLength(10_000);
    expect(logBytes()).toBeLessThan(128 * mebibyte);
    await waitUntil(() => statSync(path).size > 48 * mebibyte);
  });

  const rememberThreads = () => {
    const threads: Worker[] = [];
    const remember = (thread: Worker) => threads.push(thread);
    process.on('worker', remember);
    onTestFinished(() => void process.off('worker', remember));
    return threads;
  };

  it('stays short while a checkpoint takes long, for which writes wait', async () => {
    const threads = rememberThreads();
    await database.start(new AbortController().signal);
    await addMany(600);
    const [thread] = await waitUntil(() => threads.length === 1 && threads);
    const held: unknown[] = [];
    const post = vi.spyOn(thread!, 'postMessage').mockImplementation(message => void held.push(message));
    let written = 0;
    const writing = Promise.all(
      Array.from({ length: 7_000 }, async (_, index) => {
        await add(`more ${index} ${'x'.repeat(8_000)}`);
        written += 1;
      }),
    );
    await waitUntil(async () => {
      const before = written;
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      return held.length > 0 && written === before;
    });
    expect(written).toBeLessThan(7_000);
    expect(logBytes()).toBeLessThan(60 * mebibyte);
    post.mockRestore();
    thread!.postMessage('checkpoint');
    await writing;
    // The batch that exceeds the limit is written to its end.
    expect(logBytes()).toBeLessThan(72 * mebibyte);
  });

  it('stays short when the thread dies, until another one takes its place', async () => {
    const threads = rememberThreads();
    await database.start(new AbortController().signal);
    await addMany(600);
    const [first] = await waitUntil(() => threads.length === 1 && threads);
    const exited = once(first!, 'exit');
    await first!.terminate();
    await exited;
    for (let round = 0; round < 30; round += 1) {
      await addMany(100, 1_000 + round * 100);
      if (threads.length > 1) break;
      expect(logBytes()).toBeLessThan(16 * mebibyte);
    }
    await waitUntil(() => threads.length === 2);
  });

  it('has no thread after memory was released, and another one once there is enough to write', async () => {
    const threads = rememberThreads();
    await database.start(new AbortController().signal);
    await addMany(600);
    const [first] = await waitUntil(() => threads.length === 1 && threads);
    let hasEnded = false;
    first!.once('exit', () => {
      hasEnded = true;
    });
    // A checkpoint that runs is not interrupted.
    await waitUntil(() => {
      (database as SqliteDatabase).releaseMemory();
      return hasEnded;
    });
    expect(threads).toHaveLength(1);
    await addMany(600, 1_000);
    await waitUntil(() => threads.length === 2);
    expect(await notes()).toHaveLength(1_200);
  });

  it('is gone after the end, with all that was in it in the file', async () => {
    await database.start(new AbortController().signal);
    await addMany(600);
    await database.stop();
    expect(() => logBytes()).toThrow(/ENOENT/);
    const reopened = new Sqlite(path, { readonly: true });
    expect(reopened.prepare('SELECT count(*) FROM notes').pluck().get()).toBe(600);
    reopened.close();
  });
});
