import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import {
  DeliveryCleanupStore,
  deliveryRetentionMs,
} from '../../src/events/webhooks/delivery-cleanup.store.ts';
import { DeliveryCleanup } from '../../src/events/webhooks/delivery-cleanup.ts';
import {
  type DueDelivery,
  maxKeptAttempts,
  WebhookQueue,
} from '../../src/events/webhooks/webhook-queue.store.ts';
import { AccountsStore } from '../../src/resources/accounts/accounts.store.ts';
import { BroadcastHistory } from '../../src/resources/broadcasts/broadcast-history.ts';
import { LiveStreamsStore } from '../../src/resources/live-streams/live-streams.store.ts';
import { DeliveriesStore } from '../../src/resources/webhooks/deliveries.store.ts';
import { WebhooksStore } from '../../src/resources/webhooks/webhooks.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { openDatabase } from '../../src/store/database.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { MovedClock } from './webhook-fixture.ts';

async function opened() {
  const database = openDatabase({ dataDir: await testTempDir() });
  onTestFinished(() => database.stop());
  const { projectIds } = new AccountsStore(database).addAccount({ isUpgraded: false, createdAtMs: 1 });
  const projectId = projectIds.sandbox;
  const addWebhook = (webhookId: string) =>
    new WebhooksStore(database).add(
      {
        webhookId,
        projectId,
        events: ['live-stream.broadcast.started', 'live-stream.broadcast.ended'],
        url: 'http://a/',
        signatureSecret: 's',
        createdAtMs: 1,
      },
      10,
    );
  addWebhook('webhook_1');
  const rows = (sql: string) => database.sqlite.prepare(sql).raw().all();
  return { database, projectId, addWebhook, rows };
}

function eventOf(projectId: string, subjectId: string, number: number) {
  const type = 'live-stream.broadcast.started';
  return { projectId, number, type, subjectId, payload: { liveStreamId: subjectId }, createdAtMs: number };
}

const record = { attemptedAtMs: 1, durationMs: 1, statusCode: 200, error: undefined, response: '' };

it('gives one resource one turn at a time, whichever way the one before goes', async () => {
  const { database, projectId } = await opened();
  const queue = new WebhookQueue(database);
  for (let number = 1; number <= 4; number += 1) queue.fanOut(eventOf(projectId, 'li1', number));
  queue.fanOut(eventOf(projectId, 'li2', 5));
  const due = () => queue.due('webhook_1', 1_000, 10).map(({ eventNumber }) => eventNumber);
  const take = (number: number): DueDelivery =>
    queue.due('webhook_1', 1_000, 10).find(({ eventNumber }) => eventNumber === number)!;
  expect(due()).toEqual([1, 5]);
  const first = take(1);
  queue.record([{ delivery: first, record, next: { retryAtMs: 900 } }]);
  expect(due()).toEqual([5, 1]);
  queue.record([{ delivery: take(1), record, next: 'succeeded' }]);
  expect(due()).toEqual([2, 5]);
  queue.record([{ delivery: take(2), record, next: 'failed' }]);
  expect(due()).toEqual([3, 5]);
  database.sqlite.exec('DELETE FROM webhook_deliveries WHERE event_number = 3');
  expect(due()).toEqual([4, 5]);
  // Told twice of the same try: the second time it is over.
  queue.record([{ delivery: first, record, next: 'succeeded' }]);
  expect(queue.pendingTotal()).toBe(2);
});

it('remembers the newest tries of a delivery that is tried again and again', async () => {
  const { database, projectId, rows } = await opened();
  const queue = new WebhookQueue(database);
  queue.fanOut(eventOf(projectId, 'li1', 1));
  for (let tries = 0; tries < maxKeptAttempts + 5; tries += 1) {
    queue.record([{ delivery: queue.due('webhook_1', 1_000, 1)[0]!, record, next: { retryAtMs: 900 } }]);
  }
  expect(rows('SELECT min(attempt), count(*) FROM webhook_attempts')).toEqual([[6, maxKeptAttempts]]);
  expect(queue.due('webhook_1', 1_000, 1)[0]!.attempts).toBe(maxKeptAttempts + 5);
});

it('takes the outcome of a delivery that is gone for none of the one that has its number now', async () => {
  const { database, projectId, addWebhook } = await opened();
  const queue = new WebhookQueue(database);
  queue.fanOut(eventOf(projectId, 'li1', 1));
  const [gone] = queue.due('webhook_1', 1_000, 1);
  new WebhooksStore(database).remove(projectId, 'webhook_1');
  new DeliveryCleanupStore(database).removeOrphans(10);
  addWebhook('webhook_2');
  queue.fanOut(eventOf(projectId, 'li1', 2));
  const [other] = queue.due('webhook_2', 1_000, 1);
  expect(other!.number).toBe(gone!.number);
  queue.record([
    { delivery: gone!, record, next: 'succeeded' },
    { delivery: gone!, record, next: { retryAtMs: 900 } },
  ]);
  expect(queue.due('webhook_2', 1_000, 1)).toEqual([other]);
  queue.record([{ delivery: other!, record, next: 'succeeded' }]);
  expect(queue.pendingTotal()).toBe(0);
});

