import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Connection } from '../../src/store/connection.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { runSql } from '../support/sql.ts';
import { startServer } from '../support/start-server.ts';
import { testTempDir } from '../support/temp-dir.ts';

const lockScript = `
  import Sqlite from 'better-sqlite3';
  const [path, journalMode] = process.argv.slice(1);
  const sqlite = new Sqlite(path);
  sqlite.pragma('journal_mode = ' + journalMode);
  sqlite.exec('BEGIN EXCLUSIVE');
  console.log('locked');
  process.stdin.resume();
`;

/** Another process, which locks a database until it is ended. */
async function lock(path: string, journalMode = 'wal') {
  const child = spawn(process.execPath, ['--input-type=module', '-e', lockScript, path, journalMode], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return {
    pid: child.pid,
    end: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

const kinds = ['a statement', 'a transaction'] as const;

/** A database that another process locks, with a write that waits. */
async function writeLocked(kind: (typeof kinds)[number]) {
  const dataDir = await testTempDir();
  const database = await openDatabase({ dataDir });
  onTestFinished(() => database.stop());
  await runSql(database, 'CREATE TABLE notes (text TEXT NOT NULL)');
  const other = await lock(join(dataDir, 'millrace.db'));
  const add = (connection: Connection) => runSql(connection, "INSERT INTO notes VALUES ('a')");
  const written = kind === 'a statement' ? add(database) : database.transaction(add);
  return { database, other, written };
}

test.each(['wal', 'delete'])(
  'a server does not start with a database that another process locks (%s)',
  async mode => {
    const dataDir = await testTempDir();
    await (await openDatabase({ dataDir })).stop();
    const { pid } = await lock(join(dataDir, 'millrace.db'), mode);
    const holder = process.platform === 'linux' ? `process ${pid} \\(\\S+\\)` : 'another process';
    await expect(startServer({}, { dataDir })).rejects.toMatchObject({
      code: 'database-unusable',
      message: expect.stringMatching(
        new RegExp(
          `^The database \\S+/millrace\\.db is locked by ${holder}: wait until that has finished, or end it, and try again\\.$`,
        ),
      ),
    });
  },
);

test.each(kinds)('%s waits for another process without blocking anybody', async kind => {
  const { database, other, written } = await writeLocked(kind);
  let isSettled = false;
  void written.finally(() => {
    isSettled = true;
  });
  for (let turn = 0; turn < 50; turn += 1) await delay(1);
  expect(isSettled).toBe(false);
  expect(await database.findFault()).toBeUndefined();
  await other.end();
  expect(await written).toBe(1);
});

test.each(kinds)('%s that waited too long says who locks the database', async kind => {
  const { other, written } = await writeLocked(kind);
  const outcome = expect(written).rejects.toMatchObject({
    code: 'database-unusable',
    kind: 'unavailable',
    message: expect.stringContaining(
      process.platform === 'linux' ? ` by process ${other.pid} (` : 'another process',
    ),
  });
  await delay(1);
  const later = performance.now() + 60_000;
  const now = vi.spyOn(performance, 'now').mockReturnValue(later);
  onTestFinished(() => now.mockRestore());
  await outcome;
});
