import type { Compilable, CompiledQuery } from 'kysely';
import type { Queries, Transaction } from './connection.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { TransactionScope } from './transaction-scope.ts';

/** The open transaction of the connection that writes. */
export class SqliteTransaction implements Transaction {
  readonly dialect = 'sqlite';
  readonly queries: Queries;
  readonly #connection: SqliteConnection;
  readonly #scope: TransactionScope;

  constructor(connection: SqliteConnection, queries: Queries, scope: TransactionScope) {
    this.queries = queries;
    this.#connection = connection;
    this.#scope = scope;
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    return this.#perform(query, compiled => this.#connection.all(compiled));
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    return this.#perform(query, compiled => this.#connection.first(compiled));
  }

  async run(query: Compilable): Promise<number> {
    return this.#perform(query, compiled => this.#connection.run(compiled));
  }

  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    return work(this);
  }

  afterCommit(listener: () => void): void {
    this.#scope.afterCommit(listener);
  }

  async lock(): Promise<void> {
    this.#scope.assertOpen();
  }

  #perform<Row, Result>(query: Compilable<Row>, perform: (compiled: CompiledQuery<Row>) => Result): Result {
    this.#scope.assertOpen();
    try {
      return perform(query.compile());
    } catch (error) {
      // SQLite has rolled it back, as when the disk is full: nothing may be written outside of it.
      if (!this.#connection.sqlite.inTransaction) this.#scope.end();
      throw error;
    }
  }
}
