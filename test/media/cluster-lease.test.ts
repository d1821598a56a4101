import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ClusterOptions, NodeProcess } from '../../scripts/cluster/cluster-processes.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  ClusterLoad,
  clusterMissing,
  hasLogged,
  linesWith,
  rowsOf,
  startTestCluster,
  testSettings,
} from './cluster-fixture.ts';
import { makeFilm } from './vod-server-fixture.ts';

/** Uploads a film that takes a while, and returns the node that encodes it. */
async function nodeThatEncodes(load: ClusterLoad): Promise<NodeProcess> {
  const path = join(await testTempDir(), 'long.mp4');
  await makeFilm(path, { seconds: 12, size: '640x360' });
  load.upload(1, path);
  const query = "SELECT url FROM jobs JOIN nodes ON nodes.id = node_id WHERE kind = 'encode'";
  const url = await waitUntil(async () => (await rowsOf<{ url: string }>(load.cluster, query))[0]?.url, {
    what: 'an encode',
  });
  return load.cluster.nodes.find(({ baseUrl }) => baseUrl === url)!;
}

/** Times that the nodes have logged the event. */
function timesLogged(nodes: readonly NodeProcess[], event: string): number {
  return nodes.reduce((sum, node) => sum + linesWith(node, event).length, 0);
}

/** Keeps the node from its lease until other nodes have taken over, and returns once it has joined them again. */
async function loseLease(
  load: ClusterLoad,
  node: NodeProcess,
  { cut, mend }: { readonly cut: () => void; readonly mend: () => void },
): Promise<void> {
  const others = load.cluster.nodes.filter(other => other !== node);
  const goneBefore = timesLogged(others, 'node-gone');
  const joinedBefore = timesLogged([node], 'joined-again');
  load.avoid(node);
  cut();
  await waitUntil(() => timesLogged(others, 'node-gone') > goneBefore, { what: 'another node' });
  await load.untilViewersProgress();
  mend();
  await waitUntil(() => timesLogged([node], 'joined-again') > joinedBefore, { what: 'the node again' });
  load.use(node);
  load.upload(2);
}

test.skipIf(clusterMissing !== undefined)(
  'servers that are cut off from the database, or stopped, for longer than their lease leave to others what these take over',
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

    const isolated = await nodeThatEncodes(load);
    const proxy = proxies[cluster.nodes.indexOf(isolated)]!;
    const connections = load.publishers.map(publisher => publisher.connections);
    await loseLease(load, isolated, { cut: () => proxy.cut(), mend: () => proxy.mend() });
    expect(hasLogged(isolated, 'lease-lost')).toBe(true);
    expect(load.publishers.some((publisher, at) => publisher.connections > connections[at]!)).toBe(true);

    const stopped = await nodeThatEncodes(load);
    const { child } = stopped.server!;
    onTestFinished(() => void child.kill('SIGCONT'));
    await loseLease(load, stopped, {
      cut: () => {
        child.kill('SIGSTOP');
        // Encoders give up a server that reads nothing.
        for (const publisher of load.publishers) publisher.disconnect();
      },
      mend: () => child.kill('SIGCONT'),
    });
    await load.expectNothingLost();
  },
);
