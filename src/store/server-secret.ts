import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Connection } from './connection.ts';

const secretBytes = 32;

/** Returns a secret that all servers of this database share. Creates it when it is missing. */
export async function openServerSecret(name: string, database: Connection): Promise<Buffer> {
  const { queries } = database;
  const stored = queries.selectFrom('secrets').select('bytes').where('name', '=', name);
  const created = queries
    .insertInto('secrets')
    .values({ name, bytes: randomBytes(secretBytes) })
    .onConflict(conflict => conflict.column('name').doNothing());
  if ((await database.first(stored)) === undefined) await database.run(created);
  return (await database.first(stored))!.bytes;
}

/** Replaces what the servers of this database share under a name; undefined removes it. */
export async function writeServerSecret(
  name: string,
  bytes: Buffer | undefined,
  database: Connection,
): Promise<void> {
  const { queries } = database;
  if (bytes === undefined) {
    await database.run(queries.deleteFrom('secrets').where('name', '=', name));
    return;
  }
  await database.run(
    queries
      .insertInto('secrets')
      .values({ name, bytes })
      .onConflict(conflict => conflict.column('name').doUpdateSet({ bytes: sql`excluded.bytes` })),
  );
}
