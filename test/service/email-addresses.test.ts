import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MailServer, openMailServer } from '../support/mail-server.ts';
import { proveAtProvider, TestOidcProvider } from '../support/oidc-provider.ts';
import { addUser, signIn } from '../support/sign-in.ts';
import { singleValue } from '../support/sql.ts';
import { type ApiReply, startApi, type TestApi } from '../support/start-api.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { waitUntil } from '../support/wait-until.ts';

const password = 'nine boats leave at dawn';
/** Addresses that some databases take for `studio@xn--hfen-loa.example`. */
const lookalikes = [
  's\u00adtudio@häfen.example',
  'studio\u200b@häfen.example',
  'stud\u200dio@häfen.example',
  '\ufeffstudio@häfen.example',
  'ｓtudio@häfen.example',
  'studio@häfen.ｅxample',
  'studio@hä\u00adfen.example',
  'studio@häfen。example',
  'studio@häfen.example.',
  'stud\u0131o@häfen.example',
  'stu\u0001dio@häfen.example',
  'studio\0@häfen.example',
  '"studio"@häfen.example',
];
const spellings = [
  'studio@häfen.example',
  'STUDIO@HÄFEN.EXAMPLE',
  'Studio@ha\u0308fen.example',
  'studio@xn--hfen-loa.example',
  'studio@XN--HFEN-LOA.example',
];

let provider: TestOidcProvider;
let mailServer: MailServer;
let server: TestApi;
let nowMs = Date.now();

beforeAll(async () => {
  provider = await TestOidcProvider.start();
  mailServer = await openMailServer();
  server = await startApi({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
    oidc: { ...provider.settings, createAccounts: true },
    smtp: { host: '127.0.0.1', port: mailServer.port, isSecure: false, from: 'millrace@example.org' },
  });
  const { accountId } = await server.addAccount();
  await addUser(server, accountId, { email: 'studio@häfen.example', password });
});
afterAll(async () => {
  await server?.stop();
  await mailServer?.stop();
  await provider?.stop();
});
beforeEach(() => {
  // The limits of other tests are over.
  nowMs += 61 * 60_000;
});

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  server.call('POST', path, { key: null, body, headers });
const told = ({ status, json }: ApiReply) => [status, json?.name];
const users = () => singleValue<number>(server.database, 'SELECT count(*) FROM users').then(Number);

async function statuses(path: string, count: number, more: object): Promise<number[]> {
  const found: number[] = [];
  for (let attempt = 0; attempt < count; attempt += 1) {
    const email = spellings[attempt % spellings.length];
    found.push((await post(path, { email, ...more })).status);
  }
  return found;
}

describe('spellings of an email address', () => {
  it('belong to one user, who has one limit of wrong passwords', async () => {
    for (const email of spellings) {
      expect((await post('/auth/session', { email, password })).json.email).toBe(
        'studio@xn--hfen-loa.example',
      );
    }
    nowMs += 31 * 24 * 3_600_000;
    const wrong = await statuses('/auth/session', 12, { password: 'wrong' });
    expect(wrong).toEqual([...Array(10).fill(401), 429, 429]);
  });

  it('have one limit of wrong second factors', async () => {
    const cookie = await signIn(server, { email: spellings[0]!, password });
    await enableTwoFactor(server, cookie, { password, atMs: nowMs });
    nowMs += 61 * 60_000;
    const wrong = await statuses('/auth/session', 12, { password, code: '000000' });
    expect(wrong).toEqual([...Array(10).fill(401), 429, 429]);
  });

  it('have one limit of mails, which all go to the same mailbox', async () => {
    expect(await statuses('/auth/password-resets', 7, {})).toEqual([...Array(5).fill(204), 429, 429]);
    await waitUntil(() => mailServer.mails.length === 5);
    expect(new Set(mailServer.mails.flatMap(({ to }) => to))).toEqual(
      // The mail server of tests decodes the domain.
      new Set(['studio@häfen.example']),
    );
  });

  it.each(lookalikes)('do not include %j, which is refused everywhere', async email => {
    const before = [await users(), mailServer.mails.length];
    for (const code of [undefined, '000000']) {
      expect(told(await post('/auth/session', { email, password, code }))).toEqual([400, 'email']);
    }
    expect(told(await post('/auth/password-resets', { email }))).toEqual([400, 'email']);
    const cookie = await signIn(server);
    const invited = await post('/account/invitations', { email, role: 'viewer' }, { cookie });
    expect(told(invited)).toEqual([400, 'email']);
    expect([await users(), mailServer.mails.length]).toEqual(before);
  });

  it.each(lookalikes)('do not include %j of a provider that verified it', async email => {
    const before = await users();
    provider.people.set('mallory', { email });
    const proof = await proveAtProvider(server, 'mallory');
    const { status, json } = await post('/auth/oidc', { query: proof.query }, { cookie: proof.cookie });
    expect([status, json.detail]).toEqual([401, expect.stringContaining('cannot be used here')]);
    expect(await users()).toBe(before);
  });

  it('are one person at a provider', async () => {
    provider.people.set('studio', { email: 'Studio@HÄFEN.example' });
    const proof = await proveAtProvider(server, 'studio');
    const { json } = await post('/auth/oidc', { query: proof.query }, { cookie: proof.cookie });
    expect(json.email).toBe('studio@xn--hfen-loa.example');
  });

  it('are compared byte by byte by the database', async () => {
    const count = (email: string) =>
      singleValue<number>(server.database, 'SELECT count(*) FROM users WHERE email = ?', email).then(Number);
    expect(await count('studio@xn--hfen-loa.example')).toBe(1);
    for (const email of ['STUDIO@xn--hfen-loa.example', 's\u00adtudio@xn--hfen-loa.example']) {
      expect(await count(email)).toBe(0);
    }
  });
});
