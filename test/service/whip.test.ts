import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import { parseStun, STUN_ATTRIBUTE, STUN_TYPE, writeStun } from '../../src/webrtc/ice/stun-message.ts';
import { Random } from '../support/random.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

const offer = readFileSync(new URL('../fixtures/whip-offer.sdp', import.meta.url), 'utf8').replace(
  /\r?\n/g,
  '\r\n',
);
const sdp = { 'content-type': 'application/sdp' };
const fragment = { 'content-type': 'application/trickle-ice-sdpfrag' };

let server: TestServer;
let stream: CreatedStream;
beforeAll(async () => {
  server = await startServer({ 'live.stopGrace': '100ms' });
  stream = await server.createStream();
});
afterAll(() => server?.stop());

async function send(path: string, options: RequestInit) {
  const response = await fetch(new URL(path, server.baseUrl), options);
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/problem+json';
  return {
    status: response.status,
    reason: response.statusText,
    headers: response.headers,
    text,
    problem: (isJson ? JSON.parse(text) : {}) as { type?: string; detail?: string },
  };
}

const publish = (path: string, headers: Record<string, string> = {}, body = offer) =>
  send(path, { method: 'POST', headers: { ...sdp, ...headers }, body });

async function published() {
  const response = await waitUntil(async () => {
    const answer = await publish('/whip', { authorization: `Bearer ${stream.streamKey}` });
    return answer.status === 201 && answer;
  });
  return { ...response, location: response.headers.get('location')! };
}

const attributeOf = (text: string, name: string) => new RegExp(`a=${name}:(\\S+)`).exec(text)![1]!;

describe('a WHIP session', () => {
  test('is opened with the key in the address or as a token, and ended', async () => {
    const byPath = await publish(`/whip/${stream.streamKey}`);
    expect(byPath.status).toBe(201);
    expect(byPath.headers.get('content-type')).toBe('application/sdp');
    expect(byPath.headers.get('accept-patch')).toBe('application/trickle-ice-sdpfrag');
    expect(byPath.headers.get('etag')).toMatch(/^"\w+"$/);
    expect(byPath.headers.get('access-control-allow-origin')).toBe('*');
    expect(byPath.headers.get('access-control-expose-headers')).toContain('Location');
    expect(byPath.text).toContain(`127.0.0.1 ${server.app.webrtcPort} typ host`);
    const location = byPath.headers.get('location')!;
    expect(location).not.toContain(stream.streamKey);

    const second = await publish('/whip', { authorization: `Bearer ${stream.streamKey}` });
    expect(second.status).toBe(409);
    expect(second.problem.detail).toBe(
      'Another encoder is already publishing with this stream key. Stop it first.',
    );
    expect((await send(location, { method: 'DELETE' })).status).toBe(200);
    const again = await published();
    expect((await send(again.location, { method: 'DELETE' })).status).toBe(200);
    const ended = await send(again.location, { method: 'DELETE' });
    expect(ended.status).toBe(404);
    expect(ended.problem.detail).toBe('The publisher has ended this session.');
  });

  test('takes candidates, and new credentials for another network', async () => {
    const { location, text, headers } = await published();
    const ifMatch = headers.get('etag')!;
    const patch = (body: string, more: Record<string, string> = {}) =>
      send(location, { method: 'PATCH', headers: { ...fragment, ...more }, body });
    const own = `a=ice-ufrag:${attributeOf(offer, 'ice-ufrag')}\r\na=ice-pwd:${attributeOf(offer, 'ice-pwd')}\r\n`;
    const candidate = `${own}a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n`;
    expect((await patch(candidate)).status).toBe(428);
    expect((await patch(candidate, { 'if-match': ifMatch })).status).toBe(204);
    expect((await patch('a=ice-ufrag:NewU\r\n', { 'if-match': '*' })).status).toBe(400);
    const restart = `a=ice-ufrag:NewU\r\na=ice-pwd:${'p'.repeat(24)}\r\n`;
    expect((await patch(restart, { 'if-match': '"other"' })).status).toBe(412);
    const restarted = await patch(restart, { 'if-match': ifMatch });
    expect(restarted.status).toBe(200);
    expect(attributeOf(restarted.text, 'ice-ufrag')).not.toBe(attributeOf(text, 'ice-ufrag'));
    expect(restarted.headers.get('etag')).not.toBe(ifMatch);
    // Checks both agents, which are reachable until the client has moved.
    for (const [answer, remote] of [
      [text, attributeOf(offer, 'ice-ufrag')],
      [restarted.text, 'NewU'],
    ] as const) {
      expect(await checkedBy(answer, remote)).toBe(STUN_TYPE.success);
    }
    await send(location, { method: 'DELETE' });
  });

  test('answers checks with the right password only', async () => {
    const { location, text } = await published();
    const remote = attributeOf(offer, 'ice-ufrag');
    expect(await checkedBy(text, remote, { role: STUN_ATTRIBUTE.iceControlled })).toBe(STUN_TYPE.error);
    expect(await checkedBy(text, remote)).toBe(STUN_TYPE.success);
    expect(await checkedBy(text, 'else', { knownRemote: remote })).toBeUndefined();
    expect(await checkedBy(text, remote, { password: 'x'.repeat(32) })).toBeUndefined();
    await send(location, { method: 'DELETE' });
  });
});

