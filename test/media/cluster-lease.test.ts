import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Cluster, ClusterOptions, NodeProcess } from '../../scripts/cluster/cluster-processes.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  ClusterLoad,
  clusterMissing,
  hasLogged,
  rowsOf,
  startTestCluster,
  testSettings,
} from './cluster-fixture.ts';
import { makeFilm } from './vod-server-fixture.ts';

/** Uploads a film that takes a while, and returns the node that encodes it. */
async function nodeThatEncodes(load: ClusterLoad): Promise<NodeProcess> {
  const path = join(await testTempDir(), 'long.mp4');
  await makeFilm(path, { seconds: 40, size: '640x360' });
  load.upload(1, path);
  const query = "SELECT url FROM jobs JOIN nodes ON nodes.id = node_id WHERE kind = 'encode'";
  const url = await waitUntil(async () => (await rowsOf<{ url: string }>(load.cluster, query))[0]?.url, {
    what: 'an encode',
  });
  return load.cluster.nodes.find(({ baseUrl }) => baseUrl === url)!;
}

/** Resolves when another node has taken over what the lost one did. */
async function untilTakenOver({ nodes }: Cluster, lost: NodeProcess): Promise<void> {
  await waitUntil(() => nodes.some(node => node !== lost && hasLogged(node, 'node-gone')), {
    what: 'another node',
  });
}

test.skipIf(clusterMissing !== undefined)(
  'a server that is cut off from the database gives up its streams and jobs, and comes back',
  async () => {
    const proxies: TcpProxy[] = [];
    const behindProxy: ClusterOptions['nodes'][number] = async ({ MILLRACE_DATABASE_URL }) => {
      const { pathname, searchParams } = new URL(MILLRACE_DATABASE_URL);
      const proxy = await TcpProxy.start({ path: join(searchParams.get('host')!, '.s.PGSQL.5432') });
      onTestFinished(() => proxy.stop());
      proxies.push(proxy);
      return {
        ...testSettings,
        MILLRACE_DATABASE_URL: `postgres://postgres@127.0.0.1:${proxy.port}${pathname}`,
      };
    };
    const cluster = await startTestCluster([behindProxy, behindProxy]);
    const load = await ClusterLoad.start(cluster);
    const lost = await nodeThatEncodes(load);
    const proxy = proxies[cluster.nodes.indexOf(lost)]!;
    const connections = load.publishers.map(publisher => publisher.connections);
    load.avoid(lost);
    proxy.cut();
    await waitUntil(() => hasLogged(lost, 'lease-lost'), { what: 'the end of the lease' });
    await untilTakenOver(cluster, lost);
    await load.untilViewersProgress();
    expect(load.publishers.some((publisher, at) => publisher.connections > connections[at]!)).toBe(true);
    proxy.mend();
    await waitUntil(() => hasLogged(lost, 'joined-again'), { what: 'the node again' });
    load.use(lost);
    load.upload(2);
    await load.expectNothingLost();
  },
);

test.skipIf(clusterMissing !== undefined)(
  'a server that is stopped for longer than its lease leaves to others what they have taken over',
  async () => {
    const cluster = await startTestCluster([testSettings, testSettings]);
    const load = await ClusterLoad.start(cluster);
    const stopped = await nodeThatEncodes(load);
    load.avoid(stopped);
    const { child } = stopped.server!;
    onTestFinished(() => void child.kill('SIGCONT'));
    child.kill('SIGSTOP');
    // Encoders give up a server that reads nothing.
    for (const publisher of load.publishers) publisher.disconnect();
    await untilTakenOver(cluster, stopped);
    await load.untilViewersProgress();
    child.kill('SIGCONT');
    await waitUntil(() => hasLogged(stopped, 'joined-again'), { what: 'the node again' });
    load.use(stopped);
    load.upload(2);
    await load.expectNothingLost();
  },
);
