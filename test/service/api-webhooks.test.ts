import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts';
import { runSql } from '../support/sql.ts';
import { basic, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { MovedClock, startReceiver, startWebhooks } from './webhook-fixture.ts';

const events = ['video.encoding.quality.completed'];
const url = 'https://hooks.example.net/in?src=video';

/** Knows one public name and one of the server's network; one name server is silent. */
async function resolveInTests(hostname: string) {
  if (hostname === 'public.example') return [{ address: '8.8.8.8', family: 4 }];
  if (hostname === 'inside.example') return [{ address: '10.0.0.1', family: 4 }];
  const code = hostname === 'silent.example' ? 'ETIMEOUT' : 'ENOTFOUND';
  throw Object.assign(new Error('no answer'), { code });
}

let server: TestApi;

beforeAll(async () => {
  const sender = new WebhookSender({ allowPrivateTargets: false, resolve: resolveInTests, timeoutMs: 5_000 });
  server = await startApi({ isUpgraded: true, webhookSender: sender });
});

afterEach(async () => {
  await runSql(server.database, 'DELETE FROM webhooks');
});

afterAll(() => server.stop());

describe('/webhooks', () => {
  it('makes, shows, lists and removes webhooks, with their secrets', async () => {
    const made = await server.call('POST', '/webhooks', { body: { events: [...events, ...events], url } });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      webhookId: expect.stringMatching(/^webhook_[0-9A-Za-z]{22}$/),
      createdAt: expect.stringMatching(/\+00:00$/),
      events,
      url,
      signatureSecret: expect.stringMatching(/^sig_sec_[0-9A-Za-z]{22}$/),
    });
    const one = `/webhooks/${made.json.webhookId}`;
    expect((await server.call('GET', one)).json).toEqual(made.json);
    const other = await server.call('POST', '/webhooks', {
      body: { events: ['video.caption.generated', 'video.summary.generated'], url },
    });
    expect(other.status).toBe(201);
    const list = async (query: string) => (await server.call('GET', `/webhooks${query}`)).json;
    expect((await list('')).data).toHaveLength(2);
    expect(await list('?events=video.encoding.quality.completed')).toMatchObject({
      data: [made.json],
      pagination: {
        itemsTotal: 1,
        links: expect.arrayContaining([
          {
            rel: 'self',
            uri: '/webhooks?events=video.encoding.quality.completed&currentPage=1&pageSize=25',
          },
        ]),
      },
    });
    expect(await list('?pageSize=1&currentPage=2')).toMatchObject({
      data: [made.json],
      pagination: { itemsTotal: 2, pagesTotal: 2 },
    });
    expect((await list('?events=live-stream.broadcast.ended')).data).toEqual([]);

    for (const [method, path] of [
      ['GET', one],
      ['DELETE', one],
      ['PATCH', one],
      ['POST', `${one}/test`],
      ['GET', `${one}/deliveries`],
    ] as const) {
      const body = method === 'PATCH' ? { body: { url } } : {};
      const foreign = await server.call(method, path, { key: productionKey, ...body });
      expect(foreign.json).toMatchObject({ status: 404, name: 'webhookId' });
    }
    expect(await list('')).toMatchObject({ pagination: { itemsTotal: 2 } });

    const removed = await server.call('DELETE', one);
    expect([removed.status, removed.text, removed.headers.get('content-type')]).toEqual([204, '', null]);
    expect((await server.call('GET', one)).status).toBe(404);
    for (const [method, path] of [
      ['DELETE', '/webhooks'],
      ['PATCH', '/webhooks'],
      ['PUT', one],
    ] as const) {
      expect((await server.call(method, path, { body: {} })).status).toBe(405);
    }
  });

  it.each([
    [{ events }, 'attribute-required', 'url', 'This attribute is required.'],
    [{ url }, 'attribute-required', 'events', 'This attribute is required.'],
    [{ events: 'all', url }, 'invalid-attribute', 'events', 'This attribute must be an array.'],
    [{ events: [], url }, 'invalid-attribute', 'events', 'An attribute is invalid.'],
    [{ events: ['video.deleted'], url }, 'invalid-attribute', 'events[0]', 'An attribute is invalid.'],
    [{ events: [1], url }, 'invalid-attribute', 'events[0]', 'An attribute is invalid.'],
    [{ events, url: 7 }, 'invalid-attribute', 'url', 'An attribute is invalid.'],
    [{ events, url: '' }, 'invalid-attribute', 'url', 'An attribute is invalid.'],
    [{ events, url: 'ftp://a.example/' }, 'invalid-attribute', 'url', 'An attribute is invalid.'],
    [{ events, url: 'https://' }, 'invalid-attribute', 'url', 'An attribute is invalid.'],
    [{ events, url: 'https://me:100%@a.example/' }, 'invalid-attribute', 'url', 'An attribute is invalid.'],
    [{ events, url: 'https://a.example/\nx' }, 'invalid-attribute', 'url', 'An attribute is invalid.'],
    [
      { events, url: `https://a.example/${'x'.repeat(2_048)}` },
      'invalid-attribute',
      'url',
      'An attribute is invalid.',
    ],
    [{ events, url, secret: 'x' }, 'invalid-attribute', 'secret', 'An attribute is invalid.'],
  ])('refuses %j', async (body, code, name, title) => {
    const { status, json } = await server.call('POST', '/webhooks', { body });
    const refusal = [
      400,
      [expect.objectContaining({ type: expect.stringMatching(`/${code}$`), name, title })],
    ];
    expect([status, json.problems]).toEqual(refusal);
    expect((await server.call('GET', '/webhooks')).json.pagination.itemsTotal).toBe(0);
    if (code === 'attribute-required') return;
    const made = (await server.call('POST', '/webhooks', { body: { events, url } })).json;
    const change = await server.call('PATCH', `/webhooks/${made.webhookId}`, { body });
    expect([change.status, change.json.problems]).toEqual(refusal);
    expect((await server.call('GET', `/webhooks/${made.webhookId}`)).json).toEqual(made);
  });

  it('changes the address and the events, and nothing else', async () => {
    const made = (await server.call('POST', '/webhooks', { body: { events, url } })).json;
    const one = `/webhooks/${made.webhookId}`;
    const moved = await server.call('PATCH', one, { body: { url: 'https://new.example.net/in' } });
    expect([moved.status, moved.json]).toEqual([200, { ...made, url: 'https://new.example.net/in' }]);
    const other = ['video.source.recorded', 'live-stream.broadcast.ended'];
    const chosen = await server.call('PATCH', one, { body: { events: [...other, ...other] } });
    expect(chosen.json).toEqual({ ...moved.json, events: other });
    expect((await server.call('GET', one)).json).toEqual(chosen.json);
    expect((await server.call('GET', `/webhooks?events=${events[0]}`)).json.data).toEqual([]);
  });

  it.each([
    ['https://hooks.example.net/in', { deliverable: false, setting: 'MILLRACE_ALLOW_PRIVATE_TARGETS' }],
    ['http://public.example/', { deliverable: true }],
    ['http://8.8.8.8/', { deliverable: true }],
    ['http://localhost:3000/', { deliverable: false, setting: 'MILLRACE_ALLOW_PRIVATE_TARGETS' }],
    ['http://hook.localhost./', { deliverable: false, setting: 'MILLRACE_ALLOW_PRIVATE_TARGETS' }],
    ['http://[::1]/', { deliverable: false, setting: 'MILLRACE_ALLOW_PRIVATE_TARGETS' }],
    ['http://0x7f.1/', { deliverable: false, setting: 'MILLRACE_ALLOW_PRIVATE_TARGETS' }],
    ['http://169.254.169.254/', { deliverable: false }],
    ['http://silent.example/', { deliverable: false }],
  ])('judges %s before it is saved', async (url, verdict) => {
    const { status, json } = await server.call('POST', '/webhooks/check', { body: { url } });
    expect([status, { ...json, reason: undefined }]).toEqual([200, { ...verdict, reason: undefined }]);
    expect(json.reason === undefined).toBe(verdict.deliverable);
  });

  it('tells of a name with a private address no more than of one that does not exist', async () => {
    const [unknown, inside] = await Promise.all(
      ['unknown.example', 'inside.example'].map(host =>
        server.call('POST', '/webhooks/check', { body: { url: `http://${host}/` } }),
      ),
    );
    expect(inside!.json).toEqual(unknown!.json);
  });

  it('allows each environment of an account 10, however they come', async () => {
    const { projectIds } = await server.addAccount({ isUpgraded: true });
    await runSql(
      server.database,
      `INSERT INTO webhooks (id, project_id, events, url, signature_secret, created_at_ms)
        VALUES ('webhook_of_others', ?, '[]', 'http://a', 's', 1)`,
      projectIds.sandbox,
    );
    const create = (key: string) => server.call('POST', '/webhooks', { key, body: { events, url } });
    const answers = await Promise.all(Array.from({ length: 14 }, () => create(sandboxKey)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(10);
    const ofProduction = await Promise.all(Array.from({ length: 11 }, () => create(productionKey)));
    expect(ofProduction.filter(({ status }) => status === 201)).toHaveLength(10);
    expect(answers.find(({ status }) => status === 400)?.json).toMatchObject({
      type: expect.stringMatching(/\/webhook-limit-reached$/),
      title: 'Your account has reached the webhook urls limit.',
    });
    const [first] = (await server.call('GET', '/webhooks')).json.data;
    await server.call('DELETE', `/webhooks/${first.webhookId}`);
    expect((await server.call('POST', '/webhooks', { body: { events, url } })).status).toBe(201);
  });
});

describe('/webhooks/{webhookId}/deliveries', () => {
  it('lists what was sent, newest first, by state and event, and sends one again', async () => {
    const clock = new MovedClock();
    const server = await startWebhooks({ clock });
    const receiver = await startReceiver();
    receiver.answer = ({ json }, response) => {
      response.statusCode = json.liveStreamId === 'liBad' ? 410 : 200;
      response.end(`seen ${json.liveStreamId}`);
    };
    const { webhookId } = await server.hook(receiver.url, [
      'live-stream.broadcast.started',
      'live-stream.broadcast.ended',
    ]);
    const end = (liveStreamId: string) =>
      server.outbox.append(
        {
          projectId: server.projectId,
          type: 'live-stream.broadcast.ended',
          subjectId: liveStreamId,
          payload: { liveStreamId },
        },
        clock.nowMs(),
      );
    await server.started('li1');
    await end('li1');
    await server.started('liBad');
    await end('liBad');
    const path = `/webhooks/${webhookId}/deliveries`;
    const list = async (query: string) => (await server.call('GET', `${path}${query}`)).json;
    await waitUntil(async () => (await list('')).data[1]?.status === 'retrying');
    expect(receiver.hooks).toHaveLength(3);
    const all = await list('');
    expect(all.data).toEqual([
      expect.objectContaining({ status: 'waiting', eventId: '4', attemptsTotal: 0 }),
      expect.objectContaining({
        status: 'retrying',
        eventId: '3',
        nextAttemptAt: '2026-03-04T05:06:10+00:00',
      }),
      expect.objectContaining({ status: 'succeeded', eventId: '2', type: 'live-stream.broadcast.ended' }),
      {
        deliveryId: expect.stringMatching(/^delivery_[0-9A-Za-z]{22}$/),
        webhookId,
        eventId: '1',
        type: 'live-stream.broadcast.started',
        status: 'succeeded',
        attemptsTotal: 1,
        createdAt: '2026-03-04T05:06:07+00:00',
        lastAttempt: {
          attemptedAt: '2026-03-04T05:06:07+00:00',
          durationMs: expect.any(Number),
          statusCode: 200,
        },
      },
    ]);
    expect(all.data[0]).not.toHaveProperty('lastAttempt');
    const total = async (query: string) => (await list(query)).pagination.itemsTotal;
    expect(await total('?status=succeeded')).toBe(2);
    expect(await total('?type=live-stream.broadcast.ended')).toBe(2);
    expect(await total('?type=live-stream.broadcast.ended&status=succeeded')).toBe(1);
    expect(await total('?status=failed')).toBe(0);
    expect((await list('?sortBy=createdAt&pageSize=1&currentPage=2')).data[0].eventId).toBe('2');
    expect((await server.call('GET', `${path}?status=lost`)).status).toBe(400);

    const old = `${path}/${all.data[3].deliveryId}`;
    expect((await server.call('GET', old)).json).toMatchObject({
      body: receiver.hooks[0]!.body,
      attempts: [{ statusCode: 200, response: 'seen li1' }],
    });
    const resent = await server.call('POST', `${old}/resend`);
    expect(resent.status).toBe(201);
    expect(resent.json).toMatchObject({
      status: 'waiting',
      resentFrom: all.data[3].deliveryId,
      eventId: '1',
    });
    // Arrives at once, although an event of another resource is not through.
    await waitUntil(() => receiver.hooks.length === 4);
    expect(receiver.hooks[3]!.body).toBe(receiver.hooks[0]!.body);
    expect(receiver.hooks[3]!.headers['millrace-delivery-id']).toBe(resent.json.deliveryId);
    expect(receiver.hooks[3]!.headers['millrace-event-id']).toBe('1');

    const other = await server.hook(receiver.url);
    for (const wrong of [
      `/webhooks/${other.webhookId}/deliveries/${all.data[3].deliveryId}`,
      `${path}/delivery_0000000000000000000000`,
    ]) {
      expect((await server.call('GET', wrong)).json).toMatchObject({ status: 404, name: 'deliveryId' });
      expect((await server.call('POST', `${wrong}/resend`)).status).toBe(404);
    }
    const foreign = await fetch(`${server.baseUrl}${old}`, { headers: { authorization: basic('no key') } });
    expect(foreign.status).toBe(401);
  });
});