/** Sends a check to the server's port, and then one that is answered in any case. Undefined without an answer to the first. */
async function checkedBy(
  answer: string,
  remote: string,
  options: { password?: string; role?: number; knownRemote?: string } = {},
): Promise<number | undefined> {
  const socket = createSocket('udp4');
  const types = new Map<string, number>();
  socket.on('message', packet => {
    const message = parseStun(packet)!;
    types.set(message.transactionId.toString('hex'), message.type);
  });
  const password = attributeOf(answer, 'ice-pwd');
  const check = (id: Buffer, from: string, withPassword: string, role?: number) => {
    const username = `${attributeOf(answer, 'ice-ufrag')}:${from}`;
    const attributes = [
      { type: STUN_ATTRIBUTE.username, value: Buffer.from(username) },
      ...(role === undefined ? [] : [{ type: role, value: Buffer.alloc(8) }]),
    ];
    const message = writeStun(STUN_TYPE.request, id, attributes, withPassword);
    socket.send(message, server.app.webrtcPort!, '127.0.0.1');
  };
  const [first, last] = [Buffer.alloc(12, 1), Buffer.alloc(12, 2)];
  check(first, remote, options.password ?? password, options.role);
  await waitUntil(() => {
    check(last, options.knownRemote ?? remote, password);
    return types.has(last.toString('hex'));
  });
  socket.close();
  return types.get(first.toString('hex'));
}

describe('requests that are refused', () => {
  test.each([
    ['an unknown key', () => publish('/whip/no-such-key'), 401, 'The stream key is not known.'],
    ['a key with spaces', () => publish('/whip/a%20key'), 401, 'whole and without spaces'],
    ['no key', () => publish('/whip'), 401, 'Send the stream key as a bearer token'],
    [
      'another content type',
      () => publish('/whip/key', { 'content-type': 'text/plain' }),
      415,
      'application/sdp',
    ],
    ['no SDP', () => publish('/whip/key', {}, 'hello'), 400, 'begin with "v=0"'],
    [
      'video that players cannot play',
      () => publish('/whip/key', {}, offer.replaceAll(/(H264|AV1|VP8)\/90000/g, 'VP9/90000')),
      422,
      'Choose H.264',
    ],
    ['a body that is too long', () => publish('/whip/key', {}, offer.padEnd(70_000, '\n')), 413, ''],
    [
      'a session that does not exist',
      () => send('/whip/sessions/x', { method: 'DELETE' }),
      404,
      'does not exist',
    ],
    ['another method', () => send('/whip/key', { method: 'GET' }), 405, ''],
  ])('%s', async (_, request, status, detail) => {
    const { status: actual, problem, reason, headers } = await request();
    expect([actual, problem.detail ?? '']).toEqual([status, expect.stringContaining(detail)]);
    expect(problem.type).toMatch(/\/docs\/errors\/[a-z-]+$/);
    // Encoders log no bodies.
    if (detail !== '') expect(reason).toContain(detail);
    expect(headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null);
  });

  test('pages of other origins may ask first', async () => {
    const { status, headers } = await send('/whip/key', { method: 'OPTIONS' });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-methods')).toBe('POST, PATCH, DELETE, OPTIONS');
    expect(headers.get('access-control-allow-headers')).toContain('Authorization');
    expect(headers.get('accept-post')).toBe('application/sdp');
  });
});

test('random data on the UDP and TCP port affects no publisher', async () => {
  const { location, text } = await published();
  const random = new Random(31);
  const port = server.app.webrtcPort!;
  const username = `${attributeOf(text, 'ice-ufrag')}:${attributeOf(offer, 'ice-ufrag')}`;
  const attributes = [{ type: STUN_ATTRIBUTE.username, value: Buffer.from(username) }];
  const check = writeStun(STUN_TYPE.request, Buffer.alloc(12, 2), attributes, attributeOf(text, 'ice-pwd'));
  const socket = createSocket('udp4');
  // The address now belongs to the session, so that what follows reaches DTLS and SRTP.
  socket.send(check, port, '127.0.0.1');
  for (let round = 0; round < 2_000; round++) {
    const bytes = round % 3 === 0 ? Buffer.from(check) : random.bytes(1 + random.below(80));
    if (round % 3 === 0) bytes[random.below(bytes.length)] = random.below(256);
    if (round % 3 === 1) bytes[0] = random.pick([20, 21, 22, 23, 128, 144]);
    socket.send(bytes, port, '127.0.0.1');
    if (round % 50 === 0) await new Promise(resolve => setImmediate(resolve));
  }
  for (let round = 0; round < 20; round++) {
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    client.write(random.bytes(200));
    if (round % 2 === 0) client.end();
    else client.destroy();
  }
  const tcp = connect(port, '127.0.0.1');
  const answers: Buffer[] = [];
  tcp.on('data', data => answers.push(data));
  const frame = Buffer.concat([Buffer.from([0, check.length]), check]);
  // Sends pieces, and two frames at once.
  tcp.write(frame.subarray(0, 7));
  await new Promise(resolve => setImmediate(resolve));
  tcp.write(Buffer.concat([frame.subarray(7), frame]));
  const length = () => Buffer.concat(answers).length;
  await waitUntil(() => length() > 0 && length() === 2 * (2 + Buffer.concat(answers).readUInt16BE()));
  expect(parseStun(Buffer.concat(answers).subarray(2, length() / 2))!.type).toBe(STUN_TYPE.success);
  tcp.destroy();
  socket.close();
  await send(location, { method: 'DELETE' });
  const next = await published();
  await send(next.location, { method: 'DELETE' });
});
