import type { Connection } from '../../src/store/connection.ts';
import { textQuery } from '../../src/store/raw-query.ts';

/** Rows of a query with a `?` for each value. */
export function rowsOf<Row>(connection: Connection, text: string, ...values: unknown[]): Promise<Row[]> {
  return connection.all(textQuery<Row>(connection, text, values));
}

/** The only column of the first row, or undefined. */
export async function singleValue<Value>(
  connection: Connection,
  text: string,
  ...values: unknown[]
): Promise<Value | undefined> {
  const row = await connection.first(textQuery<Record<string, Value>>(connection, text, values));
  return row && Object.values(row)[0];
}

/** Returns the number of changed rows. */
export function runSql(connection: Connection, text: string, ...values: unknown[]): Promise<number> {
  return connection.run(textQuery(connection, text, values));
}

/** Reads the rows of the tables that `isWanted`. */
export async function rowsByTable(
  connection: Connection,
  isWanted: (table: string) => boolean,
): Promise<Record<string, Record<string, unknown>[]>> {
  const named =
    connection.dialect === 'sqlite'
      ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
      : 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()';
  const names = (await rowsOf<{ name: string }>(connection, named)).map(({ name }) => name);
  const tables: Record<string, Record<string, unknown>[]> = {};
  for (const name of names.filter(isWanted))
    tables[name] = await rowsOf(connection, `SELECT * FROM "${name}"`);
  return tables;
}

/** Returns the values that the database holds, as text. */
export async function databaseText(connection: Connection): Promise<string> {
  const tables = await rowsByTable(connection, () => true);
  return Object.values(tables)
    .flat()
    .flatMap(row => Object.values(row))
    .map(value => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
    .join('\n');
}

/** Fails statements on a table as a full disk does, until {@link acceptWrites}. */
export async function refuseWrites(
  connection: Connection,
  statement: 'INSERT' | 'DELETE',
  table: string,
): Promise<void> {
  if (connection.dialect === 'sqlite') {
    const refusal = `BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`;
    await runSql(connection, `CREATE TRIGGER refused BEFORE ${statement} ON ${table} ${refusal}`);
    return;
  }
  await runSql(
    connection,
    `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE 'the disk is full'; END $$`,
  );
  await runSql(
    connection,
    `CREATE TRIGGER refused BEFORE ${statement} ON ${table} EXECUTE FUNCTION refuse()`,
  );
}

export async function acceptWrites(connection: Connection, table: string): Promise<void> {
  const on = connection.dialect === 'sqlite' ? '' : ` ON ${table}`;
  await runSql(connection, `DROP TRIGGER refused${on}`);
}
