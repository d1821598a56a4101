import { expect, test } from 'vitest';
import { NodeLoadsStore } from '../../src/operations/server-state/node-loads.store.ts';
import { NodeLoads } from '../../src/operations/server-state/node-loads.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { openClusterDatabase, startTestNode } from '../support/cluster-fixture.ts';
import { findPostgres } from '../support/postgres.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { describeInBrowser } from './browser-fixture.ts';
import { DashboardPage, startDashboard } from './dashboard-fixture.ts';

/** Starts another server of the database, as this one sees it. */
async function startSouth(url: string) {
  const database = await openClusterDatabase(url);
  const node = await startTestNode('south', database);
  const loads = new NodeLoads({
    nodes: node,
    store: new NodeLoadsStore(database, systemClock),
    live: () => ({ broadcasts: 3, viewers: 1250 }),
    log: silentLogger,
    intervalMs: 200,
  });
  await loads.start();
  return { node, loads };
}

describeInBrowser('the servers on the page of the server', browser => {
  test.skipIf(findPostgres() === undefined)('are listed with their state and load', async () => {
    const url = await postgresUrlOf(await testTempDir());
    await using server = await startDashboard({
      'database.url': url,
      'node.url': 'http://north.example:8080',
    });
    const { node, loads } = await startSouth(url);
    const dashboard = await DashboardPage.open(browser(), server, '/dashboard/server');
    const { page } = dashboard;
    const servers = page.getByRole('region', { name: 'Servers', exact: true });
    const item = (host: string) => servers.getByRole('listitem').filter({ hasText: host });
    for (const [host, figures] of [
      ['north.example:8080', /^CPU \d+\s?%0 broadcasts0 jobs0 viewers$/],
      ['south.example', /^CPU \d+\s?%3 broadcasts0 jobs1,250 viewers$/],
    ] as const) {
      await item(host).getByText('Ready', { exact: true }).waitFor();
      await item(host).locator('.node-figures').filter({ hasText: figures }).waitFor();
      await item(host).getByText('All roles').waitFor();
    }
    await item('north').getByText('This server').waitFor();
    expect(await item('south').getByText('This server').count()).toBe(0);
    await servers.getByText('2 ready').waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await dashboard.violations()]).toEqual([colorScheme, []]);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(0);

    await node.beginDrain();
    await item('south').getByText('Draining').waitFor();
    await servers.getByText('1 of 2 ready').waitFor();
    await loads.stop();
    await node.stop();
    await item('south').waitFor({ state: 'detached' });
    await servers.getByText('1 ready').waitFor();
    expect(dashboard.complaints).toEqual([]);
    await dashboard.close();
  });
});
