import type { SelectQueryBuilder } from 'kysely';
import type { Connection } from './connection.ts';

/**
 * Keeps the selected rows from being deleted until the transaction ends, so that others may refer to them.
 * @param of the table, when the query joins several
 */
export function lockForKeyShare<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { dialect }: Pick<Connection, 'dialect'>,
  of?: Table & string,
): SelectQueryBuilder<Tables, Table, Row> {
  // SQLite has one writer.
  if (dialect === 'sqlite') return query;
  return of === undefined ? query.forKeyShare() : query.forKeyShare(of);
}

/** Keeps others from changing the selected rows, and from referring to them, until the transaction ends. */
export function lockForUpdate<Tables, Table extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  { dialect }: Pick<Connection, 'dialect'>,
): SelectQueryBuilder<Tables, Table, Row> {
  return dialect === 'sqlite' ? query : query.forUpdate();
}
