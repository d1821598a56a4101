import { onTestFinished } from 'vitest';
import { LeasedNode } from '../../src/cluster/leased-node.ts';
import type { LeaseTimes } from '../../src/cluster/node-lease.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { type Logger, silentLogger } from '../../src/shared/logger.ts';
import { nodeRoles } from '../../src/shared/node-roles.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { testTempDir } from './temp-dir.ts';
import { postgresUrlOf } from './test-database.ts';

/** Short, so that tests wait little; generous enough for a busy machine. */
export const testTimes: LeaseTimes = { leaseMs: 6_000, renewEveryMs: 300, holdMs: 4_000 };

/** Ends after the test, the newest first. */
export function atEnd(end: () => Promise<void>): void {
  onTestFinished(end);
}

/** The URL of a new PostgreSQL database. */
export async function clusterUrl(): Promise<string> {
  return postgresUrlOf(await testTempDir());
}

/** Opens another server's connections to the same PostgreSQL database. */
export async function openClusterDatabase(url: string): Promise<Database> {
  const database = await openDatabase({ dataDir: await testTempDir(), url: new Secret(url) });
  atEnd(() => database.stop());
  return database;
}

/** A node that is not started. Its database may be cut off to test what a lost node does. */
export function createTestNode(
  id: string,
  database: Database,
  options: {
    readonly place?: string;
    readonly url?: string;
    readonly clock?: Clock;
    readonly times?: LeaseTimes;
    readonly log?: Logger;
  } = {},
): LeasedNode {
  const { place = id, url = `http://${id}.example`, clock, times = testTimes, log = silentLogger } = options;
  const node = new LeasedNode({
    database,
    place,
    schemaVersion: 23,
    times,
    log,
    clock,
    self: () => ({ id, url, mediaUrl: url, roles: nodeRoles, version: '1.0.0' }),
  });
  atEnd(() => node.stop());
  return node;
}

export async function startTestNode(
  id: string,
  database: Database,
  options: Parameters<typeof createTestNode>[2] = {},
): Promise<LeasedNode> {
  const node = createTestNode(id, database, options);
  await node.start();
  return node;
}

/** A database whose queries fail while it is cut off. */
export function severable(database: Database): { readonly database: Database; isCut: boolean } {
  const state = { database, isCut: false };
  const refuse = () => {
    if (state.isCut) throw new Error('cut off');
  };
  state.database = new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown;
      if (typeof value !== 'function') return value;
      return (...values: unknown[]) => {
        if (['all', 'first', 'run', 'runUrgent', 'transaction'].includes(String(name))) refuse();
        return Reflect.apply(value as (...values: unknown[]) => unknown, target, values);
      };
    },
  });
  return state;
}
