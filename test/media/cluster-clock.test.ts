import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ClusterLoad, clusterMissing, startTestCluster, testSettings } from './cluster-fixture.ts';

const library = ['x86_64', 'aarch64']
  .map(machine => `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`)
  .find(existsSync);
const missing = clusterMissing ?? (library === undefined ? 'faketime is not installed' : undefined);
if (library === undefined) console.log('Skipped: faketime is not installed');

const offBySeconds = 600;

test.skipIf(missing !== undefined).each([-offBySeconds, offBySeconds])(
  'a server with a clock that is %i seconds off does its work, and others do theirs',
  async seconds => {
    const cluster = await startTestCluster([
      testSettings,
      {
        ...testSettings,
        LD_PRELOAD: library!,
        FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      },
    ]);
    const date = (await fetch(`${cluster.nodes[1]!.baseUrl}/health`)).headers.get('date')!;
    expect(Math.round((Date.parse(date) - Date.now()) / 100_000)).toBe(seconds / 100);
    const load = await ClusterLoad.start(cluster);
    load.upload(4);
    await load.untilViewersProgress();
    // Each broadcast goes to the clock of the other server.
    for (const publisher of load.publishers) publisher.disconnect();
    await load.untilViewersProgress();
    await load.expectNothingLost();
  },
);
