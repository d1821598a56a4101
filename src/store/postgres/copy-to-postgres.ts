import { createHash, type Hash } from 'node:crypto';
import pg from 'pg';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Secret } from '../../shared/secret.ts';
import { canonicalText, postgresText } from './copied-value.ts';
import { assertEmpty, type CopiedTable, quoted, quotedList, readTables } from './copy-tables.ts';
import { migratePostgres } from './postgres-migrations.ts';
import { postgresUnusable } from './postgres-unusable.ts';
import { SqliteSource } from './sqlite-source.ts';

interface CopyProgress {
  begin(table: string, rows: number): void;
  add(rows: number): void;
  end(): void;
}

interface CopyOptions {
  readonly dataDir: string;
  readonly url: Secret;
  /** Names where the URL is from, for messages. */
  readonly urlSource: string;
  readonly progress: CopyProgress;
  readonly signal: AbortSignal;
}

/** Rows of a table and their SHA-256, which is the same for equal rows. */
interface TableSum {
  readonly table: string;
  readonly rows: number;
  readonly checksum: string;
}

type Row = readonly (string | null)[];

const connectTimeoutMs = 10_000;
const maxBatchRows = 1_000;
const maxBatchCharacters = 1024 * 1024;
const int4 = 23;

/**
 * Copies all rows in one transaction and reads them again before it commits, so that the target has all or none. Memory use
 * does not depend on the number of rows. @throws AppError `data-dir-unusable`, `database-unusable`
 */
export async function copyToPostgres(options: CopyOptions): Promise<TableSum[]> {
  const { dataDir, url, urlSource, signal } = options;
  const source = SqliteSource.open(dataDir);
  const client = new pg.Client({
    connectionString: url.reveal(),
    application_name: 'millrace database copy',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: id => (id === int4 ? Number : (text: string) => text) },
  });
  // The query that runs then fails, too.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(
      "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; SET bytea_output = 'hex'",
    );
    await assertEmpty(client);
    await migratePostgres(client);
    const tables = await readTables(client);
    source.checkTables(tables);
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${quotedList(tables.map(({ name }) => name))} IN ACCESS EXCLUSIVE MODE`);
    await assertEmpty(client);
    const sums: TableSum[] = [];
    for (const table of tables) sums.push(await copyTable(source, client, table, options));
    signal.throwIfAborted();
    await client.query('COMMIT');
    await client.query('ANALYZE');
    return sums;
  } catch (error) {
    if (signal.aborted) throw error;
    throw postgresUnusable(url.reveal(), error, urlSource);
  } finally {
    options.progress.end();
    // Rolls back what is not committed.
    await client.end().catch(() => {});
    source.close();
  }
}

async function copyTable(
  source: SqliteSource,
  client: pg.ClientBase,
  table: CopiedTable,
  { progress, signal }: CopyOptions,
): Promise<TableSum> {
  const { name, identity } = table;
  try {
    progress.begin(`Copying ${name}`, source.count(table));
    // Triggers would count rows that are copied as counted.
    await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
    const written = new RowSum(table);
    for (const batch of batchesOf(source, table)) {
      signal.throwIfAborted();
      written.add(batch);
      await insert(client, table, batch);
      progress.add(batch.length);
    }
    await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
    if (identity !== undefined) {
      const next = source.lastNumber(name, identity) + 1n;
      await client.query(`ALTER TABLE ${quoted(name)} ALTER COLUMN ${quoted(identity)} RESTART WITH ${next}`);
    }
    progress.begin(`Checking ${name}`, written.rows);
    const stored = await sumOf(client, table, rows => {
      signal.throwIfAborted();
      progress.add(rows);
    });
    const sum = written.result();
    if (stored.rows !== sum.rows || stored.checksum !== sum.checksum) {
      throw new Error(
        `PostgreSQL has ${stored.rows} rows with the checksum ${stored.checksum}, and SQLite ${sum.rows} with ${sum.checksum}`,
      );
    }
    return sum;
  } catch (error) {
    if (signal.aborted) throw error;
    throw new AppError(
      'database-unusable',
      `Nothing was copied, because the table ${name} cannot be copied: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function* batchesOf(source: SqliteSource, table: CopiedTable): Generator<Row[]> {
  let batch: Row[] = [];
  let characters = 0;
  for (const values of source.rows(table)) {
    const row = values.map((value, index) => postgresText(value, table.columns[index]!));
    batch.push(row);
    characters += row.reduce((sum, text) => sum + (text?.length ?? 0), 0);
    if (batch.length < maxBatchRows && characters < maxBatchCharacters) continue;
    yield batch;
    batch = [];
    characters = 0;
  }
  if (batch.length > 0) yield batch;
}

async function insert(client: pg.ClientBase, { name, columns }: CopiedTable, rows: Row[]): Promise<void> {
  const names = quotedList(columns.map(column => column.name));
  const arrays = columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ');
  await client.query(
    `INSERT INTO ${quoted(name)} (${names}) SELECT * FROM unnest(${arrays})`,
    columns.map((_, index) => rows.map(row => row[index])),
  );
}

async function sumOf(
  client: pg.ClientBase,
  table: CopiedTable,
  onRows: (rows: number) => void,
): Promise<TableSum> {
  const { name, columns, key } = table;
  const sum = new RowSum(table);
  const names = quotedList(columns.map(column => column.name));
  await client.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT ${names} FROM ${quoted(name)} ORDER BY ${quotedList(key)}`,
  );
  for (;;) {
    const { rows } = await client.query<(string | null)[]>({
      text: `FETCH ${maxBatchRows} FROM copied`,
      rowMode: 'array',
    });
    if (rows.length === 0) break;
    sum.add(rows);
    onRows(rows.length);
  }
  await client.query('CLOSE copied');
  return sum.result();
}

class RowSum {
  readonly #table: CopiedTable;
  readonly #hash: Hash = createHash('sha256');
  rows = 0;

  constructor(table: CopiedTable) {
    this.#table = table;
  }

  add(rows: readonly Row[]): void {
    const { columns } = this.#table;
    this.rows += rows.length;
    this.#hash.update(
      rows.map(row => row.map((text, index) => canonicalText(text, columns[index]!)).join('')).join(''),
    );
  }

  /** May be called once. */
  result(): TableSum {
    return { table: this.#table.name, rows: this.rows, checksum: this.#hash.digest('hex') };
  }
}
