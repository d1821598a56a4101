import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { maxEntries } from '../../../shared/lru-limit.ts';
import type { TokenBuckets } from '../../../shared/token-buckets.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { textQuery } from '../../../store/raw-query.ts';
import { type Dimension, dimensions } from '../dimensions.ts';
import {
  type Counts,
  counterNames,
  type PlaybackProgress,
  type PlaybackState,
  slotSeconds,
  type ViewingInterval,
} from './playback.ts';

export interface PlaybackContext extends Readonly<Record<Dimension, string>> {
  readonly projectId: string;
  /** 48 bits that identify a viewer for one day. */
  readonly viewer: number;
}

interface SharedProgress extends PlaybackProgress {
  /** Empty without one. */
  readonly viewerId?: string;
}

export interface PlaybackUpdate {
  /** 16 bytes. */
  readonly key: Buffer;
  readonly context: PlaybackContext;
  readonly state: PlaybackState;
  /** Progress that servers share; set where a viewer's next report may reach another server. */
  readonly progress?: SharedProgress;
  /** Counts by minute, in seconds since 1970. */
  readonly counts: ReadonlyMap<number, Counts>;
  readonly intervals: readonly ViewingInterval[];
}

interface StoredPlayback {
  readonly state: PlaybackState;
  readonly progress: SharedProgress | undefined;
  readonly touchedAtMs: number;
}

interface StoredPlaybackRow {
  readonly seen: number;
  readonly watched_ms: number;
  readonly last_event_ms: number;
  readonly touched_at_ms: number;
  readonly progress: string | null;
}

interface CachedNumber {
  readonly number: number;
  readonly day: number;
}

interface Tuple extends CachedNumber {
  readonly project: number;
  /** Values in the order of {@link dimensions}. */
  readonly values: readonly number[];
}

/** Limits of each project. Further ones count as unknown. */
interface NewNames {
  readonly ofViewers: TokenBuckets;
  /** Limits the names of referrers, browsers and operating systems, which anybody can invent. */
  readonly ofOthers: TokenBuckets;
}

interface NameLimit {
  readonly take: () => boolean;
  readonly fallback: string;
}

const dayMs = 86_400_000;
const maxCachedValues = 20_000;
const maxCachedTuples = 50_000;
/** Rows per step. Each row is at another place of the index, whose page may have to be read. */
const rowsPerStep = 50;
const numbersPerStep = 1_000;
const valueColumns = dimensions.map(dimension => dimension.replaceAll('-', '_'));
const playsIndex = counterNames.indexOf('plays');
/** A statement for each row costs nothing on SQLite, and a round trip on PostgreSQL. */
const rowsPerStatement = { sqlite: 1, postgres: 200 };

/** One row, in the order of the columns in {@link upserts}. */
type TotalRow = [project: number, media: string, type: string, plays: number];
type IntervalRow = [
  project: number,
  begins: number,
  playback: number,
  ends: number,
  tuple: number,
  viewer: number,
  views: number,
];

interface Upsert {
  readonly table: string;
  readonly key: readonly string[];
  readonly others?: readonly string[];
  /** Assignments that change existing rows. */
  readonly changes: string;
}

const counts = (table: string, key: readonly string[], others: readonly string[] = []): Upsert => ({
  table,
  key,
  others: [...others, ...counterNames],
  changes: counterNames.map(name => `${name} = ${table}.${name} + excluded.${name}`).join(', '),
});
const upserts = {
  minutes: counts('analytics_minutes', ['project', 'at', 'tuple']),
  hours: counts('analytics_hours', ['project', 'at', 'tuple'], ['media_id']),
  sums: counts('analytics_sums', ['project', 'dimension', 'span', 'at', 'value']),
  totals: {
    table: 'analytics_totals',
    key: ['project', 'media_id'],
    others: ['media_type', 'plays'],
    changes: 'plays = analytics_totals.plays + excluded.plays',
  },
  intervals: {
    table: 'analytics_stays',
    key: ['project', 'begins', 'playback'],
    others: ['ends', 'tuple', 'viewer', 'views'],
    changes: `ends = CASE WHEN excluded.ends > analytics_stays.ends THEN excluded.ends ELSE analytics_stays.ends END,
      views = analytics_stays.views | excluded.views`,
  },
} satisfies Record<string, Upsert>;

