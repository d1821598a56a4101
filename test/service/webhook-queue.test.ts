import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import type { CompiledQuery } from 'kysely';
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
import { AccountsStore } from '../../src/resources/identity/accounts/accounts.store.ts';
import { DeliveriesStore } from '../../src/resources/integrations/webhooks/deliveries.store.ts';
import { WebhooksStore } from '../../src/resources/integrations/webhooks/webhooks.store.ts';
import { BroadcastHistory } from '../../src/resources/live/broadcasts/broadcast-history.ts';
import { LiveStreamsStore } from '../../src/resources/live/live-streams/live-streams.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Connection } from '../../src/store/connection.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { heldLeaderLease, MovedClock } from './webhook-fixture.ts';

async function opened(kind: DatabaseKind) {
  const dataDir = await testTempDir();
  const database = await openTestDatabase(dataDir, kind);
  onTestFinished(() => database.stop());
  const { projectIds } = await database.transaction(transaction =>
    new AccountsStore(database).addAccount({ isUpgraded: false, createdAtMs: 1 }, transaction),
  );
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
  await addWebhook('webhook_1');
  const rows = async (sql: string) => (await rowsOf<object>(database, sql)).map(Object.values);
  const fanOut = (queue: WebhookQueue, event: Parameters<WebhookQueue['fanOut']>[0]) =>
    database.transaction(transaction => queue.fanOut(event, transaction));
  return { dataDir, database, projectId, addWebhook, rows, fanOut };
}

function eventOf(projectId: string, subjectId: string, number: number) {
  const type = 'live-stream.broadcast.started';
  return { projectId, number, type, subjectId, payload: { liveStreamId: subjectId }, createdAtMs: number };
}

const record = { attemptedAtMs: 1, durationMs: 1, statusCode: 200, error: undefined, response: '' };

