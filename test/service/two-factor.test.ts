import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addressReader, secureReader } from '../../src/http/listener/client-address.ts';
import { AccountAdmin } from '../../src/resources/identity/accounts/account-admin.ts';
import { addUser, emailOf, signIn } from '../support/sign-in.ts';
import { databaseText, runSql } from '../support/sql.ts';
import { type ApiReply, startApi, type TestApi } from '../support/start-api.ts';
import { beginTwoFactor, codeOf, enableTwoFactor, forgetTwoFactor } from '../support/two-factor.ts';

const studio = { email: 'studio@example.org', password: 'nine boats leave at dawn' };
const halfMinute = 30_000;

let server: TestApi;
let nowMs = Date.now();
const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };

beforeAll(async () => {
  server = await startApi({
    clock,
    peers: { addressOf: addressReader(['127.0.0.1']), isSecure: secureReader(['127.0.0.1']) },
  });
  const { accountId } = await server.addAccount();
  await addUser(server, accountId, studio);
});
afterAll(() => server.stop());
beforeEach(async () => {
  // Wrong codes of other tests are forgotten.
  nowMs += 3_600_000;
  await forgetTwoFactor(server);
  await runSql(server.database, 'DELETE FROM sessions');
});

const as = (cookie: string | null, method: string, path: string, body?: object) =>
  server.call(method, path, {
    key: null,
    headers: cookie === null ? {} : { cookie },
    body,
  });
const trySignIn = (body: object) => as(null, 'POST', '/auth/session', body);
const slugOf = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const problemOf = ({ status, json }: ApiReply) => [
  status,
  json?.name,
  json?.detail ?? json?.problems?.[0]?.detail,
];
const cookieOf = (answer: ApiReply) => answer.headers.get('set-cookie')!.split(';')[0]!;
const enable = async (cookie?: string) =>
  enableTwoFactor(server, cookie ?? (await signIn(server, studio)), { ...studio, atMs: nowMs });
const missing = [401, 'authentication-second-factor-required'];
const wrong = [401, 'authentication-wrong-code'];

