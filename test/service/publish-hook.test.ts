import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ReceivedHook, type Receiver, startReceiver } from './webhook-fixture.ts';

const offer = readFileSync(new URL('../fixtures/whip-offer.sdp', import.meta.url), 'utf8').replace(
  /\r?\n/g,
  '\r\n',
);
const started = { level: 'status', code: 'NetStream.Publish.Start' };
const refused = { level: 'error', code: 'NetStream.Publish.BadName' };
const failedText =
  'The publish hook of this project could not be reached or failed. Try again in a moment, or check the hook.';

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ 'live.stopGrace': '100ms', allowPrivateTargets: 'true' });
});
afterAll(() => server?.stop());

type Answer = (hook: ReceivedHook, response: ServerResponse) => void;

const respond =
  (status: number, body: string | object = ''): Answer =>
  (_, response) => {
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

async function json(method: string, path: string, body?: unknown) {
  const response = await server.api(method, path, body);
  const text = await response.text();
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as any };
}

/** A publish hook that answers so. It is removed after the test. */
async function startHook(answer: Answer, settings: object = {}): Promise<Receiver> {
  const receiver = await startReceiver();
  receiver.answer = answer;
  await setHook(receiver.url, settings);
  return receiver;
}

async function setHook(url: string, settings: object = {}) {
  const { status, body } = await json('PUT', '/hooks/publish', { url, ...settings });
  expect(status).toBe(200);
  onTestFinished(async () => {
    await server.api('DELETE', '/hooks/publish');
  });
  return body;
}

async function connect(app = 's'): Promise<RtmpClient> {
  const client = await RtmpClient.connect({ port: server.app.rtmpPort, app });
  onTestFinished(() => client.destroy());
  return client;
}

async function publish(name: string) {
  return (await connect()).publish(name);
}

const lastResult = () =>
  waitUntil(async () => (await json('GET', '/hooks/publish')).body.results[0] as Record<string, unknown>);

const broadcastsOf = async (liveStreamId: string) =>
  (await json('GET', `/live-streams/${liveStreamId}/broadcasts`)).body.data as unknown[];

