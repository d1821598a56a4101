import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/shared/secret.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { findPostgres, runOnPostgres } from '../support/postgres.ts';
import { admin, emailOf, signIn } from '../support/sign-in.ts';
import { basic, type TestAccount, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type FeedServer, listen, startFeed } from './event-feed-fixture.ts';

const hasPostgres = findPostgres() !== undefined;
const cutConnections = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND application_name IN ('millrace session', 'millrace signals')`;

interface Servers {
  readonly first: FeedServer;
  readonly second: FeedServer;
  readonly account: TestAccount;
}

/** Starts two servers. With `isDeaf`, connections that listen for signals are cut all the time. */
async function startTwo(isDeaf: boolean): Promise<Servers> {
  const url = await postgresUrlOf(await testTempDir());
  const start = () =>
    startFeed({ tickMs: 1_000 }, { database: dataDir => openDatabase({ dataDir, url: new Secret(url) }) });
  const [first, second] = [await start(), await start()];
  const account = await first.server.addAccount();
  if (isDeaf) {
    let isOver = false;
    const cutting = (async () => {
      while (!isOver) {
        await runOnPostgres(url, cutConnections);
        await sleep(20);
      }
    })();
    onTestFinished(() => {
      isOver = true;
      return cutting;
    });
  }
  return { first, second, account };
}

async function statusOf(server: TestApi, key: string): Promise<number> {
  return (await server.call('GET', '/videos', { key })).status;
}

/** Sends the beginning of a file, and waits until the server receives it. */
async function beginUpload(server: TestApi, account: TestAccount): Promise<ClientRequest> {
  const key = account.sandboxKey;
  const { json } = await server.call('POST', '/videos', { key, body: { title: 'A video' } });
  const upload = requestHttp(`${server.baseUrl}/videos/${json.videoId}/source`, {
    method: 'POST',
    headers: { authorization: basic(key), 'content-type': 'multipart/form-data; boundary=b' },
  });
  upload.on('error', () => {});
  onTestFinished(() => void upload.destroy());
  upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\nbytes');
  await waitUntil(async () => {
    const usage = await server.call('GET', '/usage', { key });
    return usage.json.uploads.inProgress === 1;
  });
  return upload;
}

function statusOfAnswer(upload: ClientRequest): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  upload.on('response', (response: IncomingMessage) => resolve(response.statusCode));
  return promise;
}

async function signOut(server: TestApi, headers: Record<string, string>): Promise<void> {
  expect((await server.call('DELETE', '/auth/session', { key: null, headers })).status).toBe(204);
}

async function setPasswordWithLink(server: TestApi): Promise<void> {
  const { accounts } = server.api;
  const { userId } = (await accounts.findUser(emailOf(admin.email)))!;
  await accounts.passwordResets.add({ userId, token: 'token', expiresAtMs: Date.now() + 3_600_000 });
  const body = { password: 'nine boats come home at dusk' };
  const path = '/auth/password-resets/token/complete';
  expect((await server.call('POST', path, { key: null, body })).status).toBe(204);
}

describe.skipIf(!hasPostgres).each([
  ['with signals', false],
  ['without signals', true],
])('two servers on one PostgreSQL database, %s', (_, isDeaf) => {
  it('reject a suspended account, and end its feeds and uploads', async () => {
    const { first, second, account } = await startTwo(isDeaf);
    const other = await first.server.addAccount();
    const key = account.sandboxKey;
    expect(await statusOf(second.server, key)).toBe(200);
    const feed = await listen(second, { key });
    const otherFeed = await listen(second, { key: other.sandboxKey });
    const answered = statusOfAnswer(await beginUpload(second.server, account));
    await first.server.api.accounts.setStanding(account.accountId, { isSuspended: true });
    expect(await statusOf(first.server, key)).toBe(403);
    await waitUntil(async () => (await statusOf(second.server, key)) === 403);
    expect(await feed.closed).toBe(4403);
    expect(await answered).toBe(403);
    expect(otherFeed.socket.readyState).toBe(otherFeed.socket.OPEN);
    expect(await statusOf(second.server, other.sandboxKey)).toBe(200);
  });

  it('reject a revoked key and its tokens, and end feeds and uploads', async () => {
    const { first, second, account } = await startTwo(isDeaf);
    const key = account.sandboxKey;
    const { json: tokens } = await second.server.call('POST', '/auth/api-key', {
      body: { apiKey: key },
      key: null,
    });
    const bearer = { authorization: `Bearer ${tokens.access_token}` };
    const feeds = [await listen(second, { key }), await listen(second, { headers: bearer })];
    const answered = statusOfAnswer(await beginUpload(second.server, account));
    const { json: pairs } = await first.server.call('GET', '/account/api-keys', { key });
    const path = `/account/api-keys/${pairs.data[0].keyPairId}/sandbox`;
    const { json: renewed } = await first.server.call('POST', path, { key });
    expect(await statusOf(first.server, key)).toBe(401);
    await waitUntil(async () => (await statusOf(second.server, key)) === 401);
    expect((await second.server.call('GET', '/videos', { key: null, headers: bearer })).status).toBe(401);
    expect(await Promise.all(feeds.map(({ closed }) => closed))).toEqual([4401, 4401]);
    expect(await answered).toBe(401);
    expect(await statusOf(second.server, renewed.sandbox.apiKey)).toBe(200);
  });

  it.each([
    ['was signed out', signOut],
    ['ended with a new password', setPasswordWithLink],
  ])('reject a session that %s, and end its feeds', async (_ending, end) => {
    const { first, second } = await startTwo(isDeaf);
    const cookie = await signIn(first.server);
    const headers = { cookie, 'millrace-environment': 'sandbox' };
    const statusOfSession = async ({ server }: FeedServer) =>
      (await server.call('GET', '/videos', { key: null, headers })).status;
    expect(await statusOfSession(second)).toBe(200);
    const feed = await listen(second, {
      headers: { cookie, origin: second.server.baseUrl },
      protocols: ['millrace.events.v1', 'environment.sandbox'],
    });
    await end(first.server, headers);
    expect(await statusOfSession(first)).toBe(401);
    await waitUntil(async () => (await statusOfSession(second)) === 401);
    expect(await feed.closed).toBe(4401);
  });
});
