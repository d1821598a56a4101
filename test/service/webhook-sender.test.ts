import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { WebhookSender, type WebhookSenderOptions } from '../../src/events/webhooks/webhook-sender.ts';
import { HostResolver } from '../../src/shared/network/host-resolver.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { startReceiver } from './webhook-fixture.ts';

function senderOf(options: Partial<WebhookSenderOptions> = {}) {
  const sender = new WebhookSender({
    allowPrivateTargets: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    timeoutMs: 2_000,
    ...options,
  });
  onTestFinished(() => sender.stop());
  return (url: string, signal = new AbortController().signal) =>
    sender.send({ url, headers: { 'x-test': '1' }, body: '{}', signal });
}

const delivered = { statusCode: 200, error: undefined, response: '' };

it('resolves a name once for a request and connects to what was checked', async () => {
  const receiver = await startReceiver();
  const asked: string[] = [];
  const send = senderOf({
    resolve: async hostname => {
      asked.push(hostname);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  // Resolves a name that only the resolver of this test knows.
  expect(await send(`http://hooks.invalid:${receiver.port}/`)).toEqual(delivered);
  expect(asked).toEqual(['hooks.invalid']);
  expect(receiver.hooks[0]!.headers.host).toBe(`hooks.invalid:${receiver.port}`);
});

it('does not follow a name that leads elsewhere the next time, not over a kept connection either', async () => {
  const receiver = await startReceiver();
  const elsewhere = createServer((_, response) => response.writeHead(201).end());
  elsewhere.listen(receiver.port, '127.0.0.2');
  await once(elsewhere, 'listening');
  onTestFinished(() => void elsewhere.close());
  const answers = ['127.0.0.1', '127.0.0.1', '169.254.169.254', '127.0.0.2', '127.0.0.1'];
  const send = senderOf({ resolve: async () => [{ address: answers.shift()!, family: 4 }] });
  let connections = 0;
  receiver.server.on('connection', () => {
    connections += 1;
  });
  const url = `http://hooks.invalid:${receiver.port}/`;
  expect(await send(url)).toEqual(delivered);
  expect(await send(url)).toEqual(delivered);
  expect(connections).toBe(1);
  expect(await send(url)).toEqual({
    statusCode: undefined,
    error: { code: 'host-not-public', text: 'hooks.invalid is not reachable on the public network.' },
    response: undefined,
  });
  expect(await send(url)).toMatchObject({ statusCode: 201 });
  expect(await send(url)).toEqual(delivered);
  expect(receiver.hooks).toHaveLength(3);
});

it('reaches private addresses only where they are allowed', async () => {
  const receiver = await startReceiver();
  const send = senderOf({
    allowPrivateTargets: false,
    resolve: async () => [
      { address: '10.0.0.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ],
  });
  for (const host of ['hooks.invalid', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
    expect(await send(`http://${host}:${receiver.port}/`)).toMatchObject({
      statusCode: undefined,
      error: {
        code: 'host-not-public',
        text: expect.stringContaining('is not reachable on the public network.'),
      },
    });
  }
  expect(receiver.hooks).toEqual([]);
});

it('finds a host whose name server never answers for the other family of addresses', async () => {
  const answered = { 1: [10, 1, 2, 3], 28: [0x20, 1, 4, 0x70, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7] } as const;
  const known: (keyof typeof answered)[] = [1];
  const nameServer = createSocket('udp4').on('message', (query, from) => {
    // RFC 1035 4.1: after the header the name, in labels to an empty one, and the type.
    let end = 12;
    while (query[end] !== 0) end += query[end]! + 1;
    const type = query.readUInt16BE(end + 1);
    const address = known.includes(type as 1 | 28) ? answered[type as 1 | 28] : undefined;
    if (address === undefined) return;
    const answer = Buffer.from(query.subarray(0, end + 5));
    answer.writeUInt16BE(0x8180, 2);
    answer.writeUInt16BE(1, 6);
    answer.writeUInt32BE(0, 8);
    const record = [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, address.length, ...address];
    nameServer.send(Buffer.concat([answer, Buffer.from(record)]), from.port, from.address);
  });
  nameServer.bind(0, '127.0.0.1');
  await once(nameServer, 'listening');
  onTestFinished(() => void nameServer.close());
  const servers = [`127.0.0.1:${nameServer.address().port}`];
  const resolver = new HostResolver({ servers });
  // Waits as long as usual for the name server.
  const other = new Resolver({ timeout: 1500, tries: 2 });
  other.setServers(servers);
  const silence = other.resolve6('four.example').catch(() => 'no answer');
  expect(await Promise.race([resolver.resolve('four.example'), silence])).toEqual([
    { address: '10.1.2.3', family: 4 },
  ]);
  other.cancel();
  known.push(28);
  expect(await resolver.resolve('both.example')).toEqual([
    { address: '2001:470::7', family: 6 },
    { address: '10.1.2.3', family: 4 },
  ]);
});

it('gives up on a silent name server, and cancels aborted requests', async () => {
  const send = senderOf({ resolve: () => new Promise(() => {}), timeoutMs: 30 });
  expect((await send('http://hooks.invalid/')).error).toEqual({
    code: 'timeout',
    text: 'No response within 0.03 s.',
  });
  const patient = senderOf({ resolve: () => new Promise(() => {}) });
  const controller = new AbortController();
  const answer = patient('http://hooks.invalid/', controller.signal);
  controller.abort();
  expect((await answer).statusCode).toBeUndefined();
});

it('explains why a receiver cannot be reached', async () => {
  const gone = await startReceiver();
  gone.server.close();
  expect((await senderOf()(gone.url)).error).toEqual({
    code: 'connection-refused',
    text: 'The connection was refused.',
  });
  const failing = senderOf({
    resolve: () => Promise.reject(Object.assign(new Error('queryA ENOTFOUND'), { code: 'ENOTFOUND' })),
  });
  expect((await failing('http://hooks.invalid/')).error?.text).toBe(
    'hooks.invalid is not reachable on the public network.',
  );
});

it('sends again over a new connection when a kept one was closed meanwhile', async () => {
  const receiver = await startReceiver();
  const send = senderOf();
  expect(await send(receiver.url)).toEqual(delivered);
  // The next request finds the connection still open, and no answer on it.
  receiver.server.once('request', request => request.socket.destroy());
  expect(await send(receiver.url)).toEqual(delivered);
});

it('verifies certificates, for the name and not for the address', async () => {
  const { cert, key } = makeSelfSigned('localhost');
  const server = createTlsServer({ cert, key }, (_, response) => void response.end('safe'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect(await senderOf()(`https://localhost:${port}/`)).toMatchObject({
    statusCode: undefined,
    error: { code: 'tls-failed', text: expect.stringMatching(/self-signed/) },
  });
  const trusting = senderOf({ ca: cert });
  expect(await trusting(`https://localhost:${port}/`)).toMatchObject({ statusCode: 200, response: 'safe' });
  expect(await trusting(`https://hooks.invalid:${port}/`)).toMatchObject({
    statusCode: undefined,
    error: { code: 'tls-failed', text: expect.stringMatching(/hooks\.invalid/) },
  });
});
