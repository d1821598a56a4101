import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { CertificateFiles } from '../../src/http/listener/certificate-files.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { runSql } from '../support/sql.ts';
import { basic, productionKey, sandboxKey } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  asNewAccount,
  type FeedServer,
  listen,
  openFeed,
  refusalOf,
  startFeed,
} from './event-feed-fixture.ts';

let shared: FeedServer;
beforeAll(async () => {
  shared = await openFeed();
});
afterAll(() => shared.stop());

describe('a WebSocket at /events', () => {
  it('sends hello first', async () => {
    const running = await asNewAccount(shared);
    await running.append('vi0');
    const client = await listen(running);
    expect(client.messages).toEqual([{ type: 'hello', lastEventId: '1', environment: 'sandbox' }]);
    const { database } = running.server;
    const undone = database.transaction(async transaction => {
      await running.append('vi-undone', running.projectId, transaction);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await running.append('vi1');
    await running.append('vi2');
    await client.until(3);
    expect(client.messages[1]).toEqual({
      eventId: '2',
      type: 'video.encoding.quality.completed',
      emittedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/),
      videoId: 'vi1',
      encoding: 'hls',
      quality: '240p',
    });
    expect(client.subjects()).toEqual(['vi1', 'vi2']);
  });

  it('accepts an access token in the header', async () => {
    const running = await asNewAccount(shared);
    const { json } = await running.server.call('POST', '/auth/api-key', { body: { apiKey: running.key } });
    const byHeader = await listen(running, { headers: { authorization: `Bearer ${json.access_token}` } });
    expect(byHeader.socket.protocol).toBe('');
    const protocols = ['millrace.events.v1', `token.${json.access_token}`];
    const byProtocol = await listen(running, { headers: {}, protocols });
    expect(byProtocol.socket.protocol).toBe('millrace.events.v1');
  });

  it('receives events of its own project only', async () => {
    const mine = await shared.server.addAccount({ isUpgraded: true });
    const theirs = await shared.server.addAccount({ isUpgraded: true });
    const clients = await Promise.all(
      [mine.sandboxKey, mine.productionKey, theirs.sandboxKey, theirs.productionKey].map(key =>
        listen(shared, { key }),
      ),
    );
    expect(clients.map(({ messages }) => messages[0].environment)).toEqual([
      'sandbox',
      'production',
      'sandbox',
      'production',
    ]);
    await shared.append('theirs', theirs.projectIds.sandbox);
    await shared.append('theirs-too', theirs.projectIds.sandbox);
    await shared.append('mine', mine.projectIds.sandbox);
    await Promise.all([clients[0]!.until(2), clients[2]!.until(3)]);
    expect(clients.map(client => client.subjects())).toEqual([['mine'], [], ['theirs', 'theirs-too'], []]);
    // Event numbers are per project, so nobody can count others' events.
    expect(clients[0]!.ids()).toEqual([1]);
  });

  it('receives only the requested types and subject', async () => {
    const running = await asNewAccount(shared);
    const [bySubject, byType, byOther] = await Promise.all([
      listen(running, { query: '?subjectId=vi2' }),
      listen(running, { query: '?types=broadcast.stats,video.encoding.quality.completed' }),
      listen(running, { query: '?types=live-stream.broadcast.started' }),
    ]);
    for (const subjectId of ['vi1', 'vi2', 'vi3']) await running.append(subjectId);
    await Promise.all([bySubject.until(2), byType.until(4)]);
    expect(bySubject.subjects()).toEqual(['vi2']);
    expect(byType.subjects()).toEqual(['vi1', 'vi2', 'vi3']);
    expect(byOther.messages).toHaveLength(1);
  });

  it('answers pings', async () => {
    const running = await asNewAccount(shared);
    const polite = await listen(running);
    polite.socket.send('{"type":"ping"}');
    expect((await polite.until(2))[1]).toEqual({ type: 'pong' });
    const codes = await Promise.all(
      ['hello', '{"type":"subscribe"}', 'null', Buffer.from('{"type":"ping"}'), 'x'.repeat(2_000)].map(
        async message => {
          const client = await listen(running);
          client.socket.send(message);
          return client.closed;
        },
      ),
    );
    expect(codes).toEqual([1008, 1008, 1008, 1008, 1009]);
    const flood = await listen(running);
    for (let count = 0; count < 500; count += 1) flood.socket.ping();
    expect(await flood.closed).toBe(1008);
    expect(polite.socket.readyState).toBe(polite.socket.OPEN);
  });

  it('closes after invalid messages', async () => {
    const before = shared.feed.clientCount;
    const socket = connect(shared.server.listener.httpPort, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `${[
        'GET /events HTTP/1.1',
        'Host: a',
        `Authorization: ${basic(sandboxKey)}`,
        'Connection: Upgrade',
        'Upgrade: WebSocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        '\r\n',
      ].join('\r\n')}\xff\xff\xff garbage`,
      'latin1',
    );
    socket.resume();
    await once(socket, 'close');
    await waitUntil(() => shared.ends.includes('protocol-error'));
    expect(shared.feed.clientCount).toBeLessThanOrEqual(before);
  });
});

describe('resuming', () => {
  it('continues without gaps or duplicates while events are written', async () => {
    const running = await asNewAccount(shared);
    for (let count = 0; count < 250; count += 1) await running.append(`vi${count}`);
    let isWriting = true;
    const writing = (async () => {
      for (let count = 0; count < 300; count += 1) {
        await running.append(`later${count}`);
        if (count % 7 === 0) await new Promise(resolve => setImmediate(resolve));
      }
      isWriting = false;
    })();
    const client = await listen(running, { query: '?lastEventId=20' });
    expect(isWriting).toBe(true);
    expect(client.messages[0]).toMatchObject({ type: 'hello', lastEventId: '20' });
    await writing;
    await client.until(1 + 530);
    const again = await listen(running, { query: `?lastEventId=${client.ids().at(-1)! - 5}` });
    await running.append('last');
    await Promise.all([client.until(1 + 531), again.until(1 + 6)]);
    expect(client.ids()).toEqual(Array.from({ length: 531 }, (_, index) => 21 + index));
    expect(again.ids()).toEqual([546, 547, 548, 549, 550, 551]);
  });

  it('misses no event that is written while others are read', async () => {
    const running = await asNewAccount(shared);
    const [one, other] = await Promise.all([listen(running), listen(running)]);
    const read = running.outbox.listOfProject.bind(running.outbox);
    const slow = vi.spyOn(running.outbox, 'listOfProject').mockImplementation(async (...query) => {
      const events = await read(...query);
      await sleep(15);
      return events;
    });
    onTestFinished(() => slow.mockRestore());
    for (let count = 0; count < 20; count += 1) {
      await running.append(`vi${count}`);
      await sleep(3);
    }
    await Promise.all([one.until(21), other.until(21)]);
    const all = Array.from({ length: 20 }, (_, index) => index + 1);
    expect([one.ids(), other.ids()]).toEqual([all, all]);
  });

  it('reports a gap when events are no longer kept', async () => {
    const running = await asNewAccount(shared);
    for (const subjectId of ['vi1', 'vi2', 'vi3', 'vi4']) await running.append(subjectId);
    await runSql(running.server.database, 'DELETE FROM events WHERE number <= 2');
    const some = await listen(running, { query: '?lastEventId=1' });
    await some.until(4);
    expect(some.messages[1]).toEqual({ type: 'gap', oldestEventId: '3' });
    expect(some.ids()).toEqual([3, 4]);
    const none = await listen(running, { query: '?lastEventId=2' });
    expect((await none.until(3))[1].eventId).toBe('3');
    await running.outbox.removeBefore(Date.now() + 60_000);
    const all = await listen(running, { query: '?lastEventId=3' });
    expect((await all.until(2))[1]).toEqual({ type: 'gap', oldestEventId: '5' });
    await running.append('vi5');
    await all.until(3);
    expect(all.ids()).toEqual([5]);
  });
});

describe('a rejected upgrade', () => {
  it.each<[string, Record<string, string>, number, string]>([
    ['/events', {}, 401, 'The "Authorization" header is missing.'],
    ['/events', { authorization: 'Digest x' }, 401, 'The "Authorization" header value is invalid.'],
    ['/events', { authorization: basic('wrong') }, 401, 'The API key is invalid.'],
    ['/events', { authorization: basic(productionKey) }, 401, 'The API key is invalid.'],
    ['/events', { authorization: 'Bearer at.no' }, 401, 'The access token is invalid or expired.'],
    ['/events', { 'sec-websocket-protocol': 'token.at.no' }, 401, 'The access token is invalid or expired.'],
    ['/events?token=at.no', {}, 401, 'The "Authorization" header is missing.'],
    ['/events?token=at.no', { authorization: basic(sandboxKey) }, 400, 'Invalid attributes.'],
    ['/events?types=video.deleted', { authorization: basic(sandboxKey) }, 400, 'Invalid attributes.'],
    ['/events?lastEventId=-1', { authorization: basic(sandboxKey) }, 400, 'Invalid attributes.'],
    ['/events?lastEventId=7000', { authorization: basic(sandboxKey) }, 400, 'Invalid attributes.'],
    ['/elsewhere', {}, 404, 'Unrecognized request URL.'],
    ['/videos', {}, 401, 'The "Authorization" header is missing.'],
  ])('%s %o: %d', async (path, headers, status, title) => {
    const answer = await refusalOf(shared, path, headers);
    expect(answer).toMatchObject({
      status,
      json: { status, title },
      headers: { 'content-type': 'application/json', 'access-control-allow-origin': '*' },
    });
  });

  it('rejects suspended accounts', async () => {
    const running = await startFeed();
    const { accountId, sandboxKey: key } = await running.server.addAccount();
    await running.server.api.accounts.setStanding(accountId, { isSuspended: true });
    expect(await refusalOf(running, '/events', { authorization: basic(key) })).toMatchObject({
      status: 403,
      json: { title: 'Suspended account' },
    });
    await running.feed.drain(Date.now() + 1000);
    expect(await refusalOf(running, '/events')).toMatchObject({ status: 503 });
  });

  it('rejects connections beyond the limit', async () => {
    const running = await startFeed({ maxClients: 3, maxClientsPerProject: 2 });
    const [other, third] = [await running.server.addAccount(), await running.server.addAccount()];
    const first = await listen(running);
    await listen(running);
    expect(await refusalOf(running, '/events')).toMatchObject({ status: 429, json: { status: 429 } });
    await listen(running, { key: other.sandboxKey });
    const headers = { authorization: basic(third.sandboxKey) };
    expect(await refusalOf(running, '/events', headers)).toMatchObject({ status: 429 });
    first.socket.close();
    await waitUntil(() => running.feed.clientCount === 2);
    await listen(running, { key: third.sandboxKey });
  });

  it('rejects connections beyond the limit that come at once', async () => {
    const running = await startFeed({ maxClientsPerProject: 3 });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => listen(running)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(running.feed.clientCount).toBe(3);
  });

  it('rejects projects without remaining reads', async () => {
    const running = await startFeed({}, { rateLimits: { uploads: 0, writes: 0, reads: 1 } });
    await listen(running);
    expect(await refusalOf(running, '/events')).toMatchObject({
      status: 429,
      headers: {
        'x-ratelimit-limit': '1',
        'x-ratelimit-remaining': '0',
        'retry-after': expect.stringMatching(/^\d\d$/),
      },
    });
  });

  it('rejects upgrades while an earlier request on the connection is unanswered', async () => {
    const { server } = shared;
    const socket = connect(server.listener.httpPort, '127.0.0.1');
    let heard = '';
    socket.setEncoding('utf8').on('data', text => {
      heard += text;
    });
    const authorization = `Host: a\r\nAuthorization: ${basic(sandboxKey)}\r\n`;
    socket.write(
      `GET /live-streams HTTP/1.1\r\n${authorization}\r\n` +
        `GET /events HTTP/1.1\r\n${authorization}Connection: Upgrade, close\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
    );
    await once(socket, 'close');
    expect(heard.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 426']);
  });

  it.each([
    ['Sec-WebSocket-Version: 12\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', 426],
    ['Sec-WebSocket-Version: 13', 400],
    ['Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: short', 400],
  ])('for a bad handshake, and leaves no socket: %j', async (lines, status) => {
    const { listener } = shared.server;
    const socket = connect(listener.httpPort, '127.0.0.1').setEncoding('utf8');
    const head = `GET /events HTTP/1.1\r\nHost: a\r\nAuthorization: ${basic(sandboxKey)}`;
    socket.write(`${head}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${lines}\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) answer += chunk;
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.split('\r\n\r\n')[1]!)).toMatchObject({ status });
  });

  it('is an ordinary request when it asks for another protocol', async () => {
    const { server } = shared;
    const plain = await server.call('GET', '/events');
    expect(plain.status).toBe(426);
    expect(plain.headers.get('upgrade')).toBe('websocket');
    expect((await server.call('GET', '/events?types=x')).status).toBe(400);
    expect((await server.call('POST', '/events')).status).toBe(405);
    const socket = connect(server.listener.httpPort, '127.0.0.1').setEncoding('utf8');
    const head = 'Host: a\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c';
    socket.write(`GET /health/live HTTP/1.1\r\n${head}\r\n\r\n`);
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 /);
    socket.destroy();
  });
});

describe('over HTTPS', () => {
  it('works with HTTP/1.1', async () => {
    const folder = await testTempDir();
    const [certPath, keyPath] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    const { cert, key } = makeSelfSigned('a.example');
    await Promise.all([writeFile(certPath, cert), writeFile(keyPath, key)]);
    const certificate = new CertificateFiles({ certPath, keyPath, log: silentLogger });
    await certificate.start();
    onTestFinished(() => certificate.stop());
    const running = await startFeed({}, { https: { port: 0, certificate } });
    const url = `https://127.0.0.1:${running.server.listener.httpsPort}`;
    const client = await listen(running, { url: `${url}/events`, client: { rejectUnauthorized: false } });
    await running.append('vi1');
    await client.until(2);
    expect(client.subjects()).toEqual(['vi1']);
    const session = connectHttp2(url, { rejectUnauthorized: false });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':path': '/events', authorization: basic(sandboxKey) });
    const [head] = await once(stream, 'response');
    expect(head[':status']).toBe(426);
  });
});
