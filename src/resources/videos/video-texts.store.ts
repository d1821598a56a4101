import type { Database } from '../../store/database.ts';

/** How many videos, or characters of their texts, may be missing from the index: they are looked through at each search. */
const staleVideosAtMost = 256;
const staleCharactersAtMost = 40_000;

/**
 * The trigram index of titles and descriptions. Writes to it come many at a time; what is not in it yet is known, so that searching
 * it is exact nevertheless: its candidates and all stale ones are to be compared with the videos themselves.
 */
export class VideoTexts {
  readonly #database: Database;
  readonly #stale;
  readonly #take;
  readonly #forget;
  readonly #add;
  readonly #find;
  readonly #forgetStale;
  #staleVideos: number;
  #staleCharacters = 0;

  constructor(database: Database) {
    const { sqlite } = database;
    this.#database = database;
    this.#stale = sqlite.prepare<[], number>('SELECT video_number FROM video_texts_stale').pluck();
    this.#take = sqlite.prepare<
      [number],
      { video_number: number; title_folded: string | null; description_folded: string | null }
    >(
      `SELECT s.video_number, v.title_folded, v.description_folded
       FROM video_texts_stale s LEFT JOIN videos v ON v.number = s.video_number
       ORDER BY s.video_number LIMIT ?`,
    );
    this.#forget = sqlite.prepare<[number]>('DELETE FROM video_texts WHERE rowid = ?');
    this.#add = sqlite.prepare<[number, string, string]>(
      'INSERT INTO video_texts (rowid, title, description) VALUES (?, ?, ?)',
    );
    this.#forgetStale = sqlite.prepare<[number]>('DELETE FROM video_texts_stale WHERE video_number = ?');
    this.#find = sqlite
      .prepare<[string, number], number>('SELECT rowid FROM video_texts WHERE video_texts MATCH ? LIMIT ?')
      .pluck();
    this.#staleVideos = this.#stale.all().length;
  }

  /** To be told after each write of texts, outside of its transaction; `characters`: how long they are. Now and then it takes some time. */
  written(characters: number): void {
    this.#staleVideos += 1;
    this.#staleCharacters += characters;
    if (this.#staleVideos < staleVideosAtMost && this.#staleCharacters < staleCharactersAtMost) return;
    this.#index();
  }

  /**
   * Numbers of all videos, of whatever project, that may have the texts of a query in the form of `trigramQuery`; some have not.
   * Undefined when there are more than `atMost`.
   */
  candidates(query: string, atMost: number): number[] | undefined {
    while (this.#staleVideos > staleVideosAtMost) this.#index();
    const found = this.#find.all(query, atMost + 1);
    return found.length > atMost ? undefined : [...found, ...this.#stale.all()];
  }

  /** Brings the longest waiting ones into the index. */
  #index(): void {
    this.#database.transaction(() => {
      for (const row of this.#take.all(staleVideosAtMost)) {
        this.#forget.run(row.video_number);
        if (row.title_folded !== null) {
          this.#add.run(row.video_number, row.title_folded, row.description_folded ?? '');
        }
        this.#forgetStale.run(row.video_number);
      }
    });
    this.#staleVideos = this.#stale.all().length;
    this.#staleCharacters = 0;
  }
}
