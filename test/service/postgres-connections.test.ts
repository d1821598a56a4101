import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/store/postgres/postgres-database.ts';
import { findPostgres, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { rowsOf, singleValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

const others = `SELECT application_name FROM pg_stat_activity
  WHERE application_name LIKE 'millrace%' AND pid <> pg_backend_pid() ORDER BY 1`;

describe.skipIf(findPostgres() === undefined)('a server', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());

  it('uses few connections, and renews its lease while all are in use', async () => {
    const watcher = await connectPostgres({ url: postgres.url });
    const database = await connectPostgres({ url: postgres.url });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    try {
      // The signals have a connection of their own until the start.
      database.signals.listen('nodes', () => {});
      await waitUntil(async () => (await rowsOf(watcher, others)).length === 1);
      await database.start();
      let begun = 0;
      const held = Array.from({ length: 20 }, () =>
        database.transaction(async transaction => {
          await singleValue(transaction, 'SELECT 1');
          begun += 1;
          await released;
        }),
      );
      await waitUntil(() => begun === 4);
      await waitUntil(async () => (await rowsOf(watcher, others)).length === 5);
      const { queries } = database;
      const renewal = queries.updateTable('nodes').set({ lease_until_ms: 1 }).where('id', '=', 'none');
      expect(await database.runUrgent(renewal)).toBe(0);
      expect(begun).toBe(4);
      // The connection of the renewal closes.
      await waitUntil(async () => (await rowsOf(watcher, others)).length === 5);
      release();
      await Promise.all(held);
      expect(begun).toBe(20);
      expect(await database.runUrgent(renewal)).toBe(0);
      expect(await rowsOf(watcher, others)).toHaveLength(5);
    } finally {
      release();
      await database.stop();
      await watcher.stop();
    }
  });
});
