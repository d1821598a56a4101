import { connectPostgres } from '../../src/store/postgres/postgres-database.ts';
import { createPostgresDatabase, findPostgres, startPostgres } from './postgres.ts';
import { sharedPostgres } from './shared-postgres.ts';

/** Starts one server for all test files of a run, keeps a copy of its files for further ones, and returns what stops it. */
export default async function startSharedPostgres(): Promise<(() => Promise<void>) | undefined> {
  if (process.env[sharedPostgres.url] !== undefined || findPostgres() === undefined) return undefined;
  const server = await startPostgres();
  const database = await connectPostgres({
    url: await createPostgresDatabase(server.url, sharedPostgres.template),
  });
  await database.stop();
  process.env[sharedPostgres.data] = await server.copyData();
  process.env[sharedPostgres.url] = server.url;
  return async () => {
    delete process.env[sharedPostgres.url];
    delete process.env[sharedPostgres.data];
    await server.stop();
  };
}
