import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addPasskey, newPasskey, originOf, passkeySignIn } from '../support/passkeys.ts';
import { addUser, signIn } from '../support/sign-in.ts';
import { SoftwareAuthenticator } from '../support/software-authenticator.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { type ApiReply, startApi, type TestAccount, type TestApi } from '../support/start-api.ts';
import { codeOf, enableTwoFactor, forgetTwoFactor } from '../support/two-factor.ts';

const studio = { email: 'studio@example.org', password: 'nine boats leave at dawn' };
const minute = 60_000;

let server: TestApi;
let account: TestAccount;
let nowMs = Date.now();
let cookie: string;

beforeAll(async () => {
  server = await startApi({ clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } });
  account = await server.addAccount();
  await addUser(server, account.accountId, studio);
});
afterAll(() => server.stop());
beforeEach(async () => {
  nowMs += 60 * minute;
  await forgetTwoFactor(server);
  await runSql(server.database, 'DELETE FROM passkeys');
  cookie = await signIn(server, studio);
});

const as = (who: string | null, method: string, path: string, body?: object) =>
  server.call(method, path, {
    key: null,
    headers: who === null ? {} : { cookie: who },
    body,
  });
const trySignIn = (body: object) => as(null, 'POST', '/auth/passkey', body);
/** Counts refusals in the audit log. */
const countRefusals = async (): Promise<number> => {
  const headers = { cookie, 'millrace-environment': 'sandbox' };
  const path = '/account/audit-log?action=session.refuse';
  return (await server.call('GET', path, { key: null, headers })).json.pagination.itemsTotal;
};
const slugOf = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const problemOf = ({ status, json }: ApiReply) => [status, json?.name];
const refused = [401, 'authentication-invalid-passkey'];

describe('a passkey', () => {
  it('signs its user in without a password, and without a code', async () => {
    const { cookie: renewed, secret } = await enableTwoFactor(server, cookie, { ...studio, atMs: nowMs });
    const proof = { password: studio.password };
    expect(problemOf(await as(renewed, 'POST', '/account/passkey-options', proof))).toEqual([400, 'code']);
    const code = codeOf(secret, nowMs + 30_000);
    const { authenticator, passkeyId } = await addPasskey(server, renewed, { ...proof, code });
    const signedIn = await trySignIn(await passkeySignIn(server, authenticator));
    expect([signedIn.status, signedIn.json]).toMatchObject([201, { email: studio.email }]);
    const own = signedIn.headers.get('set-cookie')!.split(';')[0]!;
    expect((await as(own, 'GET', '/account/passkeys')).json.data).toEqual([
      { passkeyId, name: 'Laptop', createdAt: expect.any(String), lastUsedAt: expect.any(String) },
    ]);
  });

  it('is asked of authenticators that find its user and verify them, for the host of the public URL', async () => {
    const creation = await as(cookie, 'POST', '/account/passkey-options', { password: studio.password });
    expect(creation.json.publicKey).toMatchObject({
      rp: { id: 'localhost', name: 'Millrace' },
      user: { name: studio.email },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
    const request = await as(null, 'POST', '/auth/passkey-options');
    expect(request.json.publicKey).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
  });

  it('needs the password to be registered, and a challenge of the same session', async () => {
    const wrong = await as(cookie, 'POST', '/account/passkey-options', { password: 'ten boats' });
    expect(problemOf(wrong)).toEqual([400, 'password']);
    const other = await signIn(server, studio);
    const body = await newPasskey(server, cookie, studio);
    expect(problemOf(await as(other, 'POST', '/account/passkeys', body))).toEqual([400, 'credential']);
    expect((await as(cookie, 'POST', '/account/passkeys', body)).status).toBe(201);
    expect(problemOf(await as(cookie, 'POST', '/account/passkeys', body))).toEqual([400, 'credential']);
    const late = await newPasskey(server, cookie, studio);
    nowMs += 5 * minute;
    expect(problemOf(await as(cookie, 'POST', '/account/passkeys', late))).toEqual([400, 'credential']);
  });

  it('answers each challenge once, within five minutes', async () => {
    const { authenticator } = await addPasskey(server, cookie, studio);
    const body = await passkeySignIn(server, authenticator);
    const both = await Promise.all([trySignIn(body), trySignIn(body)]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
    expect(slugOf(await trySignIn(body))).toEqual(refused);
    const late = await passkeySignIn(server, authenticator);
    nowMs += 5 * minute;
    expect(slugOf(await trySignIn(late))).toEqual(refused);
    // A challenge for another purpose, and one that nobody made.
    const { json } = await as(cookie, 'POST', '/account/passkey-options', { password: studio.password });
    for (const challenge of [json.publicKey.challenge, 'AAAA']) {
      const credential = authenticator.get({ challenge, rpId: 'localhost' });
      expect(slugOf(await trySignIn({ credential }))).toEqual(refused);
    }
  });

  it('is refused for another site, without verification of the user, and with an older counter', async () => {
    const { authenticator } = await addPasskey(server, cookie, studio);
    const before = await countRefusals();
    const { json } = await as(null, 'POST', '/auth/passkey-options');
    const elsewhere = authenticator.get({ challenge: json.publicKey.challenge, rpId: 'example.org' });
    expect(slugOf(await trySignIn({ credential: elsewhere }))).toEqual(refused);
    authenticator.flags = 0x01;
    expect(slugOf(await trySignIn(await passkeySignIn(server, authenticator)))).toEqual(refused);
    authenticator.flags = 0x05;
    expect(await countRefusals()).toBe(before + 2);
    expect((await trySignIn(await passkeySignIn(server, authenticator))).status).toBe(201);
    authenticator.counter -= 1;
    expect(slugOf(await trySignIn(await passkeySignIn(server, authenticator)))).toEqual(refused);
    const stranger = new SoftwareAuthenticator(originOf(server));
    expect(slugOf(await trySignIn(await passkeySignIn(server, stranger)))).toEqual(refused);
    await server.api.accounts.setStanding(account.accountId, { isSuspended: true });
    authenticator.counter += 1;
    expect(slugOf(await trySignIn(await passkeySignIn(server, authenticator)))).toEqual([
      ...[403, 'authorization-suspended-account'],
    ]);
    await server.api.accounts.setStanding(account.accountId, { isSuspended: false });
  });

  it('is renamed and deleted by its user only', async () => {
    const { authenticator, passkeyId } = await addPasskey(server, cookie, studio);
    const path = `/account/passkeys/${passkeyId}`;
    const admin = await signIn(server);
    for (const [method, body] of [['GET'], ['PUT', { name: 'Mine' }], ['DELETE']] as const) {
      expect((await as(admin, method, path, body)).status).toBe(404);
    }
    expect((await as(cookie, 'PUT', path, { name: 'Phone' })).json.name).toBe('Phone');
    expect((await as(cookie, 'GET', path)).json.name).toBe('Phone');
    expect((await as(cookie, 'DELETE', path)).status).toBe(204);
    expect(slugOf(await trySignIn(await passkeySignIn(server, authenticator)))).toEqual(refused);
  });

  it('is one of at most twenty', async () => {
    for (let n = 0; n < 20; n += 1) await addPasskey(server, cookie, studio);
    const body = await newPasskey(server, cookie, studio);
    expect(slugOf(await as(cookie, 'POST', '/account/passkeys', body))).toEqual([
      ...[400, 'passkey-limit-reached'],
    ]);
    expect(await singleValue<number>(server.database, 'SELECT count(*) FROM passkeys')).toBe(20);
  });
});
