export interface UsePeriod {
  readonly beganAtMs: number;
  readonly lastAtMs: number;
}

interface UsePeriodStore {
  createdAtMs(): number | undefined;
  usePeriods(): readonly UsePeriod[];
  recordUse(use: UsePeriod): void;
  mergeUsePeriods(use: UsePeriod): void;
}

/** Use is recorded every minute; a killed server leaves a longer gap. */
const maxUnrecordedMs = 3 * 60_000;

/** A file from outside of these periods belongs to a lost or replaced database. */
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
