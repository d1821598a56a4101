import { type ChildProcess, spawn } from 'node:child_process';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { WebhookDispatcher, type WebhookLeaderLease } from '../../src/events/webhooks/webhook-dispatcher.ts';
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts';
import { AccountsStore } from '../../src/resources/identity/accounts/accounts.store.ts';
import { WebhooksStore } from '../../src/resources/integrations/webhooks/webhooks.store.ts';
import { type Clock, systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { testTimes } from '../support/cluster-fixture.ts';
import { findPostgres } from '../support/postgres.ts';
import { singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { listen, startFeed } from './event-feed-fixture.ts';
import { type ReceivedHook, type Receiver, startReceiver } from './webhook-fixture.ts';

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

class TestLeaderLease implements WebhookLeaderLease {
  isLeader = false;
  #listeners: Parameters<WebhookLeaderLease['on']>[0] | undefined;

  on(listeners: Parameters<WebhookLeaderLease['on']>[0]): void {
    this.#listeners = listeners;
  }

  take(): void {
    this.isLeader = true;
    this.#listeners?.take();
  }

  async leave(): Promise<void> {
    this.isLeader = false;
    await this.#listeners?.leave();
  }
}

interface WebhookServer {
  readonly database: Database;
  readonly outbox: Outbox;
  readonly leaderLease: TestLeaderLease;
}

async function startWebhookServer(database: Database, clock: Clock = systemClock): Promise<WebhookServer> {
  const outbox = new Outbox(database, silentLogger);
  const leaderLease = new TestLeaderLease();
  const sender = new WebhookSender({
    allowPrivateTargets: true,
    resolve: async () => [],
    timeoutMs: 30_000,
  });
  const dispatcher = new WebhookDispatcher({
    queue: outbox.webhooks,
    sender,
    leaderLease,
    version: '0',
    clock,
    log: silentLogger,
    clockOffsetMs: nowMs => outbox.webhooks.clockOffsetMs(nowMs),
  });
  await dispatcher.start();
  onTestFinished(async () => {
    await dispatcher.stop();
    await database.stop();
  });
  return { database, outbox, leaderLease };
}

async function addProject(database: Database, url: string): Promise<string> {
  const { projectIds } = await database.transaction(transaction =>
    new AccountsStore(database).addAccount({ isUpgraded: false, createdAtMs: 1 }, transaction),
  );
  const projectId = projectIds.sandbox;
  const webhook = { webhookId: 'webhook_1', projectId, url, signatureSecret: 's', createdAtMs: 1 };
  await new WebhooksStore(database).add({ ...webhook, events: [type] }, 10);
  return projectId;
}

/** Duplicates keep their id. Without them, all deliveries of the subject came, in order. */
function expectInOrder({ hooks }: Receiver, subjectId: string, count: number): readonly ReceivedHook[] {
  const ofSubject = hooks.filter(({ json }) => json.subjectId === subjectId);
  const byId = new Map(ofSubject.map(({ headers, json }) => [headers['millrace-delivery-id'], json.number]));
  expect([...byId.values()]).toEqual(Array.from({ length: count }, (_, index) => index + 1));
  const numbers = ofSubject.map(({ json }) => json.number as number);
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  return ofSubject;
}

const sources = new URL('../../src/', import.meta.url).href;
const webhookProcess = `
  import { LeasedNode } from '${sources}cluster/leased-node.ts';
  import { Outbox } from '${sources}events/outbox.store.ts';
  import { WebhookDispatcher } from '${sources}events/webhooks/webhook-dispatcher.ts';
  import { WebhookSender } from '${sources}events/webhooks/webhook-sender.ts';
  import { silentLogger as log } from '${sources}shared/logger.ts';
  import { Secret } from '${sources}shared/secret.ts';
  import { openDatabase } from '${sources}store/open-database.ts';
  const [id, url, dataDir, times] = process.argv.slice(1);
  const database = await openDatabase({ dataDir, url: new Secret(url) });
  const self = () => ({ id, url: 'http://' + id, mediaUrl: 'http://' + id, roles: [], version: '1' });
  const node = new LeasedNode({ database, place: id, schemaVersion: 1, self, times: JSON.parse(times), log });
  await node.start();
  const sender = new WebhookSender({ allowPrivateTargets: true, resolve: () => {}, timeoutMs: 5_000 });
  const queue = new Outbox(database, log).webhooks;
  const dispatcher = new WebhookDispatcher({ queue, sender, leaderLease: node.leaderLease('webhooks'), version: '0', log });
  await dispatcher.start();
`;

/** A node that only sends webhooks. */
function startWebhookProcess(id: string, url: string, dataDir: string): ChildProcess {
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', webhookProcess, id, url, dataDir, JSON.stringify(testTimes)],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
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

  it('send the progress of encodes on all of them', async () => {
    const database = await sharedDatabase();
    const first = await startFeed({}, { database });
    const second = await startFeed({ projectOfVideo: async () => first.projectId }, { database });
    const client = await listen(second);
    await waitUntil(() => {
      // Again, because the second server may not listen yet.
      first.feed.encodingProgressed('vi1', [{ type: 'hls', quality: '240p' }], 10 + client.messages.length);
      return client.messages.length > 1;
    });
    expect(client.messages[1]).toMatchObject({
      type: 'video.encoding.progress',
      videoId: 'vi1',
      encoding: 'hls',
      quality: '240p',
      percent: 11,
    });
  });

  it('send each webhook delivery in order while the leader lease moves between them', async () => {
    const database = await sharedDatabase();
    const servers = [await startWebhookServer(await database()), await startWebhookServer(await database())];
    const [first, second] = servers as [WebhookServer, WebhookServer];
    const receiver = await startReceiver();
    const projectId = await addProject(first.database, receiver.url);
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
    first.leaderLease.take();
    const appending = Promise.all(subjects.map((subject, index) => append(subject, servers[index % 2]!)));
    let holder = first;
    for (let moves = 1; moves <= 6; moves += 1) {
      await waitUntil(() => acknowledged >= (moves * total) / 8);
      await holder.leaderLease.leave();
      holder = holder === first ? second : first;
      holder.leaderLease.take();
    }
    await appending;
    await waitUntil(async () => (await first.outbox.webhooks.pendingTotal()) === 0);
    for (const subjectId of subjects) expectInOrder(receiver, subjectId, perSubject);
  });

  it('send webhook deliveries and repeat them at once, whatever their clocks say', async () => {
    const database = await sharedDatabase();
    const skewed = (byMs: number): Clock => ({ ...systemClock, nowMs: () => Date.now() + byMs });
    const receiver = await startReceiver();
    const late = await startWebhookServer(await database(), skewed(-600_000));
    const early = await startWebhookServer(await database(), skewed(600_000));
    const projectId = await addProject(late.database, receiver.url);
    let failures = 1;
    receiver.answer = (_, response) => {
      response.statusCode = failures-- > 0 ? 503 : 200;
      response.end();
    };
    const append = (subjectId: string, number: number) =>
      early.outbox.append(
        { projectId, type, subjectId, payload: { subjectId, number } },
        Date.now() + 600_000,
      );
    await append('li1', 1);
    late.leaderLease.take();
    await waitUntil(async () => (await late.outbox.webhooks.pendingTotal()) === 0);
    await late.leaderLease.leave();
    failures = Number.POSITIVE_INFINITY;
    early.leaderLease.take();
    await append('li1', 2);
    await waitUntil(async () => {
      const sql = `SELECT count(*) FROM webhook_deliveries WHERE state = 'retrying'`;
      return (await singleValue<number>(late.database, sql)) === 1;
    });
    await early.leaderLease.leave();
    failures = 0;
    late.leaderLease.take();
    await waitUntil(async () => (await late.outbox.webhooks.pendingTotal()) === 0);
    expect(receiver.hooks.filter(({ json }) => json.number === 1)).toHaveLength(2);
  });

  it('lose no webhook delivery when the one that sends is killed', async () => {
    const url = await postgresUrlOf(await testTempDir());
    const database = await openOn(url);
    onTestFinished(() => database.stop());
    const receiver = await startReceiver();
    const projectId = await addProject(database, receiver.url);
    const outbox = new Outbox(database, silentLogger);
    const subjects = Array.from({ length: 20 }, (_, index) => `li${index}`);
    const perSubject = 50;
    const total = subjects.length * perSubject;
    const nodes = new Map<string, ChildProcess>();
    for (const id of ['one', 'two']) nodes.set(id, startWebhookProcess(id, url, await testTempDir()));
    const holder = () => singleValue<string>(database, `SELECT node_id FROM duties WHERE name = 'webhooks'`);
    const append = async (subjectId: string) => {
      for (let number = 1; number <= perSubject; number += 1)
        await outbox.append({ projectId, type, subjectId, payload: { subjectId, number } }, Date.now());
    };
    const appending = Promise.all(subjects.map(append));
    await waitUntil(() => receiver.hooks.length > total / 4);
    const killed = (await holder())!;
    nodes.get(killed)!.kill('SIGKILL');
    await appending;
    await waitUntil(async () => (await outbox.webhooks.pendingTotal()) === 0);
    expect(await holder()).not.toBe(killed);
    for (const subjectId of subjects) {
      const hooks = expectInOrder(receiver, subjectId, perSubject);
      // Only the one whose outcome was not stored may be sent again.
      expect(hooks.length - perSubject).toBeLessThanOrEqual(1);
    }
  });
});
