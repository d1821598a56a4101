import { join } from 'node:path';
import { openDatabase } from '../../src/store/open-database.ts';
import { sqliteTemplate } from './sqlite-template.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';

/** Runs the migrations once for all test files of a run, and returns what removes the database. */
export default async function prepareSqliteTemplate(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[sqliteTemplate] !== undefined) return undefined;
  const dataDir = await makeTempDir();
  await (await openDatabase({ dataDir })).stop();
  process.env[sqliteTemplate] = join(dataDir, 'millrace.db');
  return async () => {
    delete process.env[sqliteTemplate];
    await removeDir(dataDir);
  };
}