it('keeps only so many, and gives up the oldest for the newest', async () => {
  const { database, projectId, rows } = await opened();
  const queue = new WebhookQueue(database, { maxWaiting: 3 });
  for (let number = 1; number <= 5; number += 1) queue.fanOut(eventOf(projectId, 'li1', number));
  expect(queue.dropped).toBe(2);
  expect(queue.pendingTotal()).toBe(3);
  expect(queue.due('webhook_1', 1_000, 10).map(({ eventNumber }) => eventNumber)).toEqual([3]);
  expect(rows('SELECT event_number, state FROM webhook_deliveries ORDER BY number')).toEqual([
    [1, 'failed'],
    [2, 'failed'],
    [3, 'waiting'],
    [4, 'waiting'],
    [5, 'waiting'],
  ]);
});

it('receives nothing of a transaction that was rolled back', async () => {
  const { database, projectId, rows } = await opened();
  const outbox = new Outbox(database, silentLogger);
  const append = () =>
    outbox.append({ projectId, type: 'live-stream.broadcast.ended', subjectId: 'li1', payload: {} }, 1);
  expect(() =>
    database.transaction(() => {
      append();
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(rows('SELECT 1 FROM webhook_deliveries')).toEqual([]);
  append();
  expect(rows('SELECT event_number, body FROM webhook_deliveries')).toEqual([
    [1, '{"type":"live-stream.broadcast.ended","emittedAt":"1970-01-01T00:00:00+00:00"}'],
  ]);
});

it('removes old, excess and orphaned deliveries', async () => {
  const { database, projectId, addWebhook, rows } = await opened();
  const clock = new MovedClock();
  const queue = new WebhookQueue(database);
  addWebhook('webhook_2');
  const atMs = clock.nowMs();
  for (let number = 0; number < 250; number += 1) {
    queue.fanOut({
      ...eventOf(projectId, 'li1', number),
      createdAtMs: atMs - deliveryRetentionMs + number - 10,
    });
  }
  const [delivery] = queue.due('webhook_1', atMs, 1);
  queue.record([{ delivery: delivery!, record, next: 'succeeded' }]);
  new WebhooksStore(database).remove(projectId, 'webhook_2');
  const sweeper = new DeliveryCleanup({
    store: new DeliveryCleanupStore(database, { maxKept: 5 }),
    clock,
    log: silentLogger,
  });
  onTestFinished(() => sweeper.stop());
  await sweeper.start();
  const counts = () =>
    String(rows('SELECT webhook_id, count(*), min(event_number) FROM webhook_deliveries GROUP BY 1'));
  await waitUntil(() => rows('SELECT 1 FROM removed_webhooks').length === 0);
  await waitUntil(() => counts() === 'webhook_1,240,10', { what: counts });
  expect(rows('SELECT 1 FROM webhook_attempts')).toEqual([]);
  expect(queue.pendingTotal()).toBe(240);
  expect(queue.due('webhook_1', atMs, 9).map(({ eventNumber }) => eventNumber)).toEqual([10]);

  for (let count = 0; count < 8; count += 1) {
    const [next] = queue.due('webhook_1', atMs, 1);
    queue.record([{ delivery: next!, record, next: count % 2 === 0 ? 'succeeded' : 'failed' }]);
  }
  sweeper.schedule();
  await waitUntil(() => counts() === 'webhook_1,237,13', { what: counts });
});

describe('a page of a long log', () => {
  const types = ['common', 'common', 'common', 'rare', 'common', 'common', 'common'];

  /** Deliveries 1..40 of one webhook, each third one failed, and as many of another between them. */
  async function logged() {
    const { database } = await opened();
    const insert = database.sqlite.prepare<[string, string, number, string, string]>(
      `INSERT INTO webhook_deliveries (id, webhook_id, event_number, type, sequence, body, state, is_next, attempts, created_at_ms)
        VALUES (?, ?, ?, ?, 'li1', '{}', ?, 0, 1, 1)`,
    );
    const all = Array.from({ length: 40 }, (_, index) => ({
      number: index + 1,
      type: types[index % types.length]!,
      status: index % 3 === 0 ? ('failed' as const) : ('succeeded' as const),
    }));
    for (const { number, type, status } of all) {
      for (const webhookId of ['webhook_1', 'webhook_2']) {
        insert.run(`${webhookId}_${number}`, webhookId, number, type, status);
      }
    }
    return { database, all };
  }

  it('is the same however few rows are looked at in a turn', async () => {
    const { database, all } = await logged();
    for (const rowsPerStep of [3, 7, 1_000]) {
      const store = new DeliveriesStore(database, { rowsPerStep });
      for (const filter of [
        {},
        { type: 'rare' },
        { status: 'failed' },
        { status: 'failed', type: 'rare' },
      ] as const) {
        const fitting = all.filter(row =>
          Object.entries(filter).every(([name, value]) => row[name as 'type' | 'status'] === value),
        );
        for (const direction of ['asc', 'desc'] as const) {
          const expected = direction === 'asc' ? fitting : fitting.toReversed();
          const pages: number[] = [];
          for (let currentPage = 1; ; currentPage += 1) {
            const query = { ...filter, currentPage, pageSize: 4 };
            const { items, total } = await store.list('webhook_1', direction, query);
            expect(total).toBe(fitting.length);
            if (items.length === 0) break;
            pages.push(...items.map(({ eventNumber }) => eventNumber));
          }
          expect(pages).toEqual(expected.map(({ number }) => number));
        }
      }
    }
  });

  it('passes over what comes before it in an index alone', async () => {
    const { database } = await logged();
    const prepared = vi.spyOn(database.sqlite, 'prepare');
    const store = new DeliveriesStore(database);
    for (const filter of [{}, { status: 'failed' as const }]) {
      await store.list('webhook_1', 'desc', { ...filter, type: 'rare', currentPage: 2, pageSize: 1 });
    }
    const looks = prepared.mock.calls.map(([sql]) => sql).filter(sql => sql.includes('as "some"'));
    prepared.mockRestore();
    expect(looks.length).toBeGreaterThanOrEqual(4);
    for (const sql of looks) {
      const plan = database.sqlite.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(
        ...Array(9)
          .fill(1)
          .slice(0, sql.split('?').length - 1),
      );
      const reads = (plan as { detail: string }[]).filter(({ detail }) =>
        detail.includes('webhook_deliveries'),
      );
      expect(reads.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^SEARCH .* USING COVERING INDEX/),
      ]);
    }
  });
});

it('receives one event when a broadcast becomes playable and one when it ends, and no others', async () => {
  const { database, projectId, rows } = await opened();
  for (const liveStreamId of ['li1', 'li2', 'li3']) {
    new LiveStreamsStore(database).add({
      liveStreamId,
      projectId,
      name: 'Pier',
      streamKey: liveStreamId,
      public: true,
      playerId: undefined,
      restreams: [],
      qualities: undefined,
      record: undefined,
      thumbnailType: undefined,
      createdAtMs: 1,
      updatedAtMs: 1,
    });
  }
  const clock = new MovedClock();
  const broadcasts = new BroadcastHistory(database, new Outbox(database, silentLogger), clock);
  const open = (liveStreamId: string) =>
    broadcasts.opened({
      liveStreamId,
      projectId,
      state: 'starting',
      startedAtMs: 1,
      protocol: 'rtmp',
      remoteAddress: '',
      encoder: '',
    });
  const first = open('li1');
  for (const state of ['live', 'waiting', 'live']) broadcasts.changed(first, { state });
  broadcasts.ended(first, 20_000, 'completed');
  broadcasts.ended(first, 30_000, 'server-crashed');
  const never = open('li2');
  broadcasts.changed(never, { width: 640 });
  broadcasts.ended(never, 40_000, 'no-media');
  const crashed = open('li3');
  // Its publisher was gone before the first picture was out.
  broadcasts.changed(crashed, { state: 'waiting' });
  open('li2');
  expect(broadcasts.endUnfinished(50_000, 'server-crashed')).toBe(2);
  expect(broadcasts.endUnfinished(60_000, 'server-crashed')).toBe(0);
  const events = rows('SELECT type, subject_id, payload, created_at_ms FROM events ORDER BY id');
  expect(events).toEqual([
    ['live-stream.broadcast.started', 'li1', '{"liveStreamId":"li1"}', clock.nowMs()],
    ['live-stream.broadcast.ended', 'li1', '{"liveStreamId":"li1"}', 20_000],
    ['live-stream.broadcast.started', 'li3', '{"liveStreamId":"li3"}', clock.nowMs()],
    ['live-stream.broadcast.ended', 'li3', '{"liveStreamId":"li3"}', 50_000],
  ]);
  expect(rows('SELECT event_number FROM webhook_deliveries')).toHaveLength(4);
});
