import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let database: Database;
let path: string;

beforeEach(async () => {
  const dataDir = await testTempDir();
  database = openDatabase({ dataDir });
  onTestFinished(() => database.stop());
  path = join(dataDir, 'millrace.db');
  database.sqlite.exec('CREATE TABLE notes (text TEXT NOT NULL UNIQUE)');
});

const add = (text: string) => database.sqlite.prepare('INSERT INTO notes VALUES (?)').run(text);
/** A transaction takes works for a few milliseconds only: on a busy machine, the first one alone can take as long. */
const standStill = () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => now.mockRestore());
};
const notes = () =>
  database.sqlite.prepare<[], string>('SELECT text FROM notes ORDER BY rowid').pluck().all();

describe('writes in a batch', () => {
  it('are committed before their callers resume, all of one event loop iteration together', async () => {
    standStill();
    const other = new Sqlite(path);
    try {
      const seen = other.prepare<[], number>('SELECT count(*) FROM notes').pluck();
      const counts = await Promise.all(
        ['a', 'b', 'c'].map(async text => {
          await database.inBatch(() => add(text));
          return seen.get();
        }),
      );
      expect(counts).toEqual([3, 3, 3]);
    } finally {
      other.close();
    }
  });

  it('give what their work returned, in the order in which they were asked for', async () => {
    const order: string[] = [];
    const values = await Promise.all(
      ['a', 'b'].map(text =>
        database.inBatch(() => {
          order.push(text);
          return `${text}!`;
        }),
      ),
    );
    expect({ order, values }).toEqual({ order: ['a', 'b'], values: ['a!', 'b!'] });
  });

  it('are undone one by one when they fail', async () => {
    const failure = new Error('no');
    const results = await Promise.allSettled([
      database.inBatch(() => add('first')),
      database.inBatch(() => {
        add('half done');
        throw failure;
      }),
      database.inBatch(() => database.transaction(() => add('last'))),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: failure });
    expect(notes()).toEqual(['first', 'last']);
  });

  it('all fail when the transaction does', async () => {
    standStill();
    const results = await Promise.allSettled([
      database.inBatch(() => add('first')),
      database.inBatch(() => database.sqlite.exec('ROLLBACK; SELECT no_such_function()')),
      database.inBatch(() => add('last')),
    ]);
    expect(results.slice(0, 2).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(results[2]).toMatchObject({ status: 'fulfilled' });
    expect(notes()).toEqual(['last']);
  });

  it('fail once when another process keeps the database, and go on when it no longer does', async () => {
    database.sqlite.pragma('busy_timeout = 0');
    const other = new Sqlite(path);
    try {
      other.exec('BEGIN IMMEDIATE');
      const refused = await Promise.allSettled(['a', 'b'].map(text => database.inBatch(() => add(text))));
      expect(refused).toEqual(
        Array(2).fill({ status: 'rejected', reason: expect.objectContaining({ code: 'SQLITE_BUSY' }) }),
      );
      other.exec('ROLLBACK');
      await database.inBatch(() => add('c'));
      expect(notes()).toEqual(['c']);
    } finally {
      other.close();
    }
  });

  it('that wait at the end of the database are done, and those that come later fail', async () => {
    const before = database.inBatch(() => add('before'));
    await database.stop();
    await before;
    await expect(database.inBatch(() => add('after'))).rejects.toThrow(/not open/);
    const reopened = new Sqlite(path, { readonly: true });
    expect(reopened.prepare('SELECT text FROM notes').pluck().all()).toEqual(['before']);
    reopened.close();
  });

  it('survive a kill at any moment once their callers have resumed', async () => {
    const dataDir = await testTempDir();
    const program = `
      const { writeSync } = await import('node:fs');
      const { openDatabase } = await import('${new URL('../../src/store/database.ts', import.meta.url).href}');
      const database = openDatabase({ dataDir: ${JSON.stringify(dataDir)} });
      database.sqlite.exec('CREATE TABLE notes (number INTEGER PRIMARY KEY)');
      await database.start();
      const insert = database.sqlite.prepare('INSERT INTO notes DEFAULT VALUES');
      const writeOn = async () => {
        for (;;) writeSync(1, (await database.inBatch(() => insert.run())).lastInsertRowid + '\\n');
      };
      for (let writer = 0; writer < 16; writer += 1) void writeOn();`;
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
    const reopened = openDatabase({ dataDir });
    const kept = new Set(reopened.sqlite.prepare<[], number>('SELECT number FROM notes').pluck().all());
    await reopened.stop();
    const heard = told.split('\n').slice(0, -1).map(Number);
    expect(heard.length).toBeGreaterThan(1_000);
    expect(heard.filter(number => !kept.has(number))).toEqual([]);
  });

  it('take in what a work asks for', async () => {
    let inner: Promise<unknown> | undefined;
    await database.inBatch(() => {
      inner = database.inBatch(() => add('inner'));
      add('outer');
    });
    await inner;
    expect(notes()).toEqual(['outer', 'inner']);
  });
});

describe('the log of the database', () => {
  const mebibyte = 1_024 * 1_024;
  const logBytes = () => statSync(`${path}-wal`).size;
  const addMany = (count: number, from = 0) =>
    Promise.all(
      Array.from({ length: count }, (_, index) =>
        database.inBatch(() => add(`${from + index} ${'x'.repeat(8_000)}`)),
      ),
    );

  it('is written into the file by a thread, and restarts however many writes come', async () => {
    await database.start();
    // Without an end, the log would be of 190 MiB and more.
    for (let round = 0; round < 100; round += 1) await addMany(100, round * 100);
    expect(notes()).toHaveLength(10_000);
    expect(logBytes()).toBeLessThan(128 * mebibyte);
    await waitUntil(() => statSync(path).size > 48 * mebibyte);
  });

  it('stays short when the thread dies, until another one takes its place', async () => {
    const threads: Worker[] = [];
    const remember = (thread: Worker) => threads.push(thread);
    process.on('worker', remember);
    onTestFinished(() => void process.off('worker', remember));
    await database.start();
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

  it('is gone after the end, with all that was in it in the file', async () => {
    await database.start();
    await addMany(600);
    await database.stop();
    expect(() => logBytes()).toThrow(/ENOENT/);
    const reopened = new Sqlite(path, { readonly: true });
    expect(reopened.prepare('SELECT count(*) FROM notes').pluck().get()).toBe(600);
    reopened.close();
  });
});
