import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts';
import { HostResolver } from '../../src/shared/network/host-resolver.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Ways to write addresses of this machine, or of what is beside it. */
const forms: readonly (readonly [host: string, where: 'here' | 'near' | 'nowhere'])[] = [
  ['127.0.0.1', 'here'],
  ['127.1', 'here'],
  ['127.0.0.1.', 'here'],
  ['0x7f.1', 'here'],
  ['0x7f000001', 'here'],
  ['2130706433', 'here'],
  ['0177.0.0.1', 'here'],
  ['127.255.255.254', 'here'],
  ['①②⑦.⓪.⓪.①', 'here'],
  ['127。0。0。1', 'here'],
  ['%31%32%37.0.0.1', 'here'],
  ['user:secret@127.0.0.1', 'here'],
  ['public.example@127.0.0.1', 'here'],
  ['localhost', 'here'],
  ['LOCALHOST.', 'here'],
  ['ｌｏｃａｌｈｏｓｔ', 'here'],
  ['a.localhost', 'here'],
  ['[::1]', 'here'],
  ['[0:0:0:0:0:0:0:1]', 'here'],
  ['[::ffff:127.0.0.1]', 'here'],
  ['[::ffff:7f00:1]', 'here'],
  ['[64:ff9b::7f00:1]', 'near'],
  ['[2002:7f00:1::]', 'near'],
  ['0.0.0.0', 'nowhere'],
  ['0', 'nowhere'],
  ['[::]', 'nowhere'],
  ['169.254.169.254', 'nowhere'],
  ['0xa9.0xfe.0xa9.0xfe', 'nowhere'],
  ['[::ffff:169.254.169.254]', 'nowhere'],
  ['[fe80::1]', 'nowhere'],
  ['[fd00:ec2::254]', 'nowhere'],
  ['255.255.255.255', 'nowhere'],
];

let api: TestApi;
let receiver: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  api = await startApi();
  receiver = createServer((_, response) => response.end()).on('connection', () => {
    connections += 1;
  });
  // Listens on all addresses of the machine, so that any form that gets through is noticed.
  receiver.listen(0);
  await once(receiver, 'listening');
  port = (receiver.address() as AddressInfo).port;
});
afterAll(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await api.stop();
});

function senderTo(allowPrivateTargets: boolean): WebhookSender {
  const resolver = new HostResolver();
  return new WebhookSender({
    allowPrivateTargets,
    timeoutMs: 2_000,
    resolve: hostname => resolver.resolve(hostname),
  });
}

const address = (host: string, protocol = 'http') => `${protocol}://${host}:${port}/in`;

describe('an address of this machine, however it is written', () => {
  it('is called by no webhook unless that is set', async () => {
    const sender = senderTo(false);
    connections = 0;
    try {
      for (const [host] of forms) {
        for (const protocol of ['http', 'https']) {
          const { signal } = new AbortController();
          const answer = await sender.send({ url: address(host, protocol), headers: {}, body: '{}', signal });
          expect([host, answer.statusCode, answer.error?.text]).toEqual([
            host,
            undefined,
            expect.stringMatching(/public network/),
          ]);
        }
      }
    } finally {
      sender.stop();
    }
    expect(connections).toBe(0);
  });

  it('is called by none where private addresses are allowed, if it is one that nobody may call', async () => {
    const sender = senderTo(true);
    try {
      for (const [host, where] of forms.filter(([, where]) => where !== 'near')) {
        const { signal } = new AbortController();
        const { statusCode } = await sender.send({ url: address(host), headers: {}, body: '{}', signal });
        expect([host, statusCode]).toEqual([host, where === 'here' ? expect.toSatisfy(reached) : undefined]);
      }
    } finally {
      sender.stop();
    }
  });

  it('is no source of a video', async () => {
    connections = 0;
    const made: string[] = [];
    // Skips names that may be unknown to the machine, and are then resolved again and again.
    const known = forms.filter(([name]) => !['a.localhost', 'LOCALHOST.'].includes(name));
    for (const [host] of known) {
      const { status, json } = await api.call('POST', '/videos', {
        body: { title: 'a', source: address(host) },
      });
      // A name is looked up when it is used.
      if (status === 202) made.push(json.videoId);
      else expect([host, status, json.problems[0].name]).toEqual([host, 400, 'source']);
    }
    await waitUntil(() => made.every(videoId => api.api.uploads.service.failureOf(videoId) !== undefined));
    expect(connections).toBe(0);
  });

  it('can be the address of a webhook, which is shown as it was sent', async () => {
    for (const [host] of forms.slice(0, 3)) {
      const body = { events: ['video.source.recorded'], url: address(host) };
      const { status, json } = await api.call('POST', '/webhooks', { body });
      expect([status, json.url]).toEqual([201, body.url]);
    }
  });
});

describe('what is no address', () => {
  it.each([
    'http://',
    '//a.example',
    'javascript:alert(1)',
    'file:///etc/passwd',
    'ftp://a.example',
    'ws://a.example',
    'http://a.example:99999/',
    'http://[::1',
    'http://a b.example',
    'http://%00',
    `http://${'a'.repeat(9_000)}.example`,
  ])('is no webhook and no source: %.40j', async url => {
    const hook = await api.call('POST', '/webhooks', { body: { events: ['video.source.recorded'], url } });
    expect([hook.status, hook.json]).toMatchObject([400, { name: 'url' }]);
    const video = await api.call('POST', '/videos', { body: { title: 'a', source: url } });
    expect([video.status, video.json]).toMatchObject([400, { name: 'source' }]);
  });

  // Reads addresses as browsers do; the shown one and the called one must be the same.
  it.each([
    'http:///in',
    'http:in',
    ' http://a.example',
    'http://a.example/\r\nX-Evil: 1',
    'http://a.example/\t',
    'http://a.example/\u0000',
    'http://a.example\\@127.0.0.1/',
  ])('until it is read kindly is no webhook: %j', async url => {
    const hook = await api.call('POST', '/webhooks', { body: { events: ['video.source.recorded'], url } });
    expect([hook.status, hook.json]).toMatchObject([400, { name: 'url' }]);
  });
});

/** Tells whether somebody answered. */
function reached(statusCode: unknown): boolean {
  return statusCode === 200;
}
