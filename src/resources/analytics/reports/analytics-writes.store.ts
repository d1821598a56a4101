import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { maxEntries } from '../../../shared/lru-limit.ts';
import type { Database } from '../../../store/database.ts';
import { type Dimension, dimensions } from '../dimensions.ts';
import {
  type Counts,
  counterNames,
  type PlaybackState,
  slotSeconds,
  type ViewingInterval,
} from './playback.ts';
import type { TokenBuckets } from './token-buckets.ts';

export interface PlaybackContext extends Readonly<Record<Dimension, string>> {
  readonly projectId: string;
  /** 48 bits that identify a viewer for one day. */
  readonly viewer: number;
}

export interface PlaybackUpdate {
  /** 16 bytes. */
  readonly key: Buffer;
  readonly context: PlaybackContext;
  readonly state: PlaybackState;
  /** By minute, in seconds since 1970. */
  readonly counts: ReadonlyMap<number, Counts>;
  readonly intervals: readonly ViewingInterval[];
}

interface DeleteStatement {
  run(...parameters: number[]): { readonly changes: number };
}

interface CachedNumber {
  readonly number: number;
  readonly day: number;
}

interface Tuple extends CachedNumber {
  readonly project: number;
  /** In the order of {@link dimensions}. */
  readonly values: readonly number[];
}

const dayMs = 86_400_000;
const maxCachedValues = 20_000;
const maxCachedTuples = 50_000;
/** Each row is at another place of the index, whose page may have to be read. */
const rowsPerStep = 50;
const numbersPerStep = 1_000;
const valueColumns = dimensions.map(dimension => dimension.replaceAll('-', '_'));
const playsIndex = counterNames.indexOf('plays');

/** Call it at most once a second, so that many playbacks share a transaction. */
export class AnalyticsWritesStore {
  readonly #database: Database;
  readonly #newValues: TokenBuckets;
  readonly #values = new LRUCache<string, CachedNumber>(maxEntries(maxCachedValues));
  readonly #tuples = new LRUCache<string, Tuple>(maxEntries(maxCachedTuples));
  readonly #projects = new LRUCache<string, number>(maxEntries(maxCachedValues));
  readonly #insertValue;
  readonly #findValue;
  readonly #insertTuple;
  readonly #findPlayback;
  readonly #savePlayback;
  readonly #saveInterval;
  readonly #addMinute;
  readonly #addHour;
  readonly #addSum;
  readonly #addTotal;

