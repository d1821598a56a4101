import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { startReceiver } from './webhook-fixture.ts';

const room = new URL('../../src/', import.meta.url).href;

/** Sends what waits; at its first run three events of one live stream are written down before. */
const script = `
  import { Outbox } from '${room}events/outbox.store.ts';
  import { WebhookDispatcher } from '${room}events/webhooks/webhook-dispatcher.ts';
  import { WebhookSender } from '${room}events/webhooks/webhook-sender.ts';
  import { AccountsStore } from '${room}resources/identity/accounts/accounts.store.ts';
  import { WebhooksStore } from '${room}resources/integrations/webhooks/webhooks.store.ts';
  import { silentLogger } from '${room}shared/logger.ts';
  import { openDatabase } from '${room}store/open-database.ts';
  const [dataDir, url, what] = process.argv.slice(1);
  const database = await openDatabase({ dataDir });
  const outbox = new Outbox(database, silentLogger);
  if (what === 'add') {
    const { projectIds } = await database.transaction(transaction =>
      new AccountsStore(database).addAccount({ isUpgraded: false, createdAtMs: 1 }, transaction));
    const projectId = projectIds.sandbox;
    const type = 'live-stream.broadcast.started';
    await new WebhooksStore(database).add(
      { webhookId: 'webhook_1', projectId, events: [type], url, signatureSecret: 's', createdAtMs: 1 }, 10);
    for (const number of [1, 2, 3]) await outbox.append({ projectId, type, subjectId: 'li1', payload: { number } }, number);
  }
  const sender = new WebhookSender({ allowPrivateTargets: true, resolve: () => {}, timeoutMs: 5_000 });
  const dispatcher = new WebhookDispatcher({
    queue: outbox.webhooks, sender, leaderLease: { isLeader: true, on: ({ take }) => take() }, version: '0', log: silentLogger,
  });
  await dispatcher.start();
  const timer = setInterval(async () => {
    if ((await outbox.webhooks.pendingTotal()) > 0) return;
    clearInterval(timer);
    await dispatcher.stop();
    await database.stop();
  }, 20);
`;

test('what was acknowledged before a crash is not sent again, and what was not is, in its order', async () => {
  const dataDir = await testTempDir();
  const receiver = await startReceiver();
  const startProcess = (what: string) => {
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', script, dataDir, receiver.url, what],
      {
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    onTestFinished(() => void child.kill('SIGKILL'));
    return { child, exited: once(child, 'exit') };
  };
  const seen = () => receiver.hooks.map(({ json }) => json.number);

  receiver.answer = ({ json }, response) => {
    // The second is never answered.
    if (json.number === 1) response.end();
  };
  const first = startProcess('add');
  await waitUntil(() => seen().join() === '1,2');
  first.child.kill('SIGKILL');
  await first.exited;

  receiver.answer = (_, response) => void response.end();
  const second = startProcess('go-on');
  expect(await second.exited).toEqual([0, null]);
  expect(seen()).toEqual([1, 2, 2, 3]);
  const ids = receiver.hooks.map(({ headers }) => headers['millrace-delivery-id']);
  expect(ids[1]).toBe(ids[2]);
});
