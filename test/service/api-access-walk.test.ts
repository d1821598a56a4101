import { createPrivateKey } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiDocument, type DocumentedOperation, operationsOf } from '../../scripts/api-document.ts';
import { type Scope, scopeSet, scopes } from '../../src/http/routing/scope.ts';
import { type Role, scopesOfRole } from '../../src/resources/identity/members/member.ts';
import { HttpTestClient } from '../support/http-test-client.ts';
import { addUser, cheapHash, emailOf, signIn } from '../support/sign-in.ts';
import { signToken } from '../support/sign-token.ts';
import { rowsByTable } from '../support/sql.ts';
import { basic } from '../support/start-api.ts';
import { type Access, operationsByAccess } from './access-table.ts';
import {
  exampleBody,
  type FilledProject,
  type FilledServer,
  fillPath,
  jsonOf,
  startFilled,
  type TypedBody,
} from './isolation-fixture.ts';

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

interface AccessCaller {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Query of requests that take an upload token. */
  readonly query?: string;
  readonly may: ReadonlySet<Access>;
}

const password = 'nine boats leave at dawn';
const anybody: readonly Access[] = ['anybody', 'loopback', 'viewer'];

let server: FilledServer;
let operations: readonly Operation[];
let asker: HttpTestClient;
let callers: readonly AccessCaller[];

beforeAll(async () => {
  server = await startFilled();
  asker = new HttpTestClient(server.listener.httpPort);
  const document: ApiDocument = (await server.call('GET', '/openapi.json', { key: null })).json;
  operations = operationsOf(document)
    .map(entry => ({ ...entry, name: `${entry.method} ${entry.path}` }))
    // Ends the session of the caller.
    .sort((one, other) => rankOf(one) - rankOf(other));
  callers = await createCallers();
});
afterAll(async () => {
  asker.stop();
  await server.stop();
});

/** Sorts operations that end sessions, keys and projects last. */
function rankOf({ method, path }: Operation): number {
  if (path === '/auth/session') return 3;
  if (method !== 'DELETE') return 0;
  return path.startsWith('/account') ? 2 : 1;
}

function project(name: string): FilledProject {
  return server.projects.find(one => one.name === name)!;
}

async function keyWith(given: readonly Scope[], by: string, half: 'sandbox' | 'production'): Promise<string> {
  const { json } = await server.call('POST', '/account/api-keys', { key: by, body: { scopes: given } });
  return json[half].apiKey;
}

const mayWithKey = (held: ReadonlySet<Scope>): Access[] => [...anybody, ...held];
const withKey = (key: string) => ({ authorization: basic(key) });

function withSession(cookie: string, environment: 'sandbox' | 'production') {
  return { cookie, 'millrace-environment': environment };
}

async function sessionWith(role: Role, accountId: string, environment: 'sandbox' | 'production') {
  const email = `${role}-${environment}@example.org`;
  const user = {
    accountId,
    email: emailOf(email),
    isVerified: true,
    role,
    passwordHash: cheapHash(password),
    createdAtMs: Date.now(),
  };
  await server.database.transaction(transaction => server.api.accounts.addUser(user, transaction));
  return withSession(await signIn(server, { email, password }), environment);
}

