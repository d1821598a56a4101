import type { Database } from '../../../store/database.ts';

/** Videos whose numbers lie in a range, both ends included. `revision`: random, and another one when what is indexed of them has changed. */
export interface TextSlice {
  readonly first: number;
  readonly last: number;
  readonly revision: number;
}

/** How many videos, or characters of their texts, may be missing from the index: they are looked through at each search. */
const maxStaleVideos = 256;
const maxStaleCharacters = 40_000;
/** Numbers in a slice: as many as the index counts in a few milliseconds. */
const sliceLength = 65_536;

/**
 * The trigram index of titles and descriptions. Writes to it come many at a time; what is not in it yet is known, so that searching
 * it is exact nevertheless: its candidates and all stale ones are to be compared with the videos themselves.
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
    // Only of integers does FTS5 make a range that it jumps to, and numbers are handed over as floating point.
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

  /** To be told after each write of texts; `characters`: how long they are. Now and then it takes some time. */
  noteWrite(characters: number): void {
    this.#pendingVideos += 1;
    this.#pendingCharacters += characters;
    if (this.#pendingVideos < maxStaleVideos && this.#pendingCharacters < maxStaleCharacters) return;
    this.#indexStale();
  }

  /**
   * Numbers of all videos, of whatever project, that may have the texts of a query in the form of `trigramQuery`; some have not.
   *
   * @returns undefined when there are more than `maxRestreams`, or too many that are not in the index yet
   */
  candidates(query: string, maxCount: number): number[] | undefined {
    if (this.#hasMoreStaleThan(maxStaleVideos)) this.#indexStale();
    if (this.#hasMoreStaleThan(maxStaleVideos)) return undefined;
    const found = this.#findTexts.all(query, maxCount + 1);
    return found.length > maxCount ? undefined : [...found, ...this.#stale.all()];
  }

  /** All videos, of whatever project, cut into slices; undefined while there is too much that is not in the index yet. */
  slices(): TextSlice[] | undefined {
    if (this.#hasMoreStaleThan(0)) this.#indexStale();
    if (this.#hasMoreStaleThan(0)) return undefined;
    return this.#slices.all().map(({ slice, revision }) => {
      const first = slice * sliceLength;
      return { first, last: first + sliceLength - 1, revision };
    });
  }

  /** How many videos of a slice the index finds for an exact query. */
  countIn({ first, last }: TextSlice, query: string): number {
    return this.#count.get(query, first, last) ?? 0;
  }

  /** Whether more videos than that are stale. The database is asked, since what was written may have been undone. */
  #hasMoreStaleThan(count: number): boolean {
    return (this.#countStale.get(count + 1) ?? 0) > count;
  }

  /** Brings the longest waiting ones into the index. */
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