describe('a publish hook', () => {
  test('is asked before the encoder gets its answer, signed, with what the encoder sent', async () => {
    const stream = await server.createStream();
    const held = Promise.withResolvers<void>();
    const receiver = await startHook((hook, response) => {
      void held.promise.then(() => respond(204)(hook, response));
    });
    const client = await connect('s?from=app');
    const answered = client.publish(`${stream.streamKey}?token=a%20b&x=1`);
    const [{ headers, body, json: asked }] = (await waitUntil(
      () => receiver.hooks.length > 0 && receiver.hooks,
    )) as [ReceivedHook];
    expect(client.commands('onStatus')).toEqual([]);
    held.resolve();
    expect(await answered).toMatchObject(started);
    expect(asked).toEqual({
      type: 'hook.publish',
      emittedAt: expect.any(String),
      liveStreamId: stream.liveStreamId,
      protocol: 'rtmp',
      remoteAddress: '127.0.0.1',
      encoder: 'test/1.0',
      query: 'from=app&token=a%20b&x=1',
    });
    const { hookId, signatureSecret } = (await json('GET', '/hooks/publish')).body;
    const hmac = (text: string) => createHmac('sha256', signatureSecret).update(text).digest('hex');
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['millrace-signature']))!;
    expect(headers).toMatchObject({
      'x-api-video-webhookid': hookId,
      'x-api-video-signature': hmac(body),
      'millrace-delivery-id': expect.stringMatching(/^delivery_/),
    });
    expect(v1).toBe(hmac(`${t}.${body}`));
    expect(body).not.toContain(stream.streamKey);
    expect(await lastResult()).toEqual({
      attemptedAt: expect.any(String),
      durationMs: expect.any(Number),
      result: 'allowed',
      test: false,
      liveStreamId: stream.liveStreamId,
      remoteAddress: '127.0.0.1',
      statusCode: 204,
      response: '',
    });
  });

  test('asks again when the encoder reconnects, and not for unknown keys', async () => {
    const { streamKey } = await server.createStream();
    const receiver = await startHook(respond(200));
    expect(await publish('unknown-key')).toMatchObject({
      ...refused,
      description: expect.stringContaining('not known'),
    });
    expect(receiver.hooks).toHaveLength(0);
    const first = await connect();
    expect(await first.publish(streamKey)).toMatchObject(started);
    first.destroy();
    await first.closed();
    await waitUntil(async () => (await publish(streamKey)).code === started.code);
    expect(receiver.hooks.length).toBeGreaterThanOrEqual(2);
  });

  test.each([
    ['of JSON', { message: 'Your plan\n has ended.' }, 'Your plan has ended.'],
    ['of plain text', 'Come back \u0007 tomorrow', 'Come back tomorrow'],
    ['of endless text', 'no '.repeat(200_000), `${'no '.repeat(66)}no`],
    ['of a page', '<html>Forbidden</html>', 'The publish hook of this project denied this stream.'],
    ['of nothing', '', 'The publish hook of this project denied this stream.'],
  ])('refuses with a text %s, which the encoder shows', async (_, body, description) => {
    const { streamKey, liveStreamId } = await server.createStream();
    await startHook(respond(403, body));
    const client = await connect();
    expect(await client.publish(streamKey)).toEqual({ ...refused, description });
    await client.closed();
    expect(await lastResult()).toMatchObject({ result: 'refused', statusCode: 403, liveStreamId });
    expect(await broadcastsOf(liveStreamId)).toEqual([]);
  });

  test('refuses WHIP with 403 and its text, and gets the query of the URL', async () => {
    const { streamKey } = await server.createStream();
    const receiver = await startHook(respond(401, { message: 'Sign in first.' }));
    const response = await fetch(`${server.baseUrl}/whip/${streamKey}?room=7`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
      body: offer,
    });
    expect([response.status, await response.json()]).toMatchObject([
      403,
      { type: expect.stringContaining('hook-refused'), detail: 'Sign in first.' },
    ]);
    expect(receiver.hooks[0]!.json).toMatchObject({ protocol: 'whip', query: 'room=7' });
  });

  test('chooses another live stream of the project', async () => {
    const [door, target] = [await server.createStream('Door'), await server.createStream('Target')];
    await startHook(respond(200, { liveStreamId: target.liveStreamId }));
    const client = await connect();
    expect(await client.publish(door.streamKey)).toMatchObject(started);
    expect(await broadcastsOf(target.liveStreamId)).toHaveLength(1);
    expect(await broadcastsOf(door.liveStreamId)).toEqual([]);
    // The target is taken, whichever key comes.
    expect(await publish(target.streamKey)).toMatchObject({
      ...refused,
      description: expect.stringContaining('already publishing'),
    });
  });

  test('that chooses what the project does not have is refused with a text that says so', async () => {
    const { streamKey } = await server.createStream();
    const foreign = await fetch(`${server.baseUrl}/live-streams`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${server.sandboxKey}:`).toString('base64')}`,
        'content-type': 'application/json',
      },
      body: '{"name":"Of the sandbox"}',
    });
    const { liveStreamId } = (await foreign.json()) as { liveStreamId: string };
    for (const chosen of [liveStreamId, 'li0000000000000000000000', 7, { $ne: '' }]) {
      await startHook(respond(200, { liveStreamId: chosen }));
      expect(await publish(streamKey)).toEqual({
        ...refused,
        description:
          'The publish hook chose a live stream that this project does not have. Correct the liveStreamId in its answer.',
      });
      expect(await lastResult()).toMatchObject({
        result: 'refused',
        statusCode: 200,
        error: expect.stringContaining('Correct the liveStreamId'),
      });
    }
  });

  test.each([
    ['fails', respond(500), 'The hook responded with status 500.'],
    [
      'redirects',
      (_: ReceivedHook, response: ServerResponse) => {
        response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
      },
      'Redirects are not followed.',
    ],
    [
      'breaks off',
      (_: ReceivedHook, response: ServerResponse) => void response.destroy(),
      expect.any(String),
    ],
    [
      'never ends',
      (_: ReceivedHook, response: ServerResponse) => {
        response.writeHead(200).write('{');
      },
      'The response is larger than 16384 bytes, or did not end in time.',
    ],
    [
      'sends too much',
      respond(200, '"'.repeat(1_000_000)),
      'The response is larger than 16384 bytes, or did not end in time.',
    ],
    ['never answers', () => {}, 'No response within 1 s.'],
  ])('that %s leaves the decision to the policy', async (_, answer, error) => {
    const { streamKey } = await server.createStream();
    const receiver = await startHook(answer, { timeoutSeconds: 1 });
    expect(await publish(streamKey)).toEqual({ ...refused, description: failedText });
    expect(await lastResult()).toMatchObject({ result: 'refused', error });
    await setHook(receiver.url, { timeoutSeconds: 1, onFailure: 'allow' });
    expect(await publish(streamKey)).toMatchObject(started);
    await waitUntil(async () => (await lastResult()).result === 'allowed');
    expect(await lastResult()).toMatchObject({ result: 'allowed', error });
  });

  test('is not asked for a while after five failures, so that nobody waits, and a test opens it again', async () => {
    const { streamKey } = await server.createStream();
    const receiver = await startHook(respond(503));
    for (let count = 0; count < 6; count++) expect(await publish(streamKey)).toMatchObject(refused);
    expect(receiver.hooks).toHaveLength(5);
    await waitUntil(async () => String((await lastResult()).error).includes('failed 5 times in a row'));
    receiver.answer = respond(200, 'garbage \0 and more');
    expect((await json('POST', '/hooks/publish/test')).body).toMatchObject({
      result: 'allowed',
      test: true,
      statusCode: 200,
      response: 'garbage \ufffd and more',
    });
    expect(receiver.hooks.at(-1)!.json).toMatchObject({ type: 'hook.publish', test: true });
    expect(await publish(streamKey)).toMatchObject(started);
  });

  test('that answers slowly holds up no one else, and is left when the encoder leaves', async () => {
    const { streamKey } = await server.createStream();
    const closed = Promise.withResolvers<void>();
    const receiver = await startHook((_, response) => response.once('close', closed.resolve), {
      timeoutSeconds: 10,
    });
    const client = await connect();
    client.sendPublish(streamKey);
    await waitUntil(() => receiver.hooks.length === 1);
    expect((await json('GET', '/live-streams')).status).toBe(200);
    client.destroy();
    await closed.promise;
    expect((await json('GET', '/hooks/publish')).body.results).toEqual([]);
  });

  test('is left when the client of WHIP leaves', async () => {
    const { streamKey, liveStreamId } = await server.createStream();
    const closed = Promise.withResolvers<void>();
    const receiver = await startHook((_, response) => response.once('close', closed.resolve), {
      timeoutSeconds: 10,
    });
    const leaving = new AbortController();
    const answer = fetch(`${server.baseUrl}/whip/${streamKey}`, {
      method: 'POST',
      headers: { 'content-type': 'application/sdp' },
      body: offer,
      signal: leaving.signal,
    });
    await waitUntil(() => receiver.hooks.length === 1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await closed.promise;
    expect((await json('GET', '/hooks/publish')).body.results).toEqual([]);
    expect(await broadcastsOf(liveStreamId)).toEqual([]);
  });

  test('gets no text after the key that is too long', async () => {
    const { streamKey } = await server.createStream();
    const receiver = await startHook(respond(200));
    expect(await publish(`${streamKey}?${'a'.repeat(3_000)}`)).toMatchObject({
      ...refused,
      description: expect.stringContaining('longer than 2048 characters'),
    });
    expect(receiver.hooks).toHaveLength(0);
  });
});

test('no hook is asked at private addresses unless the server allows them', async () => {
  await using strict = await startServer();
  const receiver = await startReceiver();
  const { streamKey } = await strict.createStream();
  await strict.api('PUT', '/hooks/publish', { url: receiver.url });
  const client = await RtmpClient.connect({ port: strict.app.rtmpPort });
  onTestFinished(() => client.destroy());
  expect(await client.publish(streamKey)).toEqual({ ...refused, description: failedText });
  expect(receiver.hooks).toHaveLength(0);
});
