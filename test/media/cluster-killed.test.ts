import { test } from 'vitest';
import { ClusterLoad, clusterMissing, startTestCluster, testSettings } from './cluster-fixture.ts';

test.skipIf(clusterMissing !== undefined)(
  'servers that are killed in turn lose no upload, event, webhook, broadcast or recording',
  async () => {
    const cluster = await startTestCluster([testSettings, testSettings]);
    const load = await ClusterLoad.start(cluster);
    for (const node of cluster.nodes) {
      load.upload(2);
      await load.untilViewersProgress(1);
      await node.kill();
      load.upload();
      await load.untilViewersProgress();
      await node.start();
    }
    await load.expectNothingLost();
  },
);
