import type { Database } from '../../../store/database.ts';

/**
 * Numbers `first` to `last`, inclusive. `revision` is random, and new after each change of the index entries.
 */
interface TextSlice {
  readonly first: number;
  readonly last: number;
  readonly revision: number;
}

/** Limits of videos, and of characters of their texts, that are not indexed yet: each search reads them. */
const maxStaleVideos = 256;
const maxStaleCharacters = 40_000;
/** Numbers in a slice: the index counts them in a few milliseconds. */
const sliceLength = 65_536;

/**
 * The trigram index of titles and descriptions, written in batches. Candidates include the stale videos,
 * which are not indexed yet, so that callers that compare every candidate with the filter get exact results.
 */
export class VideoTextIndex {
  readonly #database: Database;
  readonly #stale;
  readonly #takeStale;
  readonly #removeText;
  readonly #addText;
  readonly #findTexts;
  readonly #forgetStale;
  readonly #count;
  readonly #countStale;
  readonly #slices;
  readonly #changeSlice;
  #pendingVideos = maxStaleVideos;
  #pendingCharacters = 0;

  constructor(database: Database) {
    const { sqlite } = database;
    this.#database = database;
    // Raw SQL, because the `videos-list` benchmark depends on FTS5 and on statements that are prepared once.
    this.#stale = sqlite.prepare<[], number>('SELECT video_number FROM video_texts_stale').pluck();
    this.#takeStale = sqlite.prepare<
      [number],
      { video_number: number; title_folded: string | null; description_folded: string | null }
    >(
      `SELECT s.video_number, v.title_folded, v.description_folded
       FROM video_texts_stale s LEFT JOIN videos v ON v.number = s.video_number
       ORDER BY s.video_number LIMIT ?`,
    );
    this.#removeText = sqlite.prepare<[number]>('DELETE FROM video_texts WHERE rowid = ?');
    this.#addText = sqlite.prepare<[number, string, string]>(
      'INSERT INTO video_texts (rowid, title, description) VALUES (?, ?, ?)',
    );
    this.#forgetStale = sqlite.prepare<[number]>('DELETE FROM video_texts_stale WHERE video_number = ?');
    this.#findTexts = sqlite
      .prepare<[string, number], number>('SELECT rowid FROM video_texts WHERE video_texts MATCH ? LIMIT ?')
      .pluck();
    // FTS5 seeks a range only for integers, and better-sqlite3 binds numbers as floating point.
    this.#count = sqlite
      .prepare<[string, number, number], number>(
        `SELECT count(*) FROM video_texts
         WHERE video_texts MATCH ? AND rowid BETWEEN CAST(? AS INTEGER) AND CAST(? AS INTEGER)`,
      )
      .pluck();
    this.#countStale = sqlite
      .prepare<[number], number>('SELECT count(*) FROM (SELECT 1 FROM video_texts_stale LIMIT ?)')
      .pluck();
    this.#slices = sqlite.prepare<[], { slice: number; revision: number }>(
      'SELECT slice, revision FROM video_text_slices ORDER BY slice',
    );
    this.#changeSlice = sqlite.prepare<[number]>(
      `INSERT INTO video_text_slices (slice, revision) VALUES (?, abs(random() % 9007199254740991))
       ON CONFLICT DO UPDATE SET revision = excluded.revision`,
    );
  }

  /** Call this after each write of texts, with their length. Indexes a batch when many are stale. */
  noteWrite(characters: number): void {
    this.#pendingVideos += 1;
    this.#pendingCharacters += characters;
    if (this.#pendingVideos < maxStaleVideos && this.#pendingCharacters < maxStaleCharacters) return;
    this.#indexStale();
  }

  /**
   * Includes videos that do not match; undefined when there are more than `maxCount`, or too many stale ones.
   */
  candidates(query: string, maxCount: number): number[] | undefined {
    if (this.#hasMoreStaleThan(maxStaleVideos)) this.#indexStale();
    if (this.#hasMoreStaleThan(maxStaleVideos)) return undefined;
    const found = this.#findTexts.all(query, maxCount + 1);
    return found.length > maxCount ? undefined : [...found, ...this.#stale.all()];
  }

  /** Undefined while videos are stale. */
  slices(): TextSlice[] | undefined {
    if (this.#hasMoreStaleThan(0)) this.#indexStale();
    if (this.#hasMoreStaleThan(0)) return undefined;
    return this.#slices.all().map(({ slice, revision }) => {
      const first = slice * sliceLength;
      return { first, last: first + sliceLength - 1, revision };
    });
  }

  countIn({ first, last }: TextSlice, query: string): number {
    return this.#count.get(query, first, last) ?? 0;
  }

  /** Asks the database, because writes may have been rolled back. */
  #hasMoreStaleThan(count: number): boolean {
    return (this.#countStale.get(count + 1) ?? 0) > count;
  }

  #indexStale(): void {
    this.#database.transaction(() => {
      const slices = new Set<number>();
      let characters = 0;
      for (const { video_number, title_folded, description_folded } of this.#takeStale.all(maxStaleVideos)) {
        if (characters > maxStaleCharacters) break;
        slices.add(Math.floor(video_number / sliceLength));
        this.#removeText.run(video_number);
        if (title_folded !== null && description_folded !== null) {
          this.#addText.run(video_number, title_folded, description_folded);
          characters += title_folded.length + description_folded.length;
        }
        this.#forgetStale.run(video_number);
      }
      for (const slice of slices) this.#changeSlice.run(slice);
    });
    this.#pendingVideos = 0;
    this.#pendingCharacters = 0;
  }
}
