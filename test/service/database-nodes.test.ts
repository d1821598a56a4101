import { afterEach, describe, expect, it } from 'vitest';
import { addressReader } from '../../src/http/listener/client-address.ts';
import { scopes } from '../../src/http/routing/scope.ts';
import { createAccount } from '../../src/resources/identity/accounts/create-account.ts';
import { maxKeyPairs } from '../../src/resources/identity/accounts/key-pair.ts';
import { KeyPairsStore } from '../../src/resources/identity/accounts/key-pairs.store.ts';
import { maxSessionsPerUser, sessionLifetimeMs } from '../../src/resources/identity/sessions/session.ts';
import { SessionsStore } from '../../src/resources/identity/sessions/sessions.store.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { Transaction } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { createPostgresDatabase, findPostgres, startPostgres } from '../support/postgres.ts';
import { admin, emailOf, signIn } from '../support/sign-in.ts';
import { rowsOf } from '../support/sql.ts';
import {
  type ApiReply,
  type StartApiOptions,
  sandboxProjectOf,
  startApi,
  type TestApi,
} from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, fileForm, noise } from './upload-fixture.ts';

const hasPostgres = findPostgres() !== undefined;
const requests = 20;

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** An API with a data folder of its own on the database of `url`. */
async function startOn(url: string, options: StartApiOptions = {}): Promise<TestApi> {
  const server = await startApi({
    ...options,
    database: dataDir => openDatabase({ dataDir, url: new Secret(url) }),
  });
  stops.push(() => server.stop());
  return server;
}

async function startTwo(options: StartApiOptions = {}): Promise<[TestApi, TestApi]> {
  const url = await postgresUrlOf(await testTempDir());
  return [await startOn(url, options), await startOn(url, options)];
}

/** Sends requests to both servers at once. */
function toBoth<Answer>(
  servers: readonly TestApi[],
  send: (server: TestApi, index: number) => Promise<Answer>,
  count = requests,
): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => send(servers[index % servers.length]!, index)),
  );
}

async function waitsForLock(database: Database): Promise<boolean> {
  const text =
    "SELECT pid FROM pg_locks JOIN pg_database ON oid = database WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted";
  return (await rowsOf(database, text)).length > 0;
}

