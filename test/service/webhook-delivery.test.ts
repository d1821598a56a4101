import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { singleValue } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import { MovedClock, type RunningWebhooks, startReceiver, startWebhooks } from './webhook-fixture.ts';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

describe('a webhook', () => {
  it('receives an event with the headers and signatures of the contract', async () => {
    const server = await startWebhooks();
    const receiver = await startReceiver();
    const { webhookId, signatureSecret } = await server.hook(
      `http://user:p%40ss@127.0.0.1:${receiver.port}/in?a=1`,
    );
    await server.started('li5Ds8GhJk1Qw3ErTy6UiOpA');
    const [hook] = await waitUntil(() => receiver.hooks.length === 1 && receiver.hooks);
    const { headers, body } = hook!;
    expect(body).toMatch(
      /^\{"type":"live-stream\.broadcast\.started","emittedAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00","liveStreamId":"li5Ds8GhJk1Qw3ErTy6UiOpA"\}$/,
    );
    expect(hook!.path).toBe('/in?a=1');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Millrace/0.0.0',
      'x-api-video-webhookid': webhookId,
      'x-api-video-signature': hmac(signatureSecret, body),
      'millrace-event-id': '1',
      'millrace-delivery-id': expect.stringMatching(/^delivery_[0-9A-Za-z]{22}$/),
      authorization: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['millrace-signature']))!;
    expect(v1).toBe(hmac(signatureSecret, `${t}.${body}`));
    expect(Math.abs(Number(t) - Date.now() / 1_000)).toBeLessThan(60);
  });

  it('receives the events that it subscribes to, and none of another project', async () => {
    const server = await startWebhooks({ api: { isUpgraded: true } });
    const receiver = await startReceiver();
    await server.hook(receiver.url, ['live-stream.broadcast.ended']);
    await server.hook(receiver.url, ['live-stream.broadcast.ended'], 'production-key-of-tests-0123456789ab');
    await server.started('liA');
    await server.outbox.append(
      {
        projectId: server.projectId,
        type: 'live-stream.broadcast.ended',
        subjectId: 'liA',
        payload: { liveStreamId: 'liA' },
      },
      Date.now(),
    );
    await waitUntil(
      async () => (await server.outbox.webhooks.pendingTotal()) === 0 && receiver.hooks.length > 0,
    );
    expect(receiver.hooks.map(({ json }) => json)).toEqual([
      expect.objectContaining({ type: 'live-stream.broadcast.ended', liveStreamId: 'liA' }),
    ]);
  });

  it('gets the events of one resource one after the other, while others go on', async () => {
    const clock = new MovedClock();
    const server = await startWebhooks({ clock });
    const receiver = await startReceiver();
    await server.hook(receiver.url, ['live-stream.broadcast.started', 'live-stream.broadcast.ended']);
    let isBroken = true;
    receiver.answer = ({ json }, response) => {
      response.statusCode = json.liveStreamId === 'liA' && isBroken ? 500 : 204;
      response.end();
    };
    await server.started('liA');
    await server.outbox.append(
      {
        projectId: server.projectId,
        type: 'live-stream.broadcast.ended',
        subjectId: 'liA',
        payload: { liveStreamId: 'liA' },
      },
      clock.nowMs(),
    );
    await server.started('liB');
    await waitUntil(async () => (await server.outbox.webhooks.pendingTotal()) === 2);
    const seen = () =>
      receiver.hooks.map(({ json }) => `${json.liveStreamId} ${json.type.split('.').at(-1)}`);
    expect(seen()).toEqual(['liA started', 'liB started']);
    isBroken = false;
    clock.move(3_000);
    server.dispatcher.scheduleDispatch();
    await waitUntil(async () => (await server.outbox.webhooks.pendingTotal()) === 0);
    expect(seen()).toEqual(['liA started', 'liB started', 'liA started', 'liA ended']);
    const [first, , second] = receiver.hooks;
    expect(second!.body).toBe(first!.body);
    expect(second!.headers['millrace-delivery-id']).toBe(first!.headers['millrace-delivery-id']);
    expect(second!.headers['x-api-video-signature']).toBe(first!.headers['x-api-video-signature']);
    expect(second!.headers['millrace-signature']).not.toBe(first!.headers['millrace-signature']);
  });

  it('that is dead is tried 3 times more, 3 s apart, then less and less until a day has passed; others get theirs', async () => {
    const clock = new MovedClock();
    const outcomes: string[] = [];
    const server = await startWebhooks({
      clock,
      observer: { attempted: outcome => outcomes.push(outcome), dropped: () => {} },
    });
    const receiver = await startReceiver();
    const good = await startReceiver();
    const { webhookId } = await server.hook(receiver.url);
    await server.hook(good.url);
    receiver.answer = (_, response) => {
      response.statusCode = 503;
      response.end('away');
    };
    await server.started('liA');
    const beganMs = clock.nowMs();
    const queue = server.outbox.webhooks;
    const triedAfterSeconds: number[] = [];
    for (let tries = 1; ; tries += 1) {
      await waitUntil(
        () => receiver.hooks.length === tries && outcomes.filter(o => o !== 'delivered').length === tries,
      );
      triedAfterSeconds.push((clock.nowMs() - beganMs) / 1_000);
      const next = await queue.nextDueAtMs(webhookId, clock.nowMs());
      if (next === undefined) break;
      clock.move(next - clock.nowMs());
      server.dispatcher.scheduleDispatch();
    }
    expect(triedAfterSeconds.slice(0, 4)).toEqual([0, 3, 6, 9]);
    const gaps = triedAfterSeconds.map((at, index) => at - (triedAfterSeconds[index - 1] ?? 0)).slice(4, -1);
    expect(gaps.every((gap, index) => index === 0 || gap > gaps[index - 1]! * 0.8)).toBe(true);
    expect(triedAfterSeconds.at(-1)).toBe(24 * 3_600);
    expect(outcomes.at(-1)).toBe('given-up');
    expect(good.hooks).toHaveLength(1);
    const { json } = await server.call('GET', `/webhooks/${webhookId}/deliveries?status=failed`);
    const details = await server.call('GET', `/webhooks/${webhookId}/deliveries/${json.data[0].deliveryId}`);
    expect(details.json).toMatchObject({ status: 'failed', attemptsTotal: triedAfterSeconds.length });
    expect(details.json.attempts).toHaveLength(triedAfterSeconds.length);
    expect(details.json.attempts[0]).toEqual({
      attemptedAt: '2026-03-04T05:06:07+00:00',
      durationMs: expect.any(Number),
      statusCode: 503,
      response: 'away',
    });
    expect(details.json.nextAttemptAt).toBeUndefined();
  });

  it('that has recovered gets deliveries at once that were due much later', async () => {
    const clock = new MovedClock();
    const server = await startWebhooks({ clock });
    const receiver = await startReceiver();
    let isAway = true;
    receiver.answer = (_, response) => {
      response.statusCode = isAway ? 500 : 200;
      response.end();
    };
    await server.hook(receiver.url);
    for (let index = 0; index < 8; index += 1) await server.started(`li${index}`);
    await waitUntil(() => receiver.hooks.length === 8);
    isAway = false;
    await server.started('liNew');
    await waitUntil(async () => (await server.outbox.webhooks.pendingTotal()) === 0);
    expect(receiver.hooks).toHaveLength(17);
  });

  it('that refuses only some is not sent these again with each of the others', async () => {
    const clock = new MovedClock();
    const server = await startWebhooks({ clock });
    const receiver = await startReceiver();
    const refused = () => receiver.hooks.filter(({ json }) => json.liveStreamId.startsWith('liBad')).length;
    receiver.answer = ({ json }, response) => {
      response.statusCode = json.liveStreamId.startsWith('liBad') ? 422 : 200;
      response.end();
    };
    await server.hook(receiver.url);
    for (let index = 0; index < 6; index += 1) await server.started(`liBad${index}`);
    const retrying = () =>
      singleValue(server.database, "SELECT count(*) FROM webhook_deliveries WHERE state = 'retrying'");
    await waitUntil(async () => (await retrying()) === 6);
    await server.started('liFirst');
    await waitUntil(() => refused() === 12);
    // Sends successes after many failures in a row.
    for (const liveStreamId of ['li1', 'li2', 'li3']) {
      await server.started(liveStreamId);
      await waitUntil(() => receiver.hooks.some(({ json }) => json.liveStreamId === liveStreamId));
      await waitUntil(async () => (await server.outbox.webhooks.pendingTotal()) === 6);
    }
    expect(refused()).toBe(12);
    clock.move(60_000);
    server.dispatcher.scheduleDispatch();
    await waitUntil(() => refused() === 18);
  });

  it('is sent nothing twice when deliveries end while others are looked up', async () => {
    const server = await startWebhooks();
    const receiver = await startReceiver();
    const answers: (() => void)[] = [];
    receiver.answer = (_, response) => void answers.push(() => response.end());
    await server.hook(receiver.url);
    await server.started('li1');
    await waitUntil(() => receiver.hooks.length === 1);
    const queue = server.outbox.webhooks;
    const due = queue.due.bind(queue);
    const { promise: isHeld, resolve: held } = Promise.withResolvers<void>();
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
    const slow = vi.spyOn(queue, 'due').mockImplementationOnce(async (...query) => {
      const found = await due(...query);
      held();
      await isReleased;
      return found;
    });
    onTestFinished(() => slow.mockRestore());
    await server.started('li2');
    await isHeld;
    answers[0]!();
    await waitUntil(async () => (await queue.pendingTotal()) === 1);
    // The outcome is stored, and the attempt has ended.
    await sleep(20);
    release();
    await waitUntil(() => receiver.hooks.length === 2);
    answers[1]!();
    await waitUntil(async () => (await queue.pendingTotal()) === 0);
    await server.started('li3');
    await waitUntil(() => receiver.hooks.length === 3);
    expect(receiver.hooks.map(({ json }) => json.liveStreamId)).toEqual(['li1', 'li2', 'li3']);
  });

  it('that is removed gets nothing more, not even what was being sent, and its deliveries are forgotten', async () => {
    const server = await startWebhooks();
    const receiver = await startReceiver();
    let isClosed = false;
    receiver.answer = (_, response) => {
      response.once('close', () => {
        isClosed = true;
      });
    };
    const { webhookId } = await server.hook(receiver.url);
    for (let index = 0; index < 20; index += 1) await server.started('liA');
    await waitUntil(() => receiver.hooks.length === 1);
    expect((await server.call('DELETE', `/webhooks/${webhookId}`)).status).toBe(204);
    await waitUntil(() => isClosed);
    const count = (table: string) => singleValue(server.database, `SELECT count(*) FROM ${table}`);
    await waitUntil(
      async () => (await count('webhook_deliveries')) === 0 && (await count('removed_webhooks')) === 0,
    );
    expect(await count('webhook_delivery_totals')).toBe(0);
    await server.started('liA');
    const other = await startReceiver();
    await server.hook(other.url);
    await server.started('liA');
    await waitUntil(() => other.hooks.length === 1);
    expect(receiver.hooks).toHaveLength(1);
  });
});