async function createCallers(): Promise<AccessCaller[]> {
  const [sandbox, production, stranger] = ['owner-one', 'owner-two', 'owner-four'].map(project);
  const { json: account } = await server.call('GET', '/account', { key: production!.key });
  const { json: signingKey } = await server.call('POST', '/account/signing-keys', {
    key: production!.key,
    body: { name: 'Viewers' },
  });
  const viewerToken = await signToken(
    {
      id: signingKey.signingKeyId,
      algorithm: 'ES256',
      privateKey: createPrivateKey(signingKey.privateKey),
    },
    { sub: production!.ids.liveStreamId, exp: Math.floor(Date.now() / 1000) + 3_600 },
  );
  const suspended = await createSuspended();
  const ofOperator: Access[] = ['operator'];
  const withRole = (role: Role): Access[] => [
    ...mayWithKey(scopesOfRole(role)),
    'member',
    ...(role === 'owner' ? (['owner', 'operator', 'operatorOwner'] as const) : []),
  ];
  return [
    { name: 'nobody', headers: {}, may: new Set(anybody) },
    {
      name: 'an upload token',
      headers: { authorization: `Bearer ${production!.ids.uploadToken}` },
      query: `token=${production!.ids.uploadToken}`,
      may: new Set([...anybody, 'uploadToken']),
    },
    {
      name: 'a viewer with a signed token',
      headers: { authorization: `Bearer ${viewerToken}`, cookie: `avh=${viewerToken}` },
      query: `token=${viewerToken}`,
      may: new Set(anybody),
    },
    ...suspended,
    ...(await Promise.all(
      scopes.flatMap(scope =>
        (['sandbox', 'production'] as const).map(async half => ({
          name: `a ${half} key with the scope ${scope}`,
          headers: withKey(await keyWith([scope], production!.key, half)),
          may: new Set([...mayWithKey(scopeSet([scope])), ...(scope === 'admin' ? ofOperator : [])]),
        })),
      ),
    )),
    {
      name: 'the first sandbox key',
      headers: withKey(sandbox!.key),
      may: new Set([...mayWithKey(new Set(scopes)), ...ofOperator]),
    },
    {
      name: 'a key of another account',
      headers: withKey(stranger!.key),
      may: new Set(mayWithKey(new Set(scopes))),
    },
    ...(await Promise.all(
      (['viewer', 'editor', 'owner'] as const).map(async role => ({
        name: `a session as ${role}`,
        headers: await sessionWith(role, account.accountId, 'production'),
        may: new Set(withRole(role)),
      })),
    )),
  ];
}

/** An account whose credentials were valid before. */
async function createSuspended(): Promise<AccessCaller[]> {
  const { accountId, productionKey } = await server.addAccount({ isUpgraded: true });
  const who = { email: 'suspended@example.org', password };
  await addUser(server, accountId, who);
  const cookie = await signIn(server, who);
  const { json } = await server.call('POST', '/upload-tokens', { key: productionKey, body: {} });
  const { json: tokens } = await server.call('POST', '/auth/api-key', {
    key: null,
    body: { apiKey: productionKey },
  });
  await server.api.accounts.setStanding(accountId, { isSuspended: true });
  const may = new Set(anybody);
  return [
    { name: 'a suspended key', headers: withKey(productionKey), may },
    { name: 'a suspended access token', headers: { authorization: `Bearer ${tokens.access_token}` }, may },
    { name: 'a suspended session', headers: withSession(cookie, 'production'), may },
    { name: 'a suspended upload token', headers: {}, query: `token=${json.token}`, may },
  ];
}

async function ask(
  { method, path }: Operation,
  { headers, query }: AccessCaller,
  { ids, body }: { ids: (name: string) => string; body?: TypedBody | undefined },
): Promise<{ status: number; text: string; code: string }> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => ids(name));
  const { status, text } = await asker.send({
    method,
    path: query === undefined ? filled : `${filled}?${query}`,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': body.type }) },
    body: body?.text,
  });
  const code =
    status >= 400 && text.startsWith('{') ? String(JSON.parse(text).type ?? '').replace(/.*\//, '') : '';
  return { status, text, code };
}

const isDenied = ({ status, code }: { status: number; code: string }) =>
  (status === 401 || status === 403) && /^auth(?:entication|orization)-/.test(code);

function accessOf(name: string): Access | undefined {
  const found = Object.entries(operationsByAccess).find(([, names]) => names.includes(name));
  return found?.[0] as Access | undefined;
}

it('every operation has its place in the table', () => {
  expect(Object.values(operationsByAccess).flat().sort()).toEqual(operations.map(({ name }) => name).sort());
  for (const { name, operation } of operations) {
    const documented = operation.security.flatMap(one => Object.entries(one) as [string, Scope[]][]);
    const access = accessOf(name)!;
    const needed = access === 'operator' || access === 'owner' ? 'admin' : access;
    const expected: Partial<Record<Access, string[]>> = {
      anybody: [],
      loopback: [],
      viewer: [],
      uploadToken: ['uploadToken'],
      member: ['session'],
      owner: ['session admin'],
      operatorOwner: ['session admin'],
    };
    const ofKeys = ['apiKey', 'accessToken', 'session'].map(kind => `${kind} ${needed}`);
    expect([
      name,
      documented.filter(([kind]) => kind !== 'environment').map(one => one.flat().join(' ')),
    ]).toEqual([name, expected[access] ?? ofKeys]);
  }
});

