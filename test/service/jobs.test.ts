import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JobKind, RunningJob } from '../../src/jobs/job.ts';
import { type JobOutcome, jobRetries } from '../../src/jobs/job-outcomes.ts';
import { Jobs, type JobsOptions } from '../../src/jobs/jobs.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { AppError } from '../../src/shared/errors.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { JobRow } from '../../src/store/event-tables.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

async function openedDatabase(): Promise<Database> {
  const database = openDatabase({ dataDir: await testTempDir() });
  onTestFinished(() => database.stop());
  return database;
}

function queueOf(database: Database, kinds: JobKind[], options: Partial<JobsOptions> = {}): Jobs {
  const jobs = new Jobs({ database, kinds, lanes: { work: 1, wide: 3 }, log: silentLogger, ...options });
  onTestFinished(() => jobs.stop());
  return jobs;
}

async function startedQueue(database: Database, kinds: JobKind[], options: Partial<JobsOptions> = {}) {
  const jobs = queueOf(database, kinds, options);
  await jobs.start();
  return jobs;
}

function rowsOf(database: Database): (Omit<JobRow, 'id'> & { id: number })[] {
  return database.sqlite
    .prepare<[], Omit<JobRow, 'id'> & { id: number }>('SELECT * FROM jobs ORDER BY id')
    .all();
}

/** A kind whose runs stay pending until the test finishes them. */
function heldKind(name: string, lane = 'work') {
  const runs: (RunningJob & { finish(): void; fail(error: unknown): void })[] = [];
  const kind: JobKind = {
    kind: name,
    lane,
    maxAttempts: 3,
    run(job) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      job.signal.addEventListener('abort', () => reject(job.signal.reason));
      runs.push({ ...job, finish: resolve, fail: reject });
      return promise;
    },
  };
  return { kind, runs };
}

/** The system clock, which the test can set forward. */
function steppedClock() {
  let aheadMs = 0;
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    step(ms: number) {
      aheadMs += ms;
    },
  };
}

