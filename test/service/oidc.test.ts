import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { proveAtProvider, TestOidcProvider } from '../support/oidc-provider.ts';
import { addUser, signIn } from '../support/sign-in.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { type ApiReply, startApi, type TestAccount, type TestApi } from '../support/start-api.ts';
import { enableTwoFactor, forgetTwoFactor } from '../support/two-factor.ts';

const studio = { email: 'studio@example.org', password: 'nine boats leave at dawn' };
const minute = 60_000;

let provider: TestOidcProvider;
let server: TestApi;
let account: TestAccount;
let nowMs = Date.now();

const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

beforeAll(async () => {
  provider = await TestOidcProvider.start();
  server = await startApi({ clock, oidc: provider.settings });
  account = await server.addAccount();
  await addUser(server, account.accountId, studio);
});
afterAll(async () => {
  await server?.stop();
  await provider?.stop();
});
beforeEach(async () => {
  nowMs = Math.max(nowMs, Date.now()) + 61 * minute;
  provider.answer();
  provider.people.clear();
  provider.people.set('anna', { email: 'Studio@example.org' });
  await forgetTwoFactor(server);
  await runSql(server.database, 'DELETE FROM identities');
});

const as = (cookie: string | null, method: string, path: string, body?: object, more?: object, to = server) =>
  to.call(method, path, {
    key: null,
    headers: { ...(cookie === null ? {} : { cookie }), ...more },
    body,
  });
const cookieOf = ({ headers }: ApiReply) => headers.get('set-cookie')!.split(';')[0]!;

const proveAt = (login: string, to = server) => proveAtProvider(to, login);
const finish = ({ cookie, query }: { cookie: string; query: string }, to = server) =>
  as(cookie, 'POST', '/auth/oidc', { query }, {}, to);
const accept = ({ cookie, query }: { cookie: string; query: string }, invitationToken: string) =>
  as(cookie, 'POST', '/auth/oidc', { query, invitationToken });
const told = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1), json?.detail];
const refused = (detail: string) => [401, 'authentication-oidc-refused', expect.stringContaining(detail)];
const count = (action: string) =>
  singleValue<number>(
    server.database,
    `SELECT count(*) FROM audit_entries WHERE action = '${action}' AND account_id = '${account.accountId}'`,
  ).then(Number);

