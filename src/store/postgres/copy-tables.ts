import type pg from 'pg';
import { AppError } from '../../shared/errors.ts';
import type { CopiedColumn } from './copied-value.ts';

export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly CopiedColumn[];
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** The column that numbers rows. */
  readonly identity: string | undefined;
}

interface ColumnRow extends CopiedColumn {
  readonly table: string;
  readonly is_identity: string;
  readonly position: string | null;
}

/** Tables that tell of the database itself, and of the servers that use it. */
export const tablesNotCopied: readonly string[] = [
  'schema_version',
  'schema_compatibility',
  'nodes',
  'duties',
  'node_loads',
];

/** Tables of the schema of PostgreSQL, each after those that it refers to. */
export async function readTables(client: pg.ClientBase): Promise<CopiedTable[]> {
  const { rows } = await client.query<ColumnRow>(
    `
    SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, NULL) AS type,
      (a.attidentity <> '')::int AS is_identity, array_position(i.indkey::int[], a.attnum::int) AS position
    FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::text::regnamespace 
      AND c.relname <> ALL ($1)
    ORDER BY c.relname, a.attnum`,
    [tablesNotCopied],
  );
  const tables = [...Map.groupBy(rows, row => row.table)].map(([name, columns]) => ({
    name,
    columns: columns.map(({ name, type }) => ({ name, type })),
    key: columns
      .filter(({ position }) => position !== null)
      .sort((one, other) => Number(one.position) - Number(other.position))
      .map(column => column.name),
    identity: columns.find(({ is_identity }) => Number(is_identity) === 1)?.name,
  }));
  return inOrder(tables, await readReferences(client));
}

async function readReferences(client: pg.ClientBase): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ from: string; to: string }>(`
    SELECT one.relname AS from, other.relname AS to
    FROM pg_constraint k JOIN pg_class one ON one.oid = k.conrelid JOIN pg_class other ON other.oid = k.confrelid
    WHERE k.contype = 'f' AND k.conrelid <> k.confrelid`);
  return new Map(
    [...Map.groupBy(rows, row => row.from)].map(([from, all]) => [from, all.map(({ to }) => to)]),
  );
}

function inOrder(tables: readonly CopiedTable[], references: ReadonlyMap<string, string[]>): CopiedTable[] {
  const ordered = new Set<CopiedTable>();
  const visit = (table: CopiedTable) => {
    const others = references.get(table.name) ?? [];
    for (const other of tables) if (others.includes(other.name) && !ordered.has(other)) visit(other);
    ordered.add(table);
  };
  for (const table of tables) visit(table);
  return [...ordered];
}

/** Looks at every table of the schema. @throws AppError `database-unusable` */
export async function assertEmpty(client: pg.ClientBase): Promise<void> {
  for (const { name } of await readTables(client)) {
    const { rows } = await client.query(`SELECT 1 FROM ${quoted(name)} LIMIT 1`);
    if (rows.length === 0) continue;
    throw new AppError(
      'database-unusable',
      `The PostgreSQL database is not empty: the table ${name} has rows. Create a new database and copy to it.`,
    );
  }
}

export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quotedList(names: readonly string[]): string {
  return names.map(quoted).join(', ');
}
