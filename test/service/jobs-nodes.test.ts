import { describe, expect, it } from 'vitest';
import type { LeasedNode } from '../../src/cluster/leased-node.ts';
import type { JobKind, RunningJob } from '../../src/jobs/job.ts';
import { onlyOwner } from '../../src/jobs/job-owner.ts';
import { Jobs, type JobsOptions } from '../../src/jobs/jobs.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { AppError } from '../../src/shared/errors.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Connection } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import {
  atEnd,
  clusterUrl,
  openClusterDatabase,
  severable,
  startTestNode,
} from '../support/cluster-fixture.ts';
import { addFirstAccount } from '../support/first-account.ts';
import { findPostgres } from '../support/postgres.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

interface Run extends RunningJob {
  readonly nodeId: string;
  finish(): void;
}

interface Member {
  readonly node: LeasedNode;
  readonly jobs: Jobs;
  readonly cut: { isCut: boolean };
}

/** Nodes whose jobs stay pending until the test finishes them. */
async function startMembers(ids: readonly string[], options: Partial<JobsOptions> = {}) {
  const url = await clusterUrl();
  const runs: Run[] = [];
  const members: Member[] = [];
  const addMember = async (id: string, own: Partial<JobsOptions> = {}) => {
    const cut = severable(await openClusterDatabase(url));
    const node = await startTestNode(id, cut.database);
    const kind: JobKind = {
      kind: 'held',
      lane: 'work',
      maxAttempts: 3,
      run(job) {
        const { promise, resolve, reject } = Promise.withResolvers<void>();
        job.signal.addEventListener('abort', () => reject(job.signal.reason));
        runs.push({ ...job, nodeId: id, finish: resolve });
        return promise;
      },
    };
    const jobs = new Jobs({
      database: cut.database,
      kinds: [kind],
      lanes: { work: 2 },
      log: silentLogger,
      owner: node,
      ...options,
      ...own,
    });
    atEnd(() => jobs.stop());
    await jobs.start();
    members.push({ node, jobs, cut });
  };
  for (const id of ids) await addMember(id);
  const database = await openClusterDatabase(url);
  return { members, runs, database, addMember };
}

function jobsIn(database: Database) {
  return rowsOf<{ subject_id: string; state: string; attempts: number; crashes: number; node_id: string }>(
    database,
    'SELECT * FROM jobs ORDER BY id',
  );
}

