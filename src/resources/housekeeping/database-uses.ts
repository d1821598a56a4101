/** From when to when a server has used a database, or several one soon after the other. */
export interface DatabaseUse {
  readonly beganAtMs: number;
  readonly lastAtMs: number;
}

/** Where it is written down when a database was in use. */
export interface UsesBook {
  /** When the database was made; undefined before its first account. */
  madeAtMs(): number | undefined;
  uses(): readonly DatabaseUse[];
  used(use: DatabaseUse): void;
  joinUses(use: DatabaseUse): void;
}

/** What a server has not said in its database when it is killed; it says so each minute. */
const unsaidMs = 3 * 60_000;

/**
 * When servers have used a database. A file that was made at another time is not of this database: it is of one that was lost before this
 * was made, or of the one that was there until this was restored from a backup.
 */
export class DatabaseUses {
  readonly #book: UsesBook;
  readonly #uses: readonly DatabaseUse[];
  #currentBeganAtMs: number;

  /** Made when the process starts, which is when it begins to use the database. */
  constructor(book: UsesBook, nowMs: number) {
    this.#book = book;
    const before = book.uses();
    const last = before.at(-1);
    if (last === undefined) this.#currentBeganAtMs = Math.min(book.madeAtMs() ?? nowMs, nowMs);
    else this.#currentBeganAtMs = nowMs - last.lastAtMs > unsaidMs ? nowMs : last.beganAtMs;
    this.keep(nowMs);
    this.#uses = book.uses();
  }

  /** Says that the database is still in use. */
  keep(nowMs: number): void {
    this.#book.used({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** There is no file of the times in which the database was not in use. */
  join(nowMs: number): void {
    this.#currentBeganAtMs = this.#book.uses()[0]?.beganAtMs ?? this.#currentBeganAtMs;
    this.#book.joinUses({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** Why a file of this time is not of this database; undefined where it is. */
  whyForeign(fileAtMs: number): string | undefined {
    const [first] = this.#uses;
    const current = this.#uses.at(-1);
    if (first === undefined || current === undefined || fileAtMs >= current.beganAtMs) return undefined;
    if (fileAtMs < first.beganAtMs) return 'it is older than the database';
    const isOfUse = this.#uses.some(
      ({ beganAtMs, lastAtMs }) => fileAtMs >= beganAtMs && fileAtMs <= lastAtMs + unsaidMs,
    );
    return isOfUse ? undefined : 'the database was not in use when it was made';
  }
}