  constructor(database: Database, newValues: TokenBuckets) {
    this.#database = database;
    this.#newValues = newValues;
    const { sqlite } = database;
    const counters = counterNames.join(', ');
    const placeholders = counterNames.map(() => '?').join(', ');
    const adding = counterNames.map(name => `${name} = ${name} + excluded.${name}`).join(', ');
    this.#insertValue = sqlite
      .prepare<[string, number], number>(
        `INSERT INTO analytics_values (value, used_day) VALUES (?, ?)
         ON CONFLICT (value) DO UPDATE SET used_day = excluded.used_day RETURNING number`,
      )
      .pluck();
    this.#findValue = sqlite
      .prepare<[string], number>('SELECT number FROM analytics_values WHERE value = ?')
      .pluck();
    this.#insertTuple = sqlite
      .prepare<unknown[], number>(
        `INSERT INTO analytics_tuples (project, ${valueColumns.join(', ')}, used_day)
         VALUES (?, ${valueColumns.map(() => '?').join(', ')}, ?)
         ON CONFLICT DO UPDATE SET used_day = excluded.used_day RETURNING number`,
      )
      .pluck();
    this.#findPlayback = sqlite.prepare<
      [Buffer],
      { seen: number; watched_ms: number; last_event_ms: number }
    >('SELECT seen, watched_ms, last_event_ms FROM analytics_playbacks WHERE key = ?');
    this.#savePlayback = sqlite
      .prepare<unknown[], number>(
        `INSERT INTO analytics_playbacks (key, seen, watched_ms, last_event_ms, touched_at_ms) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (key) DO UPDATE SET seen = excluded.seen, watched_ms = excluded.watched_ms,
           last_event_ms = excluded.last_event_ms, touched_at_ms = excluded.touched_at_ms RETURNING number`,
      )
      .pluck();
    this.#saveInterval = sqlite.prepare(
      `INSERT INTO analytics_stays (project, begins, playback, ends, tuple, viewer, views) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET ends = max(ends, excluded.ends), views = views | excluded.views`,
    );
    this.#addMinute = sqlite.prepare(
      `INSERT INTO analytics_minutes (project, at, tuple, ${counters}) VALUES (?, ?, ?, ${placeholders})
       ON CONFLICT DO UPDATE SET ${adding}`,
    );
    this.#addHour = sqlite.prepare(
      `INSERT INTO analytics_hours (project, at, tuple, media_id, ${counters}) VALUES (?, ?, ?, ?, ${placeholders})
       ON CONFLICT DO UPDATE SET ${adding}`,
    );
    this.#addSum = sqlite.prepare(
      `INSERT INTO analytics_sums (project, dimension, span, at, value, ${counters}) VALUES (?, ?, ?, ?, ?, ${placeholders})
       ON CONFLICT DO UPDATE SET ${adding}`,
    );
    this.#addTotal = sqlite.prepare(
      `INSERT INTO analytics_totals (project, media_id, media_type, plays) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET plays = plays + excluded.plays`,
    );
  }

  findState(key: Buffer): PlaybackState | undefined {
    const row = this.#findPlayback.get(key);
    if (row === undefined) return undefined;
    return { counted: row.seen, watchedMs: row.watched_ms, lastEventMs: row.last_event_ms };
  }

  /** Salts the day's viewer hashes. Deleted when the day is over. */
  saltOf(nowMs: number): Buffer {
    const day = Math.floor(nowMs / dayMs);
    const { sqlite } = this.#database;
    sqlite
      .prepare('INSERT INTO analytics_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING')
      .run(day, randomBytes(32));
    this.#removeSalts(day);
    return sqlite
      .prepare<[number], Buffer>('SELECT salt FROM analytics_salts WHERE day = ?')
      .pluck()
      .get(day)!;
  }

  async write(updates: readonly PlaybackUpdate[], nowMs: number): Promise<void> {
    try {
      await this.#database.inBatch(() => this.#writeAll(updates, nowMs));
    } catch (error) {
      // The numbers that the failed transaction assigned do not exist.
      this.#values.clear();
      this.#tuples.clear();
      this.#projects.clear();
      throw error;
    }
  }

  #writeAll(updates: readonly PlaybackUpdate[], nowMs: number): void {
    const today = Math.floor(nowMs / dayMs);
    const minutes = new RowSums();
    const hours = new RowSums();
    const sums = new RowSums();
    for (const { key, context, state, counts, intervals } of updates) {
      const tuple = this.#tupleOf(context, today);
      const { project } = tuple;
      const { counted: seen, watchedMs, lastEventMs } = state;
      const playback = this.#savePlayback.get(key, seen, watchedMs, lastEventMs, nowMs)!;
      for (const [minute, counted] of counts) {
        minutes.add([project, minute, tuple.number], counted);
        const hour = minute - (minute % 3_600);
        hours.add([project, hour, tuple.number, tuple.values[0]!], counted);
        for (const [span, at] of [
          [3_600, hour],
          [86_400, minute - (minute % 86_400)],
        ] as const) {
          sums.add([project, 0, span, at, 0], counted);
          for (const [index, value] of tuple.values.entries())
            sums.add([project, index + 1, span, at, value], counted);
        }
        const plays = counted[playsIndex]!;
        if (plays > 0) this.#addTotal.run(project, context['media-id'], context['media-type'], plays);
      }
      for (const { firstSlot, lastSlot, views } of intervals) {
        this.#saveInterval.run(project, firstSlot, playback, lastSlot, tuple.number, context.viewer, views);
      }
    }
    for (const { key, counts } of minutes.all()) this.#addMinute.run(...key, ...counts);
    for (const { key, counts } of hours.all()) this.#addHour.run(...key, ...counts);
    for (const { key, counts } of sums.all()) this.#addSum.run(...key, ...counts);
  }

  /** Removes rows in small batches. An aborted `signal` leaves the rest for another time. */
  async removeBefore(
    before: { readonly countsMs: number; readonly playbacksMs: number },
    nowMs: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const { sqlite } = this.#database;
    this.#removeSalts(Math.floor(nowMs / dayMs));
    let removed = await this.#removeInSteps(
      sqlite.prepare(
        `DELETE FROM analytics_playbacks WHERE number IN (
           SELECT number FROM analytics_playbacks WHERE touched_at_ms < ? LIMIT ${rowsPerStep})`,
      ),
      [before.playbacksMs],
      signal,
    );
    const [ofMinutes, ofHours] = ['analytics_minutes', 'analytics_hours'].map(table =>
      sqlite.prepare(
        `DELETE FROM ${table} WHERE (project, at, tuple) IN (
           SELECT project, at, tuple FROM ${table} WHERE project = ? AND at < ? LIMIT ${rowsPerStep})`,
      ),
    );
    const ofStays = sqlite.prepare(
      `DELETE FROM analytics_stays WHERE (project, begins, playback) IN (
         SELECT project, begins, playback FROM analytics_stays WHERE project = ? AND begins < ? LIMIT ${rowsPerStep})`,
    );
    const ofSums = sqlite.prepare(
      `DELETE FROM analytics_sums WHERE (project, dimension, span, at, value) IN (
         SELECT project, dimension, span, at, value FROM analytics_sums
         WHERE project = ? AND dimension = ? AND span = ? AND at < ? LIMIT ${rowsPerStep})`,
    );
    const beforeSeconds = Math.floor(before.countsMs / 1000);
    const projects = sqlite.prepare<[], number>('SELECT number FROM analytics_projects').pluck().all();
    for (const project of projects) {
      removed += await this.#removeInSteps(ofMinutes!, [project, beforeSeconds], signal);
      removed += await this.#removeInSteps(ofHours!, [project, beforeSeconds], signal);
      removed += await this.#removeInSteps(
        ofStays,
        [project, Math.floor(beforeSeconds / slotSeconds)],
        signal,
      );
      for (let dimension = 0; dimension <= dimensions.length; dimension += 1) {
        for (const span of [3_600, 86_400])
          removed += await this.#removeInSteps(
            ofSums,
            [project, dimension, span, beforeSeconds - span],
            signal,
          );
      }
    }
    // Counts of a day may refer to values of the next day, seen from another time zone.
    const day = Math.floor(before.countsMs / dayMs) - 1;
    for (const table of ['analytics_tuples', 'analytics_values'])
      removed += await this.#removeUnused(table, day, signal);
    return removed;
  }

  #removeSalts(beforeDay: number): void {
    this.#database.sqlite.prepare('DELETE FROM analytics_salts WHERE day < ?').run(beforeDay);
  }

  async #removeUnused(table: string, beforeDay: number, signal: AbortSignal | undefined): Promise<number> {
    const { sqlite } = this.#database;
    const last = sqlite.prepare<[], number | null>(`SELECT max(number) FROM ${table}`).pluck().get() ?? 0;
    const remove = sqlite.prepare(
      `DELETE FROM ${table} WHERE number IN (
         SELECT number FROM ${table} WHERE number BETWEEN ? AND ? AND used_day < ? LIMIT ${rowsPerStep})`,
    );
    let removed = 0;
    for (let first = 0; first <= last; first += numbersPerStep)
      removed += await this.#removeInSteps(remove, [first, first + numbersPerStep - 1, beforeDay], signal);
    return removed;
  }

  async #removeInSteps(
    statement: DeleteStatement,
    parameters: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let removed = 0;
    for (let isDone = false; !isDone && signal?.aborted !== true; ) {
      const { changes } = await this.#database.inBatch(() => statement.run(...parameters));
      removed += changes;
      isDone = changes < rowsPerStep;
    }
    return removed;
  }

  #tupleOf(circumstances: PlaybackContext, today: number): Tuple {
    const texts = dimensions.map(dimension => circumstances[dimension]);
    const key = [circumstances.projectId, ...texts].join('\n');
    const known = this.#tuples.get(key);
    if (known?.day === today) return known;
    const project = this.#projectOf(circumstances.projectId);
    const values = dimensions.map((dimension, index) => {
      const fallback = dimension === 'operating-system' || dimension === 'browser' ? 'unknown' : '';
      const mayBeUnknown = dimension === 'referrer' || fallback !== '';
      return this.#valueOf(texts[index]!, today, mayBeUnknown ? { project, fallback } : undefined);
    });
    const number = this.#insertTuple.get(project, ...values, today)!;
    const tuple: Tuple = { number, day: today, project, values };
    this.#tuples.set(key, tuple);
    return tuple;
  }

  #valueOf(
    text: string,
    today: number,
    unknown: { readonly project: number; readonly fallback: string } | undefined,
  ): number {
    const known = this.#values.get(text);
    if (known?.day === today) return known.number;
    if (unknown !== undefined && text !== unknown.fallback && this.#findValue.get(text) === undefined) {
      if (!this.#newValues.take(String(unknown.project)))
        return this.#valueOf(unknown.fallback, today, undefined);
    }
    const number = this.#insertValue.get(text, today)!;
    this.#values.set(text, { number, day: today });
    return number;
  }

  #projectOf(projectId: string): number {
    let number = this.#projects.get(projectId);
    if (number === undefined) {
      number = this.#database.sqlite
        .prepare<[string], number>(
          `INSERT INTO analytics_projects (project_id) VALUES (?)
           ON CONFLICT (project_id) DO UPDATE SET project_id = excluded.project_id RETURNING number`,
        )
        .pluck()
        .get(projectId)!;
      this.#projects.set(projectId, number);
    }
    return number;
  }
}

class RowSums {
  readonly #rows = new Map<string, { readonly key: readonly number[]; readonly counts: Counts }>();

  add(key: readonly number[], counts: Counts): void {
    const name = key.join(' ');
    const row = this.#rows.get(name);
    if (row === undefined) this.#rows.set(name, { key, counts: [...counts] });
    else for (const [index, count] of counts.entries()) row.counts[index]! += count;
  }

  all(): Iterable<{ readonly key: readonly number[]; readonly counts: Counts }> {
    return this.#rows.values();
  }
}
