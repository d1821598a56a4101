import type Sqlite from 'better-sqlite3';
import { type Compilable, type Expression, sql } from 'kysely';

export type Bound<Values> = { readonly [Name in keyof Values]: Expression<Values[Name]> };

class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/** Compiles at the first run: compiling takes twice as long as SQLite takes for a row by its key. */
export class PreparedQuery<Values, Row> {
  readonly #prepare: (sql: string) => Sqlite.Statement;
  readonly #onWrite: () => void;
  readonly #build: (parameters: Bound<Values>) => Compilable<Row>;
  #statement: Sqlite.Statement | undefined;
  #parameters: readonly unknown[] = [];

  constructor(
    database: { prepare: (sql: string) => Sqlite.Statement; onWrite: () => void },
    build: (parameters: Bound<Values>) => Compilable<Row>,
  ) {
    this.#prepare = database.prepare;
    this.#onWrite = database.onWrite;
    this.#build = build;
  }

  all(values: Values): Row[] {
    const statement = this.#compile();
    return statement.all(...this.#bind(values)) as Row[];
  }

  first(values: Values): Row | undefined {
    const statement = this.#compile();
    return statement.get(...this.#bind(values)) as Row | undefined;
  }

  run(values: Values): number {
    const statement = this.#compile();
    this.#onWrite();
    return statement.run(...this.#bind(values)).changes;
  }

  #compile(): Sqlite.Statement {
    if (this.#statement === undefined) {
      const placeholders = new Proxy({} as Bound<Values>, {
        get: (_, name) => sql`${new Placeholder(name)}`,
      });
      const { sql: text, parameters } = this.#build(placeholders).compile();
      this.#statement = this.#prepare(text);
      this.#parameters = parameters;
    }
    return this.#statement;
  }

  #bind(values: Values): unknown[] {
    return this.#parameters.map(value =>
      value instanceof Placeholder ? values[value.name as keyof Values] : value,
    );
  }
}
