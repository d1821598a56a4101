import { expect, it } from 'vitest';
import { acceptWrites, refuseWrites } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startReceiver, startWebhooks } from './webhook-fixture.ts';

it('a receiver that never answers does not delay others while all its attempts hang', async () => {
  const server = await startWebhooks({ timeoutMs: 60_000 });
  const silent = await startReceiver();
  silent.answer = () => {};
  const good = await startReceiver();
  const types = ['live-stream.broadcast.started'];
  for (let count = 0; count < 9; count += 1) await server.hook(silent.url, types);
  const { webhookId } = await server.hook(good.url, types);
  await server.database.transaction(async transaction => {
    for (let index = 0; index < 100; index += 1) {
      await server.started(`li${index}`, server.projectId, transaction);
    }
  });
  await waitUntil(() => good.hooks.length === 100);
  // Each webhook has its own places, and no more of them.
  await waitUntil(() => silent.hooks.length >= 9 * 8);
  const tried = new Map<unknown, number>();
  for (const { headers } of silent.hooks) {
    const id = headers['x-api-video-webhookid'];
    tried.set(id, (tried.get(id) ?? 0) + 1);
  }
  expect([...tried.values()]).toEqual(Array(9).fill(8));
  const log = `/webhooks/${webhookId}/deliveries?status=succeeded`;
  await waitUntil(async () => (await server.call('GET', log)).json.pagination.itemsTotal === 100);
});

it('a database that cannot be written for a while costs no delivery and doubles none', async () => {
  const server = await startWebhooks();
  const receiver = await startReceiver();
  await server.hook(receiver.url);
  await refuseWrites(server.database, 'INSERT', 'webhook_attempts');
  await server.started('li1');
  await waitUntil(() => receiver.hooks.length === 1);
  await server.started('li2');
  await waitUntil(() => receiver.hooks.length === 2);
  await acceptWrites(server.database, 'webhook_attempts');
  await waitUntil(async () => (await server.outbox.webhooks.pendingTotal()) === 0);
  expect(receiver.hooks.map(({ json }) => json.liveStreamId)).toEqual(['li1', 'li2']);
});
