import { beforeAll, describe, expect, test } from 'vitest';
import {
  basicAuthorization,
  type CreatedStream,
  createLiveStream,
  type ServerProcess,
} from '../../scripts/server-process.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { clusterMissing, LiveCluster, publishTo } from '../support/live-cluster.ts';
import { waitUntil } from '../support/wait-until.ts';
import { decodeVideo } from './decoded.ts';

const cluster = new LiveCluster();

interface Answer {
  readonly videoId: string;
  readonly name: string;
  readonly detail: string;
  readonly source: Record<string, unknown>;
}

if (clusterMissing !== undefined) console.log(`skipped: ${clusterMissing}`);

describe.skipIf(clusterMissing !== undefined)('clips of a broadcast on another server', () => {
  let api: ServerProcess;
  let ingest: ServerProcess;
  let stream: CreatedStream;

  beforeAll(async () => {
    // The first one creates the account.
    api = await cluster.start({ MILLRACE_NODE_ROLES: 'api,delivery,worker' });
    ingest = await cluster.start({ MILLRACE_NODE_ROLES: 'ingest' });
    stream = await createLiveStream(api.baseUrl, api.productionKey, 'Match');
  });

  async function post(body: Record<string, unknown>, key = api.productionKey) {
    const answer = await fetch(`${api.baseUrl}/videos`, {
      method: 'POST',
      headers: { authorization: basicAuthorization(key), 'content-type': 'application/json' },
      body: JSON.stringify({ title: 'A goal', source: stream.liveStreamId, ...body }),
    });
    return { status: answer.status, json: (await answer.json()) as Answer };
  }

  test('are created by any server, and refused with the reason of the one that has it', async () => {
    await using _publisher = publishTo(ingest, stream);
    // Larger than an offer of WebRTC may be.
    const metadata = Array.from({ length: 80 }, (_, key) => ({ key: `${key}`, value: 'x'.repeat(1000) }));
    let last = '';
    const made = await waitUntil(
      async () => {
        const answer = await post({ clip: { startTimecode: '1', endTimecode: '4' }, metadata });
        last = JSON.stringify(answer);
        return answer.status === 202 ? answer.json : undefined;
      },
      { what: () => `a clip: ${last}`, timeoutMs: encodeTimeoutMs },
    );
    expect(made).toMatchObject({
      metadata,
      source: { type: 'liveStream', clippedFrom: { liveStreamId: stream.liveStreamId } },
    });
    const playlist = await fetch(`${api.baseUrl}/vod/${made.videoId}/hls/manifest.m3u8`);
    expect(playlist.status).toBe(200);
    // Clips from the object storage, on the server with the jobs.
    const inner = await post({ source: made.videoId, clip: { lastSeconds: 2 } });
    expect(inner.status).toBe(202);
    const url = `${api.baseUrl}/vod/${inner.json.videoId}/hls/manifest.m3u8`;
    await waitUntil(async () => (await fetch(url)).status === 200, {
      what: 'a clip of the clip',
      timeoutMs: encodeTimeoutMs,
    });
    expect((await decodeVideo(url)).length).toBeGreaterThan(0);
    const refusals = [
      await post({ clip: { startTimecode: '01:00:00' } }),
      await post({}),
      await post({ clip: { lastSeconds: 4 }, playerId: 'pt0000000000000000000000' }),
      await post({ clip: { lastSeconds: 4 } }, api.sandboxKey),
    ];
    expect(refusals.map(({ status, json }) => [status, json.name])).toEqual([
      [400, 'clip[startTimecode]'],
      [400, 'clip'],
      [400, 'playerId'],
      [400, 'source'],
    ]);
    const forged = await fetch(`${ingest.baseUrl}/clips/${stream.liveStreamId}/video`, {
      method: 'POST',
      headers: { authorization: `Bearer ${crypto.randomUUID()}`, 'content-type': 'application/json' },
      body: JSON.stringify({ projectId: 'pr', attributes: { title: 'A goal' } }),
    });
    expect(forged.status).toBe(404);
    ingest.child.kill('SIGKILL');
    await ingest.exited;
    const lost = await post({ clip: { lastSeconds: 4 } });
    // Accepts both answers: until the lease ends, and after that.
    expect([503, 409]).toContain(lost.status);
  });
});
