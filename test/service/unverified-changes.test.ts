import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountAdmin } from '../../src/resources/identity/accounts/account-admin.ts';
import { UnverifiedChangesStore } from '../../src/resources/identity/accounts/unverified-changes.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import type { EmailAddress } from '../../src/shared/email-address.ts';
import { formWith, pngImage } from '../support/images.ts';
import { addUser, emailOf, signIn } from '../support/sign-in.ts';
import { rowsByTable, rowsOf, runSql } from '../support/sql.ts';
import { type ApiReply, startApi, type TestApi } from '../support/start-api.ts';

/**
 * Columns that grant access or name an address, of each table, by what the first proof of an email address does to them: `user` ends
 * with the user's credentials, `changes` with what the user set up, and with everything of an account that no verified user has
 * owned. Others say why they stay. A new column of this kind is added by hand, after asking that question.
 */
const decisions: Readonly<Record<string, string>> = {
  'users.password_hash': 'user',
  'sessions.secret_hash': 'user',
  'passkeys.public_key': 'user',
  'recovery_codes.code_hash': 'user',
  'two_factor.secret': 'user',
  'password_resets.token_hash': 'user',
  'identities.subject': 'user',
  'api_keys.key_hash': 'user',
  'access_tokens.token_hash': 'user, with the API key',
  'refresh_tokens.token_hash': 'user, with the API key',
  'signing_keys.public_key': 'changes',
  'upload_tokens.token': 'changes',
  'invitations.token_hash': 'changes',
  'invitations.mail_token_hash': 'changes',
  'webhooks.url': 'changes',
  'webhooks.signature_secret': 'changes',
  'hooks.url': 'changes',
  'hooks.signature_secret': 'changes',
  'live_streams.stream_key': 'changes',
  'live_streams.restreams': 'changes',
  'live_streams.source_url': 'changes',
  'players.link': 'changes',
  'secrets.bytes': 'of the server',
  'used_challenges.challenge_hash': 'used already',
  'sign_in_attempts.key_hash': 'a limit',
  'known_sign_ins.key_hash': 'a limit, of an address and a network whose password is void',
  'private_sessions.token_hash': 'of a viewer, until the token expires',
  'private_sessions.client_hash': 'of a viewer, until the token expires',
  'sessions.address': 'where a session came from',
  'audit_entries.address': 'where a request came from',
  'broadcasts.remote_address': 'where a publisher came from',
  'hook_results.remote_address': 'where a publisher came from',
  'video_sources.address': 'of a finished or failed import',
  'video_sources.upload_token': 'the token of an upload; the token itself ends',
  'nodes.url': 'of a server',
  'nodes.media_url': 'of a server',
};
const isAccess =
  /secret|token|public_key|stream_key|_hash$|(?:^|_)url$|(?:^|_)link$|address|restreams|subject$/;

const password = 'nine boats leave at dawn';

let server: TestApi;
let people = 0;

beforeAll(async () => {
  server = await startApi();
});
afterAll(async () => {
  await server.stop();
});

type Call = (method: string, path: string, body?: unknown) => Promise<ApiReply>;

const withSession =
  (cookie: string): Call =>
  (method, path, body) =>
    server.call(method, path, {
      key: null,
      body,
      headers: { cookie, 'millrace-environment': 'sandbox' },
    });
const withKey =
  (key: string): Call =>
  (method, path, body) =>
    server.call(method, path, { key, body });
const told = ({ status, json }: ApiReply) => [status, json?.type?.split('/').at(-1)];
const admin = () => new AccountAdmin(server.database, systemClock, server.api.accounts);

async function done(reply: Promise<ApiReply>) {
  const { status, json, text } = await reply;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return json;
}

async function addOwner(accountId: string, isVerified: boolean) {
  people += 1;
  const email = emailOf(`owner-${people}@corp.example`);
  await addUser(server, accountId, { email, password, isVerified });
  const [user] = await rowsOf<{ id: string }>(
    ...([server.database, 'SELECT id FROM users WHERE email = ?', email] as const),
  );
  return { email, userId: user!.id, call: withSession(await signIn(server, { email, password })) };
}

/** Sets up one of everything that grants access or sends data elsewhere, except API keys. */
async function setUp(call: Call) {
  const destination = { name: 'x', serverUrl: 'rtmp://mirror.example.net/app', streamKey: 'k' };
  const source = { url: 'rtmp://camera.example.net/app/s' };
  const hook = { url: 'https://hooks.example.net' };
  const signingKey = await done(call('POST', '/account/signing-keys', { name: 'x' }));
  const token = await done(call('POST', '/upload-tokens', {}));
  const webhook = await done(call('POST', '/webhooks', { ...hook, events: ['video.source.recorded'] }));
  const { hookId } = await done(call('PUT', '/hooks/play', hook));
  const stream = await done(call('POST', '/live-streams', { name: 'x', restreams: [destination], source }));
  const { playerId } = await done(call('POST', '/players', {}));
  const logo = formWith(
    ['file', pngImage(100, 50), 'logo.png'],
    ['link', Buffer.from('https://elsewhere.example')],
  );
  await done(call('POST', `/players/${playerId}/logo`, logo));
  return { signingKey, token, webhook, hookId, stream, playerId };
}