describe('a sign-in with an OpenID Connect provider', () => {
  it('is offered with its name', async () => {
    expect((await as(null, 'GET', '/auth/methods')).json).toEqual({
      oidc: { name: 'Harbour ID' },
      passwordReset: false,
      signedIn: false,
    });
    const begun = await as(null, 'POST', '/auth/oidc-request');
    const asked = new URL(begun.json.url);
    expect(Object.fromEntries(asked.searchParams)).toMatchObject({
      client_id: 'millrace',
      response_type: 'code',
      scope: 'openid email',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
      state: expect.any(String),
      redirect_uri: `http://localhost:${server.listener.httpPort}/dashboard/sign-in/oidc`,
    });
    expect(begun.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict; Max-Age=600$/);
  });

  it('starts a session of the user with the verified email address, without a code', async () => {
    const before = await count('session.create');
    await enableTwoFactor(server, await signIn(server, studio), { ...studio, atMs: nowMs });
    const signedIn = await finish(await proveAt('anna'));
    expect([signedIn.status, signedIn.json]).toMatchObject([201, { email: studio.email, role: 'owner' }]);
    const cookie = cookieOf(signedIn);
    expect((await as(cookie, 'GET', '/auth/session')).json.email).toBe(studio.email);
    expect((await as(cookie, 'GET', '/account/identity')).json).toEqual({
      linked: true,
      linkedAt: expect.any(String),
    });
    expect(await count('session.create')).toBe(before + 2);
  });

  it('finds a linked user by the subject, and nobody else by the same address', async () => {
    await finish(await proveAt('anna'));
    provider.people.set('anna', { email: 'anna@example.net', isVerified: false });
    const linked = await finish(await proveAt('anna'));
    expect(linked.json.email).toBe(studio.email);
    provider.people.set('bert', { email: studio.email });
    const before = await count('session.refuse');
    const other = await finish(await proveAt('bert'));
    expect(told(other)).toEqual(refused('is linked to another person at Harbour ID'));
    expect(await count('session.refuse')).toBe(before + 1);
    const cookie = cookieOf(linked);
    expect((await as(cookie, 'DELETE', '/account/identity')).status).toBe(204);
    expect((await as(cookie, 'GET', '/account/identity')).json).toEqual({ linked: false });
    expect((await finish(await proveAt('bert'))).status).toBe(201);
  });

  it('works once, in the browser that started it, within ten minutes', async () => {
    const proved = await proveAt('anna');
    const other = await proveAt('anna');
    const elsewhere = refused('started in another browser');
    expect(told(await finish({ ...proved, cookie: other.cookie }))).toEqual(elsewhere);
    expect(told(await as(null, 'POST', '/auth/oidc', { query: proved.query }))).toEqual(elsewhere);
    expect(told(await finish({ ...proved, cookie: `${proved.cookie}A` }))).toEqual(elsewhere);
    const state = new URLSearchParams(proved.query);
    state.set('state', 'another');
    expect(told(await finish({ ...proved, query: String(state) }))).toEqual(elsewhere);
    expect((await finish(proved)).status).toBe(201);
    expect(told(await finish(proved))).toEqual(refused('already used'));
    nowMs += 10 * minute;
    expect(told(await finish(other))).toEqual(elsewhere);
  });

  it('is refused for people who are unknown or whose address nobody verified', async () => {
    const before = await count('session.refuse');
    provider.people.set('carl', { email: 'carl@example.net' });
    expect(told(await finish(await proveAt('carl')))).toEqual(
      refused('No user has the email address carl@example.net. Open the link in your invitation'),
    );
    provider.people.set('dora', { email: studio.email, isVerified: false });
    expect(told(await finish(await proveAt('dora')))).toEqual(refused('does not confirm'));
    expect(await count('session.refuse')).toBe(before + 1);
    expect(told(await finish(await proveAt('nobody')))).toEqual(refused('sent no email address'));
    await server.api.accounts.setStanding(account.accountId, { isSuspended: true });
    expect(told(await finish(await proveAt('anna'))).slice(0, 2)).toEqual([
      ...[403, 'authorization-suspended-account'],
    ]);
    await server.api.accounts.setStanding(account.accountId, { isSuspended: false });
    expect(Number(await singleValue(server.database, 'SELECT count(*) FROM identities'))).toBe(0);
  });

  it('is refused for pages of other sites, and when the person cancels at the provider', async () => {
    const site = { 'sec-fetch-site': 'cross-site' };
    const proved = await proveAt('anna');
    for (const answer of [
      await as(null, 'POST', '/auth/oidc-request', undefined, site),
      await as(proved.cookie, 'POST', '/auth/oidc', { query: proved.query }, site),
    ]) {
      expect(told(answer).slice(0, 2)).toEqual([403, 'authorization-other-site']);
    }
    const parameters = new URLSearchParams(proved.query);
    const canceled = new URLSearchParams({
      error: 'access_denied',
      state: parameters.get('state')!,
      iss: parameters.get('iss')!,
    });
    expect(told(await finish({ ...proved, query: String(canceled) }))).toEqual(refused('You canceled'));
  });

  it('is refused when the answer of the provider is not for this sign-in', async () => {
    const first = await proveAt('anna');
    const second = await proveAt('anna');
    const mixed = new URLSearchParams(second.query);
    mixed.set('code', new URLSearchParams(first.query).get('code')!);
    expect(told(await finish({ ...second, query: String(mixed) }))).toEqual(refused('already used'));
    const foreign = new URLSearchParams(first.query);
    foreign.set('iss', 'https://login.example.net');
    expect(told(await finish({ ...first, query: String(foreign) }))).toEqual(
      refused('could not be verified'),
    );
  });

  it('says so while the provider is down or answers nonsense, and works when it is back', async () => {
    const proved = await proveAt('anna');
    nowMs += 60 * minute;
    for (const answer of [
      (_: unknown, response: { destroy(): void }) => response.destroy(),
      (_: unknown, response: { end(text: string): void }) => response.end('{}'),
      (_: unknown, response: { end(text: string): void }) => response.end('x'.repeat(2 ** 20)),
    ]) {
      provider.answer(answer as never);
      expect(told(await as(null, 'POST', '/auth/oidc-request'))).toEqual([
        ...[503, 'oidc-provider-unavailable', expect.stringContaining('Harbour ID')],
      ]);
    }
    expect((await as(null, 'GET', '/auth/methods')).status).toBe(200);
    expect((await signIn(server, studio)).length).toBeGreaterThan(0);
    expect(told(await finish(proved))).toEqual(refused('more than 10 minutes ago'));
    provider.answer();
    expect((await finish(await proveAt('anna'))).status).toBe(201);
    const late = await proveAt('anna');
    provider.answer((_, response) => response.writeHead(502).end());
    expect(told(await finish(late)).slice(0, 2)).toEqual([503, 'oidc-provider-unavailable']);
  });

  it('asks the provider at most 60 times a minute for one network', async () => {
    const proved = await proveAt('anna');
    const { state, iss } = Object.fromEntries(new URLSearchParams(proved.query));
    const query = String(new URLSearchParams({ error: 'access_denied', state: state!, iss: iss! }));
    for (let n = 0; n < 60; n += 1) expect((await finish({ ...proved, query })).status).toBe(401);
    const limited = await finish(proved);
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
    nowMs += minute;
    expect((await finish(proved)).status).toBe(201);
  });

  it('creates an account for an unknown person where that is allowed', async () => {
    const open = await startApi({ oidc: { ...provider.settings, createAccounts: true } });
    try {
      provider.people.set('emma', { email: 'emma@example.net' });
      const signedIn = await finish(await proveAt('emma', open), open);
      expect(signedIn.json).toMatchObject({
        email: 'emma@example.net',
        role: 'owner',
        environments: ['sandbox'],
        account: { upgraded: false, isOperator: false },
      });
      const again = await finish(await proveAt('emma', open), open);
      expect(again.json.account.accountId).toBe(signedIn.json.account.accountId);
      provider.people.set('fred', { email: 'fred@example.net', isVerified: false });
      expect((await finish(await proveAt('fred', open), open)).status).toBe(401);
    } finally {
      await open.stop();
    }
  });

  it('is not offered by a server without a provider', async () => {
    const plain = await startApi();
    try {
      expect((await as(null, 'GET', '/auth/methods', undefined, {}, plain)).json).toEqual({
        passwordReset: false,
        signedIn: false,
      });
      const begun = await as(null, 'POST', '/auth/oidc-request', undefined, {}, plain);
      expect(told(begun).slice(0, 2)).toEqual([409, 'oidc-not-configured']);
    } finally {
      await plain.stop();
    }
  });
});

