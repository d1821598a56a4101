export interface UsePeriod {
  readonly beganAtMs: number;
  readonly lastAtMs: number;
}

interface UsePeriodStore {
  createdAtMs(): Promise<number | undefined>;
  usePeriods(): Promise<readonly UsePeriod[]>;
  recordUse(use: UsePeriod): Promise<void>;
  mergeUsePeriods(use: UsePeriod): Promise<void>;
}

/** Use is recorded every minute; a killed server leaves a longer gap. */
const maxUnrecordedMs = 3 * 60_000;

/** A file from outside of these periods belongs to a lost or replaced database. */
export class DatabaseUsePeriods {
  readonly #store: UsePeriodStore;
  readonly #periods: readonly UsePeriod[];
  #currentBeganAtMs: number;

  private constructor(store: UsePeriodStore, periods: readonly UsePeriod[], currentBeganAtMs: number) {
    this.#store = store;
    this.#periods = periods;
    this.#currentBeganAtMs = currentBeganAtMs;
  }

  /** Call this when the process starts, which begins to use the database. */
  static async begin(store: UsePeriodStore, nowMs: number): Promise<DatabaseUsePeriods> {
    const last = (await store.usePeriods()).at(-1);
    let beganAtMs: number;
    if (last === undefined) beganAtMs = Math.min((await store.createdAtMs()) ?? nowMs, nowMs);
    else beganAtMs = nowMs - last.lastAtMs > maxUnrecordedMs ? nowMs : last.beganAtMs;
    await store.recordUse({ beganAtMs, lastAtMs: nowMs });
    return new DatabaseUsePeriods(store, await store.usePeriods(), beganAtMs);
  }

  async record(nowMs: number): Promise<void> {
    await this.#store.recordUse({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
  }

  /** Call this when no files from between the periods are left. */
  async merge(nowMs: number): Promise<void> {
    const [first] = await this.#store.usePeriods();
    this.#currentBeganAtMs = first?.beganAtMs ?? this.#currentBeganAtMs;
    await this.#store.mergeUsePeriods({ beganAtMs: this.#currentBeganAtMs, lastAtMs: nowMs });
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
