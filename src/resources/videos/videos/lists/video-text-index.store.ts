import type { Connection, Transaction } from '../../../../store/connection.ts';
import { textQuery } from '../../../../store/raw-query.ts';
import type { SqliteConnection } from '../../../../store/sqlite-connection.ts';
import type { SqliteDatabase } from '../../../../store/sqlite-database.ts';

/**
 * Numbers `first` to `last`, inclusive. `revision` is random, and new after each change of the index entries.
 */
interface TextSlice {
  readonly first: number;
  readonly last: number;
  readonly revision: number;
}

interface StaleText {
  readonly video_number: number;
  readonly title_folded: string | null;
  readonly description_folded: string | null;
}

/** Limits of videos, and of characters of their texts, that are not indexed yet: each search reads them. */
const maxStaleVideos = 256;
const maxStaleCharacters = 40_000;
/** Numbers in a slice: the index counts them in a few milliseconds. */
const sliceLength = 65_536;

/** Raw SQL, because the `videos-list` benchmark depends on FTS5. */
const reads = {
  stale: 'SELECT video_number FROM video_texts_stale',
  countStale: 'SELECT count(*) FROM (SELECT 1 FROM video_texts_stale LIMIT ?)',
  findTexts: 'SELECT rowid FROM video_texts WHERE video_texts MATCH ? LIMIT ?',
  // FTS5 seeks a range only for integers, and better-sqlite3 binds numbers as floating point.
  count: `SELECT count(*) FROM video_texts
    WHERE video_texts MATCH ? AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)`,
  slices: 'SELECT slice, revision FROM video_text_slices ORDER BY slice',
};

const writes = {
  findStale: `SELECT s.video_number, v.title_folded, v.description_folded
    FROM video_texts_stale s LEFT JOIN videos v ON v.number = s.video_number
    ORDER BY s.video_number LIMIT ?`,
  removeTexts: 'DELETE FROM video_texts WHERE rowid = ?',
  addTexts: 'INSERT INTO video_texts (rowid, title, description) VALUES (?, ?, ?)',
  removeStale: 'DELETE FROM video_texts_stale WHERE video_number = ?',
  changeSlice: `INSERT INTO video_text_slices (slice, revision) VALUES (?, abs(random() % 9007199254740991))
    ON CONFLICT DO UPDATE SET revision = excluded.revision`,
};

/**
 * SQLite's trigram index of titles and descriptions, written in batches. Candidates include the stale videos,
 * which are not indexed yet, so that callers that compare every candidate with the filter get exact results.
 */
export class VideoTextIndex {
  readonly #database: SqliteDatabase;
  #pendingVideos = maxStaleVideos;
  #pendingCharacters = 0;

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  /** Call this after each write of texts, with their length. Indexes a batch when many are stale. */
  async noteWrite(characters: number, connection: Connection): Promise<void> {
    this.#pendingVideos += 1;
    this.#pendingCharacters += characters;
    if (this.#pendingVideos < maxStaleVideos && this.#pendingCharacters < maxStaleCharacters) return;
    await this.#indexStale(connection);
  }

  async indexIfMany(): Promise<void> {
    if (this.#hasMoreStaleThan(maxStaleVideos)) await this.#indexStale(this.#database);
  }

  async index(): Promise<void> {
    if (this.#hasMoreStaleThan(0)) await this.#indexStale(this.#database);
  }

  /**
   * Includes videos that do not match; undefined when there are more than `maxCount`, or too many stale ones.
   */
  candidates(connection: SqliteConnection, query: string, maxCount: number): number[] | undefined {
    if (countStale(connection, maxStaleVideos + 1) > maxStaleVideos) return undefined;
    const found = connection.values(reads.findTexts, [query, maxCount + 1]) as number[];
    if (found.length > maxCount) return undefined;
    return [...found, ...(connection.values(reads.stale, []) as number[])];
  }

  /** Undefined while videos are stale. */
  slices(connection: SqliteConnection): TextSlice[] | undefined {
    if (countStale(connection, 1) > 0) return undefined;
    const rows = connection.prepare(reads.slices).all() as { slice: number; revision: number }[];
    return rows.map(({ slice, revision }) => {
      const first = slice * sliceLength;
      return { first, last: first + sliceLength - 1, revision };
    });
  }

  countIn(connection: SqliteConnection, { first, last }: TextSlice, query: string): number {
    return (connection.value(reads.count, [query, first, last]) as number | undefined) ?? 0;
  }

  /** Asks the database, because writes may have been rolled back. */
  #hasMoreStaleThan(count: number): boolean {
    return this.#database.readNow(connection => countStale(connection, count + 1)) > count;
  }

  async #indexStale(connection: Connection): Promise<void> {
    this.#pendingVideos = 0;
    this.#pendingCharacters = 0;
    await connection.transaction(indexBatch);
  }
}

async function indexBatch(transaction: Transaction): Promise<void> {
  const run = (text: string, ...values: unknown[]) => transaction.run(textQuery(transaction, text, values));
  const stale = await transaction.all(textQuery<StaleText>(transaction, writes.findStale, [maxStaleVideos]));
  const slices = new Set<number>();
  let characters = 0;
  for (const { video_number, title_folded, description_folded } of stale) {
    if (characters > maxStaleCharacters) break;
    slices.add(Math.floor(video_number / sliceLength));
    await run(writes.removeTexts, video_number);
    if (title_folded !== null && description_folded !== null) {
      await run(writes.addTexts, video_number, title_folded, description_folded);
      characters += title_folded.length + description_folded.length;
    }
    await run(writes.removeStale, video_number);
  }
  for (const slice of slices) await run(writes.changeSlice, slice);
}

function countStale(connection: SqliteConnection, limit: number): number {
  return connection.value(reads.countStale, [limit]) as number;
}
