import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiDocument, operationsOf } from '../../scripts/api-document.ts';
import { addAudioTracks } from '../support/audio-tracks.ts';
import { formWith, pngImage } from '../support/images.ts';
import { addPasskey } from '../support/passkeys.ts';
import { admin, signIn } from '../support/sign-in.ts';
import { basic, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestApi;
beforeAll(async () => {
  server = await startApi({ bodyTimeoutMs: 300, headersTimeoutMs: 2_000, videos: { restoreDays: () => 90 } });
});
afterAll(() => server.stop());

const key = `Authorization: ${basic(sandboxKey)}`;

/** Sends bytes over a connection of their own, and reads until the other side closes it. */
async function sendRaw(bytes: string | Buffer): Promise<string> {
  const socket = connect(server.listener.httpPort, '127.0.0.1');
  let answer = '';
  socket
    .setEncoding('utf8')
    .on('error', () => {})
    .on('data', chunk => {
      answer += chunk;
    });
  socket.write(bytes);
  await once(socket, 'close');
  return answer;
}

/** The last answer in what came over a connection. */
function answerIn(text: string): { status: number; head: string; body: string } {
  const [head = '', ...rest] = text.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body: rest.join('\r\n\r\n') };
}

function expectRefusal(text: string, status: number): void {
  const answer = answerIn(text);
  expect([answer.status, answer.head]).toEqual([
    status,
    expect.stringMatching(/\r\ncontent-type: application\/json(?:\r\n|$)/i),
  ]);
  const body = JSON.parse(answer.body);
  expect(body).toMatchObject({ status, title: expect.any(String) });
  expect(answer.body).not.toMatch(/node_modules|\.ts:\d|HPE_|Parse Error/);
}

const post = (headers: string, body: string) =>
  `POST /live-streams HTTP/1.1\r\nHost: a\r\n${key}\r\nConnection: close\r\n${headers}\r\n\r\n${body}`;
const get = (target: string, headers = '', version = 'HTTP/1.1') =>
  `GET ${target} ${version}\r\nHost: a\r\n${key}\r\nConnection: close\r\n${headers}\r\n`;
const json = '{"name":"a"}';
const chunked = `${json.length.toString(16)}\r\n${json}\r\n0\r\n\r\n`;

describe('bytes that are hardly HTTP', () => {
  it.each<[string, string | Buffer, number]>([
    ['a length beside chunks', post('Content-Length: 5\r\nTransfer-Encoding: chunked', chunked), 400],
    ['two lengths', post('Content-Length: 12\r\nContent-Length: 5', json), 400],
    ['a negative length', post('Content-Length: -1', json), 400],
    ['a length in words', post('Content-Length: 1e1', json), 400],
    ['a length past all numbers', post(`Content-Length: ${'9'.repeat(40)}`, json), 400],
    ['an encoding that is none', post('Transfer-Encoding: identity', json), 400],
    ['chunks in something else', post('Transfer-Encoding: chunked, identity', chunked), 400],
    ['a chunk of no number', post('Transfer-Encoding: chunked', `zz\r\n${json}\r\n0\r\n\r\n`), 400],
    ['a chunk past all numbers', post('Transfer-Encoding: chunked', `${'f'.repeat(20)}\r\n${json}`), 400],
    [
      'a chunk that is longer than it says',
      post('Transfer-Encoding: chunked', `2\r\n${json}\r\n0\r\n\r\n`),
      400,
    ],
    [
      'a long chunk extension',
      post('Transfer-Encoding: chunked', `2;${'x'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`),
      400,
    ],
    ['a space before a colon', get('/videos', 'Range : bytes=0-1\r\n'), 400],
    ['a NUL in a header', get('/videos', 'X: a\0b\r\n'), 400],
    ['a lone carriage return', get('/videos', 'X: a\rY: b\r\n'), 400],
    ['a header without a name', get('/videos', ': a\r\n'), 400],
    ['no host', `GET /videos HTTP/1.1\r\n${key}\r\nConnection: close\r\n\r\n`, 400],
    ['a version that is none', get('/videos', '', 'HTTP/7.3'), 400],
    ['no version', 'GET /videos\r\n\r\n', 401],
    ['bytes past ASCII', get('/videos?title=\u00e9'), 400],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['a TLS greeting', Buffer.from('160301020001000001fc0303', 'hex'), 400],
    ['a method that is none', get('/videos').replace('GET', 'BREW'), 405],
    ['a space in the path', get('/videos /a'), 400],
    [
      'too many headers',
      get('/videos', Array.from({ length: 3_000 }, (_, n) => `X${n}: a\r\n`).join('')),
      431,
    ],
    ['a long path', get(`/videos/${'x'.repeat(20_000)}`), 431],
    ['no path', get('*'), 404],
    ['another host in the path', get('http://evil.example:1/videos/x'), 400],
    ['an address without a path', get('http://?x'), 400],
    ['two slashes', get('//videos'), 404],
    ['a slash at the end', get('/videos/'), 404],
    ['dots', get('/docs/../videos'), 404],
    ['other letters', get('/Videos'), 404],
    ['an expectation', post(`Expect: a-teapot\r\nContent-Length: ${json.length}`, json), 417],
    ['a tunnel', `CONNECT videos:443 HTTP/1.1\r\nHost: a\r\n${key}\r\n\r\n`, 405],
  ])('are refused in the form of all errors: %s', async (_what, bytes, status) => {
    expectRefusal(await sendRaw(bytes), status);
  });

  it.each([
    ['a part after #', get('/videos#a'), 200],
    ['HTTP/1.0', get('/videos', '', 'HTTP/1.0'), 200],
    ['an expectation that is met', post(`Expect: 100-continue\r\nContent-Length: ${json.length}`, json), 100],
    ['trailers', post('Transfer-Encoding: chunked', chunked.replace(/\r\n$/, 'X-Tail: a\r\n\r\n')), 200],
  ])('are understood: %s', async (_what, bytes, status) => {
    expect(answerIn(await sendRaw(bytes)).status).toBe(status);
  });
});

