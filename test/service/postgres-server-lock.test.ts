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
});
