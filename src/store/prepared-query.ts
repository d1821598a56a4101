import { type Compilable, type CompiledQuery, type Expression, sql } from 'kysely';

export type Bound<Values> = { readonly [Name in keyof Values]: Expression<Values[Name]> };

/** Binds the values of one run. */
export type PreparedQuery<Values, Row> = (values: Values) => Compilable<Row>;

class Placeholder {
  readonly name: PropertyKey;

  constructor(name: PropertyKey) {
    this.name = name;
  }
}

/**
 * Prepares a query for a hot path. Call this once, in a store's constructor. Compiles at the first run: compiling takes
 * twice as long as SQLite takes for a row by its key.
 *
 * With a join, ORDER BY or LIMIT, the planner of our SQLite (SQLITE_ENABLE_STAT4) looks at the parameters that columns are compared
 * with, and each run prepares the statement again, which takes 5 to 40 µs. It does not look into {@link asText}.
 */
export function prepareQuery<Values, Row>(
  build: (parameters: Bound<Values>) => Compilable<Row>,
): PreparedQuery<Values, Row> {
  let compiled: CompiledQuery<Row> | undefined;
  return values => ({
    compile: () => {
      compiled ??= build(placeholders()).compile();
      const parameters = compiled.parameters.map(value =>
        value instanceof Placeholder ? values[value.name as keyof Values] : value,
      );
      return { ...compiled, parameters };
    },
  });
}

/** A parameter that does not make SQLite prepare the statement again: see {@link prepareQuery}. */
export function asText(value: Expression<string | null> | string) {
  return sql<string>`cast(${value} as text)`;
}

function placeholders<Values>(): Bound<Values> {
  return new Proxy({} as Bound<Values>, { get: (_, name) => sql`${new Placeholder(name)}` });
}