describe('an answer', () => {
  /** Returns the delivery log of a webhook whose receiver answers like this. */
  async function logOf(server: RunningWebhooks, answer: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    const raw = createServer(socket => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => answer(socket));
    });
    raw.listen(0, '127.0.0.1');
    await once(raw, 'listening');
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      raw.close();
    });
    const { webhookId } = await server.hook(`http://127.0.0.1:${(raw.address() as AddressInfo).port}/`);
    await server.started(`li${webhookId}`);
    const path = `/webhooks/${webhookId}/deliveries`;
    const deliveryId = await waitUntil(async () => {
      const [delivery] = (await server.call('GET', path)).json.data;
      return delivery?.attemptsTotal === 1 && delivery.deliveryId;
    });
    const { json } = await server.call('GET', `${path}/${deliveryId}`);
    await server.call('DELETE', `/webhooks/${webhookId}`);
    return json;
  }

  it('that never ends is read up to 1 KiB, and its status counts', async () => {
    const delivery = await logOf(await startWebhooks(), socket => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const pour = () => {
        while (!socket.destroyed && socket.write('é'.repeat(40_000)));
      };
      socket.on('drain', pour);
      pour();
    });
    expect(delivery).toMatchObject({ status: 'succeeded', attemptsTotal: 1 });
    expect(delivery.attempts[0]).toMatchObject({ statusCode: 200, response: 'é'.repeat(512) });
  });

  it('that comes byte by byte counts by its status when the time is over, if that has come', async () => {
    const dribble = (head: string) => (socket: Socket) => {
      socket.write(head);
      const timer = setInterval(() => socket.write('x'), 20);
      socket.once('close', () => clearInterval(timer));
    };
    const answered = await logOf(
      await startWebhooks({ timeoutMs: 3_000 }),
      dribble('HTTP/1.1 202 Accepted\r\ncontent-length: 1000\r\n\r\n'),
    );
    expect(answered.status).toBe('succeeded');
    expect(answered.attempts[0].response).toMatch(/^x+$/);
    const late = await logOf(await startWebhooks({ timeoutMs: 150 }), dribble('HTTP/1.1 200 OK\r\nx: '));
    expect(late.status).toBe('retrying');
    expect(late.attempts).toEqual([
      {
        attemptedAt: expect.any(String),
        durationMs: expect.any(Number),
        error: 'No response within 0.15 s.',
        errorCode: 'timeout',
      },
    ]);
    expect(late.nextAttemptAt).toEqual(expect.any(String));
  });

  it('that changes the protocol is a success, as all of 1xx', async () => {
    const text = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n';
    const delivery = await logOf(await startWebhooks(), socket => socket.write(text));
    expect(delivery).toMatchObject({ status: 'succeeded', attempts: [{ statusCode: 101, response: '' }] });
  });

  it('that is no success is a failure: a redirect, an error, nothing, no HTTP, endless headers', async () => {
    const server = await startWebhooks();
    const cases: [text: string, attempt: object][] = [
      [
        'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n',
        { statusCode: 302, error: 'Redirects are not followed.', errorCode: 'redirect' },
      ],
      [
        'HTTP/1.1 199 Odd\r\n\r\nHTTP/1.1 500 No\r\ncontent-length: 2\r\n\r\nno',
        { statusCode: 500, response: 'no' },
      ],
      ['', { error: 'The connection was closed before a response.', errorCode: 'connection-closed' }],
      ['SMTP ready\r\n', { error: expect.stringContaining('Parse Error'), errorCode: 'response-invalid' }],
      [
        `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(40_000)}\r\n\r\n`,
        { error: 'The response headers are too large.', errorCode: 'response-invalid' },
      ],
    ];
    for (const [text, attempt] of cases) {
      const { status, attempts } = await logOf(server, socket => socket.end(text));
      expect(status).toBe('retrying');
      expect(attempts).toEqual([expect.objectContaining(attempt)]);
    }
  });
});
