import { describe, expect, it, onTestFinished } from 'vitest';
import type { DeliveryOptions } from '../../src/delivery/delivery.ts';
import { PrivateSessionsStore } from '../../src/resources/playback/private-sessions/private-sessions.store.ts';
import { PrivateTokens } from '../../src/resources/playback/private-sessions/private-tokens.store.ts';
import { playbackGateOf } from '../support/playback-gate.ts';
import { playerAlone, stateOfPage } from '../support/player-page.ts';
import { singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Protocol, privateStream, protocols, publicStream, startDelivery } from './delivery-fixture.ts';

const dayMs = 24 * 3_600_000;
const one = { 'user-agent': 'one' };
const two = { 'user-agent': 'two' };
/** Assets below `/private/{token}`. */
const assets = [
  `${privateStream}.m3u8`,
  `${privateStream}/b1/source/index.m3u8`,
  `${privateStream}/b1/source/part-1.m4s`,
  `${privateStream}/thumbnail.jpg`,
  `${privateStream}/session`,
] as const;

async function started(protocol: Protocol = 'HTTP/1.1', options: Partial<DeliveryOptions> = {}) {
  const database = await openTestDatabase(await testTempDir());
  onTestFinished(() => database.stop());
  const time = { nowMs: Date.UTC(2026, 5, 1), monotonicMs: 1 };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => time.monotonicMs };
  const tokens = await PrivateTokens.open(database, clock);
  const sessions = new PrivateSessionsStore({ database, tokens, clock });
  const server = await startDelivery(protocol, {
    playback: playbackGateOf({ sessions, clock }),
    clock,
    ...options,
  });
  server.hidden.mediaByName.set('part-1.m4s', [Buffer.from('a part')]);
  return Object.assign(server, {
    time,
    tokens,
    mint: () => {
      const token = tokens.mint(privateStream);
      return { token, base: `/private/${token}`, page: `/live/${privateStream}?token=${token}` };
    },
    statusOf: async (path: string, headers: Record<string, string> = one) =>
      (await server.ask(path, headers)).status,
    textOf: async (path: string, headers: Record<string, string> = one) =>
      (await server.ask(path, headers)).body.toString(),
    sessionOf: async (base: string): Promise<string> => {
      const answer = await server.ask(`${base}/${privateStream}/session`, one);
      expect(answer.status).toBe(200);
      return JSON.parse(answer.body.toString()).session_token;
    },
    bound: () => singleValue<number>(database, 'SELECT count(*) FROM private_sessions'),
  });
}