describe('a body that does not come', () => {
  it('is not waited for, wherever it is due', async () => {
    const document: ApiDocument = (await server.call('GET', '/openapi.json', { key: null })).json;
    const made = async (path: string, body: unknown = {}) => (await server.call('POST', path, { body })).json;
    const { videoId } = await made('/videos', { title: 'a' });
    await addAudioTracks(server, videoId);
    const discarded = (await made('/videos', { title: 'b' })).videoId;
    await server.call('DELETE', `/videos/${discarded}`);
    await made(`/videos/${videoId}/captions/en`, formWith(['file', Buffer.from('WEBVTT\n'), 'a.vtt']));
    const ids: Record<string, string> = {
      videoId,
      language: 'en',
      audioTrackId: '1',
      hook: 'publish',
      setting: 'audit.keepDays',
      liveStreamId: (await made('/live-streams', { name: 'a' })).liveStreamId,
      playerId: (await made('/players')).playerId,
      watermarkId: (await made('/watermarks', formWith(['file', pngImage(8, 8), 'a.png']))).watermarkId,
      keyPairId: (await made('/account/api-keys')).keyPairId,
      summaryId: (await made('/summaries', { videoId })).summaryId,
      webhookId: (
        await made('/webhooks', { url: 'https://receiver.example/', events: ['video.source.recorded'] })
      ).webhookId,
    };
    const { token } = await made('/upload-tokens');
    const cookie = await signIn(server);
    ids.passkeyId = (await addPasskey(server, cookie, { password: admin.password })).passkeyId;
    const asOwner = async (method: string, path: string, body?: object) =>
      (await server.call(method, path, { key: null, headers: { cookie }, ...(body && { body }) })).json;
    const guest = { email: 'guest@example.org', role: 'viewer' };
    const { url } = await asOwner('POST', '/account/invitations', guest);
    ids.token = url.split('/').at(-1);
    ids.projectId = (await asOwner('GET', '/account/projects')).data[0].projectId;
    ids.userId = (await asOwner('GET', '/account/members')).data[0].userId;
    ids.resetToken = 'token-of-a-link';
    const reset = { userId: ids.userId!, token: ids.resetToken, expiresAtMs: Date.now() + 3_600_000 };
    await server.api.accounts.passwordResets.add(reset);
    const operations = operationsOf(document).filter(({ operation }) => operation.requestBody !== undefined);
    expect(operations.length).toBeGreaterThan(20);
    const statuses = await Promise.all(
      operations.map(async ({ method, path }) => {
        const own: Record<string, string> = path.startsWith('/discarded')
          ? { ...ids, videoId: discarded }
          : ids;
        const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => own[name] ?? `no ${name}`);
        const target = filled === '/upload' ? `${filled}?token=${token}` : filled;
        const head = [
          `${method} ${target} HTTP/1.1`,
          ...[
            'Host: a',
            key,
            `Cookie: ${cookie}`,
            'Content-Type: multipart/form-data; boundary=x',
            'Content-Length: 1000',
          ],
        ].join('\r\n');
        const text = await sendRaw(`${head}\r\n\r\n--x\r\n`);
        expectRefusal(text, 408);
        return `${method} ${path} ${answerIn(text).status}`;
      }),
    );
    expect(statuses).toEqual(operations.map(({ method, path }) => `${method} ${path} 408`));
    await waitUntil(() => server.listener.openRequests === 0);
  });
});