describe('a job', () => {
  test('runs with its payload and is removed when it succeeds', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held');
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'held', subjectId: 'vi1', payload: { a: [1, null] } });
    expect(jobs.has('held', 'vi1')).toBe(true);
    await waitUntil(() => runs.length === 1);
    expect(runs[0]).toMatchObject({ subjectId: 'vi1', payload: { a: [1, null] }, attempt: 1 });
    expect(jobs.counts()).toEqual({
      work: { waiting: 0, running: 1, failed: 0 },
      wide: { waiting: 0, running: 0, failed: 0 },
    });
    runs[0]!.finish();
    await waitUntil(() => !jobs.has('held', 'vi1'));
    expect(rowsOf(database)).toEqual([]);
  });

  test('starts after the transaction that added it commits, and never after a rollback', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held', 'wide');
    const jobs = await startedQueue(database, [kind]);
    expect(() =>
      database.transaction(() => {
        jobs.add({ kind: 'held', subjectId: 'vi1' });
        throw new Error('rolled back');
      }),
    ).toThrow('rolled back');
    database.transaction(() => {
      jobs.add({ kind: 'held', subjectId: 'vi2' });
      expect(runs).toEqual([]);
    });
    await waitUntil(() => runs.length > 0);
    await nextTurn();
    expect(runs.map(run => run.subjectId)).toEqual(['vi2']);
  });

  test('in a lane with groups starts from the group with the fewest running jobs, and no group exceeds its limit', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held', 'shared');
    const jobs = queueOf(database, [kind], { lanes: { shared: { maxRunning: 3, maxPerGroup: 2 } } });
    for (const subjectId of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) {
      jobs.add({ kind: 'held', subjectId, groupId: subjectId[0]! });
    }
    await jobs.start();
    await waitUntil(() => runs.length === 3);
    expect(runs.map(run => run.subjectId)).toEqual(['a1', 'b1', 'a2']);
    jobs.add({ kind: 'held', subjectId: 'c1', groupId: 'c' });
    runs[0]!.finish();
    await waitUntil(() => runs.length === 4);
    expect(runs[3]?.subjectId).toBe('c1');
    runs[1]!.finish();
    runs[3]!.finish();
    // Starts one job of each group: the first has one running, the second none.
    await waitUntil(() => runs.length === 6);
    expect(runs.slice(4).map(run => run.subjectId)).toEqual(['b2', 'a3']);
    runs[4]!.finish();
    // The lane has capacity, but the only waiting group is at its limit.
    await waitUntil(() => !jobs.has('held', 'b2'));
    await nextTurn();
    expect([runs.length, jobs.counts().shared]).toEqual([6, { waiting: 1, running: 2, failed: 0 }]);
    runs[2]!.finish();
    await waitUntil(() => runs.length === 7);
    expect(runs[6]?.subjectId).toBe('a4');
  });

  test('starts by priority, then age, up to the limit of its lane', async () => {
    const database = await openedDatabase();
    const narrow = heldKind('narrow');
    const wide = heldKind('wide', 'wide');
    const jobs = queueOf(database, [narrow.kind, wide.kind]);
    for (const [subjectId, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 0],
      ['d', -1],
      ['e', 5],
    ] as const) {
      jobs.add({ kind: 'narrow', subjectId, priority });
      jobs.add({ kind: 'wide', subjectId, priority });
    }
    await jobs.start();
    await waitUntil(() => wide.runs.length === 3 && narrow.runs.length === 1);
    expect(wide.runs.map(run => run.subjectId)).toEqual(['b', 'e', 'a']);
    for (let done = 0; done < 5; done++) {
      await waitUntil(() => narrow.runs.length === done + 1);
      narrow.runs[done]!.finish();
    }
    await waitUntil(() => jobs.counts().work!.running === 0);
    expect(narrow.runs.map(run => run.subjectId)).toEqual(['b', 'e', 'a', 'c', 'd']);
    expect(wide.runs).toHaveLength(3);
  });

  test('is retried with growing delays and fails after its last attempt', async () => {
    const database = await openedDatabase();
    const clock = steppedClock();
    const outcomes: JobOutcome[] = [];
    let givenUp: unknown[] = [];
    let tried = 0;
    const kind: JobKind = {
      kind: 'hopeless',
      lane: 'work',
      maxAttempts: 3,
      run: async () => {
        throw new Error(`the ${++tried}. time`);
      },
      onGiveUp: (job, error) => {
        expect(database.sqlite.inTransaction).toBe(true);
        givenUp = [job.subjectId, job.payload, error];
      },
    };
    const jobs = await startedQueue(database, [kind], {
      clock,
      observer: { jobEnded: (_kind, outcome) => outcomes.push(outcome) },
    });
    jobs.add({ kind: 'hopeless', subjectId: 'vi1', payload: 7 });
    for (const attempt of [1, 2]) {
      await waitUntil(
        () => rowsOf(database)[0]!.attempts === attempt && rowsOf(database)[0]!.state === 'waiting',
      );
      const delayMs = rowsOf(database)[0]!.run_at_ms - clock.nowMs();
      expect(delayMs).toBeGreaterThan(jobRetries.delaysMs[attempt - 1]! - 1);
      expect(delayMs).toBeLessThanOrEqual(jobRetries.delaysMs[attempt - 1]! * 1.2);
      expect(tried).toBe(attempt);
      clock.step(delayMs);
      jobs.add({ kind: 'hopeless', subjectId: 'another', priority: -1 });
      database.sqlite.prepare(`DELETE FROM jobs WHERE subject_id = 'another'`).run();
    }
    await waitUntil(() => rowsOf(database)[0]!.state === 'failed');
    expect(rowsOf(database)[0]).toMatchObject({ failure: 'the 3. time', attempts: 3, lease_until_ms: null });
    expect(givenUp).toEqual(['vi1', 7, new Error('the 3. time')]);
    expect(outcomes).toEqual(['retried', 'retried', 'failed']);
    expect(jobs.has('hopeless', 'vi1')).toBe(false);
    expect(jobs.counts().work).toEqual({ waiting: 0, running: 0, failed: 1 });
  });

  test('never fails because the disk is full, but still fails for other reasons', async () => {
    const database = await openedDatabase();
    const clock = steppedClock();
    let tried = 0;
    const kind: JobKind = {
      kind: 'large',
      lane: 'work',
      maxAttempts: 3,
      run: async () => {
        tried += 1;
        if (tried < 8) throw new AppError('disk-full');
        throw new Error('another fault');
      },
    };
    const jobs = await startedQueue(database, [kind], { clock });
    jobs.add({ kind: 'large', subjectId: 'vi1' });
    for (let attempt = 1; attempt < 8; attempt++) {
      await waitUntil(() => tried === attempt && rowsOf(database)[0]!.state === 'waiting');
      const [row] = rowsOf(database);
      expect(row!.attempts).toBe(Math.min(attempt, 2));
      clock.step(row!.run_at_ms - clock.nowMs());
      jobs.add({ kind: 'large', subjectId: 'another', priority: -1 });
      database.sqlite.prepare(`DELETE FROM jobs WHERE subject_id = 'another'`).run();
    }
    await waitUntil(() => rowsOf(database)[0]!.state === 'failed');
    expect(tried).toBe(8);
  });

  test('starts when its retry delay is over', async () => {
    const database = await openedDatabase();
    const attempts: number[] = [];
    const kind: JobKind = {
      kind: 'second-time-lucky',
      lane: 'work',
      maxAttempts: 2,
      run: async ({ attempt }) => {
        attempts.push(attempt);
        if (attempt === 1) throw new Error('not yet');
      },
    };
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'second-time-lucky', subjectId: 'vi1' });
    await waitUntil(() => !jobs.has('second-time-lucky', 'vi1'));
    expect(attempts).toEqual([1, 2]);
  });

  test('with an invalid input is not retried', async () => {
    const database = await openedDatabase();
    const kind: JobKind = {
      kind: 'refused',
      lane: 'work',
      maxAttempts: 5,
      run: async () => {
        throw new AppError('media-refused', 'no media');
      },
    };
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'refused', subjectId: 'vi1' });
    await waitUntil(() => jobs.counts().work!.failed === 1);
    expect(rowsOf(database)[0]).toMatchObject({ attempts: 1, failure: 'no media' });
  });

  test('waits again when recording its failure fails', async () => {
    const database = await openedDatabase();
    const kind: JobKind = {
      kind: 'refused',
      lane: 'work',
      maxAttempts: 1,
      run: async () => {
        throw new AppError('media-refused');
      },
      onGiveUp: () => {
        throw new Error('cannot be written');
      },
    };
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'refused', subjectId: 'vi1' });
    await waitUntil(() => rowsOf(database)[0]!.attempts === 1 && rowsOf(database)[0]!.state === 'waiting');
    expect(jobs.counts().work).toEqual({ waiting: 1, running: 0, failed: 0 });
  });

  test('saves its progress at most once a second, from 0 to 100', async () => {
    const database = await openedDatabase();
    const clock = steppedClock();
    const { kind, runs } = heldKind('held');
    const jobs = await startedQueue(database, [kind], { clock });
    jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    const written = [12.7, 50, Number.NaN].map(percent => {
      runs[0]!.reportProgress(percent);
      return rowsOf(database)[0]!.progress_percent;
    });
    clock.step(1_000);
    runs[0]!.reportProgress(250);
    written.push(rowsOf(database)[0]!.progress_percent);
    expect(written).toEqual([12, 12, 12, 100]);
  });
});

