import { describe, expect, it, onTestFinished } from 'vitest';
import { PrivateSessionsStore } from '../../src/resources/playback/private-sessions/private-sessions.store.ts';
import { PrivateTokens } from '../../src/resources/playback/private-sessions/private-tokens.store.ts';
import type { Database } from '../../src/store/database.ts';
import { playbackGateOf } from '../support/playback-gate.ts';
import { rowsOf, singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { FolderVideos, hiddenId, videoId } from '../support/vod-fixture.ts';
import { type HttpReply, type Protocol, protocols, startDelivery } from './delivery-fixture.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

async function sessionsOf(
  database: Database,
  clock: { nowMs(): number; monotonicMs(): number },
  maxCached = 100,
) {
  const tokens = await PrivateTokens.open(database, clock);
  return { tokens, sessions: new PrivateSessionsStore({ database, tokens, clock, maxCached }) };
}

async function started(protocol: Protocol = 'HTTP/1.1', publicUrl = 'http://video.example.org') {
  const dataDir = await testTempDir();
  const time = { nowMs: Date.UTC(2026, 5, 1) };
  const clock = { nowMs: () => time.nowMs, monotonicMs: () => performance.now() };
  const database = await openTestDatabase(dataDir);
  onTestFinished(() => database.stop());
  const { tokens, sessions } = await sessionsOf(database, clock);
  const videos = new FolderVideos(await testTempDir());
  await videos.giveFile(hiddenId, 'mp4', 'film', 'video/mp4');
  await videos.giveFile(hiddenId, '720p/video-1-0.m4s', 'media', 'video/mp4');
  const server = await startDelivery(protocol, {
    vod: videos,
    playback: playbackGateOf({ sessions, publicUrl: () => publicUrl, clock }),
    publicUrl: () => publicUrl,
    clock,
  });
  return Object.assign(server, {
    dataDir,
    database,
    time,
    clock,
    tokens,
    sessions,
    videos,
    /** A new token, and the base of its paths. */
    mint: () => {
      const token = tokens.mint(hiddenId);
      return { token, base: `/vod/${hiddenId}/token/${token}` };
    },
    rowCount: () => singleValue<number>(database, 'SELECT count(*) FROM private_sessions'),
  });
}

const one = { 'user-agent': 'one' };
const two = { 'user-agent': 'two' };
const previewAgents = [
  'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
  'facebookexternalhit/1.1 Facebot Twitterbot/1.0',
  'WhatsApp/2.23.20.0',
  'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5',
];

function cookieOf(answer: HttpReply): string | undefined {
  return answer.headers['set-cookie']?.[0];
}

async function sessionOf(server: Awaited<ReturnType<typeof started>>, base: string): Promise<string> {
  const answer = await server.ask(`${base}/session`, one);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body.toString()).session_token as string;
}

