import type { Compilable, Kysely } from 'kysely';
import type { Dialect } from './schema/table.ts';
import type { Tables } from './tables.ts';

/** Builds queries. They run through a {@link Connection}, so that a transaction's handle is always an argument. */
export type Queries = Pick<
  Kysely<Tables>,
  'selectFrom' | 'insertInto' | 'updateTable' | 'deleteFrom' | 'with' | 'withRecursive' | 'selectNoFrom'
>;

/** The database, or one transaction of it. A store's method that takes one belongs to the caller's transaction. */
export interface Connection {
  readonly dialect: Dialect;
  readonly queries: Queries;
  all<Row>(query: Compilable<Row>): Promise<Row[]>;
  first<Row>(query: Compilable<Row>): Promise<Row | undefined>;
  /** Returns the number of changed rows. */
  run(query: Compilable): Promise<number>;
  /**
   * Commits what `work` writes, or nothing when it throws. Within a transaction, `work` belongs to that one. `work` must
   * write through its argument and should only wait for the database: SQLite has one writer. PostgreSQL may run it again.
   */
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
  /** Calls `listener` after the commit, and never after a rollback. Outside a transaction: at once. */
  afterCommit(listener: () => void): void;
}

export interface Transaction extends Connection {
  /**
   * Takes a lock: other transactions with the same key wait here until this one ends. SQLite runs one at a time in
   * any case.
   */
  lock(...key: readonly string[]): Promise<void>;
}