function countsOf(answers: readonly ApiReply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, json } of answers) {
    const kind = status < 300 ? `${status}` : `${status} ${json.type.split('/').at(-1)}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

describe.skipIf(!hasPostgres)('two servers on one PostgreSQL database', () => {
  it('create no more webhooks than a project may have', async () => {
    const servers = await startTwo();
    const body = { events: ['video.source.recorded'], url: 'https://example.com/hook' };
    const answers = await toBoth(servers, server => server.call('POST', '/webhooks', { body }));
    expect(countsOf(answers)).toEqual({ 201: 10, '400 webhook-limit-reached': 10 });
    expect((await servers[0].call('GET', '/webhooks')).json.pagination.itemsTotal).toBe(10);
  });

  it('begin no more uploads than a project may have', async () => {
    const servers = await startTwo({ quotas: { maxUploads: 3 } });
    const videos = await toBoth(servers, server =>
      server.call('POST', '/videos', { body: { title: 'A video' } }),
    );
    const chunk = noise(chunkBytes);
    const answers = await toBoth(servers, (server, index) =>
      server.call('POST', `/videos/${videos[index]!.json.videoId}/source`, {
        body: fileForm(chunk),
        headers: { 'content-range': 'part 1/2' },
      }),
    );
    expect(countsOf(answers)).toEqual({ 201: 3, '400 upload-limit-reached': requests - 3 });
    expect((await servers[1].call('GET', '/usage')).json.uploads).toEqual({ inProgress: 3, max: 3 });
  });

  it('receive no more bytes than a project may store', async () => {
    const fileBytes = 300_000;
    const servers = await startTwo({ quotas: { maxUploads: 0, maxStorageBytes: 4 * fileBytes } });
    const videos = await toBoth(servers, server =>
      server.call('POST', '/videos', { body: { title: 'A video' } }),
    );
    const answers = await toBoth(servers, (server, index) =>
      server.call('POST', `/videos/${videos[index]!.json.videoId}/source`, {
        body: fileForm(noise(fileBytes)),
      }),
    );
    expect(countsOf(answers)).toEqual({ 201: 4, '400 storage-limit-reached': requests - 4 });
  });

  it('create no more API keys than a project may have', async () => {
    const servers = await startTwo();
    const create = (server: TestApi) => server.call('POST', '/account/api-keys', { body: {} });
    const [{ database }] = servers;
    const projectId = await sandboxProjectOf(database);
    const [account] = await rowsOf<{ id: string }>(database, 'SELECT id FROM accounts');
    const store = new KeyPairsStore(database);
    await database.transaction(async transaction => {
      for (let count = 1; count < maxKeyPairs - 5; count += 1) {
        const keys = [{ projectId, text: `key of tests ${count}` }];
        const pair = { accountId: account!.id, createdAtMs: Date.now(), scopes, keys };
        await store.add(pair, transaction);
      }
    });
    const answers = await toBoth(servers, create);
    expect(countsOf(answers)).toEqual({ 201: 5, '400 api-key-limit-reached': requests - 5 });
  });

  it('keep no more sessions than a user may have', async () => {
    const servers = await startTwo();
    await signIn(servers[0]);
    const [{ database }] = servers;
    const [first] = await rowsOf<{ user_id: string; account_id: string }>(
      database,
      'SELECT user_id, account_id FROM sessions',
    );
    const { user_id: userId, account_id: accountId } = first!;
    const store = new SessionsStore(database);
    const add = (count: number, transaction: Transaction) => {
      const [atMs, secret, address] = [Date.now(), `secret of tests ${count}`, '192.0.2.1'];
      const session = { userId, accountId, secret, atMs, address, userAgent: undefined };
      return store.add({ ...session, expiresAtMs: atMs + sessionLifetimeMs }, transaction);
    };
    await database.transaction(async transaction => {
      for (let count = 2; count < maxSessionsPerUser; count += 1) await add(count, transaction);
    });
    const [added, checked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const adding = database.transaction(async transaction => {
      await transaction.lock('user', userId);
      await add(maxSessionsPerUser, transaction);
      added.resolve();
      await checked.promise;
    });
    await Promise.race([added.promise, adding]);
    const signedIn = signIn(servers[1]);
    // A sign-in that did not wait for this one would end now, with one session too many.
    await Promise.race([
      signedIn,
      waitUntil(() => waitsForLock(database), { what: 'a sign-in that waits' }),
    ]).finally(() => checked.resolve());
    await adding;
    await signedIn;
    expect(await rowsOf(database, 'SELECT id FROM sessions')).toHaveLength(maxSessionsPerUser);
  });

  it('count wrong passwords together', async () => {
    const servers = await startTwo({
      peers: { addressOf: addressReader(['127.0.0.1']), isSecure: () => false },
    });
    const answers = await toBoth(servers, (server, index) =>
      server.call('POST', '/auth/session', {
        key: null,
        body: { ...admin, password: 'wrong' },
        headers: { 'x-forwarded-for': `192.0.2.${index}` },
      }),
    );
    expect(countsOf(answers)).toEqual({
      '401 authentication-wrong-password': 10,
      '429 too-many-requests': requests - 10,
    });
  });

  it('create one account for an email address', async () => {
    const servers = await startTwo();
    const created = await toBoth(servers, ({ database }, index) =>
      createAccount(database, {
        email: emailOf(index % 3 === 0 ? 'Ada@example.com' : 'ada@example.com'),
        password: 'a password of tests',
        isUpgraded: false,
        keys: { sandbox: `sandbox-key-${index}`, production: `production-key-${index}` },
        atMs: Date.now(),
        isFirst: false,
      }),
    );
    expect(created.filter(id => id !== undefined)).toHaveLength(1);
    expect(await rowsOf(servers[0].database, 'SELECT id FROM accounts')).toHaveLength(2);
  });

  it('create one summary for a video', async () => {
    const servers = await startTwo();
    const { json: video } = await servers[0].call('POST', '/videos', { body: { title: 'A video' } });
    const body = { videoId: video.videoId };
    const answers = await toBoth(servers, server => server.call('POST', '/summaries', { body }));
    expect(countsOf(answers)).toEqual({ 201: 1, '409 summary-already-exists': requests - 1 });
  });

  it('count every change of the same video and tags', async () => {
    const servers = await startTwo();
    const { json: video } = await servers[0].call('POST', '/videos', { body: { title: 'A video' } });
    const answers = await toBoth(servers, (server, index) =>
      server.call('PATCH', `/videos/${video.videoId}`, {
        body: { tags: ['harbour', `tag ${index % 3}`], title: `Title ${index}` },
      }),
    );
    expect(countsOf(answers)).toEqual({ 200: requests });
    const { json } = await servers[1].call('GET', '/tags');
    expect(json.data).toContainEqual({ value: 'harbour', videoCount: 1 });
    expect(json.data).toHaveLength(2);
  });
});

describe.skipIf(!hasPostgres)('a PostgreSQL server that crashes', () => {
  it('loses nothing that was acknowledged, and is used again after its start', async () => {
    const postgres = await startPostgres();
    stops.push(() => postgres.stop());
    const server = await startOn(await createPostgresDatabase(postgres.url, 'nodes'));
    const acknowledged: string[] = [];
    const refused = new Set<string>();
    let isOver = false;
    const writer = async (name: string) => {
      for (let number = 1; !isOver; number += 1) {
        const title = `${name} ${number}`;
        const { status, json } = await server.call('POST', '/live-streams', { body: { name: title } });
        if (status < 300) acknowledged.push(title);
        else refused.add(`${status} ${json.type.split('/').at(-1)}`);
      }
    };
    const writers = ['a', 'b', 'c', 'd'].map(writer);
    await waitUntil(() => acknowledged.length > 20);
    await postgres.kill();
    await waitUntil(() => refused.size > 0);
    const { status, json } = await server.call('GET', '/live-streams');
    expect([status, json.type.split('/').at(-1)]).toEqual([503, 'database-unusable']);
    const before = acknowledged.length;
    await postgres.start();
    await waitUntil(() => acknowledged.length > before + 20);
    isOver = true;
    await Promise.all(writers);
    expect([...refused]).toEqual(['503 database-unusable']);
    const stored = await rowsOf<{ name: string }>(server.database, 'SELECT name FROM live_streams');
    const names = new Set(stored.map(({ name }) => name));
    expect(acknowledged.filter(name => !names.has(name))).toEqual([]);
  });
});
