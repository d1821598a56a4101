import { randomUUID } from 'node:crypto';
import { Secret } from '../../src/shared/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import {
  createPostgresDatabase,
  findPostgres,
  type PostgresServer,
  runOnPostgres,
  startPostgres,
} from './postgres.ts';
import { sharedPostgres } from './shared-postgres.ts';
import { copySqliteTemplate } from './sqlite-template.ts';

export type DatabaseKind = 'SQLite' | 'PostgreSQL';

const hasPostgres = findPostgres() !== undefined;
if (!hasPostgres)
  process.stderr.write('Tests with PostgreSQL are skipped: it is not installed (Debian: postgresql).\n');

/** PostgreSQL only where it is installed. */
export const databaseKinds: readonly DatabaseKind[] = hasPostgres ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

let server: Promise<PostgresServer> | undefined;
/** URLs by data folder, so that a folder can be opened again. */
const urls = new Map<string, Promise<string>>();

/** The database of tests that choose none: PostgreSQL in the project `postgres`. */
export const usualKind: DatabaseKind =
  process.env.MILLRACE_TEST_DATABASE === 'postgres' ? 'PostgreSQL' : 'SQLite';

export async function openTestDatabase(dataDir: string, kind = usualKind): Promise<Database> {
  if (kind === 'PostgreSQL') return openDatabase({ dataDir, url: new Secret(await postgresUrlOf(dataDir)) });
  copySqliteTemplate(dataDir);
  return openDatabase({ dataDir });
}

/** Returns the URL of the database that belongs to a data folder; the first call creates it. */
export async function postgresUrlOf(dataDir: string): Promise<string> {
  let url = urls.get(dataDir);
  if (url === undefined) {
    url = createDatabase();
    urls.set(dataDir, url);
  }
  return url;
}

/** Creates a database on the server of the whole run, or else on one of this file. */
async function createDatabase(): Promise<string> {
  const name = `test_${randomUUID()}`;
  const serverUrl = process.env[sharedPostgres.url];
  if (serverUrl !== undefined) return createPostgresDatabase(serverUrl, name, sharedPostgres.template);
  server ??= startPostgres();
  return createPostgresDatabase((await server).url, name);
}

async function dropDatabase(serverUrl: string, name: string): Promise<void> {
  await runOnPostgres(serverUrl, `DROP DATABASE "${name}" WITH (FORCE)`);
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}

/** Drops the databases that the tests of a file created on PostgreSQL. */
export async function removeDatabases(): Promise<void> {
  const serverUrl = process.env[sharedPostgres.url];
  if (serverUrl !== undefined)
    for (const url of urls.values()) await dropDatabase(serverUrl, nameOf(await url));
  urls.clear();
  await (await server)?.stop();
  server = undefined;
}
