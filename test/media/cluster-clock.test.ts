import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ClusterLoad, clusterMissing, startTestCluster, testSettings } from './cluster-fixture.ts';

const library = ['x86_64', 'aarch64']
  .map(machine => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);
const missing = clusterMissing ?? (library === undefined ? 'faketime is not installed' : undefined);
if (library === undefined) console.log('Skipped: faketime is not installed');

const offBySeconds = [-600, 600];

test.skipIf(missing !== undefined)(
  'servers with clocks that are ten minutes off do their work, and others do theirs',
  async () => {
    const cluster = await startTestCluster([
      testSettings,
      ...offBySeconds.map(seconds => ({
        ...testSettings,
        LD_PRELOAD: library!,
        FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      })),
    ]);
    for (const [index, seconds] of offBySeconds.entries()) {
      const { baseUrl } = cluster.nodes[1 + index]!;
      const date = (await fetch(`${baseUrl}/health`)).headers.get('date')!;
      expect(Math.round((Date.parse(date) - Date.now()) / 100_000)).toBe(seconds / 100);
    }
    const load = await ClusterLoad.start(cluster);
    load.upload(cluster.nodes.length);
    // Gives each broadcast the clocks of the other servers.
    for (let changes = 0; changes < offBySeconds.length; changes += 1) {
      await load.untilViewersProgress();
      for (const publisher of load.publishers) publisher.disconnect();
    }
    await load.untilViewersProgress();
    await load.expectNothingLost();
  },
);
