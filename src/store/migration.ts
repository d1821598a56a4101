/** Never changes once released; further changes need a new migration. */
export interface Migration {
  readonly name: string;
  /** Of SQLite. For PostgreSQL, types are translated: `STRICT`, `INTEGER`, `TEXT` and `BLOB`. */
  readonly sql: string;
  /** Such as numbers that go on behind copied rows. */
  readonly afterwardsOnPostgres?: string;
  /**
   * False when nodes of the previous version cannot go on with the new schema: default true. A compatible migration only
   * adds: tables, indexes, and columns that may be left out when a row is written.
   */
  readonly isCompatible?: false;
}
