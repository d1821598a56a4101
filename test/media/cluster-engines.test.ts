import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { ClusterLoad, clusterMissing, hasLogged, startTestCluster, testSettings } from './cluster-fixture.ts';

/** Clients use the real address, and other servers that of `MILLRACE_NODE_URL`. */
async function unreachable() {
  const port = await freePort();
  return {
    ...testSettings,
    MILLRACE_HTTP_PORT: String(port),
    MILLRACE_MEDIA_URL: `http://127.0.0.1:${port}`,
    MILLRACE_NODE_URL: `http://127.0.0.1:${await freePort()}`,
  };
}

/** Returns the number of connections of each publisher, and of beginnings of each viewer. */
function startsOf({ publishers, viewers }: ClusterLoad): number[] {
  return [
    ...publishers.map(({ connections }) => connections),
    ...viewers.map(({ beginnings }) => beginnings),
  ];
}

test.skipIf(clusterMissing !== undefined)(
  'servers that cannot reach each other lose nothing, also when PostgreSQL and the S3 server go and come back',
  async () => {
    const cluster = await startTestCluster([unreachable, unreachable]);
    const load = await ClusterLoad.start(cluster);
    load.upload(2);
    await load.untilViewersProgress(1);
    const beforeRestart = startsOf(load);

    await cluster.postgres.kill();
    load.upload();
    await load.untilViewersProgress(1);
    await cluster.postgres.start();
    load.upload();
    await load.untilViewersProgress();
    if (!cluster.nodes.some(node => hasLogged(node, 'lease-lost')))
      expect(startsOf(load)).toEqual(beforeRestart);

    const beforeLoss = startsOf(load);
    await cluster.s3.kill();
    load.upload(2);
    await load.untilViewersProgress(3);
    await cluster.s3.start();
    await load.untilViewersProgress();
    expect(startsOf(load)).toEqual(beforeLoss);
    await load.expectNothingLost();
  },
);