it('each caller may use exactly the operations that the table gives it', async () => {
  const wrong: string[] = [];
  for (const caller of callers) {
    for (const operation of operations) {
      const answer = await ask(operation, caller, { ids: () => 'unknown' });
      const isAllowed = caller.may.has(accessOf(operation.name)!);
      // Delivery, which answers viewers, is not part of this server.
      if (isDenied(answer) === isAllowed || answer.status >= 500) {
        wrong.push(`${caller.name}: ${operation.name} ${answer.status} ${answer.text}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

/** Bodies that raise whoever may send them. */
const raising: Readonly<Record<string, object>> = {
  'POST /account/api-keys': { name: 'Raised', scopes: ['admin'] },
  'PATCH /account/api-keys/{keyPairId}': { name: 'Raised', scopes: ['admin'] },
  'PATCH /account/members/{userId}': { role: 'owner' },
  'POST /account/invitations': { email: 'raised@example.org', role: 'owner' },
};

/** Tables whose rows only administrators change, and those of the account. */
const administered =
  /^(?:accounts|project_pairs|projects|members|invitations|key_pairs|signing_keys|api_keys|users|two_factor|passkeys|identities|webhooks|hooks)$/;

type Rows = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;

/** Leaves out times of use, which also change the order of PostgreSQL. */
async function rowsOf(isWanted: (table: string) => boolean): Promise<Rows> {
  const tables = await rowsByTable(server.database, isWanted);
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows
        .map(({ last_used_at_ms: _, ...row }) => ({ row, text: JSON.stringify(row) }))
        .toSorted((one, other) => (one.text < other.text ? -1 : 1))
        .map(({ row }) => row),
    ]),
  );
}

/** Everything of other projects, of the account, and of key pairs that have a key of another project. */
async function rowsAbove(projectId: string): Promise<Rows> {
  const tables = await rowsOf(() => true);
  const pairsAbove = tables.api_keys!.filter(key => key.project_id !== projectId).map(key => key.pair_id);
  const above = Object.entries(tables).flatMap(([name, rows]) => {
    if (name === 'key_pairs') return [[name, rows.filter(row => pairsAbove.includes(row.id))] as const];
    if (name === 'projects') return [[name, rows.filter(row => row.id !== projectId)] as const];
    if (rows.some(row => 'project_id' in row)) {
      return [[name, rows.filter(row => row.project_id !== projectId && row.project_id !== null)] as const];
    }
    return administered.test(name) ? [[name, rows] as const] : [];
  });
  return Object.fromEntries(above);
}

/** Sends a valid request of every operation with these ids. */
async function tryEverything(caller: AccessCaller, ids: Readonly<Record<string, string>>): Promise<string[]> {
  const succeeded: string[] = [];
  for (const operation of operations) {
    // Signs the caller out.
    if (operation.name === 'DELETE /auth/session') continue;
    const raised = raising[operation.name];
    const answer = await ask(operation, caller, {
      ids: name => fillPath(`{${name}}`, ids),
      body: raised === undefined ? exampleBody(operation.operation) : jsonOf(raised),
    });
    expect([caller.name, operation.name, answer.status >= 500, answer.text]).toEqual([
      ...[caller.name, operation.name, false],
      answer.text,
    ]);
    if (answer.status < 300) succeeded.push(operation.name);
  }
  return succeeded;
}

describe('no caller changes anything above itself', () => {
  it('with less than the scope admin: settings, keys, webhooks, members', async () => {
    const { ids } = project('owner-two');
    const before = await rowsOf(table => administered.test(table));
    for (const caller of callers.filter(({ may }) => !may.has('admin'))) {
      const succeeded = await tryEverything(caller, ids);
      const isViewer = caller.name.includes('session as viewer');
      // Members change their own sign-in.
      if (!isViewer && !caller.name.includes('session as editor')) {
        expect([caller.name, await rowsOf(table => administered.test(table))]).toEqual([caller.name, before]);
      }
      for (const name of succeeded) expect([name, caller.may.has(accessOf(name)!)]).toEqual([name, true]);
    }
    const after = await rowsOf(table => administered.test(table));
    for (const table of ['accounts', 'projects', 'members', 'key_pairs', 'api_keys', 'webhooks', 'hooks']) {
      expect([table, after[table]]).toEqual([table, before[table]]);
    }
  });

  it('from the sandbox: production, also where a key pair has a key of both', async () => {
    const sandbox = project('owner-one');
    const { keyPairId } = project('owner-two').ids;
    const mixed = { ...sandbox.ids, keyPairId };
    const patch = (id: string, body: object) =>
      server.call('PATCH', `/account/api-keys/${id}`, { key: sandbox.key, body });
    for (const body of [{ scopes: ['admin'] }, { name: 'Raised' }, { name: null, scopes: ['read'] }]) {
      const { status, json } = await patch(keyPairId, body);
      expect([status, json.type.split('/').at(-1)]).toEqual([
        403,
        'authorization-production-credential-required',
      ]);
    }
    expect((await patch(sandbox.ids.keyPairId, { scopes: ['read'] })).status).toBe(200);
    const before = await rowsAbove(sandbox.projectId);
    expect(before.key_pairs!.length).toBeGreaterThan(5);
    const ofSandbox = callers.filter(({ name }) => /sandbox key with the scope admin/.test(name));
    expect(ofSandbox).toHaveLength(1);
    for (const environment of ['production', 'sandbox']) {
      const succeeded = await tryEverything(ofSandbox[0]!, { ...mixed, environment });
      expect(await rowsAbove(sandbox.projectId)).toEqual(before);
      if (environment === 'sandbox') continue;
      expect(succeeded.length).toBeGreaterThan(60);
      expect(succeeded.filter(name => name.includes('api-keys/{keyPairId}'))).toEqual([
        'GET /account/api-keys/{keyPairId}',
        // Revokes the sandbox key of the pair.
        'DELETE /account/api-keys/{keyPairId}',
      ]);
    }
  });
});

describe('a key that may upload, but not read', () => {
  it('cannot watch a private video whose id it knows', async () => {
    const { ids, key } = project('owner-three');
    const all = (method: string, path: string, body?: object) => server.call(method, path, { key, body });
    const { videoId } = ids;
    expect((await all('PATCH', `/videos/${videoId}`, { public: false })).json.assets.player).toContain(
      'token=',
    );
    const caller = {
      name: 'a key with the scope upload',
      headers: withKey(await keyWith(['upload'], key, 'sandbox')),
      may: new Set<Access>(),
    };
    const asked = async (name: string, body: object) => {
      const operation = operations.find(one => one.name === name)!;
      const answer = await ask(operation, caller, {
        ids: id => fillPath(`{${id}}`, ids),
        body: jsonOf(body),
      });
      return [answer.status, answer.code];
    };
    const denied = [403, 'authorization-insufficient-scope'];
    for (const source of [videoId, ids.liveStreamId]) {
      for (const clip of [undefined, { lastSeconds: 5 }]) {
        expect(await asked('POST /videos', { title: 'Copy', source, clip })).toEqual(denied);
      }
    }
    for (const change of [{ public: true }, { playbackPolicy: null }]) {
      expect(await asked('PATCH /videos/{videoId}', change)).toEqual(denied);
    }
    const opened: string[] = [];
    let succeeded = 0;
    for (const operation of operations) {
      if (accessOf(operation.name) !== 'upload' || operation.method === 'DELETE') continue;
      if (operation.name === 'POST /videos') continue;
      const isChange = operation.name === 'PATCH /videos/{videoId}';
      const body = isChange ? jsonOf({ title: 'New' }) : exampleBody(operation.operation);
      const answer = await ask(operation, caller, { ids: id => fillPath(`{${id}}`, ids), body });
      if (answer.status < 300) succeeded += 1;
      if (/\/token\/|token=/.test(answer.text)) opened.push(operation.name);
    }
    expect(opened).toEqual([]);
    expect(succeeded).toBeGreaterThanOrEqual(10);
    expect((await all('GET', `/videos/${videoId}`)).json.public).toBe(false);
  });
});
