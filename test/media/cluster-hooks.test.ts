import { beforeAll, describe, expect, test } from 'vitest';
import { basicAuthorization, createLiveStream, type ServerProcess } from '../../scripts/server-process.ts';
import { startReceiver } from '../service/webhook-fixture.ts';
import { clusterMissing, LiveCluster } from '../support/live-cluster.ts';
import { RtmpClient } from '../support/rtmp-client.ts';

const cluster = new LiveCluster({ MILLRACE_ALLOW_PRIVATE_TARGETS: 'true' });

async function api(server: ServerProcess, method: string, path: string, body?: object) {
  const headers = {
    authorization: basicAuthorization(server.productionKey),
    'content-type': 'application/json',
  };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await fetch(`${server.baseUrl}${path}`, { method, headers, ...init });
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  const text = await answer.text();
  return text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
}

async function publish({ rtmpPort }: ServerProcess, streamKey: string): Promise<unknown> {
  const client = await RtmpClient.connect({ port: rtmpPort });
  try {
    return await client.publish(streamKey);
  } finally {
    client.destroy();
  }
}

if (clusterMissing !== undefined) console.log(`skipped: ${clusterMissing}`);

describe.skipIf(clusterMissing !== undefined)('a publish hook with several servers', () => {
  let a: ServerProcess;
  let b: ServerProcess;

  beforeAll(async () => {
    // The first one creates the account.
    a = await cluster.start();
    b = await cluster.start();
  });

  test('is asked by the server to which the encoder connects', async () => {
    const receiver = await startReceiver();
    receiver.answer = (_, response) => {
      response.statusCode = 403;
      response.end('{"message":"Your plan has ended."}');
    };
    await api(a, 'PUT', '/hooks/publish', { url: receiver.url });
    const { liveStreamId, streamKey } = await createLiveStream(a.baseUrl, a.productionKey, 'a stream');
    const refused = { level: 'error', description: 'Your plan has ended.' };
    expect(await publish(b, streamKey)).toMatchObject(refused);
    expect(await publish(a, streamKey)).toMatchObject(refused);
    expect(receiver.hooks.map(({ json }) => json.liveStreamId)).toEqual([liveStreamId, liveStreamId]);

    await api(b, 'DELETE', '/hooks/publish');
    expect(await publish(a, streamKey)).toMatchObject({ level: 'status' });
    expect(receiver.hooks).toHaveLength(2);
  });
});
