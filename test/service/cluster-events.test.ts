import { describe, expect, it, onTestFinished } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { WebhookDispatcher, type WebhookDuty } from '../../src/events/webhooks/webhook-dispatcher.ts';
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts';
import { AccountsStore } from '../../src/resources/accounts/accounts.store.ts';
import { WebhooksStore } from '../../src/resources/webhooks/webhooks.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { findPostgres } from '../support/postgres.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { listen, startFeed } from './event-feed-fixture.ts';
import { startReceiver } from './webhook-fixture.ts';

const hasPostgres = findPostgres() !== undefined;
const type = 'live-stream.broadcast.started';

async function openOn(url: string): Promise<Database> {
  return openDatabase({ dataDir: await testTempDir(), url: new Secret(url) });
}

/** Opens a database of its own for each server. */
async function sharedDatabase(): Promise<() => Promise<Database>> {
  const url = await postgresUrlOf(await testTempDir());
  return () => openOn(url);
}

class TestDuty implements WebhookDuty {
  isHeld = false;
  #listeners: Parameters<WebhookDuty['on']>[0] | undefined;

  on(listeners: Parameters<WebhookDuty['on']>[0]): void {
    this.#listeners = listeners;
  }

  take(): void {
    this.isHeld = true;
    this.#listeners?.take();
  }

  async leave(): Promise<void> {
    this.isHeld = false;
    await this.#listeners?.leave();
  }
}

interface WebhookServer {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly duty: TestDuty;
}

async function startWebhookServer(database: Database): Promise<WebhookServer> {
  const outbox = new Outbox(database, silentLogger);
  const duty = new TestDuty();
  const sender = new WebhookSender({
    allowPrivateTargets: true,
    resolve: async () => [],
    timeoutMs: 30_000,
  });
  const dispatcher = new WebhookDispatcher({
    ...{ queue: outbox.webhooks, sender, duty, version: '0', log: silentLogger },
  });
  await dispatcher.start();
  onTestFinished(async () => {
    await dispatcher.stop();
    await database.stop();
  });
  return { database, outbox, duty };
}

describe.skipIf(!hasPostgres)('servers on one PostgreSQL database', () => {
  it('send the events of all of them to their clients, in order and without gaps', async () => {
    const database = await sharedDatabase();
    const feeds = [await startFeed({}, { database }), await startFeed({}, { database })];
    const clients = await Promise.all([...feeds, ...feeds].map(feed => listen(feed)));
    const perServer = 100;
    const appends = feeds.flatMap((feed, index) =>
      Array.from({ length: perServer }, (_, number) => feed.append(`vi${index}-${number}`)),
    );
    await Promise.all(appends);
    const total = appends.length;
    for (const client of clients) {
      await waitUntil(() => client.ids().length >= total);
      expect(client.ids()).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    }
    // A client may continue on another server.
    const late = await listen(feeds[1]!, { query: '?lastEventId=150' });
    await waitUntil(() => late.ids().length === total - 150);
    expect(late.ids()[0]).toBe(151);
  });

  it('send each webhook delivery in order while the duty moves between them', async () => {
    const database = await sharedDatabase();
    const servers = [await startWebhookServer(await database()), await startWebhookServer(await database())];
    const [first, second] = servers as [WebhookServer, WebhookServer];
    const receiver = await startReceiver();
    const { projectIds } = await first.database.transaction(transaction =>
      new AccountsStore(first.database).addAccount({ isUpgraded: false, createdAtMs: 1 }, transaction),
    );
    const projectId = projectIds.sandbox;
    await new WebhooksStore(first.database).add(
      {
        webhookId: 'webhook_1',
        projectId,
        events: [type],
        url: receiver.url,
        signatureSecret: 's',
        createdAtMs: 1,
      },
      10,
    );
    let acknowledged = 0;
    receiver.answer = (_, response) => {
      acknowledged += 1;
      setTimeout(() => response.end(), 5);
    };
    const subjects = Array.from({ length: 10 }, (_, index) => `li${index}`);
    const perSubject = 40;
    const total = subjects.length * perSubject;
    const append = async (subjectId: string, from: WebhookServer) => {
      for (let number = 1; number <= perSubject; number += 1)
        await from.outbox.append({ projectId, type, subjectId, payload: { subjectId, number } }, Date.now());
    };
    first.duty.take();
    const appending = Promise.all(subjects.map((subject, index) => append(subject, servers[index % 2]!)));
    let holder = first;
    for (let moves = 1; moves <= 6; moves += 1) {
      await waitUntil(() => acknowledged >= (moves * total) / 8);
      await holder.duty.leave();
      holder = holder === first ? second : first;
      holder.duty.take();
    }
    await appending;
    // Until signals of PostgreSQL arrive, deliveries that the other server added are found when the duty is taken.
    await waitUntil(async () => {
      holder.duty.take();
      await holder.duty.leave();
      holder.duty.take();
      return (await first.outbox.webhooks.pendingTotal()) === 0;
    });
    for (const subjectId of subjects) {
      const hooks = receiver.hooks.filter(({ json }) => json.subjectId === subjectId);
      const ids = new Map(hooks.map(({ headers, json }) => [headers['millrace-delivery-id'], json.number]));
      // Duplicates keep their id. Without them, all are there, in order.
      expect([...ids.values()]).toEqual(Array.from({ length: perSubject }, (_, index) => index + 1));
      const numbers = hooks.map(({ json }) => json.number as number);
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    }
  });
});
