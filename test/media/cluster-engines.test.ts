import { expect, test } from 'vitest';
import { ClusterLoad, clusterMissing, hasLogged, startTestCluster, testSettings } from './cluster-fixture.ts';

test.skipIf(clusterMissing !== undefined)(
  'a restart of PostgreSQL loses nothing, and viewers do not notice it',
  async () => {
    const cluster = await startTestCluster([testSettings, testSettings]);
    const load = await ClusterLoad.start(cluster);
    const connections = load.publishers.map(publisher => publisher.connections);
    const beginnings = load.viewers.map(viewer => viewer.beginnings);
    load.upload(2);
    await load.untilViewersProgress(1);
    await cluster.postgres.kill();
    load.upload();
    await load.untilViewersProgress(1);
    await cluster.postgres.start();
    load.upload();
    await load.untilViewersProgress();
    if (!cluster.nodes.some(node => hasLogged(node, 'lease-lost'))) {
      expect(load.publishers.map(publisher => publisher.connections)).toEqual(connections);
      expect(load.viewers.map(viewer => viewer.beginnings)).toEqual(beginnings);
    }
    await load.expectNothingLost();
  },
);

test.skipIf(clusterMissing !== undefined)(
  'live streams go on without the S3 server, and the rest catches up when it is back',
  async () => {
    const cluster = await startTestCluster([testSettings, testSettings]);
    const load = await ClusterLoad.start(cluster);
    const connections = load.publishers.map(publisher => publisher.connections);
    const beginnings = load.viewers.map(viewer => viewer.beginnings);
    load.upload(2);
    await load.untilViewersProgress(1);
    await cluster.s3.kill();
    load.upload(2);
    await load.untilViewersProgress(3);
    await cluster.s3.start();
    await load.untilViewersProgress();
    expect(load.publishers.map(publisher => publisher.connections)).toEqual(connections);
    expect(load.viewers.map(viewer => viewer.beginnings)).toEqual(beginnings);
    await load.expectNothingLost();
  },
);
