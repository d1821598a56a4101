import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../shared/errors.ts';
import { schemaVersion } from './migrations.ts';
import { assertMigratable, assertNotTooNew } from './schema-compatibility.ts';
import { addSqlFunctions } from './sql-functions.ts';

/** Copies all pages in one step: several steps restart whenever the server writes in between. */
const allPages = 0x7fff_ffff;
const busyTimeoutMs = 30_000;

/** Works beside a server. @throws AppError `database-unusable` when there is none, or it is damaged */
export async function copyDatabase(dataDir: string, target: string): Promise<void> {
  const path = join(dataDir, 'millrace.db');
  if (!existsSync(path)) {
    throw new AppError(
      'database-unusable',
      `There is no database in ${dataDir}. Set the data folder with --dataDir=PATH.`,
    );
  }
  const source = new Sqlite(path, { timeout: busyTimeoutMs, fileMustExist: true });
  try {
    await source.backup(target, { progress: () => allPages });
  } finally {
    source.close();
  }
  checkDatabaseFile(target, 'copied');
}

/**
 * Expects an unused database. One that is copied may be of a version that this one no longer migrates from.
 * @throws AppError `database-unusable` when it is damaged, newer, or restored and too old
 */
export function checkDatabaseFile(path: string, use: 'copied' | 'restored'): void {
  let found: string;
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new Sqlite(path, { fileMustExist: true });
    addSqlFunctions(sqlite);
    const version = sqlite.pragma('user_version', { simple: true }) as number;
    assertNotTooNew('The database', { version, minVersion: undefined }, schemaVersion);
    if (use === 'restored')
      assertMigratable('The database of the backup', { version, minVersion: undefined });
    found = sqlite.pragma('integrity_check(1)', { simple: true }) as string;
    if (found === 'ok' && version === 0) found = 'it has no tables';
    // Leaves one file: in WAL mode the journal is a second one.
    sqlite.pragma('journal_mode = DELETE');
  } catch (error) {
    if (error instanceof AppError) throw error;
    found = messageOf(error);
  } finally {
    sqlite?.close();
  }
  if (found !== 'ok') throw new AppError('database-unusable', `The database is damaged: ${found}.`);
}
