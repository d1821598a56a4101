import { describe, expect, it, onTestFinished } from 'vitest';
import { NodeLoadsStore } from '../../src/operations/server-state/node-loads.store.ts';
import { NodeLoads } from '../../src/operations/server-state/node-loads.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { clusterUrl, openClusterDatabase, startTestNode } from '../support/cluster-fixture.ts';
import { findPostgres, runOnPostgres } from '../support/postgres.ts';
import { waitUntil } from '../support/wait-until.ts';

describe.skipIf(findPostgres() === undefined)('the list of servers', () => {
  it('has the state and load of each, until another one takes over', async () => {
    const url = await clusterUrl();
    const start = async (id: string, broadcasts: number) => {
      const database = await openClusterDatabase(url);
      const node = await startTestNode(id, database);
      const loads = new NodeLoads({
        nodes: node,
        store: new NodeLoadsStore(database, systemClock),
        live: () => ({ broadcasts, viewers: 10 * broadcasts }),
        log: silentLogger,
        intervalMs: 20,
      });
      await loads.start();
      onTestFinished(() => loads.stop());
      return { node, loads };
    };
    const [one, two] = [await start('one', 1), await start('two', 2)];
    const job = (nodeId: string) =>
      runOnPostgres(
        url,
        `INSERT INTO jobs (kind, lane, subject_id, payload, priority, state, run_at_ms, created_at_ms, lease_until_ms, node_id)
         VALUES ('encode', 'encode', 'vi', 'null', 0, 'running', 0, 0, 9000000000000, '${nodeId}')`,
      );
    await job('two');
    await job('two');
    const listed = () =>
      waitUntil(async () => {
        const nodes = await one.loads.list();
        return nodes.length === 2 && nodes.every(({ load }) => load !== undefined) ? nodes : undefined;
      });
    const common = { roles: ['api', 'ingest', 'delivery', 'worker'], version: '1.0.0', state: 'ready' };
    expect(await listed()).toMatchObject([
      {
        ...common,
        nodeId: 'one',
        url: 'http://one.example',
        isCurrent: true,
        jobs: 0,
        load: { broadcasts: 1, viewers: 10 },
      },
      { ...common, nodeId: 'two', isCurrent: false, jobs: 2, load: { broadcasts: 2, viewers: 20 } },
    ]);
    await two.node.beginDrain();
    await waitUntil(async () => (await one.loads.list())[1]?.state === 'draining');
    await two.loads.stop();
    await runOnPostgres(
      url,
      `UPDATE node_loads SET measured_at_ms = measured_at_ms - 13000 WHERE node_id = 'two'`,
    );
    await waitUntil(async () => (await one.loads.list())[1]?.state === 'unresponsive');

    await two.node.stop();
    await waitUntil(async () => (await one.loads.list()).length === 1);
    const store = new NodeLoadsStore(await openClusterDatabase(url), systemClock);
    await waitUntil(async () => !(await store.list()).has('two'), { what: 'the removal of its load' });
  });
});
