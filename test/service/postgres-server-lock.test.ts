import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/store/postgres/postgres-database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { singleValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const countLocks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";

describe.skipIf(findPostgres() === undefined)('a PostgreSQL database', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  it('is used by one server at a time, also after PostgreSQL was started again', async () => {
    const first = await connectPostgres({ url: postgres.url });
    const second = await connectPostgres({ url: postgres.url });
    try {
      await first.start();
      await expect(second.start()).rejects.toMatchObject({ code: 'database-unusable' });
      await postgres.kill();
      await postgres.start();
      await waitUntil(async () => (await singleValue(second, countLocks)) === 1);
      await expect(second.start()).rejects.toThrow('Another server uses this PostgreSQL database.');
      await first.stop();
      await second.start();
    } finally {
      await first.stop();
      await second.stop();
    }
  });

  it('is shared only by servers that all share their media', async () => {
    const shared = { url: postgres.url, isShared: true };
    const servers = [await connectPostgres(shared), await connectPostgres(shared)];
    const alone = await connectPostgres({ url: postgres.url });
    try {
      for (const server of servers) await server.start();
      await expect(alone.start()).rejects.toThrow('MILLRACE_STORAGE_URL');
      for (const server of servers) await server.stop();
      await alone.start();
    } finally {
      for (const server of [...servers, alone]) await server.stop();
    }
  });
});
