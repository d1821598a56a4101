import { expect, onTestFinished, test } from 'vitest';
import type { RtmpServerOptions } from '../../src/ingest/rtmp/rtmp-server.ts';
import { allowedBlockMs, EventLoopBlock } from '../support/event-loop-block.ts';
import { goodKey, startIngest } from '../support/ingest-client.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Three bytes make a message: a chunk header without fields, and an empty frame of AAC. */
const tinyMessage = Buffer.from([0xc4, 0xaf, 1]);

async function publishing(options: Partial<RtmpServerOptions>) {
  const ingest = await startIngest(options);
  onTestFinished(() => ingest.server.stop());
  const client = await RtmpClient.connect({ port: ingest.port });
  onTestFinished(() => client.destroy());
  expect(await client.publish(goodKey)).toMatchObject({ code: 'NetStream.Publish.Start' });
  client.sendTag('audio', 0, tinyMessage.subarray(1));
  return { ingest, client };
}

function flood(messages: number): Buffer {
  return Buffer.alloc(messages * tinyMessage.length, tinyMessage);
}

test('a flood of tiny messages is read in many turns, and all of it', async () => {
  let tags = 0;
  const sink = { media: () => (tags += 1), closed: () => {} };
  const gate = { request: async () => ({ accepted: true, sink }) as const };
  const { client } = await publishing({ maxMessageRate: 1_000_000, gate });
  const turns = new EventLoopBlock();
  client.sendRaw(flood(1_000_000));
  await waitUntil(() => tags === 1_000_001);
  expect(turns.stop()).toBeLessThan(allowedBlockMs);
});

test('a publisher that sends far more messages than frames is disconnected', async () => {
  const { ingest, client } = await publishing({ maxMessageRate: 100 });
  client.sendRaw(flood(10_000));
  await client.closed();
  expect(ingest.publishers[0]!.closeReasons).toEqual(['protocol-error']);
  // A burst of ten seconds at the maximum rate is taken.
  expect(ingest.publishers[0]!.tags.length).toBeGreaterThan(900);
  expect(ingest.publishers[0]!.tags.length).toBeLessThan(10_000);
  expect(ingest.log.find(({ event }) => event === 'connection-failed')?.data).toMatchObject({
    reason: 'protocol-error',
    error: 'RTMP: more than 100 messages per second',
  });
});