describe.each(protocols)('a private live stream over %s', protocol => {
  it('keeps its token unused while a chat previews the link to its page', async () => {
    await using server = await started(protocol);
    const { base, page } = server.mint();
    const slack = { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' };
    const answer = await server.ask(page, slack);
    expect([answer.status, answer.headers['set-cookie'], await server.bound()]).toEqual([200, undefined, 0]);
    expect(answer.body.toString()).not.toMatch(/avh[=-]/);
    expect(await server.statusOf(page)).toBe(200);
    expect(await server.statusOf(`${base}/${privateStream}.m3u8`, slack)).toBe(404);
  });

  it('is not there without a token, or with one of another stream, and says nothing of itself', async () => {
    await using server = await started(protocol);
    const other = server.tokens.mint(publicStream);
    const { token } = server.mint();
    const paths = [
      ...assets.map(asset => `/${asset}`),
      ...assets.map(asset => `/${asset}?token=${token}`),
      ...assets.map(asset => `/private/${other}/${asset}`),
      ...assets.map(asset => `/private/0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab/${asset}`),
      ...['', '/state', '/player.json', '/events'].flatMap(what => [
        `/live/${privateStream}${what}`,
        `/live/${privateStream}${what}?token=`,
        `/live/${privateStream}${what}?token=${other}`,
      ]),
    ];
    for (const path of paths) {
      const { status, headers, body } = await server.ask(path, one);
      expect([path, status]).toEqual([path, 404]);
      expect(`${JSON.stringify(headers)} ${body}`).not.toMatch(/Hidden|avh|x-token-session/);
    }
    expect(await server.bound()).toBe(0);
  });

  it('belongs to the first who uses a token; another client must show the session', async () => {
    await using server = await started(protocol);
    const { token, base } = server.mint();
    const session = await server.sessionOf(base);
    const withToken = `?token=${token}`;
    const paths: [path: string, query: string][] = [
      ...assets.map((asset): [string, string] => [`${base}/${asset}`, '?']),
      [`/live/${privateStream}`, `${withToken}&`],
      [`/live/${privateStream}/state`, `${withToken}&`],
      [`/live/${privateStream}/player.json`, `${withToken}&`],
    ];
    for (const [path, query] of paths) {
      const statuses = await Promise.all([
        server.statusOf(path + query, one),
        server.statusOf(path + query, two),
        server.statusOf(`${path}${query}avh=${session}`, two),
        server.statusOf(path + query, { ...two, 'x-token-session': session }),
        server.statusOf(path + query, { ...two, cookie: `avh=${session}` }),
        server.statusOf(`${path}${query}avh=${session}x`, two),
      ]);
      expect([path, statuses]).toEqual([path, [200, 404, 200, 200, 200, 404]]);
    }
    expect(await server.bound()).toBe(1);
  });

  it('has its session in the addresses of the playlist, so that players need not carry it', async () => {
    await using server = await started(protocol);
    const { base } = server.mint();
    const answer = await server.ask(`${base}/${privateStream}.m3u8`, one);
    const session = String(answer.headers['x-token-session']);
    expect(session).toMatch(/^[\w-]{43}$/);
    const address = `${privateStream}/avh-${session}/b1/source/index.m3u8`;
    expect(answer.body.toString()).toBe(`#EXTM3U\n# b1\n${address}\n`);
    // A player of another site on another network: no cookie, no header, another address.
    const list = await server.ask(`${base}/${address}?_HLS_msn=1&_HLS_part=0`, two);
    expect([list.status, list.headers['set-cookie']]).toEqual([200, undefined]);
    const part = `${base}/${address.replace('index.m3u8', 'part-1.m4s')}`;
    expect(await server.textOf(part, two)).toBe('a part');
    expect(await server.statusOf(part.replace('avh-', 'avh-x'), two)).toBe(404);
    expect(await server.statusOf(part.replace(privateStream, publicStream), two)).toBe(404);
  });

  it('may be kept by its viewer alone', async () => {
    await using server = await started(protocol);
    const { base, page } = server.mint();
    const caching = async (path: string) => (await server.ask(path, one)).headers['cache-control'];
    expect(await Promise.all(assets.map(asset => caching(`${base}/${asset}`)))).toEqual([
      ...['private, no-cache', 'private, max-age=1', 'private, max-age=60, immutable'],
      ...['private, max-age=10', 'no-store'],
    ]);
    expect(await caching(page)).toBe('private, no-cache');
    expect(await caching(`${base}/${privateStream}/b1/source/part-9.m4s`)).toBe('no-store');
  });

  it('tells an edge by its session alone that its viewer may have the media', async () => {
    await using server = await started(protocol);
    const [{ base }, unused] = [server.mint(), server.mint()];
    const access = `${base}/${privateStream}/access`;
    const session = await server.sessionOf(base);
    const found = await server.ask(`${access}?avh=${session}`, two);
    expect([found.status, found.headers['cache-control'], found.headers['set-cookie']]).toEqual([
      ...[204, 'max-age=0, s-maxage=5', undefined],
    ]);
    for (const path of [
      access,
      `${access}?avh=`,
      `${access}?avh=${session}x`,
      `${access.replace(privateStream, publicStream)}?avh=${session}`,
      `${unused.base}/${privateStream}/access?avh=${session}`,
      `${unused.base}/${privateStream}/access?avh=x`,
    ]) {
      const refused = await server.ask(path, one);
      expect([path, refused.status, refused.headers['cache-control']]).toEqual([path, 404, 'no-store']);
    }
    expect(await server.bound()).toBe(1);
    server.time.nowMs += dayMs;
    expect(await server.statusOf(`${access}?avh=${session}`)).toBe(404);
  });

  it('sets cookies where no session is shown, for the page and for the media', async () => {
    await using server = await started(protocol);
    const { base, page } = server.mint();
    const cookieOf = async (path: string) => (await server.ask(path, one)).headers['set-cookie'];
    const form = (path: string) => [
      expect.stringMatching(
        new RegExp(`^avh=[\\w-]{43}; Path=${path}; Max-Age=86400; HttpOnly; SameSite=Lax$`),
      ),
    ];
    expect(await cookieOf(page)).toEqual(form(`/live/${privateStream}`));
    expect(await cookieOf(`${base}/${privateStream}.m3u8`)).toEqual(form(base));
  });
});

describe('the page of a private live stream', () => {
  it('carries token and session in what it asks for, and shares nothing', async () => {
    await using server = await started();
    const { token, base, page } = server.mint();
    const session = await server.sessionOf(base);
    const html = await server.textOf(playerAlone(page));
    expect(stateOfPage(html)).toMatchObject({
      hls: `${base}/${privateStream}.m3u8?avh=${session}`,
      query: `?avh=${session}&token=${token}`,
      poster: `${base}/${privateStream}/thumbnail.jpg?avh=${session}`,
    });
    expect(html).toContain('<meta name="robots" content="noindex">');
    expect(html).not.toMatch(/og:|oembed|canonical/);
    const embed = await server.ask(page.replace('?', '/oembed.json?'));
    expect(embed.status).toBe(404);
  });

  it('says nothing of a token of a stream that is public', async () => {
    await using server = await started();
    server.hiddenStream.public = true;
    const { token, page } = server.mint();
    const html = await server.textOf(playerAlone(page));
    expect(stateOfPage(html)).toMatchObject({ hls: `/${privateStream}.m3u8`, query: '' });
    expect(html).not.toContain(token);
    expect(await server.bound()).toBe(0);
  });

  it('is told of changes as long as its session lasts, and no longer', async () => {
    await using server = await started();
    const { page } = server.mint();
    const chunks: string[] = [];
    const response = await fetch(`http://127.0.0.1:${server.port}${page.replace('?', '/events?')}`);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const ended = (async () => {
      for await (const chunk of response.body!) chunks.push(Buffer.from(chunk).toString());
    })();
    await waitUntil(() => chunks.join('').includes('"live":false'), { what: 'the first state' });
    server.time.nowMs += dayMs;
    server.begin('b2');
    await ended;
    expect(chunks.join('')).not.toContain('b2');
  });
});

describe('an open connection for events', () => {
  it.each(['made private', 'deleted'])(
    'ends soon after the stream was %s, though nothing happens',
    async what => {
      await using server = await started('HTTP/1.1', { heartbeatMs: 20 });
      server.hiddenStream.public = true;
      const response = await fetch(`http://127.0.0.1:${server.port}/live/${privateStream}/events`);
      const chunks: string[] = [];
      const ended = (async () => {
        for await (const chunk of response.body!) chunks.push(Buffer.from(chunk).toString());
      })();
      await waitUntil(() => chunks.filter(text => text === ':\n\n').length > 1, { what: 'heartbeats' });
      if (what === 'deleted') server.hiddenStream.isDeleted = true;
      else server.hiddenStream.public = false;
      server.time.monotonicMs += 1001;
      await ended;
      expect(await server.statusOf(`/live/${privateStream}/events`)).toBe(404);
    },
  );
});

describe('a private token of a live stream', () => {
  it('is not used up by a connection for events that is refused', async () => {
    await using server = await started('HTTP/1.1', { maxEventClients: 1 });
    server.hiddenStream.public = true;
    const open = await fetch(`http://127.0.0.1:${server.port}/live/${privateStream}/events`);
    server.hiddenStream.public = false;
    server.time.monotonicMs += 1001;
    const { page } = server.mint();
    const events = page.replace('?', '/events?');
    const refused = await server.ask(events, one);
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '10']);
    expect(await server.bound()).toBe(0);
    await open.body!.cancel();
    const isAdmitted = async () => (await server.ask(events, two, 'HEAD')).status === 200;
    await waitUntil(isAdmitted, { what: 'the place is free again' });
    expect(await server.statusOf(page, two)).toBe(200);
    expect(await server.statusOf(page, one)).toBe(404);
  });

  it('is not used up by who waits for a broadcast, nor by a preflight', async () => {
    await using server = await started();
    server.hidden.hasSegment = false;
    const { base } = server.mint();
    const list = `${base}/${privateStream}.m3u8`;
    expect(await server.statusOf(list)).toBe(404);
    expect((await server.ask(list, one, 'OPTIONS')).status).toBe(204);
    server.hidden.hasSegment = true;
    expect(await server.statusOf(list, two)).toBe(200);
    expect(await server.statusOf(list, one)).toBe(404);
  });

  it('lasts for a day from its first use', async () => {
    await using server = await started();
    const { base } = server.mint();
    const part = `${base}/${assets[2]}`;
    expect(await server.statusOf(part)).toBe(200);
    server.time.nowMs += dayMs - 1;
    expect(await server.statusOf(part)).toBe(200);
    server.time.nowMs += 1;
    expect(await Promise.all(assets.map(asset => server.statusOf(`${base}/${asset}`)))).toEqual([
      ...[404, 404, 404, 404, 404],
    ]);
  });

  it('is of no use within a second of the stream being made public, and works again with it private', async () => {
    await using server = await started();
    const { base } = server.mint();
    const paths = (root: string) => [`${root}/${assets[1]}`, `${root}/${assets[2]}`];
    const all = async () => Promise.all([...paths(base), ...paths('')].map(path => server.statusOf(path)));
    expect(await all()).toEqual([200, 200, 404, 404]);
    server.hiddenStream.public = true;
    server.time.monotonicMs += 1001;
    expect(await all()).toEqual([404, 404, 200, 200]);
    server.hiddenStream.public = false;
    server.time.monotonicMs += 1001;
    expect(await all()).toEqual([200, 200, 404, 404]);
    server.hiddenStream.isDeleted = true;
    server.time.monotonicMs += 1001;
    expect(await all()).toEqual([404, 404, 404, 404]);
  });

  it('counts as one viewer, whatever it is watched with', async () => {
    await using server = await started();
    const [first, second] = [server.mint(), server.mint()];
    const session = await server.sessionOf(first.base);
    const list = `${privateStream}/avh-${session}/b1/source/index.m3u8`;
    for (const headers of [one, two])
      expect(await server.statusOf(`${first.base}/${list}`, headers)).toBe(200);
    expect(server.viewers.count(privateStream)).toBe(1);
    await server.statusOf(`${second.base}/${assets[1]}`, one);
    expect(server.viewers.count(privateStream)).toBe(2);
    // A rejected client is no viewer.
    await server.statusOf(`${second.base}/${assets[1]}`, two);
    expect(server.viewers.count(privateStream)).toBe(2);
  });
});
