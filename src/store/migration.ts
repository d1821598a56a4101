import type { Dialect } from './schema/table.ts';

/** Never changes once released; further changes need a new migration. */
export interface Migration {
  readonly name: string;
  /** SQL of the migration, with the functions of `schema/table.ts`, which know the types of both databases. */
  readonly sql: (dialect: Dialect) => string;
  /**
   * A table that `sql` replaces although others refer to it. On SQLite, foreign keys and triggers are not checked meanwhile;
   * references to it are checked before the commit.
   * **Source**: https://www.sqlite.org/lang_altertable.html#otheralter
   */
  readonly rebuiltTable?: string;
  /** Changes that need code, after `sql`: reads rows, and returns statements for both databases. */
  readonly rewrites?: readonly {
    readonly select: string;
    readonly statements: (rows: readonly unknown[]) => readonly string[];
  }[];
  /**
   * False when nodes of the previous version cannot go on with the new schema: default true. A compatible migration only
   * adds: tables, indexes, and columns that may be left out when a row is written.
   */
  readonly isCompatible?: false;
}