/** Names what still works. */
async function left({
  signingKey,
  token,
  webhook,
  hookId,
  stream,
  playerId,
}: Awaited<ReturnType<typeof setUp>>) {
  const tables = await rowsByTable(server.database, () => true);
  const row = (table: string, value: string, column = 'id') =>
    tables[table]!.find(one => one[column] === value);
  const { stream_key, restreams, source_url } = row('live_streams', stream.liveStreamId)!;
  const found = {
    signingKey: row('signing_keys', signingKey.signingKeyId),
    token: row('upload_tokens', token.token, 'token'),
    webhook: row('webhooks', webhook.webhookId),
    hook: row('hooks', hookId),
    streamKey: stream_key === stream.streamKey || undefined,
    restreams: restreams !== '[]' || undefined,
    source: source_url ?? undefined,
    link: row('players', playerId)!.link ?? undefined,
  };
  return Object.entries(found).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

const everything = ['signingKey', 'token', 'webhook', 'hook', 'streamKey', 'restreams', 'source', 'link'];
const countsOfOne = {
  signingKeys: 1,
  uploadTokens: 1,
  webhooks: 1,
  hooks: 1,
  streamKeys: 1,
  destinations: 2,
};

it('every column that grants access or names an address has a decision', async () => {
  const columns = await columnNames();
  expect(columns.filter(name => isAccess.test(name.split('.')[1]!) && decisions[name] === undefined)).toEqual(
    [],
  );
  expect(Object.keys(decisions).filter(name => !columns.includes(name))).toEqual([]);
});

async function columnNames(): Promise<string[]> {
  if (server.database.dialect === 'postgres') {
    const text = `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
      WHERE table_schema = current_schema()`;
    return (await rowsOf<{ name: string }>(server.database, text)).map(({ name }) => name);
  }
  const text = `SELECT t.name || '.' || c.name AS name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
    WHERE t.type = 'table'`;
  return (await rowsOf<{ name: string }>(server.database, text)).map(({ name }) => name);
}

describe('the first proof of an address', () => {
  it('ends what the user and their API keys set up, and leaves what others did', async () => {
    const { accountId } = await server.addAccount();
    const founder = await addOwner(accountId, true);
    const kept = await setUp(founder.call);
    await done(founder.call('DELETE', '/hooks/play'));
    const person = await addOwner(accountId, false);
    const mine = await setUp(person.call);
    const first = await done(person.call('POST', '/account/api-keys', {}));
    const { invitationId } = await done(
      founder.call('POST', '/account/invitations', { email: 'accomplice@corp.example', role: 'owner' }),
    );
    // Restores the state from before unverified users were unable to invite.
    await runSql(
      server.database,
      "INSERT INTO unverified_changes (user_id, kind, target_id) VALUES (?, 'invitation', ?)",
      ...([person.userId, invitationId] as const),
    );
    // Keys that were created with keys.
    const second = await done(withKey(first.sandbox.apiKey)('POST', '/account/api-keys', {}));
    const call = withKey(second.sandbox.apiKey);
    const byKey = await done(
      call('POST', '/webhooks', { url: 'https://hooks.example.net/2', events: ['video.source.recorded'] }),
    );
    // Changes of what others set up.
    const { webhookId } = await done(
      founder.call('POST', '/webhooks', {
        url: 'https://hooks.example.net/3',
        events: ['video.source.recorded'],
      }),
    );
    await done(person.call('PATCH', `/webhooks/${webhookId}`, { url: 'https://elsewhere.example' }));
    const regenerated = await done(founder.call('POST', '/live-streams', { name: 'y' }));
    const path = `/live-streams/${regenerated.liveStreamId}`;
    const { streamKey } = await done(person.call('POST', `${path}/stream-key`));
    expect(await left(mine)).toEqual(everything);

    const { removed } = (await admin().verify(person.email)) as { removed: object };
    expect(removed).toMatchObject({
      ...countsOfOne,
      webhooks: 3,
      streamKeys: 2,
      apiKeys: 2,
      invitations: 1,
      members: 0,
    });
    expect(await left(mine)).toEqual([]);
    expect(await left(kept)).toEqual(everything.filter(name => name !== 'hook'));
    for (const id of [webhookId, byKey.webhookId]) {
      expect((await founder.call('GET', `/webhooks/${id}`)).status).toBe(404);
    }
    expect((await done(founder.call('GET', path))).streamKey).not.toBe(streamKey);
    for (const pair of [first, second]) {
      expect((await withKey(pair.sandbox.apiKey)('GET', '/videos')).status).toBe(401);
    }
    expect((await done(founder.call('GET', '/account/invitations'))).data).toEqual([]);
    const again = await signInAgain(person.email);
    const later = await setUp(again);
    await admin().setPassword(person.email, { keepsPasskeys: false });
    expect(await left(later)).toEqual(everything);
  });

  it('leaves nobody in the account whom the user let in', async () => {
    const { accountId } = await server.addAccount();
    await addOwner(accountId, true);
    const other = await addOwner(accountId, true);
    const person = await addOwner(accountId, false);
    const refused = [403, 'email-unverified'];
    const accomplice = { email: 'accomplice@corp.example', role: 'owner' };
    expect(told(await person.call('POST', '/account/invitations', accomplice))).toEqual(refused);
    const path = `/account/members/${other.userId}`;
    expect(told(await person.call('PATCH', path, { role: 'viewer' }))).toEqual(refused);
    expect(told(await person.call('DELETE', path))).toEqual(refused);
    await admin().verify(person.email);
    const again = await signInAgain(person.email);
    await done(again('PATCH', path, { role: 'viewer' }));
    await done(again('POST', '/account/invitations', accomplice));
  });

  it('ends all access to an account that no verified user has owned, and memberships in it', async () => {
    const { accountId, sandboxKey } = await server.addAccount();
    const founder = await addOwner(accountId, true);
    const prepared = await setUp(founder.call);
    const person = await addOwner(accountId, false);
    const other = await addOwner(accountId, true);
    await done(other.call('PATCH', `/account/members/${other.userId}`, { role: 'editor' }));
    // Restores the state from before an account had to keep a verified owner.
    await runSql(server.database, 'DELETE FROM members WHERE user_id = ?', founder.userId);
    await runSql(server.database, 'UPDATE accounts SET is_unclaimed = 1 WHERE id = ?', accountId);
    const { removed } = (await admin().verify(person.email)) as { removed: object };
    expect(removed).toMatchObject({ ...countsOfOne, members: 1, apiKeys: 2, unknownApiKeys: 0 });
    expect(await left(prepared)).toEqual([]);
    expect((await withKey(sandboxKey)('GET', '/videos')).status).toBe(401);
    expect((await other.call('GET', '/videos')).status).toBe(401);
    const call = await signInAgain(person.email);
    const later = await setUp(call);
    // The account is claimed now.
    await runSql(server.database, 'UPDATE users SET verified_at_ms = NULL WHERE id = ?', person.userId);
    await admin().verify(person.email);
    expect(await left(later)).toEqual(everything);
  });

  it('tells owners of keys of which nobody knows who created them', async () => {
    const { accountId, sandboxKey } = await server.addAccount();
    await addOwner(accountId, true);
    const person = await addOwner(accountId, false);
    const { removed } = (await admin().verify(person.email)) as { removed: object };
    expect(removed).toMatchObject({ apiKeys: 0, unknownApiKeys: 2 });
    expect((await withKey(sandboxKey)('GET', '/videos')).status).toBe(200);
  });

  it('undoes a change whose request was under way', async () => {
    const { accountId } = await server.addAccount();
    await addOwner(accountId, true);
    const person = await addOwner(accountId, false);
    const { webhookId } = await done(
      person.call('POST', '/webhooks', {
        url: 'https://hooks.example.net',
        events: ['video.source.recorded'],
      }),
    );
    // Simulates a request that ended after the proof.
    await runSql(server.database, 'DELETE FROM unverified_changes WHERE user_id = ?', person.userId);
    await admin().verify(person.email);
    const store = new UnverifiedChangesStore(server.database);
    expect(await store.add(person.userId, { kind: 'webhook', targetId: webhookId })).toBe(false);
    expect(await rowsOf(server.database, 'SELECT id FROM webhooks WHERE id = ?', webhookId)).toEqual([]);
  });
});

async function signInAgain(email: EmailAddress): Promise<Call> {
  const set = await admin().setPassword(email, { keepsPasskeys: false });
  return withSession(await signIn(server, { email, password: set!.password.reveal() }));
}

it('an account keeps a verified owner', async () => {
  const { accountId } = await server.addAccount();
  const founder = await addOwner(accountId, true);
  const person = await addOwner(accountId, false);
  const path = `/account/members/${founder.userId}`;
  for (const [call, method, body] of [
    [founder.call, 'DELETE', undefined],
    [founder.call, 'PATCH', { role: 'viewer' }],
  ] as const) {
    expect(told(await call(method, path, body))).toEqual([409, 'last-owner']);
  }
  await admin().verify(person.email);
  expect((await founder.call('DELETE', path)).status).toBe(204);
});
