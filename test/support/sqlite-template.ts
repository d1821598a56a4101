import { constants, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

/** Environment variable with the path of a database that has all tables and no rows, for tests to copy. */
export const sqliteTemplate = 'MILLRACE_TEST_SQLITE';

/** Spares a new data folder the migrations. */
export function copySqliteTemplate(dataDir: string): void {
  const template = process.env[sqliteTemplate];
  const path = join(dataDir, 'millrace.db');
  if (template !== undefined && existsSync(dataDir) && !existsSync(path))
    copyFileSync(template, path, constants.COPYFILE_EXCL);
}