describe('two-factor sign-in', () => {
  it('is turned on with the password and a code, and then needs a code beside the password', async () => {
    const cookie = await signIn(server, studio);
    const other = await signIn(server, studio);
    expect((await as(cookie, 'GET', '/account/two-factor')).json).toEqual({ enabled: false });

    const refused = await as(cookie, 'POST', '/account/two-factor', { password: 'ten boats' });
    expect(problemOf(refused)).toEqual([400, 'password', 'This password is wrong.']);
    const { secret, uri } = await beginTwoFactor(server, cookie, studio.password);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(Object.fromEntries(new URL(uri).searchParams)).toMatchObject({ secret, issuer: 'Millrace' });
    expect(decodeURIComponent(uri)).toContain(`Millrace:${studio.email}`);
    // A secret that no app has yet must lock nobody out.
    expect((await trySignIn(studio)).status).toBe(201);

    const path = '/account/two-factor/confirmation';
    const late = await as(cookie, 'POST', path, { code: codeOf(secret, nowMs - 3 * halfMinute) });
    expect(problemOf(late)).toEqual([400, 'code', expect.stringContaining('The code is wrong.')]);
    const confirmed = await as(cookie, 'POST', path, { code: codeOf(secret, nowMs) });
    expect(confirmed.status).toBe(201);
    expect(new Set(confirmed.json.recoveryCodes).size).toBe(10);
    const renewed = cookieOf(confirmed);
    expect((await as(renewed, 'GET', '/account/two-factor')).json).toEqual({
      enabled: true,
      enabledAt: expect.any(String),
      recoveryCodesLeft: 10,
    });
    for (const ended of [cookie, other]) expect((await as(ended, 'GET', '/auth/session')).status).toBe(401);

    expect(slugOf(await trySignIn(studio))).toEqual(missing);
    expect(slugOf(await trySignIn({ ...studio, password: 'ten boats' }))).toEqual([
      ...[401, 'authentication-wrong-password'],
    ]);
    expect(slugOf(await as(renewed, 'POST', '/account/two-factor', { password: studio.password }))).toEqual([
      ...[409, 'two-factor-enabled'],
    ]);
    expect(slugOf(await as(renewed, 'POST', path, { code: '123456' }))).toEqual([409, 'two-factor-enabled']);
  });

  it('accepts each code once, and those of clocks that are half a minute wrong', async () => {
    const { secret } = await enable();
    // Repeats the code of the confirmation.
    expect(slugOf(await trySignIn({ ...studio, code: codeOf(secret, nowMs) }))).toEqual(wrong);
    const next = codeOf(secret, nowMs + halfMinute);
    const [one, two] = await Promise.all([next, next].map(code => trySignIn({ ...studio, code })));
    expect([one!.status, two!.status].sort()).toEqual([201, 401]);
    expect(slugOf(await trySignIn({ ...studio, code: codeOf(secret, nowMs + 2 * halfMinute) }))).toEqual(
      wrong,
    );
    nowMs += 3 * halfMinute;
    const spaced = codeOf(secret, nowMs - halfMinute).replace(/^.../, '$& ');
    expect((await trySignIn({ ...studio, code: spaced })).status).toBe(201);
  });

  it('accepts each recovery code once, and new ones replace them', async () => {
    const { cookie, recoveryCodes } = await enable();
    const [first, second, third] = recoveryCodes as [string, string, string];
    expect(await databaseText(server.database)).not.toContain(first);
    expect((await trySignIn({ ...studio, code: first.toUpperCase().replaceAll('-', ' ') })).status).toBe(201);
    expect(slugOf(await trySignIn({ ...studio, code: first }))).toEqual(wrong);
    expect((await as(cookie, 'GET', '/account/two-factor')).json.recoveryCodesLeft).toBe(9);

    const path = '/account/two-factor/recovery-codes';
    const made = await as(cookie, 'POST', path, { password: studio.password, code: second });
    expect(made.status).toBe(201);
    expect(slugOf(await trySignIn({ ...studio, code: third }))).toEqual(wrong);
    expect((await trySignIn({ ...studio, code: made.json.recoveryCodes[9] })).status).toBe(201);
  });

  it('counts wrong codes like wrong passwords, and the password alone forgets none of them', async () => {
    const { cookie, secret } = await enable();
    await runSql(server.database, 'DELETE FROM known_sign_ins');
    for (let n = 0; n < 5; n += 1) {
      expect(slugOf(await trySignIn({ ...studio, code: '000000' }))).toEqual(wrong);
      expect(slugOf(await trySignIn(studio))).toEqual(missing);
      const body = { password: studio.password, code: 'none' };
      expect(problemOf(await as(cookie, 'DELETE', '/account/two-factor', body))).toEqual([
        ...[400, 'code', expect.stringContaining('The code is wrong')],
      ]);
    }
    const right = { ...studio, code: codeOf(secret, nowMs + halfMinute) };
    expect(slugOf(await trySignIn(right))).toEqual([429, 'too-many-requests']);
    nowMs += 15 * 60_000;
    expect((await trySignIn({ ...studio, code: codeOf(secret, nowMs) })).status).toBe(201);
  });

  it('is turned off with the password and a code, which ends other sessions', async () => {
    const { cookie, recoveryCodes } = await enable();
    const other = cookieOf(await trySignIn({ ...studio, code: recoveryCodes[0]! }));
    const body = { password: studio.password, code: recoveryCodes[1]! };
    const refused = await as(cookie, 'DELETE', '/account/two-factor', { ...body, password: 'ten boats' });
    expect(problemOf(refused)).toEqual([400, 'password', 'This password is wrong.']);
    const off = await as(cookie, 'DELETE', '/account/two-factor', body);
    expect(off.status).toBe(204);
    for (const ended of [cookie, other]) expect((await as(ended, 'GET', '/auth/session')).status).toBe(401);
    const renewed = cookieOf(off);
    expect((await as(renewed, 'GET', '/account/two-factor')).json).toEqual({ enabled: false });
    expect(slugOf(await as(renewed, 'DELETE', '/account/two-factor', body))).toEqual([
      ...[409, 'two-factor-not-enabled'],
    ]);
    const nothingBegun = await as(renewed, 'POST', '/account/two-factor/confirmation', { code: '123456' });
    expect(slugOf(nothingBegun)).toEqual([409, 'two-factor-not-enabled']);
    expect((await trySignIn(studio)).status).toBe(201);
  });

  it('is turned off by the operator for a lost device', async () => {
    const { cookie } = await enable();
    const operator = new AccountAdmin(server.database, clock);
    expect(await operator.hasTwoFactor(emailOf('nobody@example.org'))).toBeUndefined();
    expect(await operator.hasTwoFactor(emailOf(studio.email))).toBe(true);
    await operator.disableTwoFactor(emailOf(studio.email));
    expect(await operator.hasTwoFactor(emailOf(studio.email))).toBe(false);
    server.api.accounts.clearCaches();
    expect((await as(cookie, 'GET', '/auth/session')).status).toBe(401);
    expect((await trySignIn(studio)).status).toBe(201);
  });
});