/** Keys of all tables with counts of projects. */
const keysOfCounts: readonly Pick<Upsert, 'table' | 'key'>[] = [
  ...Object.values(upserts),
  { table: 'analytics_project_totals', key: ['project', 'media_type'] },
  { table: 'analytics_tuples', key: ['number'] },
];

const insertValue = `INSERT INTO analytics_values (value, used_day) VALUES (?, ?)
  ON CONFLICT (value) DO UPDATE SET used_day = excluded.used_day RETURNING number`;
const insertProject = `INSERT INTO analytics_projects (project_id) SELECT id FROM projects WHERE id = ?
  ON CONFLICT (project_id) DO UPDATE SET project_id = excluded.project_id RETURNING number`;
const tupleKey = ['project', ...valueColumns].join(', ');
const insertTuple = `INSERT INTO analytics_tuples (${tupleKey}, used_day)
  VALUES (${[...valueColumns, 'project', 'used_day'].map(() => '?').join(', ')})
  ON CONFLICT (${tupleKey}) DO UPDATE SET used_day = excluded.used_day RETURNING number`;
const savePlayback = `INSERT INTO analytics_playbacks (key, seen, watched_ms, last_event_ms, touched_at_ms, progress)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET seen = excluded.seen, watched_ms = excluded.watched_ms,
    last_event_ms = excluded.last_event_ms, touched_at_ms = excluded.touched_at_ms, progress = excluded.progress RETURNING number`;

/** Call it at most once a second, so that many playbacks share a transaction. */
export class AnalyticsWritesStore {
  readonly #database: Database;
  readonly #newNames: NewNames;
  readonly #values = new LRUCache<string, CachedNumber>(maxEntries(maxCachedValues));
  readonly #tuples = new LRUCache<string, Tuple>(maxEntries(maxCachedTuples));
  readonly #projects = new LRUCache<string, number>(maxEntries(maxCachedValues));

  constructor(database: Database, newNames: NewNames) {
    this.#database = database;
    this.#newNames = newNames;
  }

