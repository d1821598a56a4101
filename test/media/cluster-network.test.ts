import { test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { ClusterLoad, clusterMissing, startTestCluster, testSettings } from './cluster-fixture.ts';

test.skipIf(clusterMissing !== undefined)('servers that cannot reach each other lose nothing', async () => {
  // Clients use the real addresses, and other servers what MILLRACE_NODE_URL says.
  const unreachable = async () => {
    const port = await freePort();
    return {
      ...testSettings,
      MILLRACE_HTTP_PORT: String(port),
      MILLRACE_MEDIA_URL: `http://127.0.0.1:${port}`,
      MILLRACE_NODE_URL: `http://127.0.0.1:${await freePort()}`,
    };
  };
  const cluster = await startTestCluster([unreachable, unreachable]);
  const load = await ClusterLoad.start(cluster);
  load.upload(2);
  await load.untilViewersProgress();
  await load.expectNothingLost();
});