describe.each(protocols)('a private video over %s', protocol => {
  it('is not there without a token, or with one of another video', async () => {
    await using server = await started(protocol);
    const other = server.tokens.mint(videoId);
    for (const path of [
      `/vod/${hiddenId}`,
      `/vod/${hiddenId}?token=${other}`,
      `/vod/${hiddenId}?token=`,
      `/vod/${hiddenId}/hls/manifest.m3u8`,
      `/vod/${hiddenId}/hls/720p/video-1-0.m4s`,
      `/vod/${hiddenId}/mp4/source.mp4?token=${server.mint().token}`,
      `/vod/${hiddenId}/token/${other}/hls/manifest.m3u8`,
      `/vod/${hiddenId}/token/${other}/session`,
      `/vod/${hiddenId}/token/0a1b2c3d-4e5f-4a6b-8c7d-0123456789ab/thumbnail.jpg`,
      `/vod/${hiddenId}/oembed.json`,
    ]) {
      expect([path, (await server.ask(path, one)).status]).toEqual([path, 404]);
    }
    expect(await server.rowCount()).toBe(0);
  });

  it('has a page that asks for a new link where a token opens nothing, alike for videos that do not exist', async () => {
    await using server = await started(protocol);
    const { token } = server.mint();
    expect((await server.ask(`/vod/${hiddenId}?token=${token}`, one)).status).toBe(200);
    const pages = await Promise.all(
      [hiddenId, 'viUnknown000000000000000'].map(id => server.ask(`/vod/${id}?token=${token}`, two)),
    );
    for (const { status, body } of pages) {
      expect([status, body.toString()]).toEqual([404, pages[0]!.body.toString()]);
      expect(body.toString()).toContain('Ask the person who sent it for a new one.');
    }
  });

  it('stays unused while only heads are requested, as by previews of links', async () => {
    await using server = await started(protocol);
    const { token, base } = server.mint();
    for (const path of [
      `/vod/${hiddenId}?token=${token}`,
      `${base}/hls/manifest.m3u8`,
      `${base}/mp4/source.mp4`,
    ]) {
      const { status, headers } = await server.ask(path, one, 'HEAD');
      expect([path, status, headers['set-cookie']]).toEqual([path, 200, undefined]);
    }
    expect(await server.rowCount()).toBe(0);
    expect((await server.ask(`${base}/hls/manifest.m3u8`, two)).status).toBe(200);
    expect((await server.ask(`${base}/hls/manifest.m3u8`, one, 'HEAD')).status).toBe(404);
  });

  it('stays unused while chats preview the link to its page, and gives them no session', async () => {
    await using server = await started(protocol);
    const { token, base } = server.mint();
    const page = `/vod/${hiddenId}?token=${token}`;
    for (const agent of previewAgents) {
      const { status, headers, body } = await server.ask(page, { 'user-agent': agent });
      expect([agent, status, headers['set-cookie']]).toEqual([agent, 200, undefined]);
      expect(body.toString()).not.toContain('avh=');
    }
    expect(await server.rowCount()).toBe(0);
    const viewer = await server.ask(page, {
      'user-agent': 'Mozilla/5.0 (Linux; Android 13; CUBOT X18) Chrome/140',
    });
    expect([viewer.status, cookieOf(viewer)?.startsWith('avh=')]).toEqual([200, true]);
    expect((await server.ask(page, { 'user-agent': previewAgents[0]! })).status).toBe(404);
    const other = server.mint();
    const bot = { 'user-agent': previewAgents[0]! };
    expect((await server.ask(`${other.base}/hls/manifest.m3u8`, bot)).status).toBe(200);
    expect((await server.ask(`${other.base}/hls/manifest.m3u8`, two)).status).toBe(404);
    expect((await server.ask(`${base}/hls/manifest.m3u8`, bot)).status).toBe(404);
  });

  it('belongs to the first who uses a token; another client must show the session', async () => {
    await using server = await started(protocol);
    const { base } = server.mint();
    const session = await sessionOf(server, base);
    for (const asset of [
      'hls/manifest.m3u8',
      'hls/720p/manifest.m3u8',
      'hls/720p/video-1-0.m4s',
      'mp4/source.mp4',
      'thumbnail.jpg',
      'state',
      'session',
    ]) {
      const path = `${base}/${asset}`;
      const statusOf = async (headers: Record<string, string>, query = '') =>
        (await server.ask(path + query, headers)).status;
      expect([asset, await statusOf(one)]).toEqual([asset, 200]);
      expect([asset, await statusOf(two)]).toEqual([asset, 404]);
      expect([asset, await statusOf(two, `?avh=${session}`)]).toEqual([asset, 200]);
      expect([asset, await statusOf({ ...two, 'x-token-session': session })]).toEqual([asset, 200]);
      expect([asset, await statusOf({ ...two, cookie: `a=b; avh=${session}` })]).toEqual([asset, 200]);
      expect([asset, await statusOf(two, `?avh=${session}x`)]).toEqual([asset, 404]);
      expect([asset, await statusOf(two, '?avh=')]).toEqual([asset, 404]);
    }
    expect(await server.rowCount()).toBe(1);
  });

  it('carries its session in every address of lists, images and the page', async () => {
    await using server = await started(protocol);
    const { token, base } = server.mint();
    const session = await sessionOf(server, base);
    const textOf = async (path: string) => (await server.ask(path, one)).body.toString();
    expect(await textOf(`${base}/hls/manifest.m3u8`)).toContain(`720p/manifest.m3u8?avh=${session}`);
    expect(await textOf(`${base}/hls/720p/manifest.m3u8`)).toContain(`video-1-0.m4s?avh=${session}`);
    await server.videos.giveFile(
      hiddenId,
      'storyboard.vtt',
      'WEBVTT\n\n00:00.000 --> 00:02.000\nstoryboard.jpg#xywh=0,0,160,90\n',
      'text/vtt',
    );
    expect(await textOf(`${base}/storyboard.vtt`)).toContain(`\nstoryboard.jpg?avh=${session}#xywh=0,0,`);
    server.videos.set(hiddenId, { hasStoryboard: true });
    const state = JSON.parse(await textOf(`${base}/state`));
    for (const asset of ['hls', 'mp4', 'poster', 'storyboard']) {
      expect(state[asset]).toMatch(new RegExp(`^${base}/.*\\?avh=${session}$`));
    }
    const page = await server.ask(`/vod/${hiddenId}?token=${token}`, one);
    expect(page.body.toString()).toContain(`${base}/hls/manifest.m3u8?avh=${session}`);
    expect(page.body.toString()).not.toContain('og:');
    expect(page.headers['cache-control']).toBe('private, no-cache');
  });

  it('may be kept by its viewer alone', async () => {
    await using server = await started(protocol);
    const { base } = server.mint();
    const lifetimeOf = async (path: string) =>
      (await server.ask(`${base}/${path}`, one)).headers['cache-control'];
    expect(await lifetimeOf('hls/manifest.m3u8')).toBe('private, no-cache');
    expect(await lifetimeOf('hls/720p/manifest.m3u8')).toBe('private, max-age=60');
    expect(await lifetimeOf('hls/720p/video-1-0.m4s')).toBe('private, max-age=86400, immutable');
    expect(await lifetimeOf('thumbnail.jpg')).toBe('private, no-cache');
    expect(await lifetimeOf('mp4/source.mp4')).toBe('private, max-age=86400');
    expect(await lifetimeOf('session')).toBe('no-store');
  });

  it('tells an edge by its session alone that its viewer may have the media', async () => {
    await using server = await started(protocol);
    const [{ base }, unused] = [server.mint(), server.mint()];
    const session = await sessionOf(server, base);
    const found = await server.ask(`${base}/access?avh=${session}`, two);
    expect([found.status, found.headers['cache-control'], cookieOf(found)]).toEqual([
      ...[204, 'max-age=0, s-maxage=5', undefined],
    ]);
    for (const path of [
      `${base}/access`,
      `${base}/access?avh=${session}x`,
      `${base.replace(hiddenId, videoId)}/access?avh=${session}`,
      `${unused.base}/access?avh=${session}`,
    ]) {
      expect([path, (await server.ask(path, one)).status]).toEqual([path, 404]);
    }
    expect(await server.rowCount()).toBe(1);
  });

  it('sets a cookie where no session is shown, and lets its holder in', async () => {
    await using server = await started(protocol);
    const { token, base } = server.mint();
    const page = await server.ask(`/vod/${hiddenId}?token=${token}`, one);
    const cookie = cookieOf(page)!;
    expect(cookie).toMatch(
      new RegExp(`^avh=[\\w-]{43}; Path=/vod/${hiddenId}; Max-Age=86400; HttpOnly; SameSite=Lax$`),
    );
    const carried = { ...two, cookie: cookie.slice(0, cookie.indexOf(';')) };
    const reloaded = await server.ask(`/vod/${hiddenId}?token=${token}`, carried);
    expect([reloaded.status, cookieOf(reloaded)]).toEqual([200, undefined]);
    expect((await server.ask(`${base}/hls/manifest.m3u8`, carried)).status).toBe(200);
  });
});

