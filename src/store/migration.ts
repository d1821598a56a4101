/** Reads rows, and returns statements for both databases. */
export interface Rewrite {
  readonly select: string;
  readonly statements: (rows: readonly unknown[]) => readonly string[];
}

/** Never changes once released; further changes need a new migration. */
export interface Migration {
  readonly name: string;
  /** Of SQLite. For PostgreSQL, types are translated: `STRICT`, `INTEGER`, `TEXT` and `BLOB`. */
  readonly sql: string;
  /** In the place of `sql` on PostgreSQL, with the same translation. */
  readonly sqlOfPostgres?: string;
  /**
   * A table that `sql` replaces although others refer to it. On SQLite, foreign keys and triggers are not checked meanwhile;
   * references to it are checked before the commit.
   * **Source**: https://www.sqlite.org/lang_altertable.html#otheralter
   */
  readonly rebuiltTable?: string;
  /** Changes that need code, after `sql`. */
  readonly rewrites?: readonly Rewrite[];
  /** Such as numbers that go on behind copied rows. */
  readonly afterwardsOnPostgres?: string;
  /**
   * False when nodes of the previous version cannot go on with the new schema: default true. A compatible migration only
   * adds: tables, indexes, and columns that may be left out when a row is written.
   */
  readonly isCompatible?: false;
}
