import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { waitUntil } from '../support/wait-until.ts';
import { MovedClock, startReceiver, startWebhooks } from './webhook-fixture.ts';

const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');

describe('a test of a webhook', () => {
  it('is sent like events, clearly marked, and returns its result', async () => {
    const server = await startWebhooks();
    const receiver = await startReceiver();
    const { webhookId, signatureSecret } = await server.hook(receiver.url);
    const { status, json } = await server.call('POST', `/webhooks/${webhookId}/test`);
    const [{ headers, body }] = receiver.hooks as [(typeof receiver.hooks)[number]];
    expect(JSON.parse(body)).toEqual({ type: 'webhook.test', emittedAt: expect.any(String), webhookId });
    expect(headers).toMatchObject({
      'x-api-video-webhookid': webhookId,
      'x-api-video-signature': hmac(signatureSecret, body),
      'millrace-delivery-id': json.deliveryId,
    });
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['millrace-signature']))!;
    expect(v1).toBe(hmac(signatureSecret, `${t}.${body}`));
    expect(headers).not.toHaveProperty('millrace-event-id');
    expect([status, json]).toEqual([
      201,
      {
        deliveryId: expect.stringMatching(/^delivery_/),
        webhookId,
        type: 'webhook.test',
        body,
        status: 'succeeded',
        attemptsTotal: 1,
        createdAt: expect.any(String),
        attempts: [
          { attemptedAt: expect.any(String), durationMs: expect.any(Number), statusCode: 200, response: '' },
        ],
      },
    ]);
    const log = await server.call('GET', `/webhooks/${webhookId}/deliveries?type=webhook.test`);
    expect(log.json.data.map((one: { deliveryId: string }) => one.deliveryId)).toEqual([json.deliveryId]);
    // The test is no event: the next one has the first number.
    await server.started('liA');
    await waitUntil(() => receiver.hooks.length === 2);
    expect(receiver.hooks[1]!.headers['millrace-event-id']).toBe('1');
  });

  it('that fails says how, is not tried again, and holds up no event', async () => {
    const clock = new MovedClock();
    const server = await startWebhooks({ clock });
    const receiver = await startReceiver();
    const { webhookId } = await server.hook(receiver.url);
    receiver.answer = ({ json }, response) => {
      response.statusCode = json.type === 'webhook.test' ? 503 : 200;
      response.end('later');
    };
    const { json } = await server.call('POST', `/webhooks/${webhookId}/test`);
    expect(json).toMatchObject({ status: 'failed', attempts: [{ statusCode: 503, response: 'later' }] });
    expect(json).not.toHaveProperty('nextAttemptAt');
    clock.move(24 * 3_600_000);
    server.dispatcher.scheduleDispatch();
    await server.started('liA');
    const [, second] = await waitUntil(() => receiver.hooks.length === 2 && receiver.hooks);
    expect(second!.json.type).toBe('live-stream.broadcast.started');
  });

  it('that is sent again is another test', async () => {
    const server = await startWebhooks();
    const receiver = await startReceiver();
    const { webhookId } = await server.hook(receiver.url);
    const first = (await server.call('POST', `/webhooks/${webhookId}/test`)).json;
    const again = await server.call('POST', `/webhooks/${webhookId}/deliveries/${first.deliveryId}/resend`);
    expect(again.json).toMatchObject({
      type: 'webhook.test',
      status: 'succeeded',
      resentFrom: first.deliveryId,
    });
    expect(receiver.hooks).toHaveLength(2);
  });

  it('does not reach private addresses where events do not', async () => {
    const server = await startWebhooks({ allowPrivateTargets: false });
    const receiver = await startReceiver();
    const { webhookId } = await server.hook(receiver.url);
    const { status, json } = await server.call('POST', `/webhooks/${webhookId}/test`);
    expect([status, json.status]).toEqual([201, 'failed']);
    expect(json.attempts[0].error).toMatch(
      /^127\.0\.0\.1 is not reachable on the public network\. .* MILLRACE_ALLOW_PRIVATE_TARGETS=true\.$/,
    );
    expect(receiver.hooks).toEqual([]);
  });

  it('waits no longer than an event does', async () => {
    const server = await startWebhooks({ timeoutMs: 100 });
    const receiver = await startReceiver();
    receiver.answer = () => {};
    const { webhookId } = await server.hook(receiver.url);
    const { json } = await server.call('POST', `/webhooks/${webhookId}/test`);
    expect(json.attempts).toMatchObject([{ error: 'No response within 0.1 s.', errorCode: 'timeout' }]);
  });

  it('can be sent ten times a minute by a project, and does not use up those of another', async () => {
    const server = await startWebhooks({ api: { isUpgraded: true } });
    const receiver = await startReceiver();
    const { webhookId } = await server.hook(receiver.url);
    const other = await server.hook(receiver.url, undefined, 'production-key-of-tests-0123456789ab');
    const test = (id: string, key = {}) => server.call('POST', `/webhooks/${id}/test`, key);
    for (let sent = 0; sent < 10; sent += 1) expect((await test(webhookId)).status).toBe(201);
    const refused = await test(webhookId);
    expect([refused.status, refused.json.detail]).toEqual([
      429,
      expect.stringMatching(/^You can send 10 tests per minute\. Try again in \d+ s\.$/),
    ]);
    const key = { key: 'production-key-of-tests-0123456789ab' };
    expect((await test(other.webhookId, key)).status).toBe(201);
    expect(receiver.hooks).toHaveLength(11);
  });
});

describe('a webhook that moves', () => {
  it('receives waiting deliveries at its new address, at once and with the same secret', async () => {
    const clock = new MovedClock();
    const server = await startWebhooks({ clock });
    const [old, next] = [await startReceiver(), await startReceiver()];
    old.answer = (_, response) => {
      response.statusCode = 500;
      response.end();
    };
    const { webhookId, signatureSecret } = await server.hook(old.url);
    await server.started('liA');
    const deliveries = `/webhooks/${webhookId}/deliveries?status=retrying`;
    await waitUntil(async () => (await server.call('GET', deliveries)).json.pagination.itemsTotal === 1);
    await server.call('PATCH', `/webhooks/${webhookId}`, { body: { url: next.url } });
    const [hook] = await waitUntil(() => next.hooks.length === 1 && next.hooks);
    expect(hook!.json).toMatchObject({ type: 'live-stream.broadcast.started', liveStreamId: 'liA' });
    expect(hook!.headers['x-api-video-signature']).toBe(hmac(signatureSecret, hook!.body));
    expect(old.hooks).toHaveLength(1);
  });

  it('receives newly selected events from then on', async () => {
    const server = await startWebhooks();
    const receiver = await startReceiver();
    const { webhookId } = await server.hook(receiver.url, ['live-stream.broadcast.ended']);
    await server.started('liA');
    const body = { events: ['live-stream.broadcast.started'] };
    await server.call('PATCH', `/webhooks/${webhookId}`, { body });
    await server.started('liB');
    const [hook] = await waitUntil(() => receiver.hooks.length === 1 && receiver.hooks);
    expect(hook!.json.liveStreamId).toBe('liB');
  });
});