describe('an invitation, accepted with an OpenID Connect provider', () => {
  let guests = 0;
  const newEmail = () => {
    guests += 1;
    return `guest-${guests}@example.org`;
  };
  const invite = async (email: string, role = 'editor') => {
    const owner = await signIn(server);
    const { json } = await as(owner, 'POST', '/account/invitations', { email, role });
    return json.url.split('/').at(-1) as string;
  };
  const statusOf = async (token: string) => (await as(null, 'GET', `/invitations/${token}`)).status;

  it('lets a new person in without a password, once', async () => {
    const email = newEmail();
    const token = await invite(email);
    provider.people.set('gina', { email: email.toUpperCase() });
    const [first, second] = [await proveAt('gina'), await proveAt('gina')];
    const both = await Promise.all([accept(first, token), accept(second, token)]);
    const joined = both.find(({ status }) => status === 201)!;
    expect(both.map(({ status }) => status).sort()).not.toEqual([201, 201]);
    expect(joined.json).toMatchObject({ email, role: 'editor', scopes: ['read', 'upload', 'live'] });
    const cookie = cookieOf(joined);
    expect((await as(cookie, 'GET', '/auth/session')).json.email).toBe(email);
    expect((await as(cookie, 'GET', '/account/identity')).json.linked).toBe(true);
    expect(await statusOf(token)).toBe(404);
    const replayed = await accept(first, token);
    expect([replayed.status, replayed.json.type.split('/').at(-1)]).toEqual([
      ...[401, 'authentication-oidc-refused'],
    ]);
    expect((await finish(await proveAt('gina'))).json).toMatchObject({ email, role: 'editor' });
    const actor = await singleValue<string>(
      server.database,
      `SELECT actor_name FROM audit_entries WHERE action = 'invitation.accept' AND actor_name = ?`,
      email,
    );
    expect(actor).toBe(email);
  });

  it('needs the verified address of the invitation, and the browser that started', async () => {
    const email = newEmail();
    const token = await invite(email);
    for (const [login, person] of Object.entries({
      other: { email: 'other@example.net' },
      nameless: {},
    })) {
      provider.people.set(login, person);
      expect(told(await accept(await proveAt(login), token))).toEqual([
        ...[403, 'invitation-of-other-user', expect.stringContaining(`It is for ${email}`)],
      ]);
    }
    // A user with another address is not signed in either.
    expect(told(await accept(await proveAt('anna'), token)).slice(0, 2)).toEqual([
      ...[403, 'invitation-of-other-user'],
    ]);
    provider.people.set('unsure', { email, isVerified: false });
    expect(told(await accept(await proveAt('unsure'), token))).toEqual(refused('does not confirm'));
    provider.people.set('hana', { email });
    const proved = await proveAt('hana');
    const elsewhere = await accept({ ...proved, cookie: (await proveAt('hana')).cookie }, token);
    expect(told(elsewhere)).toEqual(refused('started in another browser'));
    expect(told(await finish(proved))).toEqual(refused('Open the link in your invitation'));
    expect(told(await accept(await proveAt('hana'), 'no-such-token'))).toEqual(
      refused('The invitation was accepted or revoked'),
    );
    expect(await statusOf(token)).toBe(200);
    expect(Number(await singleValue(server.database, 'SELECT count(*) FROM identities'))).toBe(0);
    expect((await accept(await proveAt('hana'), token)).status).toBe(201);
  });

  it('signs a person in who has a user already, and switches to the account', async () => {
    const token = await invite(studio.email, 'viewer');
    const joined = await accept(await proveAt('anna'), token);
    expect([joined.status, joined.json]).toMatchObject([201, { email: studio.email, role: 'viewer' }]);
    expect(joined.json.accounts).toHaveLength(2);
    expect((await as(cookieOf(joined), 'GET', '/auth/session')).json.role).toBe('viewer');
    expect(await statusOf(token)).toBe(404);
  });
});