describe.skipIf(findPostgres() === undefined)('jobs of several nodes', () => {
  it('run once each, on nodes that have room, and at once after they were added', async () => {
    const { members, runs } = await startMembers(['one', 'two', 'three']);
    const subjects = Array.from({ length: 40 }, (_, index) => `vi${index}`);
    await Promise.all(
      subjects.map((subjectId, index) => members[index % 3]!.jobs.add({ kind: 'held', subjectId })),
    );
    const finished = new Set<Run>();
    await waitUntil(() => {
      for (const run of runs) {
        if (finished.has(run)) continue;
        finished.add(run);
        run.finish();
      }
      return runs.length >= subjects.length;
    });
    await waitUntil(async () => (await members[0]!.jobs.counts()).work!.running === 0);
    expect(runs.map(({ subjectId }) => subjectId).sort()).toEqual(subjects.toSorted());
    expect(new Set(runs.map(({ nodeId }) => nodeId)).size).toBeGreaterThan(1);
  });

  it('do not run on nodes that are no workers, or without a lease', async () => {
    const { members, runs, addMember } = await startMembers(['one'], { isWorker: false });
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi1' });
    await addMember('two', { isWorker: true });
    await waitUntil(() => runs.length === 1);
    expect(runs[0]!.nodeId).toBe('two');
  });

  it('of a node that lost the database run again elsewhere, and its outcome is not wanted', async () => {
    const { members, runs, database, addMember } = await startMembers(['one']);
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    await addMember('two');
    members[0]!.cut.isCut = true;
    await waitUntil(() => runs.length === 2);
    expect(runs[0]!.signal.aborted).toBe(true);
    expect(runs[1]).toMatchObject({ nodeId: 'two', subjectId: 'vi1', attempt: 2 });
    expect(await jobsIn(database)).toMatchObject([{ state: 'running', crashes: 0, node_id: 'two' }]);
    members[0]!.cut.isCut = false;
    await waitUntil(() => members[0]!.node.hasLease);
    expect(await jobsIn(database)).toMatchObject([{ state: 'running', attempts: 2, node_id: 'two' }]);
    runs[1]!.finish();
    await waitUntil(async () => (await jobsIn(database)).length === 0);
  });

  it('of a node that stops run elsewhere at once, without counting an attempt or a crash', async () => {
    const { members, runs, database, addMember } = await startMembers(['one']);
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    await addMember('two');
    await members[0]!.jobs.stop();
    await waitUntil(() => runs.length === 2);
    expect(runs[1]).toMatchObject({ nodeId: 'two', attempt: 1 });
    expect(await jobsIn(database)).toMatchObject([{ crashes: 0, node_id: 'two' }]);
  });

  it('are cancelled on any node, which waits until another node has let go', async () => {
    const { members, runs, database, addMember } = await startMembers(['one']);
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi1' });
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi2' });
    await waitUntil(() => runs.length === 2);
    await addMember('two');
    const [one, two] = members as [Member, Member];
    await two.jobs.cancel('vi1');
    const [cancelled, other] = runs as [Run, Run];
    expect(cancelled.signal.aborted).toBe(true);
    expect(other.signal.aborted).toBe(false);
    expect(await jobsIn(database)).toMatchObject([{ subject_id: 'vi2' }]);
    // A node that no longer answers holds up others until its lease runs out.
    one.cut.isCut = true;
    await two.jobs.cancel('vi2');
    expect(await two.jobs.has('held', 'vi2')).toBe(false);
    await waitUntil(async () => (await jobsIn(database)).length === 0);
  });

  it('of a video in the trash pause, although the signal of it was lost, and run again once it is restored', async () => {
    const { members, runs, database } = await startMembers(['one'], { leaseMs: 900 });
    await addFirstAccount(database);
    await runSql(
      database,
      `INSERT INTO videos (id, project_id, title, title_folded, is_public, is_panoramic, has_mp4_support, tags, metadata,
         created_at_ms, published_at_ms, updated_at_ms, description)
       SELECT 'vi1', id, 'x', 'x', 1, 0, 1, '[]', '[]', 1, 1, 1, '' FROM projects LIMIT 1`,
    );
    for (const subjectId of ['vi1', 'vi2']) await members[0]!.jobs.add({ kind: 'held', subjectId });
    await waitUntil(() => runs.length === 2);
    const discard = (atMs: number | null) =>
      runSql(
        database,
        'UPDATE videos SET discarded_at_ms = ?, deletes_at_ms = ?, is_discarded = ?',
        atMs,
        atMs,
        atMs === null ? 0 : 1,
      );
    await discard(1);
    const [paused, other] = runs.toSorted((one, next) => one.subjectId.localeCompare(next.subjectId));
    await waitUntil(() => paused!.signal.aborted);
    await waitUntil(async () => (await jobsIn(database))[0]!.state === 'waiting');
    expect(await jobsIn(database)).toMatchObject([
      { subject_id: 'vi1', state: 'waiting', attempts: 0 },
      { subject_id: 'vi2', state: 'running' },
    ]);
    expect(other!.signal.aborted).toBe(false);
    await discard(null);
    await waitUntil(() => runs.length === 3);
    expect(runs[2]).toMatchObject({ subjectId: 'vi1', attempt: 1 });
  });

  it('are due by the clock of the database', async () => {
    const { members, runs, addMember } = await startMembers([]);
    const early = { ...systemClock, nowMs: () => Date.now() + 600_000 };
    const late = { ...systemClock, nowMs: () => Date.now() - 600_000 };
    await addMember('early', { clock: early, isWorker: false });
    await addMember('late', { clock: late });
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    expect(runs[0]!.nodeId).toBe('late');
  });

  it('write nothing more once another node has taken them over, even before their own node knows', async () => {
    const url = await clusterUrl();
    const database = await openClusterDatabase(url);
    const [goOn, nextEnds] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const ends: string[] = [];
    const gone: ((nodeId: string) => Promise<void>)[] = [];
    const startJobs = async (id: string) => {
      const own = await openClusterDatabase(url);
      const store = async (job: RunningJob) => {
        await own.transaction(async transaction => {
          await runSql(
            transaction,
            'INSERT INTO duties (name, node_id, run_id) VALUES (?, ?, ?)',
            id,
            id,
            id,
          );
          await job.ensureOwned(transaction);
        });
      };
      const kind: JobKind = {
        kind: 'stored',
        lane: 'work',
        maxAttempts: 3,
        async run(job) {
          if (id === 'paused') await goOn.promise;
          await store(job).catch(error => {
            ends.push(`${id}: ${job.signal.aborted} ${(error as AppError).code}`);
            throw error;
          });
          ends.push(`${id}: stored`);
          if (id === 'next') await nextEnds.promise;
        },
      };
      const owner = {
        ...onlyOwner,
        id,
        isAlone: async () => false,
        onExpired: (listener: (nodeId: string) => Promise<void>) => void gone.push(listener),
      };
      const jobs = new Jobs({
        database: own,
        kinds: [kind],
        lanes: { work: 1 },
        log: silentLogger,
        owner,
      });
      atEnd(() => jobs.stop());
      await jobs.start();
      return jobs;
    };
    const paused = await startJobs('paused');
    await paused.add({ kind: 'stored', subjectId: 'vi1' });
    await waitUntil(() => paused.runningCount === 1);
    const next = await startJobs('next');
    await gone[1]!('paused');
    await waitUntil(() => ends.includes('next: stored'));
    goOn.resolve();
    await waitUntil(() => paused.runningCount === 0);
    expect(ends).toEqual(['next: stored', 'paused: true stopped']);
    expect(await rowsOf(database, 'SELECT name FROM duties')).toEqual([{ name: 'next' }]);
    expect(await jobsIn(database)).toMatchObject([{ state: 'running', attempts: 2, node_id: 'next' }]);
    nextEnds.resolve();
    await waitUntil(() => next.runningCount === 0);
    expect(await jobsIn(database)).toEqual([]);
  });

  it('are not taken over while they write', async () => {
    const { members, runs, database } = await startMembers(['one']);
    await members[0]!.jobs.add({ kind: 'held', subjectId: 'vi1' });
    await waitUntil(() => runs.length === 1);
    const order: string[] = [];
    const [checked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writing = database.transaction(async transaction => {
      await runs[0]!.ensureOwned(transaction);
      checked.resolve();
      await goOn.promise;
      order.push('written');
    });
    await checked.promise;
    const takingOver = runSql(database, "UPDATE jobs SET state = 'waiting', lease_until_ms = NULL").then(() =>
      order.push('taken over'),
    );
    await waitUntil(async () => (await countLockWaits(database)) === 1);
    goOn.resolve();
    await Promise.all([writing, takingOver]);
    expect(order).toEqual(['written', 'taken over']);
    const writingLate = database.transaction(transaction => runs[0]!.ensureOwned(transaction));
    await expect(writingLate).rejects.toMatchObject({ code: 'stopped' });
    expect(runs[0]!.signal.aborted).toBe(true);
  });
});

function countLockWaits(connection: Connection): Promise<number | undefined> {
  return singleValue(
    connection,
    `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
}