describe.each(databaseKinds)('on %s', kind => {
  it('gives one resource one turn at a time, whichever way the one before goes', async () => {
    const { database, projectId, fanOut } = await opened(kind);
    const queue = new WebhookQueue(database);
    for (let number = 1; number <= 4; number += 1) await fanOut(queue, eventOf(projectId, 'li1', number));
    await fanOut(queue, eventOf(projectId, 'li2', 5));
    const due = async () => (await queue.due('webhook_1', 1_000, 10)).map(({ eventNumber }) => eventNumber);
    const take = async (number: number): Promise<DueDelivery> =>
      (await queue.due('webhook_1', 1_000, 10)).find(({ eventNumber }) => eventNumber === number)!;
    expect(await due()).toEqual([1, 5]);
    const first = await take(1);
    await queue.record(projectId, [{ delivery: first, record, next: { retryAtMs: 900 } }]);
    expect(await due()).toEqual([5, 1]);
    await queue.record(projectId, [{ delivery: await take(1), record, next: 'succeeded' }]);
    expect(await due()).toEqual([2, 5]);
    await queue.record(projectId, [{ delivery: await take(2), record, next: 'failed' }]);
    expect(await due()).toEqual([3, 5]);
    await runSql(database, 'DELETE FROM webhook_deliveries WHERE event_number = 3');
    expect(await due()).toEqual([4, 5]);
    // Told twice of the same try: the second time it is over.
    await queue.record(projectId, [{ delivery: first, record, next: 'succeeded' }]);
    expect(await queue.pendingTotal()).toBe(2);
  });

  it('remembers the newest tries of a delivery that is tried again and again', async () => {
    const { database, projectId, rows, fanOut } = await opened(kind);
    const queue = new WebhookQueue(database);
    await fanOut(queue, eventOf(projectId, 'li1', 1));
    for (let tries = 0; tries < maxKeptAttempts + 5; tries += 1) {
      await queue.record(projectId, [
        { delivery: (await queue.due('webhook_1', 1_000, 1))[0]!, record, next: { retryAtMs: 900 } },
      ]);
    }
    expect(await rows('SELECT min(attempt), count(*) FROM webhook_attempts')).toEqual([[6, maxKeptAttempts]]);
    expect((await queue.due('webhook_1', 1_000, 1))[0]!.attempts).toBe(maxKeptAttempts + 5);
  });

  it('takes the outcome of a delivery that is gone for none of the one that has its number now', async () => {
    const { database, projectId, addWebhook, fanOut } = await opened(kind);
    const queue = new WebhookQueue(database);
    await fanOut(queue, eventOf(projectId, 'li1', 1));
    const [gone] = await queue.due('webhook_1', 1_000, 1);
    await new WebhooksStore(database).remove(projectId, 'webhook_1', async () => {});
    await new DeliveryCleanupStore(database).removeOrphans(10);
    await addWebhook('webhook_2');
    await fanOut(queue, eventOf(projectId, 'li1', 2));
    const [other] = await queue.due('webhook_2', 1_000, 1);
    // PostgreSQL never uses a number again.
    if (kind === 'SQLite') expect(other!.number).toBe(gone!.number);
    await queue.record(projectId, [
      { delivery: gone!, record, next: 'succeeded' },
      { delivery: gone!, record, next: { retryAtMs: 900 } },
    ]);
    expect(await queue.due('webhook_2', 1_000, 1)).toEqual([other]);
    await queue.record(projectId, [{ delivery: other!, record, next: 'succeeded' }]);
    expect(await queue.pendingTotal()).toBe(0);
  });

  it('keeps only so many, and gives up the oldest for the newest', async () => {
    const { database, projectId, rows, fanOut } = await opened(kind);
    const queue = new WebhookQueue(database, { maxWaiting: 3 });
    for (let number = 1; number <= 5; number += 1) await fanOut(queue, eventOf(projectId, 'li1', number));
    expect(queue.dropped).toBe(2);
    expect(await queue.pendingTotal()).toBe(3);
    expect((await queue.due('webhook_1', 1_000, 10)).map(({ eventNumber }) => eventNumber)).toEqual([3]);
    expect(await rows('SELECT event_number, state FROM webhook_deliveries ORDER BY number')).toEqual([
      [1, 'failed'],
      [2, 'failed'],
      [3, 'waiting'],
      [4, 'waiting'],
      [5, 'waiting'],
    ]);
  });

  it('receives nothing of a transaction that was rolled back', async () => {
    const { database, projectId, rows } = await opened(kind);
    const outbox = new Outbox(database, silentLogger);
    const announced: string[] = [];
    const note = (id: string | undefined) => id !== undefined && announced.push(id);
    onTestFinished(outbox.onAppended(note));
    onTestFinished(outbox.webhooks.watch({ changed: note, removed: note }));
    const append = (connection: Connection) =>
      outbox.append(
        { projectId, type: 'live-stream.broadcast.ended', subjectId: 'li1', payload: {} },
        1,
        connection,
      );
    const rolledBack = database.transaction(async transaction => {
      await append(transaction);
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    expect(await rows('SELECT 1 FROM webhook_deliveries')).toEqual([]);
    await append(database);
    await waitUntil(() => announced.length === 2);
    expect(announced.sort()).toEqual([projectId, 'webhook_1'].sort());
    expect(await rows('SELECT event_number, body FROM webhook_deliveries')).toEqual([
      [1, '{"type":"live-stream.broadcast.ended","emittedAt":"1970-01-01T00:00:00+00:00"}'],
    ]);
  });

  it('sends each event once and in order while events come and outcomes are recorded at the same time', async () => {
    const { database, projectId } = await opened(kind);
    const outbox = new Outbox(database, silentLogger);
    const queue = outbox.webhooks;
    const subjects = ['li1', 'li2', 'li3'];
    const eventsPerSubject = 40;
    const append = async (subjectId: string) => {
      for (let number = 0; number < eventsPerSubject; number += 1) {
        const event = { projectId, type: 'live-stream.broadcast.started', subjectId, payload: {} };
        await database.transaction(transaction => outbox.append(event, 1, transaction));
      }
    };
    let isAppending = true;
    const appending = Promise.all(subjects.map(append)).then(() => {
      isAppending = false;
    });
    const sent: number[] = [];
    const deliver = async () => {
      const due = await queue.due('webhook_1', 1_000, 10);
      const outcomes = due.map(delivery => ({ delivery, record, next: 'succeeded' as const }));
      sent.push(...due.map(({ eventNumber }) => eventNumber));
      // Records each outcome in its own transaction, all at once.
      await Promise.all(outcomes.map(outcome => queue.record(projectId, [outcome])));
    };
    while (isAppending) {
      await deliver();
      await nextTurn();
    }
    await appending;
    for (let round = 0; round < 3 * eventsPerSubject && (await queue.pendingTotal()) > 0; round += 1) {
      await deliver();
    }
    expect(await queue.pendingTotal()).toBe(0);
    const events = await outbox.listOfProject(projectId, 0, 1_000);
    expect(events.map(({ number }) => number)).toEqual(
      Array.from({ length: subjects.length * eventsPerSubject }, (_, index) => index + 1),
    );
    const ofSubject = (subjectId: string) =>
      events.filter(event => event.subjectId === subjectId).map(({ number }) => number);
    expect(subjects.map(subjectId => sent.filter(number => ofSubject(subjectId).includes(number)))).toEqual(
      subjects.map(ofSubject),
    );
  });

  it('shows events in the order of their numbers to those who read while they are written', async () => {
    const { database, projectId } = await opened(kind);
    const outbox = new Outbox(database, silentLogger);
    const event = { projectId, type: 'live-stream.broadcast.ended', subjectId: 'li1', payload: {} };
    let isDone = false;
    const read: number[] = [];
    const reading = (async () => {
      for (let isLast = false; !isLast; ) {
        isLast = isDone;
        const events = await outbox.listOfProject(projectId, read.at(-1) ?? 0, 100);
        read.push(...events.map(({ number }) => number));
        await nextTurn();
      }
    })();
    const append = (isKept: boolean) =>
      database.transaction(async transaction => {
        await outbox.append(event, 1, transaction);
        await nextTurn();
        if (!isKept) throw new Error('rolled back');
      });
    await Promise.allSettled(Array.from({ length: 60 }, (_, index) => append(index % 3 > 0)));
    isDone = true;
    await reading;
    expect(read).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
  });

  it('delivers nothing to a webhook that is removed while events are written, and keeps none of them', async () => {
    const { database, projectId, addWebhook, rows } = await opened(kind);
    const outbox = new Outbox(database, silentLogger);
    const webhooks = new WebhooksStore(database);
    const event = { projectId, type: 'live-stream.broadcast.ended', subjectId: 'li1', payload: {} };
    for (let round = 0; round < 5; round += 1) {
      await Promise.all([
        ...Array.from({ length: 10 }, () => outbox.append(event, 1)),
        webhooks.remove(projectId, 'webhook_1', async () => {}),
        ...Array.from({ length: 10 }, () => outbox.append(event, 1)),
      ]);
      while ((await new DeliveryCleanupStore(database).removeOrphans(10)) > 0);
      expect(await rows('SELECT id FROM webhook_deliveries')).toEqual([]);
      await addWebhook('webhook_1');
    }
  });

  it('adds no more webhooks than allowed, however many come at once', async () => {
    const { addWebhook, rows } = await opened(kind);
    const added = await Promise.all(
      Array.from({ length: 15 }, (_, index) => addWebhook(`webhook_0${index}`)),
    );
    expect(added.filter(isAdded => isAdded)).toHaveLength(9);
    expect(await rows('SELECT count(*) FROM webhooks')).toEqual([[10]]);
  });

  it('keeps both of two changes that are made to a webhook at once', async () => {
    const { database, projectId } = await opened(kind);
    const webhooks = new WebhooksStore(database);
    const webhook = { projectId, webhookId: 'webhook_1' };
    await Promise.all([
      webhooks.change(webhook, { url: 'http://b/' }, async () => {}),
      webhooks.change(webhook, { events: ['video.source.recorded'] }, async () => {}),
    ]);
    expect(await webhooks.find(projectId, 'webhook_1')).toMatchObject({
      url: 'http://b/',
      events: ['video.source.recorded'],
    });
  });

  it('removes old, excess and orphaned deliveries', async () => {
    const { database, projectId, addWebhook, rows, fanOut } = await opened(kind);
    const clock = new MovedClock();
    const queue = new WebhookQueue(database);
    await addWebhook('webhook_2');
    const atMs = clock.nowMs();
    for (let number = 0; number < 250; number += 1) {
      await fanOut(queue, {
        ...eventOf(projectId, 'li1', number),
        createdAtMs: atMs - deliveryRetentionMs + number - 10,
      });
    }
    const [delivery] = await queue.due('webhook_1', atMs, 1);
    await queue.record(projectId, [{ delivery: delivery!, record, next: 'succeeded' }]);
    await new WebhooksStore(database).remove(projectId, 'webhook_2', async () => {});
    const sweeper = new DeliveryCleanup({
      store: new DeliveryCleanupStore(database, { maxKept: 5 }),
      leaderLease: heldLeaderLease,
      clock,
      log: silentLogger,
    });
    onTestFinished(() => sweeper.stop());
    await sweeper.start();
    const counts = async () =>
      String(await rows('SELECT webhook_id, count(*), min(event_number) FROM webhook_deliveries GROUP BY 1'));
    await waitUntil(async () => (await rows('SELECT 1 FROM removed_webhooks')).length === 0);
    await waitUntil(async () => (await counts()) === 'webhook_1,240,10');
    expect(await rows('SELECT 1 FROM webhook_attempts')).toEqual([]);
    expect(await queue.pendingTotal()).toBe(240);
    expect((await queue.due('webhook_1', atMs, 9)).map(({ eventNumber }) => eventNumber)).toEqual([10]);

    for (let count = 0; count < 8; count += 1) {
      const [next] = await queue.due('webhook_1', atMs, 1);
      await queue.record(projectId, [
        { delivery: next!, record, next: count % 2 === 0 ? 'succeeded' : 'failed' },
      ]);
    }
    sweeper.schedule();
    await waitUntil(async () => (await counts()) === 'webhook_1,237,13');
  });

  describe('a page of a long log', () => {
    const types = ['common', 'common', 'common', 'rare', 'common', 'common', 'common'];

    /** Deliveries 1..40 of one webhook, each third one failed, and as many of another between them. */
    async function logged(kind: DatabaseKind) {
      const { dataDir, database } = await opened(kind);
      const insert = `INSERT INTO webhook_deliveries
      (id, webhook_id, event_number, type, sequence, body, state, is_next, attempts, created_at_ms)
      VALUES (?, ?, ?, ?, 'li1', '{}', ?, 0, 1, 1)`;
      const all = Array.from({ length: 40 }, (_, index) => ({
        number: index + 1,
        type: types[index % types.length]!,
        status: index % 3 === 0 ? ('failed' as const) : ('succeeded' as const),
      }));
      for (const { number, type, status } of all) {
        for (const webhookId of ['webhook_1', 'webhook_2']) {
          await runSql(database, insert, `${webhookId}_${number}`, webhookId, number, type, status);
        }
      }
      return { dataDir, database, all };
    }

    it('is the same however few rows are looked at in a turn', async () => {
      const { database, all } = await logged(kind);
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

    it.runIf(kind === 'SQLite')('passes over what comes before it in an index alone', async () => {
      const { dataDir, database } = await logged(kind);
      const compiled: CompiledQuery[] = [];
      const first = vi.spyOn(database, 'first');
      const all = vi.spyOn(database, 'all');
      const store = new DeliveriesStore(database);
      for (const filter of [{}, { status: 'failed' as const }]) {
        await store.list('webhook_1', 'desc', { ...filter, type: 'rare', currentPage: 2, pageSize: 1 });
      }
      for (const [query] of [...first.mock.calls, ...all.mock.calls]) compiled.push(query.compile());
      const looks = compiled.filter(({ sql }) => sql.includes('as "some"'));
      expect(looks.length).toBeGreaterThanOrEqual(4);
      const sqlite = new Sqlite(join(dataDir, 'millrace.db'), { readonly: true });
      onTestFinished(() => void sqlite.close());
      for (const { sql, parameters } of looks) {
        const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters);
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
    const { database, projectId, rows } = await opened(kind);
    for (const liveStreamId of ['li1', 'li2', 'li3']) {
      await new LiveStreamsStore(database).add({
        liveStreamId,
        projectId,
        name: 'Pier',
        streamKey: liveStreamId,
        public: true,
        playerId: undefined,
        restreams: [],
        qualities: undefined,
        record: undefined,
        source: undefined,
        ultraLowLatency: false,
        viewerClips: false,
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
    const first = await open('li1');
    for (const state of ['live', 'waiting', 'live']) await broadcasts.changed(first, { state });
    await broadcasts.ended(first, 20_000, 'completed');
    await broadcasts.ended(first, 30_000, 'server-crashed');
    const never = await open('li2');
    await broadcasts.changed(never, { width: 640 });
    await broadcasts.ended(never, 40_000, 'no-media');
    const crashed = await open('li3');
    // The publisher was gone before the first frame was out.
    await broadcasts.changed(crashed, { state: 'waiting' });
    await open('li2');
    expect(await broadcasts.endUnfinished(50_000, 'server-crashed')).toBe(2);
    expect(await broadcasts.endUnfinished(60_000, 'server-crashed')).toBe(0);
    const events = await rows('SELECT type, subject_id, payload, created_at_ms FROM events ORDER BY id');
    expect(events).toEqual([
      ['live-stream.broadcast.started', 'li1', '{"liveStreamId":"li1"}', clock.nowMs()],
      ['live-stream.broadcast.ended', 'li1', '{"liveStreamId":"li1"}', 20_000],
      ['live-stream.broadcast.started', 'li3', '{"liveStreamId":"li3"}', clock.nowMs()],
      ['live-stream.broadcast.ended', 'li3', '{"liveStreamId":"li3"}', 50_000],
    ]);
    expect(await rows('SELECT event_number FROM webhook_deliveries')).toHaveLength(4);
  });
});
