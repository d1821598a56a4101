import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { AppError, messageOf } from '../../shared/errors.ts';
import { assertRestoreFinished, DataFolderLock, isDataFolderLocked } from '../data-folder-lock.ts';
import { checkIsCurrent } from '../migrations.ts';
import type { SqliteValue } from './copied-value.ts';
import { type CopiedTable, quoted, quotedList, tablesNotCopied } from './copy-tables.ts';

/** Video lists and text search of SQLite: PostgreSQL has indexes for them. */
const sqliteOnly = /^(?:sqlite_.*|video_blocks_.*|video_texts.*|video_text_slices)$/;

/** The database of a stopped server, which cannot start or be changed until `close`. */
export class SqliteSource {
  readonly #sqlite: Sqlite.Database;
  readonly #lock: DataFolderLock;

  private constructor(sqlite: Sqlite.Database, lock: DataFolderLock) {
    this.#sqlite = sqlite;
    this.#lock = lock;
  }

  /** @throws AppError `data-dir-unusable`, `database-unusable` */
  static open(dataDir: string): SqliteSource {
    const path = join(dataDir, 'millrace.db');
    assertRestoreFinished(dataDir);
    if (!existsSync(path)) {
      const advice = 'Name the data folder of the server with --from PATH.';
      throw new AppError('database-unusable', `There is no SQLite database in ${dataDir}. ${advice}`);
    }
    if (isDataFolderLocked(dataDir)) {
      const advice = 'Stop it, copy the database, and start it with PostgreSQL.';
      throw new AppError('data-dir-unusable', `A server runs on the data folder ${dataDir}. ${advice}`);
    }
    const lock = DataFolderLock.acquire(dataDir);
    let sqlite: Sqlite.Database | undefined;
    try {
      sqlite = new Sqlite(path, { fileMustExist: true });
      checkIsCurrent(sqlite);
      const found = sqlite.pragma('quick_check(1)', { simple: true });
      if (found !== 'ok') throw new Error(`it is damaged: ${found}`);
      // Refuses the account command, whose changes would be lost.
      sqlite.exec('BEGIN IMMEDIATE');
      sqlite.defaultSafeIntegers();
      return new SqliteSource(sqlite, lock);
    } catch (error) {
      sqlite?.close();
      lock.release();
      if (error instanceof AppError) throw error;
      throw new AppError('database-unusable', `The database ${path} cannot be copied: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** @throws AppError `database-unusable` when the tables are not those of this version */
  checkTables(tables: readonly CopiedTable[]): void {
    const names = this.#column("SELECT name FROM sqlite_schema WHERE type = 'table'");
    const unknown = names.filter(
      name =>
        !sqliteOnly.test(name) &&
        !tablesNotCopied.includes(name) &&
        !tables.some(table => table.name === name),
    );
    const differing = tables.filter(
      ({ name, columns }) =>
        this.#column('SELECT name FROM pragma_table_info(?)', name).sort().join() !==
        columns
          .map(column => column.name)
          .sort()
          .join(),
    );
    const all = [...unknown, ...differing.map(({ name }) => name)];
    if (all.length === 0) return;
    throw new AppError(
      'database-unusable',
      `The tables of SQLite and PostgreSQL differ: ${all.join(', ')}. Use a new PostgreSQL database.`,
    );
  }

  count(table: CopiedTable): number {
    return Number(
      this.#sqlite
        .prepare(`SELECT count(*) FROM ${quoted(table.name)}`)
        .pluck()
        .get(),
    );
  }

  /** Reads rows in the order of the primary key. */
  rows({ name, columns, key }: CopiedTable): IterableIterator<SqliteValue[]> {
    const names = quotedList(columns.map(column => column.name));
    return this.#sqlite
      .prepare<[], SqliteValue[]>(`SELECT ${names} FROM ${quoted(name)} ORDER BY ${quotedList(key)}`)
      .raw()
      .iterate();
  }

  /** The highest number that a row had, also of a removed one. */
  lastNumber(table: string, column: string): bigint {
    const found = this.#sqlite
      .prepare<[string], bigint | null>(
        `SELECT max(coalesce((SELECT max(${quoted(column)}) FROM ${quoted(table)}), 0),
          coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = ?), 0))`,
      )
      .pluck()
      .get(table);
    return found ?? 0n;
  }

  close(): void {
    this.#sqlite.close();
    this.#lock.release();
  }

  #column(query: string, ...values: string[]): string[] {
    return this.#sqlite
      .prepare<string[], string>(query)
      .pluck()
      .all(...values);
  }
}
