/** From when to when a server has used a database, or several one soon after the other. */
export interface UsePeriod {
  readonly beganAtMs: number;
  readonly lastAtMs: number;
}

/** Where it is written down when a database was in use. */
export interface UsePeriodStore {
  /** When the database was made; undefined before its first account. */
  createdAtMs(): number | undefined;
  usePeriods(): readonly UsePeriod[];
  recordUse(use: UsePeriod): void;
  mergeUsePeriods(use: UsePeriod): void;
}

/** What a server has not said in its database when it is killed; it says so each minute. */
const maxUnrecordedMs = 3 * 60_000;

/**
 * When servers have used a database. A file that was made at another time is not of this database: it is of one that was lost before this
 * was made, or of the one that was there until this was restored from a backup.
 */
export class DatabaseUsePeriods {
  readonly #store: UsePeriodStore;
  readonly #periods: readonly UsePeriod[];
  #currentBeganAtMs: number;

  /** Made when the process starts, which is when it begins to use the database. */
  constructor(book: UsePeriodStore, nowMs: number) {
    this.#store = book;
    const before = book.usePeriods();
    const last = before.at(-1);
    if (last === undefined) this.#currentBeganAtMs = Math.min(book.createdAtMs() ?? nowMs, nowMs);
    else this.#currentBeganAtMs = nowMs - last.lastAtMs > maxUnrecordedMs ? nowMs : last.beganAtMs;
    this.record(nowMs);
    this.#periods = book.usePeriods();
  }

  /** Says that the database is still in use. */
  record(nowMs: number): void {
    this.#store.recordUse({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** There is no file of the times in which the database was not in use. */
  merge(nowMs: number): void {
    this.#currentBeganAtMs = this.#store.usePeriods()[0]?.beganAtMs ?? this.#currentBeganAtMs;
    this.#store.mergeUsePeriods({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** Why a file of this time is not of this database; undefined where it is. */
  foreignReason(fileAtMs: number): string | undefined {
    const [first] = this.#periods;
    const current = this.#periods.at(-1);
    if (first === undefined || current === undefined || fileAtMs >= current.beganAtMs) return undefined;
    if (fileAtMs < first.beganAtMs) return 'it is older than the database';
    const isOfUse = this.#periods.some(
      ({ beganAtMs, lastAtMs }) => fileAtMs >= beganAtMs && fileAtMs <= lastAtMs + maxUnrecordedMs,
    );
    return isOfUse ? undefined : 'the database was not in use when it was made';
  }
}
