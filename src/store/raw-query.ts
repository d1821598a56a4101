import { type Compilable, CompiledQuery, type Kysely, type RawBuilder } from 'kysely';
import type { Connection, Queries } from './connection.ts';
import type { Tables } from './tables.ts';

type Dialect = Connection['dialect'];

/** A query in SQL, for what the query builder cannot say. */
export function rawQuery<Row>(queries: Queries, raw: RawBuilder<Row>): Compilable<Row> {
  return { compile: () => raw.compile(queries as Kysely<Tables>) };
}

/** SQL with a `?` for each value, for statements that are composed from parts or run very often. */
export function textQuery<Row>(
  { dialect }: Pick<Connection, 'dialect'>,
  text: string,
  values: readonly unknown[],
): Compilable<Row> {
  return { compile: () => CompiledQuery.raw(dialect === 'postgres' ? numbered(text) : text, [...values]) };
}

/** The items of one `?` that is bound to a JSON array, so that statements are the same for any number of items. */
export function jsonItems(dialect: Dialect, type: 'number' | 'text'): string {
  if (dialect === 'sqlite') return '(SELECT value FROM json_each(?))';
  const item = type === 'number' ? 'item::bigint' : 'item';
  return `(SELECT ${item} FROM jsonb_array_elements_text(?::jsonb) AS item)`;
}

/** The rows of one `?` that is bound to a JSON array of objects, as a table. */
export function jsonRows(dialect: Dialect, columns: Readonly<Record<string, 'bigint' | 'text'>>): string {
  const names = Object.keys(columns);
  if (dialect === 'sqlite') {
    return `(SELECT ${names.map(name => `value ->> '${name}' AS ${name}`).join(', ')} FROM json_each(?))`;
  }
  const typed = names.map(name => `${name} ${columns[name]}`).join(', ');
  return `(SELECT * FROM jsonb_to_recordset(?::jsonb) AS item (${typed}))`;
}

/** PostgreSQL chooses indexes itself. */
export function indexedBy(dialect: Dialect, index: string): string {
  return dialect === 'sqlite' ? `INDEXED BY ${index}` : '';
}

function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}
