import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { basicAuthorization } from '../../scripts/server-process.ts';
import type { LeaderLease } from '../../src/cluster/node.ts';
import { SingleNode } from '../../src/cluster/single-node.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { nodeRoles } from '../../src/shared/node-roles.ts';
import type { Database } from '../../src/store/database.ts';
import {
  clusterUrl,
  createTestNode,
  openClusterDatabase,
  severable,
  startTestNode,
  testTimes,
} from '../support/cluster-fixture.ts';
import { fixture } from '../support/fixtures.ts';
import { findPostgres } from '../support/postgres.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { startServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { fileForm } from './upload-fixture.ts';

/** Notes what the listeners of a leader lease were told. */
function follow(leaderLease: LeaderLease): string[] {
  const told: string[] = [];
  leaderLease.on({
    take: () => told.push('take'),
    leave: () => {
      told.push('leave');
    },
  });
  return told;
}

describe('the node of an SQLite database', () => {
  it('is alone and has every leader lease from the start', async () => {
    const url = 'http://localhost:8080';
    const self = () => ({ id: 'only', url, mediaUrl: url, roles: nodeRoles, version: '1.0.0' });
    const node = new SingleNode(self, 1_000);
    expect(node.leaderLease().isLeader).toBe(true);
    expect(follow(node.leaderLease())).toEqual(['take']);
    expect(await node.list()).toEqual([node.self]);
    await node.beginDrain();
    expect(await node.list()).toMatchObject([{ id: 'only', isDraining: true }]);
  });
});