describe('a private token', () => {
  it('is bound to a client of the same user agent only where its addresses are the same too', async () => {
    await using server = await started();
    const { base } = server.mint();
    const proxied = { ...one, 'x-forwarded-for': '192.0.2.1' };
    expect((await server.ask(`${base}/state`, proxied)).status).toBe(200);
    expect((await server.ask(`${base}/state`, proxied)).status).toBe(200);
    expect((await server.ask(`${base}/state`, { ...one, 'x-forwarded-for': '192.0.2.2' })).status).toBe(404);
    expect((await server.ask(`${base}/state`, one)).status).toBe(404);
  });

  it('gets a cookie for pages inside those of other sites where the server is known by https', async () => {
    await using server = await started('HTTP/1.1', 'https://video.example.org');
    const cookie = cookieOf(await server.ask(`${server.mint().base}/session`, one));
    expect(cookie).toMatch(/; HttpOnly; SameSite=None; Secure; Partitioned$/);
  });

  it('is not used up by who waits for a video to become playable, nor by a preflight', async () => {
    await using server = await started();
    server.videos.set(hiddenId, { isPlayable: false });
    const { base } = server.mint();
    const manifest = `${base}/hls/manifest.m3u8`;
    const waiting = await server.ask(manifest, one);
    expect([waiting.status, cookieOf(waiting)]).toEqual([202, undefined]);
    expect((await server.ask(manifest, one, 'OPTIONS')).status).toBe(204);
    expect(await server.rowCount()).toBe(0);
    server.videos.set(hiddenId, { isPlayable: true });
    expect((await server.ask(manifest, two)).status).toBe(200);
    expect((await server.ask(manifest, one)).status).toBe(404);
  });

  it('lasts for a day from its first use, across a restart, and is dead then', async () => {
    await using server = await started();
    const { base } = server.mint();
    const session = await sessionOf(server, base);
    server.time.nowMs += dayMs - 1000;
    const { sessions } = await sessionsOf(server.database, server.clock);
    const question = {
      resourceId: hiddenId,
      token: base.slice(base.lastIndexOf('/') + 1),
      sessionTokens: [session],
      client: 'any',
      mayClaimToken: true,
    };
    expect((await sessions.admit(question))?.sessionToken).toBe(session);
    expect((await server.ask(`${base}/state`, one)).status).toBe(200);
    server.time.nowMs += 1000;
    expect(await sessions.admit(question)).toBeUndefined();
    expect((await server.ask(`${base}/state?avh=${session}`, one)).status).toBe(404);
    expect(await server.sessions.removeExpired()).toBe(1);
    expect(await server.rowCount()).toBe(0);
    // Swept, and still not to be bound anew.
    expect((await server.ask(`${base}/state?avh=${session}`, one)).status).toBe(404);
    expect((await server.ask(`${base}/state`, two)).status).toBe(404);
  });

  it('that nobody used for a day can no longer be used', async () => {
    await using server = await started();
    const early = server.mint();
    const late = server.mint();
    server.time.nowMs += dayMs - 1;
    expect((await server.ask(`${early.base}/state`, one)).status).toBe(200);
    server.time.nowMs += 1;
    expect((await server.ask(`${late.base}/state`, one)).status).toBe(404);
  });

  it('is of no use once its video is public, and the plain addresses work', async () => {
    await using server = await started();
    const { token, base } = server.mint();
    const session = await sessionOf(server, base);
    server.videos.set(hiddenId, { public: true });
    expect((await server.ask(`${base}/hls/manifest.m3u8?avh=${session}`, one)).status).toBe(404);
    expect((await server.ask(`/vod/${hiddenId}/hls/manifest.m3u8`, two)).status).toBe(200);
    const page = await server.ask(`/vod/${hiddenId}?token=${token}`, two);
    expect([page.status, page.body.includes(token)]).toEqual([200, false]);
  });

  it('is of no use for a video that is gone', async () => {
    await using server = await started();
    const { base } = server.mint();
    const session = await sessionOf(server, base);
    server.videos.entries.delete(hiddenId);
    expect((await server.ask(`${base}/state?avh=${session}`, one)).status).toBe(404);
  });
});