  async find(key: Buffer): Promise<StoredPlayback | undefined> {
    const row = await this.#database.first(
      textQuery<StoredPlaybackRow>(
        this.#database,
        'SELECT seen, watched_ms, last_event_ms, touched_at_ms, progress FROM analytics_playbacks WHERE key = ?',
        [key],
      ),
    );
    if (row === undefined) return undefined;
    return {
      state: { counted: row.seen, watchedMs: row.watched_ms, lastEventMs: row.last_event_ms },
      progress: row.progress === null ? undefined : (JSON.parse(row.progress) as SharedProgress),
      touchedAtMs: row.touched_at_ms,
    };
  }

  /** Salts the day's viewer hashes. Deleted when the day is over. */
  async saltOf(nowMs: number): Promise<Buffer> {
    const day = Math.floor(nowMs / dayMs);
    const add = 'INSERT INTO analytics_salts (day, salt) VALUES (?, ?) ON CONFLICT DO NOTHING';
    await this.#run(add, [day, randomBytes(32)]);
    await this.#removeSalts(day);
    const stored = await this.#database.first(
      textQuery<{ salt: Buffer }>(this.#database, 'SELECT salt FROM analytics_salts WHERE day = ?', [day]),
    );
    return stored!.salt;
  }

  async write(updates: readonly PlaybackUpdate[], nowMs: number): Promise<void> {
    let attempts = 0;
    try {
      await this.#database.transaction(async transaction => {
        attempts += 1;
        if (attempts > 1) this.#forgetNumbers();
        await this.#writeAll(updates, nowMs, transaction);
      });
    } catch (error) {
      this.#forgetNumbers();
      throw error;
    }
  }

  /** The numbers that a failed transaction assigned do not exist. */
  #forgetNumbers(): void {
    this.#values.clear();
    this.#tuples.clear();
    this.#projects.clear();
  }

  async #writeAll(
    updates: readonly PlaybackUpdate[],
    nowMs: number,
    transaction: Transaction,
  ): Promise<void> {
    const today = Math.floor(nowMs / dayMs);
    const minutes = new RowSums();
    const hours = new RowSums();
    const sums = new RowSums();
    const totals = new Map<string, TotalRow>();
    const intervals = new Map<string, IntervalRow>();
    for (const { key, context, state, progress, counts, intervals: viewed } of updates) {
      const tuple = await this.#tupleOf(context, today, transaction);
      if (tuple === undefined) continue;
      const { project } = tuple;
      const { counted: seen, watchedMs, lastEventMs } = state;
      const stored = [key, seen, watchedMs, lastEventMs, nowMs, progress ? JSON.stringify(progress) : null];
      const playback = await numberOf(transaction, savePlayback, stored);
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
        if (plays > 0) {
          const media = context['media-id'];
          const total = totals.get(`${project} ${media}`);
          if (total === undefined)
            totals.set(`${project} ${media}`, [project, media, context['media-type'], plays]);
          else total[3] += plays;
        }
      }
      for (const { firstSlot, lastSlot, views } of viewed) {
        const name = `${playback} ${firstSlot}`;
        const row = intervals.get(name);
        if (row === undefined) {
          const { viewer } = context;
          intervals.set(name, [project, firstSlot, playback, lastSlot, tuple.number, viewer, views]);
        } else {
          row[3] = Math.max(row[3], lastSlot);
          row[6] |= views;
        }
      }
    }
    await upsert(transaction, upserts.totals, [...totals.values()]);
    await upsert(transaction, upserts.intervals, [...intervals.values()]);
    await upsert(transaction, upserts.minutes, minutes.rows());
    await upsert(transaction, upserts.hours, hours.rows());
    await upsert(transaction, upserts.sums, sums.rows());
  }

  /** Removes rows in small batches. An aborted `signal` leaves the rest for another time. */
  async removeBefore(
    before: { readonly countsMs: number; readonly playbacksMs: number },
    nowMs: number,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    await this.#removeSalts(Math.floor(nowMs / dayMs));
    let removed = await this.#removeInSteps(
      `DELETE FROM analytics_playbacks WHERE number IN (
         SELECT number FROM analytics_playbacks WHERE touched_at_ms < ? LIMIT ${rowsPerStep})`,
      [before.playbacksMs],
      signal,
    );
    const [ofMinutes, ofHours] = ['analytics_minutes', 'analytics_hours'].map(
      table =>
        `DELETE FROM ${table} WHERE (project, at, tuple) IN (
           SELECT project, at, tuple FROM ${table} WHERE project = ? AND at < ? LIMIT ${rowsPerStep})`,
    );
    const ofStays = `DELETE FROM analytics_stays WHERE (project, begins, playback) IN (
      SELECT project, begins, playback FROM analytics_stays WHERE project = ? AND begins < ? LIMIT ${rowsPerStep})`;
    const ofSums = `DELETE FROM analytics_sums WHERE (project, dimension, span, at, value) IN (
      SELECT project, dimension, span, at, value FROM analytics_sums
      WHERE project = ? AND dimension = ? AND span = ? AND at < ? LIMIT ${rowsPerStep})`;
    const beforeSeconds = Math.floor(before.countsMs / 1000);
    const projects = await this.#database.all(
      textQuery<{ number: number; project_id: string | null }>(
        this.#database,
        'SELECT number, project_id FROM analytics_projects',
        [],
      ),
    );
    for (const { number: project, project_id: projectId } of projects) {
      if (projectId === null) {
        removed += await this.#removeProject(project, signal);
        continue;
      }
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

  /**
   * Removes the counts of a deleted project. Its number is free for another project only when there were none any more: servers
   * that still knew it may have added some.
   */
  async #removeProject(number: number, signal: AbortSignal | undefined): Promise<number> {
    let removed = 0;
    for (const { table, key } of keysOfCounts) {
      const columns = key.join(', ');
      const some = `SELECT ${columns} FROM ${table} WHERE project = ? LIMIT ${rowsPerStep}`;
      const remove = `DELETE FROM ${table} WHERE (${columns}) IN (${some})`;
      removed += await this.#removeInSteps(remove, [number], signal);
    }
    if (removed > 0 || signal?.aborted === true) return removed;
    return this.#run('DELETE FROM analytics_projects WHERE number = ?', [number]);
  }

  async #removeSalts(beforeDay: number): Promise<void> {
    await this.#run('DELETE FROM analytics_salts WHERE day < ?', [beforeDay]);
  }

  async #removeUnused(table: string, beforeDay: number, signal: AbortSignal | undefined): Promise<number> {
    const last = await numberOf(
      this.#database,
      `SELECT coalesce(max(number), 0) AS number FROM ${table}`,
      [],
    );
    const remove = `DELETE FROM ${table} WHERE number IN (
      SELECT number FROM ${table} WHERE number BETWEEN ? AND ? AND used_day < ? LIMIT ${rowsPerStep})`;
    let removed = 0;
    for (let first = 0; first <= last; first += numbersPerStep)
      removed += await this.#removeInSteps(remove, [first, first + numbersPerStep - 1, beforeDay], signal);
    return removed;
  }

  async #removeInSteps(
    text: string,
    values: readonly number[],
    signal: AbortSignal | undefined,
  ): Promise<number> {
    let removed = 0;
    for (let isDone = false; !isDone && signal?.aborted !== true; ) {
      const changes = await this.#run(text, values);
      removed += changes;
      isDone = changes < rowsPerStep;
    }
    return removed;
  }

  #run(text: string, values: readonly unknown[]): Promise<number> {
    return this.#database.run(textQuery(this.#database, text, values));
  }

  /** Undefined when the project was deleted a moment ago. */
  async #tupleOf(
    circumstances: PlaybackContext,
    today: number,
    transaction: Transaction,
  ): Promise<Tuple | undefined> {
    const texts = dimensions.map(dimension => circumstances[dimension]);
    const key = [circumstances.projectId, ...texts].join('\n');
    const known = this.#tuples.get(key);
    if (known?.day === today) return known;
    const project = await this.#projectOf(circumstances.projectId, transaction);
    if (project === undefined) return undefined;
    const values: number[] = [];
    for (const [index, dimension] of dimensions.entries()) {
      values.push(await this.#valueOf(texts[index]!, today, this.#limitOf(dimension, project), transaction));
    }
    const number = await numberOf(transaction, insertTuple, [project, ...values, today]);
    const tuple: Tuple = { number, day: today, project, values };
    this.#tuples.set(key, tuple);
    return tuple;
  }

  #limitOf(dimension: Dimension, project: number): NameLimit | undefined {
    const { ofViewers, ofOthers } = this.#newNames;
    const isOfAgent = dimension === 'operating-system' || dimension === 'browser';
    if (!isOfAgent && dimension !== 'referrer' && dimension !== 'viewer-id') return undefined;
    const buckets = dimension === 'viewer-id' ? ofViewers : ofOthers;
    return { take: () => buckets.take(String(project)), fallback: isOfAgent ? 'unknown' : '' };
  }

  async #valueOf(
    text: string,
    today: number,
    limit: NameLimit | undefined,
    transaction: Transaction,
  ): Promise<number> {
    const known = this.#values.get(text);
    if (known?.day === today) return known.number;
    if (limit !== undefined && text !== limit.fallback && !(await hasValue(transaction, text))) {
      if (!limit.take()) return this.#valueOf(limit.fallback, today, undefined, transaction);
    }
    const number = await numberOf(transaction, insertValue, [text, today]);
    this.#values.set(text, { number, day: today });
    return number;
  }

  async #projectOf(projectId: string, transaction: Transaction): Promise<number | undefined> {
    const known = this.#projects.get(projectId);
    if (known !== undefined) return known;
    const row = await transaction.first(
      textQuery<{ number: number }>(transaction, insertProject, [projectId]),
    );
    if (row !== undefined) this.#projects.set(projectId, row.number);
    return row?.number;
  }
}

async function numberOf(connection: Connection, text: string, values: readonly unknown[]): Promise<number> {
  const row = await connection.first(textQuery<{ number: number }>(connection, text, values));
  return row!.number;
}

async function hasValue(connection: Connection, text: string): Promise<boolean> {
  const find = 'SELECT number FROM analytics_values WHERE value = ?';
  return (await connection.first(textQuery(connection, find, [text]))) !== undefined;
}

/** Rows have distinct keys. */
async function upsert(
  connection: Connection,
  { table, key, others = [], changes }: Upsert,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const columns = [...key, ...others];
  const marks = `(${columns.map(() => '?').join(', ')})`;
  const count = rowsPerStatement[connection.dialect];
  for (let first = 0; first < rows.length; first += count) {
    const some = rows.slice(first, first + count);
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${some.map(() => marks).join(', ')}
      ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes}`;
    await connection.run(textQuery(connection, text, some.flat()));
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

  /** The keys in one order, so that transactions of several nodes do not lock each other out. */
  rows(): number[][] {
    return [...this.#rows.keys()].sort().map(name => {
      const { key, counts } = this.#rows.get(name)!;
      return [...key, ...counts];
    });
  }
}
