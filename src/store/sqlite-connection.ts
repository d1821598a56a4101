import type Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';

const maxStatements = 256;

/** One SQLite connection with its prepared statements. */
export class SqliteConnection {
  readonly sqlite: Sqlite.Database;
  readonly #statements = new LRUCache<string, Sqlite.Statement>({ max: maxStatements });

  constructor(sqlite: Sqlite.Database) {
    this.sqlite = sqlite;
  }

  prepare(sql: string): Sqlite.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  all<Row>({ sql, parameters }: CompiledQuery<Row>): Row[] {
    return this.prepare(sql).all(...parameters) as Row[];
  }

  first<Row>({ sql, parameters }: CompiledQuery<Row>): Row | undefined {
    return this.prepare(sql).get(...parameters) as Row | undefined;
  }

  run({ sql, parameters }: CompiledQuery): number {
    return this.prepare(sql).run(...parameters).changes;
  }

  /** Returns the first column of each row. */
  values(sql: string, parameters: readonly unknown[]): unknown[] {
    return this.prepare(sql)
      .pluck()
      .all(...parameters);
  }

  /** Returns the first column of the first row. */
  value(sql: string, parameters: readonly unknown[]): unknown {
    return this.prepare(sql)
      .pluck()
      .get(...parameters);
  }

  close(): void {
    this.#statements.clear();
    if (this.sqlite.open) this.sqlite.close();
  }
}