describe('cancelling a subject', () => {
  test('removes waiting jobs, aborts running ones, and resolves when they have ended', async () => {
    const database = await openedDatabase();
    let letGo = () => {};
    const reasons: unknown[] = [];
    const slow: JobKind = {
      kind: 'slow',
      lane: 'wide',
      maxAttempts: 3,
      run: job =>
        new Promise((_resolve, reject) => {
          job.signal.addEventListener('abort', () => {
            reasons.push(job.signal.reason);
            letGo = () => reject(job.signal.reason);
          });
        }),
    };
    const { kind, runs } = heldKind('held');
    const jobs = await startedQueue(database, [slow, kind]);
    jobs.add({ kind: 'held', subjectId: 'other' });
    jobs.add({ kind: 'held', subjectId: 'vi1' });
    jobs.add({ kind: 'slow', subjectId: 'vi1' });
    await waitUntil(() => jobs.counts().wide!.running === 1 && runs.length === 1);

    let isGone = false;
    const cancelled = jobs.cancel('vi1').then(() => {
      isGone = true;
    });
    expect(jobs.has('held', 'vi1')).toBe(false);
    expect(jobs.has('slow', 'vi1')).toBe(false);
    expect(reasons).toHaveLength(1);
    await nextTurn();
    expect(isGone).toBe(false);
    jobs.add({ kind: 'slow', subjectId: 'vi1' });
    letGo();
    await cancelled;
    expect(jobs.has('slow', 'vi1')).toBe(true);
    expect(runs[0]!.signal.aborted).toBe(false);
    await waitUntil(() => jobs.counts().wide!.running === 1);
    expect(reasons).toHaveLength(1);
    const cancelledAgain = jobs.cancel('vi1');
    letGo();
    await cancelledAgain;
  });

  test('lets the job run again when its transaction is rolled back', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held');
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    expect(() =>
      database.transaction(() => {
        void jobs.cancel('vi1');
        throw new Error('rolled back');
      }),
    ).toThrow();
    await waitUntil(() => runs.length === 2);
    expect(runs[1]).toMatchObject({ subjectId: 'vi1', attempt: 1 });
  });
});