describe('the sessions of private tokens', () => {
  it('are right for more than are kept in memory', async () => {
    const database = await openTestDatabase(await testTempDir());
    onTestFinished(() => database.stop());
    const clock = { nowMs: () => Date.UTC(2026, 5, 1), monotonicMs: () => 0 };
    const { tokens, sessions } = await sessionsOf(database, clock, 3);
    const question = (token: string, client: string) => ({
      resourceId: 'li1',
      token,
      sessionTokens: [],
      client,
      mayClaimToken: true,
    });
    const minted = Array.from({ length: 10 }, () => tokens.mint('li1'));
    const told = await Promise.all(
      minted.map((token, index) => sessions.admit(question(token, `client ${index}`))),
    );
    for (const [index, token] of minted.entries()) {
      expect(await sessions.admit(question(token, `client ${index}`))).toMatchObject({
        sessionToken: told[index]!.sessionToken,
      });
      expect(await sessions.admit(question(token, 'another'))).toBeUndefined();
      expect(
        await sessions.admit({ ...question(token, `client ${index}`), resourceId: 'li2' }),
      ).toBeUndefined();
    }
    expect(new Set(told.map(session => session!.sessionToken)).size).toBe(10);
  });

  it('bind a token to one of the clients that use it at once', async () => {
    await using server = await started();
    const token = server.tokens.mint('li1');
    const question = (client: string) => ({
      resourceId: 'li1',
      token,
      sessionTokens: [],
      client,
      mayClaimToken: true,
    });
    const clients = ['one', 'two', 'one', 'three'];
    const answers = await Promise.all(clients.map(client => server.sessions.admit(question(client))));
    expect(answers.map(answer => answer !== undefined)).toEqual([true, false, true, false]);
    expect(await server.rowCount()).toBe(1);
  });

  it('hold no token and no session in the database', async () => {
    await using server = await started();
    const { token, base } = server.mint();
    const session = await sessionOf(server, base);
    const rows = await rowsOf<Record<string, unknown>>(server.database, 'SELECT * FROM private_sessions');
    const values = rows.flatMap(row => Object.values(row).map(String));
    expect(values).not.toContain(token);
    expect(values).not.toContain(session);
  });

  it('are removed when they are over', async () => {
    await using server = await started();
    await sessionOf(server, server.mint().base);
    expect(await server.sessions.removeExpired()).toBe(0);
    server.time.nowMs += 2 * dayMs;
    expect(await server.sessions.removeExpired()).toBe(1);
    expect(await server.rowCount()).toBe(0);
  });
});
