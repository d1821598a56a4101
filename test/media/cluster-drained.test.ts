import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { callApi } from '../../scripts/api-call.ts';
import { startCommand } from '../support/backup-command.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ClusterLoad, clusterMissing, startTestCluster, testSettings } from './cluster-fixture.ts';
import { makeFilm } from './vod-server-fixture.ts';

interface Video {
  readonly videoId: string;
}

interface Status {
  readonly encoding: { readonly qualities: readonly { readonly status: string }[] };
}

/** A film whose download ends when the test says so. */
async function startOrigin() {
  const path = join(await testTempDir(), 'film.mp4');
  await makeFilm(path, { seconds: 1, size: '320x180' });
  const film = await readFile(path);
  const halfLength = Math.floor(film.length / 2);
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': film.length }).write(film.subarray(0, halfLength));
    waiting.push(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.mp4`,
    waiting,
    finish: () => {
      for (const response of waiting) response.end(film.subarray(halfLength));
    },
  };
}

test.skipIf(clusterMissing !== undefined)(
  'npm run drain moves broadcasts to another server at once, and lets running jobs end',
  async () => {
    const withoutJobs = { ...testSettings, MILLRACE_NODE_ROLES: 'api,ingest,delivery' };
    const cluster = await startTestCluster([testSettings, withoutJobs]);
    const [drained, other] = cluster.nodes as [(typeof cluster.nodes)[0], (typeof cluster.nodes)[0]];
    const { productionKey } = cluster;
    const api = { baseUrl: other.baseUrl, productionKey };
    const origin = await startOrigin();
    const load = await ClusterLoad.start(cluster, { streams: 1, viewersPerStream: 1 });
    const attributes = { title: 'Import', source: origin.url };
    const { videoId } = await callApi<Video>(api, 'POST', '/videos', attributes);
    await waitUntil(() => origin.waiting.length === 1, { what: 'the import' });
    load.avoid(drained);
    const drain = startCommand('drain', [`--dataDir=${drained.dataDir}`], { env: { ...cluster.urls } });
    let progress = '';
    drain.child.stderr!.on('data', (text: string) => {
      progress += text;
    });
    await waitUntil(() => progress.includes('the server is draining: 1 jobs'), { what: () => progress });
    expect(drain.child.exitCode).toBeNull();
    expect((await fetch(`${drained.baseUrl}/health/ready`)).status).toBe(503);
    await load.untilViewersProgress();
    expect(load.publishers[0]!.connections).toBe(2);
    origin.finish();
    const { code, stdout, stderr } = await drain.ended;
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining('is empty. Stop it with: kill')]);
    expect(stderr).toContain('the server is drained');
    expect(origin.waiting).toHaveLength(1);
    expect(await callApi(api, 'GET', `/videos/${videoId}/status`)).toMatchObject({
      ingest: { status: 'ingested' },
      encoding: { qualities: [] },
    });
    expect(await drained.server!.stop()).toEqual({ code: 0, signal: null });
    await drained.start();
    load.use(drained);
    await waitUntil(
      async () => {
        const { encoding } = await callApi<Status>(api, 'GET', `/videos/${videoId}/status`);
        const { qualities } = encoding;
        return qualities.length > 0 && qualities.every(({ status }) => status === 'encoded');
      },
      { what: 'the video that was imported' },
    );
    await load.expectNothingLost();
  },
);