describe.skipIf(findPostgres() === undefined)('nodes of a PostgreSQL database', () => {
  it('see each other, with what they announce', async () => {
    const url = await clusterUrl();
    const one = await startTestNode('one', await openClusterDatabase(url));
    const two = await startTestNode('two', await openClusterDatabase(url));
    await waitUntil(async () => (await one.list()).length === 2);
    expect(await one.list()).toContainEqual(two.self);
    await two.beginDrain();
    await waitUntil(async () => (await one.list()).find(({ id }) => id === 'two')?.isDraining);
  });

  it('that have the same address both warn of it', async () => {
    const url = await clusterUrl();
    const warned = new Map<string, unknown[]>();
    for (const id of ['one', 'two']) {
      const warnings: unknown[] = [];
      warned.set(id, warnings);
      const log: Logger = {
        ...silentLogger,
        child: () => log,
        warn: (event, data) => event === 'node-url-shared' && warnings.push(data),
      };
      await startTestNode(id, await openClusterDatabase(url), { url: 'http://same.example', log });
    }
    await waitUntil(() => [...warned.values()].every(warnings => warnings.length > 0));
    expect(warned.get('one')).toEqual([
      expect.objectContaining({ otherNode: 'two', url: 'http://same.example' }),
    ]);
  });

  it('have leases as long as the settings say, and so have their jobs', async () => {
    const url = await clusterUrl();
    await using server = await startServer({
      'database.url': url,
      'node.lease': '5m',
      'jobs.lease': '30m',
    });
    const database = await openClusterDatabase(url);
    const leftMs = (table: string) =>
      singleValue<number>(
        database,
        `SELECT max(lease_until_ms) - (extract(epoch FROM now()) * 1000)::bigint FROM ${table}`,
      );
    const isWithin = (value: number | undefined, minutes: number) =>
      Number(value) > (minutes - 1) * 60_000 && Number(value) <= minutes * 60_000;
    await waitUntil(async () => isWithin(await leftMs('nodes'), 5), { what: 'the lease of the server' });
    const created = await server.api('POST', '/videos', { title: 'A video' });
    const { videoId } = (await created.json()) as { videoId: string };
    const upload = await fetch(`${server.baseUrl}/videos/${videoId}/source`, {
      method: 'POST',
      headers: { authorization: basicAuthorization(server.productionKey) },
      body: fileForm(await readFile(await fixture('h264-aac'))),
    });
    expect(upload.status).toBe(201);
    await waitUntil(async () => isWithin(await leftMs('jobs'), 30), { what: 'the lease of a job' });
  });

  it('share leader leases: each is held by one node, and by another one when that node leaves', async () => {
    const url = await clusterUrl();
    const one = await startTestNode('one', await openClusterDatabase(url));
    const two = await startTestNode('two', await openClusterDatabase(url));
    const names = ['first', 'second', 'third'];
    const leases = names.map(name => [one.leaderLease(name), two.leaderLease(name)] as const);
    await waitUntil(() => leases.every(pair => pair.some(({ isLeader }) => isLeader)));
    expect(leases.every(pair => pair.filter(({ isLeader }) => isLeader).length === 1)).toBe(true);
    const [holder, other] = leases[0]![0].isLeader ? [one, two] : [two, one];
    const told = follow(holder.leaderLease('first'));
    expect(told).toEqual(['take']);
    await holder.stop();
    expect(told).toEqual(['take', 'leave']);
    await waitUntil(() => names.every(name => other.leaderLease(name).isLeader));
  });

  it('have about as many leader leases each, also when nodes come later and leave', async () => {
    const url = await clusterUrl();
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const nodes: Awaited<ReturnType<typeof startTestNode>>[] = [];
    const held = () => {
      const holders = names.map(name => nodes.filter(node => node.leaderLease(name).isLeader).length);
      expect(Math.max(...holders)).toBeLessThanOrEqual(1);
      return nodes.map(node => names.filter(name => node.leaderLease(name).isLeader).length);
    };
    const start = async (id: string) => {
      const node = await startTestNode(id, await openClusterDatabase(url));
      for (const name of names) node.leaderLease(name);
      nodes.push(node);
    };
    await start('one');
    await waitUntil(() => held()[0] === 6);
    await start('two');
    await start('three');
    // A seventh one is for nodes that are gone.
    const areDivided = (counts: readonly number[], min: number, max: number) =>
      counts.every(count => count >= min && count <= max) && counts.reduce((sum, one) => sum + one) === 6;
    await waitUntil(() => areDivided(held(), 1, 3));
    await nodes.pop()!.stop();
    await waitUntil(() => areDivided(held(), 2, 4));
  });

  it('give leader leases to another node while they drain, unless there is none', async () => {
    const url = await clusterUrl();
    const one = await startTestNode('one', await openClusterDatabase(url));
    const leaderLease = one.leaderLease('work');
    await waitUntil(() => leaderLease.isLeader);
    await one.beginDrain();
    const two = await startTestNode('two', await openClusterDatabase(url));
    await waitUntil(() => two.leaderLease('work').isLeader);
    expect(leaderLease.isLeader).toBe(false);
  });

  it('keep their lease while all connections are busy with other queries', async () => {
    const database = await openClusterDatabase(await clusterUrl());
    const node = await startTestNode('one', database);
    const lost = vi.fn();
    node.onLeaseLost(lost);
    const { promise: busy, resolve: end } = Promise.withResolvers<void>();
    const work = Array.from({ length: 20 }, () => database.transaction(() => busy));
    await sleep(testTimes.holdMs);
    const { hasLease } = node;
    end();
    await Promise.all(work);
    expect([hasLease, lost.mock.calls]).toEqual([true, []]);
  });

  it('drop their leader leases before another node takes them when the database is out of reach', async () => {
    const url = await clusterUrl();
    const cut = severable(await openClusterDatabase(url));
    const one = await startTestNode('one', cut.database);
    const told = follow(one.leaderLease('work'));
    await waitUntil(() => one.leaderLease('work').isLeader);
    const two = await startTestNode('two', await openClusterDatabase(url));
    const gone: string[] = [];
    two.onExpired(async id => {
      gone.push(id);
    });
    cut.isCut = true;
    await waitUntil(() => {
      expect([one, two].filter(node => node.leaderLease('work').isLeader).length).toBeLessThan(2);
      return two.leaderLease('work').isLeader;
    });
    expect(told).toEqual(['take', 'leave']);
    expect(one.fault).toMatch('cut off');
    await waitUntil(() => gone.length > 0);
    cut.isCut = false;
    await waitUntil(async () => one.fault === undefined && (await two.list()).length === 2);
    expect([one, two].filter(node => node.leaderLease('work').isLeader).length).toBeLessThan(2);
    expect(gone).toEqual(['one']);
  });

  it('leave for good when they stop while they join again', async () => {
    const database = await openClusterDatabase(await clusterUrl());
    let slow: Promise<unknown> | undefined;
    let isSlow = false;
    const slowOnce: Database['transaction'] = work => {
      if (!isSlow || slow !== undefined) return database.transaction(work);
      const done = sleep(200).then(() => database.transaction(work));
      slow = done;
      return done;
    };
    const slowDatabase = new Proxy(database, {
      get: (target, name) => {
        const value = name === 'transaction' ? slowOnce : (Reflect.get(target, name, target) as unknown);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const node = await startTestNode('one', slowDatabase);
    const [isLeaving, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    node.leaderLease('work').on({
      take: () => {},
      leave: () => {
        isLeaving.resolve();
        return goOn.promise;
      },
    });
    await waitUntil(() => node.leaderLease('work').isLeader);
    await runSql(database, 'UPDATE nodes SET lease_until_ms = 1');
    await isLeaving.promise;
    isSlow = true;
    const stopped = node.stop();
    goOn.resolve();
    await stopped;
    await slow;
    const leases = 'SELECT count(*) FROM nodes WHERE lease_until_ms > 1';
    expect(await singleValue(database, leases)).toBe(0);
    expect(node.hasLease).toBe(false);
  });

  it('take over what a node that left did, again and again until it succeeds', async () => {
    const url = await clusterUrl();
    const one = await startTestNode('one', await openClusterDatabase(url));
    const others = [
      await startTestNode('two', await openClusterDatabase(url)),
      await startTestNode('three', await openClusterDatabase(url)),
    ];
    const calls: string[] = [];
    for (const node of others) {
      node.onExpired(async id => {
        calls.push(`always ${id}`);
      });
      node.onExpired(async id => {
        calls.push(`later ${id}`);
        if (calls.length < 3) throw new Error('not now');
      });
    }
    await one.stop();
    await waitUntil(() => calls.length >= 3);
    await waitUntil(async () => (await others[0]!.list()).length === 2);
    expect(calls).toEqual(['always one', 'later one', 'later one']);
  });

  it('keep their leader leases after a crash and a restart', async () => {
    const url = await clusterUrl();
    const database = await openClusterDatabase(url);
    const first = await startTestNode('one', database);
    await waitUntil(() => first.leaderLease('work').isLeader);
    const second = createTestNode('one', database);
    const leaderLease = second.leaderLease('work');
    await second.start();
    expect(leaderLease.isLeader).toBe(true);
    await second.stop();
  });

  it('refuse a copied data folder while the original runs, not after it', async () => {
    const url = await clusterUrl();
    const original = await startTestNode('one', await openClusterDatabase(url), { place: 'here' });
    const copy = createTestNode('one', await openClusterDatabase(url), { place: 'there' });
    await expect(copy.start()).rejects.toThrow(/Another server \(here\) already runs as the node one/);
    expect(original.fault).toBeUndefined();
    await original.stop();
    await copy.start();
  });

  it('need no clock of their own that is right', async () => {
    const url = await clusterUrl();
    const late = { ...systemClock, nowMs: () => Date.now() - 600_000 };
    const early = { ...systemClock, nowMs: () => Date.now() + 600_000 };
    const one = await startTestNode('one', await openClusterDatabase(url), { clock: late });
    const two = await startTestNode('two', await openClusterDatabase(url), { clock: early });
    const leases = [one.leaderLease('work'), two.leaderLease('work')];
    await waitUntil(() => leases.some(({ isLeader }) => isLeader));
    await waitUntil(async () => (await one.list()).length === 2 && (await two.list()).length === 2);
    const until = performance.now() + 2 * testTimes.renewEveryMs;
    await waitUntil(() => performance.now() > until);
    expect(leases.filter(({ isLeader }) => isLeader)).toHaveLength(1);
    expect([one.fault, two.fault]).toEqual([undefined, undefined]);
  });
});