describe('the queue', () => {
  test('starts no jobs while it drains, and requeues running jobs when it stops', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held', 'wide');
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    await jobs.drain();
    jobs.add({ kind: 'held', subjectId: 'vi2' });
    await nextTurn();
    expect(runs).toHaveLength(1);
    expect(runs[0]!.signal.aborted).toBe(false);
    await jobs.stop();
    await jobs.stop();
    expect(runs[0]!.signal.aborted).toBe(true);
    expect(rowsOf(database)).toMatchObject([
      { subject_id: 'vi1', state: 'waiting', attempts: 0, lease_until_ms: null, failure: null },
      { subject_id: 'vi2', state: 'waiting', attempts: 0 },
    ]);
    const again = await startedQueue(database, [kind]);
    await waitUntil(() => runs.length === 3);
    expect(runs[1]).toMatchObject({ subjectId: 'vi1', attempt: 1 });
    await again.stop();
  });

  test('requeues jobs that ran during a crash, and fails those that crashed too often', async () => {
    const database = await openedDatabase();
    const givenUp: string[] = [];
    const { kind, runs } = heldKind('held', 'wide');
    const jobs = queueOf(database, [{ ...kind, onGiveUp: job => givenUp.push(job.subjectId) }]);
    jobs.add({ kind: 'held', subjectId: 'once' });
    jobs.add({ kind: 'held', subjectId: 'often' });
    database.sqlite
      .prepare(
        `UPDATE jobs SET state = 'running', lease_until_ms = 1, attempts = 1, crashes = (subject_id = 'often')`,
      )
      .run();
    await jobs.start();
    await waitUntil(() => runs.length === 1);
    expect(runs[0]).toMatchObject({ subjectId: 'once', attempt: 2 });
    expect(givenUp).toEqual(['often']);
    expect(rowsOf(database)[1]!.failure).toBe(
      'The server stopped unexpectedly 2 times while it worked on this file.',
    );
  });

  test('starts jobs that ran during a crash one at a time, so that only the cause crashes again', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held', 'wide');
    const clock = steppedClock();
    const jobs = queueOf(database, [kind], { clock });
    for (const subjectId of ['first', 'second', 'third']) jobs.add({ kind: 'held', subjectId });
    database.sqlite.prepare(`UPDATE jobs SET state = 'running', lease_until_ms = 1, attempts = 1`).run();
    await jobs.start();
    jobs.add({ kind: 'held', subjectId: 'new' });
    const started = () => runs.map(({ subjectId }) => subjectId);
    await waitUntil(() => runs.length === 2);
    expect(started()).toEqual(['first', 'new']);
    // The first has run for the whole trial, so it did not end the process.
    clock.step(60_001);
    jobs.add({ kind: 'held', subjectId: 'newer' });
    await waitUntil(() => runs.length === 3);
    expect(started()).toEqual(['first', 'new', 'second']);
    runs[0]!.finish();
    await waitUntil(() => runs.length === 4);
    expect(started()).toEqual(['first', 'new', 'second', 'newer']);
    runs[2]!.finish();
    await waitUntil(() => runs.length === 5);
    expect(started()[4]).toBe('third');
  });

  test('starts a waiting job whose crashes exceed a maximum that was lowered later', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held');
    const jobs = queueOf(database, [kind], { maxCrashes: 1 });
    jobs.add({ kind: 'held', subjectId: 'vi1' });
    database.sqlite.prepare('UPDATE jobs SET crashes = 3').run();
    await jobs.start();
    await waitUntil(() => runs.length === 1);
  });

  test('fails jobs of unknown kinds, moves jobs whose kind changed lanes, and removes old failed jobs', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held', 'wide');
    const old = queueOf(database, [kind, heldKind('retired').kind]);
    old.add({ kind: 'retired', subjectId: 'vi1' });
    old.add({ kind: 'held', subjectId: 'vi2' });
    old.add({ kind: 'held', subjectId: 'long-ago' });
    database.sqlite
      .prepare(`UPDATE jobs SET state = 'failed', failed_at_ms = 1 WHERE subject_id = 'long-ago'`)
      .run();
    const jobs = await startedQueue(database, [{ ...kind, lane: 'work' }]);
    await waitUntil(() => runs.length === 1);
    expect(rowsOf(database)).toMatchObject([
      { subject_id: 'vi1', state: 'failed', failure: 'This server has no jobs of the kind retired.' },
      { subject_id: 'vi2', state: 'running', lane: 'work' },
    ]);
    expect(() => jobs.add({ kind: 'retired', subjectId: 'vi1' })).toThrow(
      'The job kind retired is not registered',
    );
  });

  test('rejects kinds that it cannot run', async () => {
    const database = await openedDatabase();
    const { kind } = heldKind('held');
    const jobs = queueOf(database, [kind]);
    expect(() => jobs.register(kind)).toThrow('The job kind held is already registered');
    expect(() => jobs.register({ ...kind, kind: 'lost', lane: 'nowhere' })).toThrow('unknown lane: nowhere');
    await jobs.start();
    expect(() => jobs.register({ ...kind, kind: 'late' })).toThrow('before the start');
  });

  test('records an outcome as soon as the database accepts it', async () => {
    const database = await openedDatabase();
    const { kind, runs } = heldKind('held');
    const jobs = await startedQueue(database, [kind]);
    jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    database.sqlite.exec(
      `CREATE TRIGGER full BEFORE DELETE ON jobs BEGIN SELECT RAISE(ABORT, 'the disk is full'); END`,
    );
    runs[0]!.finish();
    await nextTurn();
    expect(jobs.has('held', 'vi1')).toBe(true);
    database.sqlite.exec('DROP TRIGGER full');
    await waitUntil(() => !jobs.has('held', 'vi1'));
    expect(runs).toHaveLength(1);
  });
});
