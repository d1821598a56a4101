import { join } from 'node:path';
import { openDatabase } from '../../src/store/open-database.ts';
import { knownPrograms, noteKnownPrograms } from './known-programs.ts';
import { sqliteTemplate } from './sqlite-template.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';

/** Runs the migrations and looks at the machine's programs, once for all test files of a run. Returns what removes the files. */
export default async function prepareSqliteTemplate(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[sqliteTemplate] !== undefined) return undefined;
  const dataDir = await makeTempDir();
  await (await openDatabase({ dataDir })).stop();
  process.env[sqliteTemplate] = join(dataDir, 'millrace.db');
  process.env[knownPrograms] = await noteKnownPrograms(dataDir);
  return async () => {
    delete process.env[sqliteTemplate];
    delete process.env[knownPrograms];
    await removeDir(dataDir);
  };
}
