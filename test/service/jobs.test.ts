import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JobKind, NewJob, RunningJob } from '../../src/jobs/job.ts';
import { JobClaimStore } from '../../src/jobs/job-claims.store.ts';
import { type JobOutcome, jobRetries } from '../../src/jobs/job-outcomes.ts';
import { Jobs, type JobsOptions } from '../../src/jobs/jobs.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { AppError } from '../../src/shared/errors.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Database } from '../../src/store/database.ts';
import type { Row } from '../../src/store/tables.ts';
import { acceptWrites, refuseWrites, rowsOf, runSql } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

async function openDatabaseOf(kind: DatabaseKind): Promise<Database> {
  const database = await openTestDatabase(await testTempDir(), kind);
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

function jobsOf(database: Database): Promise<(Omit<Row<'jobs'>, 'id'> & { id: number })[]> {
  return rowsOf(database, 'SELECT * FROM jobs ORDER BY id');
}

async function firstJobOf(database: Database): Promise<Omit<Row<'jobs'>, 'id'>> {
  return (await jobsOf(database))[0]!;
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

function makeDue(database: Database): Promise<unknown> {
  return runSql(database, `UPDATE jobs SET run_at_ms = 0 WHERE state = 'waiting'`);
}

/** A job of it makes the queue look what is due. */
const wakeKind: JobKind = { kind: 'wake', lane: 'wide', maxAttempts: 1, run: async () => {} };

/** Moves only when the test sets it forward, so that delays are exact on a busy machine. */
function steppedClock() {
  let atMs = systemClock.nowMs();
  return {
    nowMs: () => atMs,
    monotonicMs: () => atMs,
    step(ms: number) {
      atMs += ms;
    },
  };
}

describe.each(databaseKinds)('on %s', kindOfDatabase => {
  describe('a job', () => {
    test('runs with its payload and is removed when it succeeds', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held');
      const jobs = await startedQueue(database, [kind]);
      await jobs.add({ kind: 'held', subjectId: 'vi1', payload: { a: [1, null] } });
      expect(await jobs.has('held', 'vi1')).toBe(true);
      await waitUntil(() => runs.length === 1);
      expect(runs[0]).toMatchObject({ subjectId: 'vi1', payload: { a: [1, null] }, attempt: 1 });
      expect(await jobs.counts()).toEqual({
        work: { waiting: 0, running: 1, failed: 0 },
        wide: { waiting: 0, running: 0, failed: 0 },
      });
      runs[0]!.finish();
      await waitUntil(async () => !(await jobs.has('held', 'vi1')));
      expect(await jobsOf(database)).toEqual([]);
    });

    test('starts after the transaction that added it commits, and never after a rollback', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held', 'wide');
      const jobs = await startedQueue(database, [kind]);
      const rolledBack = database.transaction(async transaction => {
        await jobs.add({ kind: 'held', subjectId: 'vi1' }, transaction);
        throw new Error('rolled back');
      });
      await expect(rolledBack).rejects.toThrow('rolled back');
      await database.transaction(async transaction => {
        await jobs.add({ kind: 'held', subjectId: 'vi2' }, transaction);
        await nextTurn();
        expect(runs).toEqual([]);
      });
      await waitUntil(() => runs.length > 0);
      await nextTurn();
      expect(runs.map(run => run.subjectId)).toEqual(['vi2']);
    });

    test('in a lane with groups starts from the group with the fewest running jobs, and no group exceeds its limit', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held', 'shared');
      const jobs = queueOf(database, [kind], { lanes: { shared: { maxRunning: 3, maxPerGroup: 2 } } });
      for (const subjectId of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) {
        await jobs.add({ kind: 'held', subjectId, groupId: subjectId[0]! });
      }
      await jobs.start();
      await waitUntil(() => runs.length === 3);
      expect(runs.map(run => run.subjectId)).toEqual(['a1', 'b1', 'a2']);
      await jobs.add({ kind: 'held', subjectId: 'c1', groupId: 'c' });
      runs[0]!.finish();
      await waitUntil(() => runs.length === 4);
      expect(runs[3]?.subjectId).toBe('c1');
      // The first group has one running, the second none.
      runs[1]!.finish();
      await waitUntil(() => runs.length === 5);
      runs[3]!.finish();
      await waitUntil(() => runs.length === 6);
      expect(runs.slice(4).map(run => run.subjectId)).toEqual(['b2', 'a3']);
      runs[4]!.finish();
      // The lane has capacity, but the only waiting group is at its limit.
      await waitUntil(async () => !(await jobs.has('held', 'b2')));
      await nextTurn();
      expect([runs.length, (await jobs.counts()).shared]).toEqual([6, { waiting: 1, running: 2, failed: 0 }]);
      runs[2]!.finish();
      await waitUntil(() => runs.length === 7);
      expect(runs[6]?.subjectId).toBe('a4');
    });

    test('of three groups starts in turn, and long work never waits for the end of all short work', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const single = heldKind('single', 'single');
      const held = heldKind('held', 'shared');
      const jobs = queueOf(database, [single.kind, held.kind], {
        lanes: {
          single: { maxRunning: 1, maxPerGroup: 1 },
          shared: { maxRunning: 1, maxPerGroup: 3, reservedPriorities: [5, 10] },
        },
      });
      for (const kind of ['single', 'held']) {
        for (const subjectId of ['b1', 'b2', 'b3', 'b4', 'c1', 'a1']) {
          const priority = kind === 'held' && subjectId !== 'a1' ? 10 : 0;
          await jobs.add({ kind, subjectId, groupId: subjectId[0]!, priority });
        }
      }
      await jobs.start();
      for (let done = 0; done < 4; done += 1) {
        await waitUntil(() => single.runs.length === done + 1);
        single.runs[done]!.finish();
      }
      expect(single.runs.map(({ subjectId }) => subjectId)).toEqual(['b1', 'c1', 'a1', 'b2']);
      await waitUntil(() => held.runs.length === 3);
      expect(held.runs.map(({ subjectId }) => subjectId)).toEqual(['b1', 'c1', 'a1']);
    });

    test('of a high enough priority has a place of its own in a full lane', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held', 'shared');
      const shared = { maxRunning: 1, maxPerGroup: 9, reservedPriorities: [5, 10] };
      const jobs = queueOf(database, [kind], { lanes: { shared } });
      for (const [subjectId, priority] of [
        ['rest', 0],
        ['rest2', 0],
      ] as const) {
        await jobs.add({ kind: 'held', subjectId, priority });
      }
      await jobs.start();
      await waitUntil(() => runs.length === 1);
      for (const [subjectId, priority] of [
        ['first', 5],
        ['first2', 5],
        ['short', 10],
      ] as const) {
        await jobs.add({ kind: 'held', subjectId, priority });
        if (subjectId === 'first') await waitUntil(() => runs.length === 2);
      }
      await waitUntil(() => runs.length === 3);
      expect(runs.map(({ subjectId }) => subjectId)).toEqual(['rest', 'first', 'short']);
      expect((await jobs.counts()).shared).toEqual({ waiting: 2, running: 3, failed: 0 });
    });

    test('starts by priority, then age, up to the limit of its lane', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
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
        await jobs.add({ kind: 'narrow', subjectId, priority });
        await jobs.add({ kind: 'wide', subjectId, priority });
      }
      await jobs.start();
      await waitUntil(() => wide.runs.length === 3 && narrow.runs.length === 1);
      expect(wide.runs.map(run => run.subjectId)).toEqual(['b', 'e', 'a']);
      for (let done = 0; done < 5; done++) {
        await waitUntil(() => narrow.runs.length === done + 1);
        narrow.runs[done]!.finish();
      }
      await waitUntil(async () => (await jobs.counts()).work!.running === 0);
      expect(narrow.runs.map(run => run.subjectId)).toEqual(['b', 'e', 'a', 'c', 'd']);
      expect(wide.runs).toHaveLength(3);
    });

    test('is retried with growing delays and fails after its last attempt', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
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
        onGiveUp: async (job, error, transaction) => {
          expect(
            await transaction.first(
              transaction.queries.selectFrom('jobs').select('state').where('kind', '=', 'hopeless'),
            ),
          ).toEqual({
            state: 'failed',
          });
          givenUp = [job.subjectId, job.payload, error];
        },
      };
      const jobs = await startedQueue(database, [kind, wakeKind], {
        clock,
        observer: { jobEnded: (name, outcome) => name === 'hopeless' && outcomes.push(outcome) },
      });
      await jobs.add({ kind: 'hopeless', subjectId: 'vi1', payload: 7 });
      for (const attempt of [1, 2]) {
        await waitUntil(
          async () =>
            (await firstJobOf(database)).attempts === attempt &&
            (await firstJobOf(database)).state === 'waiting',
        );
        const delayMs = (await firstJobOf(database)).run_at_ms - clock.nowMs();
        // PostgreSQL has its own clock, which goes on.
        const laterMs = kindOfDatabase === 'PostgreSQL' ? Date.now() - clock.nowMs() : 0;
        expect(delayMs).toBeGreaterThan(jobRetries.delaysMs[attempt - 1]! - 1);
        expect(delayMs).toBeLessThanOrEqual(jobRetries.delaysMs[attempt - 1]! * 1.2 + laterMs);
        expect(tried).toBe(attempt);
        await makeDue(database);
        await jobs.add({ kind: 'wake', subjectId: 'another' });
      }
      await waitUntil(async () => (await firstJobOf(database)).state === 'failed');
      expect(await firstJobOf(database)).toMatchObject({
        failure: 'the 3. time',
        attempts: 3,
        lease_until_ms: null,
      });
      expect(givenUp).toEqual(['vi1', 7, new Error('the 3. time')]);
      expect(outcomes).toEqual(['retried', 'retried', 'failed']);
      expect(await jobs.has('hopeless', 'vi1')).toBe(false);
      expect((await jobs.counts()).work).toEqual({ waiting: 0, running: 0, failed: 1 });
    });

    test('never fails because the disk is full, but still fails for other reasons', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
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
      const jobs = await startedQueue(database, [kind, wakeKind], { clock });
      await jobs.add({ kind: 'large', subjectId: 'vi1' });
      for (let attempt = 1; attempt < 8; attempt++) {
        await waitUntil(async () => tried === attempt && (await firstJobOf(database)).state === 'waiting');
        const [row] = await jobsOf(database);
        expect(row!.attempts).toBe(Math.min(attempt, 2));
        await makeDue(database);
        await jobs.add({ kind: 'wake', subjectId: 'another' });
      }
      await waitUntil(async () => (await firstJobOf(database)).state === 'failed');
      expect(tried).toBe(8);
    });

    test('waits while the machine has a fault, and is not failed by one that it meets', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      let fault: string | undefined = 'a folder is gone';
      let runs = 0;
      const kind: JobKind = {
        kind: 'reads',
        lane: 'work',
        maxAttempts: 1,
        run: async () => {
          runs += 1;
          if (runs > 1) return;
          fault = 'another folder is gone';
          throw new AppError('media-refused', 'no media');
        },
      };
      const jobs = await startedQueue(database, [kind, wakeKind], { findFault: () => fault });
      await jobs.add({ kind: 'reads', subjectId: 'vi1' });
      const again = async () => {
        await waitUntil(async () => (await firstJobOf(database)).failure === 'data-dir-unusable');
        await runSql(database, 'UPDATE jobs SET failure = NULL');
        fault = undefined;
        await makeDue(database);
        await jobs.add({ kind: 'wake', subjectId: 'another' });
      };
      await again();
      await waitUntil(() => runs === 1);
      await again();
      await waitUntil(async () => !(await jobs.has('reads', 'vi1')));
      expect(runs).toBe(2);
    });

    test('starts when its retry delay is over', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
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
      await jobs.add({ kind: 'second-time-lucky', subjectId: 'vi1' });
      await waitUntil(async () => !(await jobs.has('second-time-lucky', 'vi1')));
      expect(attempts).toEqual([1, 2]);
    });

    test('starts when its retry delay ends while the queue looks for jobs that are due', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const clock = steppedClock();
      let isTicking = false;
      const ticking = {
        ...clock,
        nowMs() {
          if (isTicking) clock.step(1);
          return clock.nowMs();
        },
      };
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
      const jobs = await startedQueue(database, [kind], { clock: ticking });
      await jobs.add({ kind: 'second-time-lucky', subjectId: 'vi1' });
      const waiting = await waitUntil(async () => {
        const job = await firstJobOf(database);
        return job.attempts === 1 && job.state === 'waiting' && job;
      });
      // The first question is one millisecond too early, and the second one is not.
      clock.step(Number(waiting.run_at_ms) - clock.nowMs() - 2);
      isTicking = true;
      await waitUntil(() => attempts.length === 2);
    });

    test('with an invalid input is not retried', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const kind: JobKind = {
        kind: 'refused',
        lane: 'work',
        maxAttempts: 5,
        run: async () => {
          throw new AppError('media-refused', 'no media');
        },
      };
      const jobs = await startedQueue(database, [kind]);
      await jobs.add({ kind: 'refused', subjectId: 'vi1' });
      await waitUntil(async () => (await jobs.counts()).work!.failed === 1);
      expect(await firstJobOf(database)).toMatchObject({ attempts: 1, failure: 'no media' });
    });

    test('waits again when recording its failure fails', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const kind: JobKind = {
        kind: 'refused',
        lane: 'work',
        maxAttempts: 1,
        run: async () => {
          throw new AppError('media-refused');
        },
        onGiveUp: async () => {
          throw new Error('cannot be written');
        },
      };
      const jobs = await startedQueue(database, [kind]);
      await jobs.add({ kind: 'refused', subjectId: 'vi1' });
      await waitUntil(
        async () =>
          (await firstJobOf(database)).attempts === 1 && (await firstJobOf(database)).state === 'waiting',
      );
      expect((await jobs.counts()).work).toEqual({ waiting: 1, running: 0, failed: 0 });
    });

    test('saves its progress at most once a second, from 0 to 100', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const clock = steppedClock();
      const { kind, runs } = heldKind('held');
      const jobs = await startedQueue(database, [kind], { clock });
      await jobs.add({ kind: 'held', subjectId: 'vi1' });
      await waitUntil(() => runs.length === 1);
      const stored = async () => (await firstJobOf(database)).progress_percent;
      runs[0]!.reportProgress(12.7);
      await waitUntil(async () => (await stored()) === 12);
      for (const percent of [50, Number.NaN]) runs[0]!.reportProgress(percent);
      // Waits for writes of the same row.
      await runSql(database, 'UPDATE jobs SET payload = payload');
      expect(await stored()).toBe(12);
      clock.step(1_000);
      runs[0]!.reportProgress(250);
      await waitUntil(async () => (await stored()) === 100);
    });
  });

  describe('cancelling a subject', () => {
    test('removes waiting jobs, aborts running ones, and resolves when they have ended', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      let letGo = () => {};
      let started = 0;
      const reasons: unknown[] = [];
      const slow: JobKind = {
        kind: 'slow',
        lane: 'wide',
        maxAttempts: 3,
        run: job =>
          new Promise((_resolve, reject) => {
            started += 1;
            job.signal.addEventListener('abort', () => {
              reasons.push(job.signal.reason);
              letGo = () => reject(job.signal.reason);
            });
          }),
      };
      const { kind, runs } = heldKind('held');
      const jobs = await startedQueue(database, [slow, kind]);
      await jobs.add({ kind: 'held', subjectId: 'other' });
      await jobs.add({ kind: 'held', subjectId: 'vi1' });
      await jobs.add({ kind: 'slow', subjectId: 'vi1' });
      await waitUntil(() => started === 1 && runs.length === 1);

      let isGone = false;
      const cancelled = jobs.cancel('vi1').then(() => {
        isGone = true;
      });
      await waitUntil(() => reasons.length === 1);
      expect(await jobs.has('held', 'vi1')).toBe(false);
      expect(await jobs.has('slow', 'vi1')).toBe(false);
      await nextTurn();
      expect(isGone).toBe(false);
      await jobs.add({ kind: 'slow', subjectId: 'vi1' });
      await waitUntil(async () => (await jobs.counts()).wide!.running === 1);
      // The new job waits for the former one.
      expect(started).toBe(1);
      letGo();
      await cancelled;
      expect(await jobs.has('slow', 'vi1')).toBe(true);
      expect(runs[0]!.signal.aborted).toBe(false);
      await waitUntil(() => started === 2);
      expect(reasons).toHaveLength(1);
      const cancelledAgain = jobs.cancel('vi1');
      await waitUntil(() => reasons.length === 2);
      letGo();
      await cancelledAgain;
    });

    test('can be of one kind only', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const [one, other] = [heldKind('one'), heldKind('other')];
      const jobs = await startedQueue(database, [one.kind, other.kind]);
      await jobs.add({ kind: 'one', subjectId: 'vi1' });
      await jobs.add({ kind: 'other', subjectId: 'vi1' });
      await waitUntil(() => one.runs.length === 1);
      await database.transaction(transaction => jobs.remove('vi1', transaction, 'one'));
      expect(one.runs[0]!.signal.aborted).toBe(true);
      expect(await jobs.has('one', 'vi1')).toBe(false);
      await waitUntil(() => other.runs.length === 1);
      expect(other.runs[0]!.signal.aborted).toBe(false);
    });

    test('in a transaction aborts running jobs after the commit, and none after a rollback', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held');
      const jobs = await startedQueue(database, [kind]);
      await jobs.add({ kind: 'held', subjectId: 'vi1' });
      await waitUntil(() => runs.length === 1);
      const rolledBack = database.transaction(async transaction => {
        await jobs.remove('vi1', transaction);
        throw new Error('rolled back');
      });
      await expect(rolledBack).rejects.toThrow('rolled back');
      expect(runs[0]!.signal.aborted).toBe(false);
      expect(await jobs.has('held', 'vi1')).toBe(true);
      await database.transaction(async transaction => {
        await jobs.remove('vi1', transaction);
        await jobs.add({ kind: 'held', subjectId: 'vi1', payload: 'new' }, transaction);
        expect(runs[0]!.signal.aborted).toBe(false);
      });
      expect(runs[0]!.signal.aborted).toBe(true);
      await waitUntil(() => runs.length === 2);
      await nextTurn();
      expect(runs[1]).toMatchObject({ payload: 'new', attempt: 1 });
      expect(runs[1]!.signal.aborted).toBe(false);
    });

    test('is claimed by one only', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      await queueOf(database, [heldKind('held').kind]).add({ kind: 'held', subjectId: 'vi1' });
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) => {
          const own = { nodeId: `node${index}`, leaseMs: 60_000, kinds: () => ['held'], lanes: ['work'] };
          return new JobClaimStore({ database, clock: systemClock, ...own }).claimNext({ lane: 'work' });
        }),
      );
      expect(claims.filter(claim => claim !== undefined)).toMatchObject([{ subjectId: 'vi1', attempts: 0 }]);
      expect(await jobsOf(database)).toMatchObject([{ state: 'running', attempts: 1 }]);
    });

    test('aborts a job that is being claimed at that moment', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      for (let round = 0; round < 20; round += 1) {
        const { kind, runs } = heldKind('held', 'wide');
        const jobs = await startedQueue(database, [kind]);
        await jobs.add({ kind: 'held', subjectId: 'vi1' });
        // The claim follows in a later iteration of the event loop, and the removal in one near it.
        for (let turn = 0; turn < round % 5; turn += 1) await nextTurn();
        await jobs.cancel('vi1');
        expect(runs.filter(run => !run.signal.aborted)).toEqual([]);
        expect(await jobs.has('held', 'vi1')).toBe(false);
        await nextTurn();
        await nextTurn();
        expect(runs.filter(run => !run.signal.aborted)).toEqual([]);
        await jobs.stop();
      }
    });
  });

  describe('the queue', () => {
    test('starts no jobs while it drains, and requeues running jobs when it stops', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held', 'wide');
      const jobs = await startedQueue(database, [kind]);
      await jobs.add({ kind: 'held', subjectId: 'vi1' });
      await waitUntil(() => runs.length === 1);
      await jobs.drain();
      await jobs.add({ kind: 'held', subjectId: 'vi2' });
      await nextTurn();
      expect(runs).toHaveLength(1);
      expect(runs[0]!.signal.aborted).toBe(false);
      await jobs.stop();
      await jobs.stop();
      expect(runs[0]!.signal.aborted).toBe(true);
      expect(await jobsOf(database)).toMatchObject([
        { subject_id: 'vi1', state: 'waiting', attempts: 0, lease_until_ms: null, failure: null },
        { subject_id: 'vi2', state: 'waiting', attempts: 0 },
      ]);
      const again = await startedQueue(database, [kind]);
      await waitUntil(() => runs.length === 3);
      expect(
        runs
          .slice(1)
          .map(({ subjectId, attempt }) => [subjectId, attempt])
          .sort(),
      ).toEqual([
        ['vi1', 1],
        ['vi2', 1],
      ]);
      await again.stop();
    });

    test('requeues jobs that ran during a crash, and fails only those whose file ended the process twice in a row', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const givenUp: string[] = [];
      const { kind, runs } = heldKind('held', 'wide');
      const onGiveUp = async ({ subjectId }: NewJob) => void givenUp.push(subjectId);
      const jobs = queueOf(database, [{ ...kind, onGiveUp }]);
      await jobs.add({ kind: 'held', subjectId: 'innocent' });
      await jobs.add({ kind: 'held', subjectId: 'guilty' });
      await runSql(
        database,
        `UPDATE jobs SET state = 'running', lease_until_ms = 1, attempts = 1, crashes = 1`,
      );
      await runSql(database, `UPDATE jobs SET parsing = 'now' WHERE subject_id = 'guilty'`);
      await jobs.start();
      await waitUntil(() => runs.length === 1);
      expect(runs[0]).toMatchObject({ subjectId: 'innocent', attempt: 2 });
      expect(givenUp).toEqual(['guilty']);
      expect((await jobsOf(database))[1]!.failure).toBe(
        'The server stopped unexpectedly 2 times while it processed this file.',
      );
    });

    test('counts no crash while several jobs parse, which then parse one at a time', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const parsing: string[] = [];
      const ends = new Map<string, () => void>();
      const kind: JobKind = {
        kind: 'parsing',
        lane: 'wide',
        maxAttempts: 3,
        run: ({ subjectId, parse }) =>
          parse(async () => {
            parsing.push(subjectId);
            await new Promise<void>(resolve => ends.set(subjectId, resolve));
          }),
      };
      const jobs = queueOf(database, [kind, wakeKind], { maxCrashes: 1 });
      for (const subjectId of ['first', 'second']) await jobs.add({ kind: 'parsing', subjectId });
      await runSql(
        database,
        `UPDATE jobs SET state = 'running', lease_until_ms = 1, attempts = 1, parsing = 'now'`,
      );
      await jobs.add({ kind: 'parsing', subjectId: 'new' });
      await jobs.start();
      await waitUntil(async () => (await jobs.counts()).wide!.running === 3);
      await waitUntil(() => parsing.length === 1);
      expect(await jobsOf(database)).toMatchObject([
        { subject_id: 'first', crashes: 0, parsing: 'now' },
        { subject_id: 'second', crashes: 0, parsing: 'suspect' },
        { subject_id: 'new', crashes: 0, parsing: 'no' },
      ]);
      for (const [index, subjectId] of ['first', 'second', 'new'].entries()) {
        await waitUntil(() => ends.has(subjectId));
        expect(parsing).toEqual(['first', 'second', 'new'].slice(0, index + 1));
        ends.get(subjectId)!();
      }
      await waitUntil(async () => (await jobsOf(database)).length === 0);
    });

    test('forgets a crash once an attempt has ended without one', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held');
      const jobs = queueOf(database, [kind]);
      await jobs.add({ kind: 'held', subjectId: 'vi1' });
      await runSql(
        database,
        `UPDATE jobs SET state = 'running', lease_until_ms = 1, attempts = 1, parsing = 'now'`,
      );
      await jobs.start();
      await waitUntil(() => runs.length === 1);
      expect(await firstJobOf(database)).toMatchObject({ crashes: 1, parsing: 'suspect' });
      runs[0]!.fail(new Error('an ordinary failure'));
      await waitUntil(async () => (await firstJobOf(database)).state === 'waiting');
      expect(await firstJobOf(database)).toMatchObject({ crashes: 0, parsing: 'no' });
    });

    test('fails jobs of unknown kinds, moves jobs whose kind changed lanes, and removes old failed jobs', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held', 'wide');
      const old = queueOf(database, [kind, heldKind('retired').kind]);
      await old.add({ kind: 'retired', subjectId: 'vi1' });
      await old.add({ kind: 'held', subjectId: 'vi2' });
      await old.add({ kind: 'held', subjectId: 'long-ago' });
      await runSql(
        database,
        `UPDATE jobs SET state = 'failed', failed_at_ms = 1 WHERE subject_id = 'long-ago'`,
      );
      const jobs = await startedQueue(database, [{ ...kind, lane: 'work' }]);
      await waitUntil(() => runs.length === 1);
      expect(await jobsOf(database)).toMatchObject([
        { subject_id: 'vi1', state: 'failed', failure: 'This server has no jobs of the kind retired.' },
        { subject_id: 'vi2', state: 'running', lane: 'work' },
      ]);
      await expect(jobs.add({ kind: 'retired', subjectId: 'vi1' })).rejects.toThrow(
        'The job kind retired is not registered',
      );
    });

    test('rejects kinds that it cannot run', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind } = heldKind('held');
      const jobs = queueOf(database, [kind]);
      expect(() => jobs.register(kind)).toThrow('The job kind held is already registered');
      expect(() => jobs.register({ ...kind, kind: 'lost', lane: 'nowhere' })).toThrow(
        'unknown lane: nowhere',
      );
      await jobs.start();
      expect(() => jobs.register({ ...kind, kind: 'late' })).toThrow('before the start');
    });

    test('records an outcome as soon as the database accepts it', async () => {
      const database = await openDatabaseOf(kindOfDatabase);
      const { kind, runs } = heldKind('held');
      const jobs = await startedQueue(database, [kind]);
      await jobs.add({ kind: 'held', subjectId: 'vi1' });
      await waitUntil(() => runs.length === 1);
      await refuseWrites(database, 'DELETE', 'jobs');
      runs[0]!.finish();
      await nextTurn();
      expect(await jobs.has('held', 'vi1')).toBe(true);
      await acceptWrites(database, 'jobs');
      await waitUntil(async () => !(await jobs.has('held', 'vi1')));
      expect(runs).toHaveLength(1);
    });
  });
});
