import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { BatchedLookups } from '../../../shared/batched-lookups.ts';
import { maxEntries } from '../../../shared/lru-limit.ts';
import { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { TokenBuckets } from '../../../shared/token-buckets.ts';
import { CommitOnce, isCommitted, transactionIdOf } from '../../../store/commit-once.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { textQuery } from '../../../store/raw-query.ts';
import { type Dimension, dimensions } from '../dimensions.ts';
import {
  insertPlaybacks,
  insertProject,
  insertTuple,
  insertValue,
  keysOfCounts,
  playbackColumns,
  statementValues,
  updatePlaybacks,
  upsert,
  upserts,
} from './analytics-statements.store.ts';
import { type CountedTuple, CountSums } from './count-sums.ts';
import {
  type CollectedInterval,
  type CollectedPlayback,
  type PlaybackProgress,
  type PlaybackState,
  slotSeconds,
} from './playback.ts';

export interface PlaybackContext extends Readonly<Record<Dimension, string>> {
  readonly projectId: string;
  /** 48 bits that identify a viewer for one day. */
  readonly viewer: number;
}

/** Progress that servers share, where a viewer's next report may reach another server. */
interface SharedProgress extends PlaybackProgress {
  /** Empty without one. */
  readonly viewerId?: string;
  /** Run of the server that wrote it. */
  readonly writer?: string;
  readonly writtenAtMs?: number;
}

export interface PlaybackUpdate extends CollectedPlayback {
  /** 16 bytes. */
  readonly key: Buffer;
  readonly context: PlaybackContext;
  readonly progress: SharedProgress | undefined;
  /** The playback as this server knows it to be stored; undefined for a new one. */
  readonly stored: Pick<StoredPlayback, 'number' | 'state'> | undefined;
}

export interface StoredPlayback {
  readonly number: number;
  readonly state: PlaybackState;
  readonly progress: SharedProgress | undefined;
  readonly touchedAtMs: number;
}

interface StoredPlaybackRow {
  readonly number: number;
  readonly key: Buffer;
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

interface Tuple extends CachedNumber, CountedTuple {}

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

interface UndecidedWrite {
  readonly transactionId: string;
  readonly sums: CountSums;
}

const dayMs = 86_400_000;
const maxCachedValues = 20_000;
const maxCachedTuples = 50_000;
/** Rows per step. Each row is at another place of the index, whose page may have to be read. */
const rowsPerStep = 50;
const numbersPerStep = 1_000;
/** Rows of counts, which are common to many viewers and stay locked until the commit. */
const rowsPerTransaction = 500;
/** Kept while the database cannot be used. */
const maxUnwrittenBatches = 400;
const maxSliceMs = 5;
/** The index of these times changes once in this time, and not with each write. */
const touchRoundingMs = 600_000;

/** One row, in the order of the columns in {@link upserts}. */
type IntervalRow = [
  project: number,
  begins: number,
  playback: number,
  ends: number,
  tuple: number,
  viewer: number,
  views: number,
];

/** Writes many playbacks in one transaction. */
export class AnalyticsWritesStore {
  readonly #database: Database;
  readonly #newNames: NewNames;
  readonly #values = new LRUCache<string, CachedNumber>(maxEntries(maxCachedValues));
  readonly #tuples = new LRUCache<string, Tuple>(maxEntries(maxCachedTuples));
  readonly #projects = new LRUCache<string, number>(maxEntries(maxCachedValues));
  readonly #lookups = new BatchedLookups(names => this.#findAll(names));
  /** Counts of playbacks that are stored. */
  #sums = new CountSums();
  readonly #unwritten: CommitOnce[] = [];
  /** Counts of writes that failed: their playbacks are stored nevertheless if only the answer was lost. */
  readonly #undecided: UndecidedWrite[] = [];

  constructor(database: Database, newNames: NewNames) {
    this.#database = database;
    this.#newNames = newNames;
  }

  /** Reads those that are requested at the same time with one query: after a restart, all viewers report within seconds. */
  find(key: Buffer): Promise<StoredPlayback | undefined> {
    return this.#lookups.find(key.toString('latin1'));
  }

  async #findAll(names: readonly string[]): Promise<Map<string, StoredPlayback>> {
    const rows = await this.#findRows(names.map(name => Buffer.from(name, 'latin1')));
    return new Map(rows.map(row => [row.key.toString('latin1'), storedPlaybackFrom(row)]));
  }

  async #findRows(keys: readonly Buffer[]): Promise<StoredPlaybackRow[]> {
    const select = `SELECT number, ${playbackColumns} FROM analytics_playbacks WHERE key`;
    if (this.#database.dialect === 'postgres')
      return this.#database.all(textQuery(this.#database, `${select} = ANY (?::bytea[])`, [keys]));
    const found = await Promise.all(
      keys.map(key =>
        this.#database.first(textQuery<StoredPlaybackRow>(this.#database, `${select} = ?`, [key])),
      ),
    );
    return found.filter(row => row !== undefined);
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

  /**
   * Stores playbacks, but for those that another server has changed meanwhile. Their counts follow in the same transaction, or
   * with {@link writeSums}.
   * @returns numbers by key in Latin-1, without those of deleted projects
   */
  async write(
    updates: readonly PlaybackUpdate[],
    nowMs: number,
    withSums: boolean,
  ): Promise<ReadonlyMap<string, number | 'changed'>> {
    let attempts = 0;
    let undecided: UndecidedWrite | undefined;
    try {
      const { written, sums } = await this.#database.transaction(async transaction => {
        attempts += 1;
        undecided = undefined;
        if (attempts > 1) this.#forgetNumbers();
        const transactionId = withSums ? undefined : await transactionIdOf(transaction);
        const result = await this.#writeAll(updates, nowMs, withSums, transaction);
        if (transactionId !== undefined) undecided = { transactionId, sums: result.sums };
        return result;
      });
      this.#sums.addAll(sums);
      return written;
    } catch (error) {
      this.#forgetNumbers();
      if (undecided !== undefined && this.#undecided.length < maxUnwrittenBatches)
        this.#undecided.push(undecided);
      throw error;
    }
  }

  /** Writes the counts that are left, in transactions that lock few rows for a short time. */
  async writeSums(): Promise<void> {
    for (let write = this.#undecided[0]; write !== undefined; write = this.#undecided[0]) {
      if (await isCommitted(this.#database, write.transactionId)) this.#sums.addAll(write.sums);
      this.#undecided.shift();
    }
    const sums = this.#sums;
    if (sums.size > 0) {
      this.#sums = new CountSums();
      const batches = await sums.rows(rowsPerTransaction, await TimeSlice.begin(maxSliceMs));
      if (this.#unwritten.length < maxUnwrittenBatches) {
        for (const { table, rows } of batches)
          this.#unwritten.push(
            new CommitOnce(this.#database, transaction => upsert(transaction, upserts[table], rows)),
          );
      }
    }
    for (let batch = this.#unwritten[0]; batch !== undefined; batch = this.#unwritten[0]) {
      await batch.run();
      this.#unwritten.shift();
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
    withSums: boolean,
    transaction: Transaction,
  ): Promise<{ written: ReadonlyMap<string, number | 'changed'>; sums: CountSums }> {
    const today = Math.floor(nowMs / dayMs);
    const tuples = new Map<PlaybackUpdate, Tuple>();
    for (const update of updates) {
      const tuple = await this.#tupleOf(update.context, today, transaction);
      if (tuple !== undefined) tuples.set(update, tuple);
    }
    const written = await writePlaybacks([...tuples.keys()], nowMs, transaction);
    const sums = new CountSums();
    const intervals: IntervalRow[] = [];
    const endedIntervals: IntervalRow[] = [];
    for (const [{ key, context, counts, intervals: viewed }, tuple] of tuples) {
      const playback = written.get(key.toString('latin1'));
      if (typeof playback !== 'number') continue;
      const media = { id: context['media-id'], type: context['media-type'] };
      for (const [minute, counted] of counts) sums.add(tuple, media, minute, counted);
      for (const { firstSlot, endSlot, views, replacesEnd } of mergeIntervals(viewed)) {
        const { project, number } = tuple;
        const rows = replacesEnd ? endedIntervals : intervals;
        rows.push([project, firstSlot, playback, endSlot, number, context.viewer, views]);
      }
    }
    await upsert(transaction, upserts.intervals, intervals);
    await upsert(transaction, upserts.endedIntervals, endedIntervals);
    if (!withSums) return { written, sums };
    for (const { table, rows } of await sums.rows(Number.POSITIVE_INFINITY))
      await upsert(transaction, upserts[table], rows);
    return { written, sums: new CountSums() };
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

function storedPlaybackFrom(row: StoredPlaybackRow): StoredPlayback {
  const progress = row.progress === null ? undefined : (JSON.parse(row.progress) as SharedProgress);
  return {
    number: row.number,
    state: { counted: row.seen, watchedMs: row.watched_ms, lastEventMs: row.last_event_ms },
    progress,
    touchedAtMs: progress?.writtenAtMs ?? row.touched_at_ms,
  };
}

async function numberOf(connection: Connection, text: string, values: readonly unknown[]): Promise<number> {
  const row = await connection.first(textQuery<{ number: number }>(connection, text, values));
  return row!.number;
}

async function hasValue(connection: Connection, text: string): Promise<boolean> {
  const find = 'SELECT number FROM analytics_values WHERE value = ?';
  return (await connection.first(textQuery(connection, find, [text]))) !== undefined;
}

/** Returns the numbers of the playbacks that are stored now, by key in Latin-1. */
async function writePlaybacks(
  updates: readonly PlaybackUpdate[],
  nowMs: number,
  connection: Connection,
): Promise<Map<string, number | 'changed'>> {
  const touchedAtMs = Math.ceil(nowMs / touchRoundingMs) * touchRoundingMs;
  const added: unknown[][] = [];
  const changed: unknown[][] = [];
  // In one order, so that transactions of several nodes do not lock each other out.
  for (const { key, state, progress, stored } of updates.toSorted((a, b) => Buffer.compare(a.key, b.key))) {
    const text = progress === undefined ? null : JSON.stringify(progress);
    const values = [state.counted, state.watchedMs, state.lastEventMs, touchedAtMs, text];
    if (stored === undefined) added.push([key, ...values]);
    else {
      const { counted, watchedMs, lastEventMs } = stored.state;
      changed.push([...values, stored.number, counted, watchedMs, lastEventMs]);
    }
  }
  const written = new Map<string, number | 'changed'>(
    updates.map(({ key }) => [key.toString('latin1'), 'changed']),
  );
  for (const [text, rows] of [
    [insertPlaybacks[connection.dialect], added],
    [updatePlaybacks[connection.dialect], changed],
  ] as const) {
    for (const values of statementValues(connection, rows)) {
      const query = textQuery<{ number: number; key: Buffer }>(connection, text, values);
      for (const { number, key } of await connection.all(query)) written.set(key.toString('latin1'), number);
    }
  }
  return written;
}

/** Joins intervals that begin in the same slot. */
function mergeIntervals(intervals: readonly CollectedInterval[]): Iterable<CollectedInterval> {
  const bySlot = new Map<number, CollectedInterval>();
  for (const interval of intervals) {
    const other = bySlot.get(interval.firstSlot);
    bySlot.set(
      interval.firstSlot,
      other === undefined
        ? interval
        : {
            ...interval,
            endSlot: Math.max(other.endSlot, interval.endSlot),
            views: other.views | interval.views,
            replacesEnd: other.replacesEnd || interval.replacesEnd,
          },
    );
  }
  return bySlot.values();
}
