/** May have short breaks. */
export interface UsePeriod {
  readonly beganAtMs: number;
  readonly lastAtMs: number;
}

interface UsePeriodStore {
  /** Undefined before its first account. */
  createdAtMs(): number | undefined;
  usePeriods(): readonly UsePeriod[];
  recordUse(use: UsePeriod): void;
  mergeUsePeriods(use: UsePeriod): void;
}

/** Use is recorded every minute; a killed server leaves a longer gap. */
const maxUnrecordedMs = 3 * 60_000;

/**
 * Records when servers used a database. A file from any other time belongs to another database: one that was
 * lost before this one was created, or one that a restored backup replaced.
 */
export class DatabaseUsePeriods {
  readonly #store: UsePeriodStore;
  readonly #periods: readonly UsePeriod[];
  #currentBeganAtMs: number;

  /** Create this when the process starts, which begins to use the database. */
  constructor(store: UsePeriodStore, nowMs: number) {
    this.#store = store;
    const before = store.usePeriods();
    const last = before.at(-1);
    if (last === undefined) this.#currentBeganAtMs = Math.min(store.createdAtMs() ?? nowMs, nowMs);
    else this.#currentBeganAtMs = nowMs - last.lastAtMs > maxUnrecordedMs ? nowMs : last.beganAtMs;
    this.record(nowMs);
    this.#periods = store.usePeriods();
  }

  record(nowMs: number): void {
    this.#store.recordUse({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** Call this when no files from between the periods are left. */
  merge(nowMs: number): void {
    this.#currentBeganAtMs = this.#store.usePeriods()[0]?.beganAtMs ?? this.#currentBeganAtMs;
    this.#store.mergeUsePeriods({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** Explains why a file belongs to another database; undefined when it belongs to this one. */
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
