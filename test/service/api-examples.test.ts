import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { buildApiDocument, operationsOf } from '../../scripts/api-document.ts';
import { addAudioTracks } from '../support/audio-tracks.ts';
import { formWith, pngImage } from '../support/images.ts';
import { unreachableMailServer } from '../support/mail-server.ts';
import { proveAtProvider, TestOidcProvider } from '../support/oidc-provider.ts';
import { addPasskey, newPasskey, passkeySignIn } from '../support/passkeys.ts';
import { addUser, admin, emailOf, signIn } from '../support/sign-in.ts';
import { sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { beginTwoFactor, codeOf, enableTwoFactor, forgetTwoFactor } from '../support/two-factor.ts';

const operations = operationsOf(await buildApiDocument());
const examples = operations.flatMap(({ method, path, operation }) => {
  const json = operation.requestBody?.content['application/json'];
  if (json === undefined) return [];
  const bodies =
    json.example === undefined
      ? Object.values(json.examples ?? {}).map(({ value }) => value)
      : [json.example];
  const statuses = Object.keys(operation.responses).filter(status => Number(status) < 300);
  return bodies.map((body, index) => ({
    name: `${method} ${path}${index === 0 ? '' : `, example ${index + 1}`}`,
    method,
    path,
    isForSessions: operation.security.some(scheme => Object.keys(scheme).join() === 'session'),
    body: body as Record<string, unknown>,
    statuses,
  }));
});

let server: TestApi;
let provider: TestOidcProvider;
/** One of the examples changes it. */
let { password } = admin;
beforeAll(async () => {
  provider = await TestOidcProvider.start();
  provider.people.set('admin', { email: admin.email });
  server = await startApi({
    oidc: provider.settings,
    smtp: unreachableMailServer,
    videos: { restoreDays: () => 90 },
    captionGeneration: { canTranscribe: true, canSummarize: true },
  });
  await addUser(server, (await server.call('GET', '/account')).json.accountId, team);
});
afterAll(async () => {
  await server?.stop();
  await provider?.stop();
});
afterEach(() => forgetTwoFactor(server));

async function made(path: string, body: object, id: string): Promise<string> {
  const { json } = await server.call('POST', path, { body });
  return json[id];
}

/** Owner whose password no example changes. */
const team = { email: 'team@example.org', password: 'nine boats leave at dawn' };
let guests = 0;

async function newInvitationToken(): Promise<string> {
  guests += 1;
  const headers = { cookie: await signIn(server, team) };
  const body = { email: `guest-${guests}@example.org`, role: 'viewer' };
  const { url } = (await server.call('POST', '/account/invitations', { headers, body })).json;
  return url.split('/').at(-1);
}

/** Creates what has to exist before, by its name in a path or in a body. */
const makers: Readonly<Record<string, () => Promise<string>>> = {
  videoId: () => made('/videos', { title: 'A video' }, 'videoId'),
  liveStreamId: () => made('/live-streams', { name: 'A stream' }, 'liveStreamId'),
  watermarkId: async () =>
    (await server.call('POST', '/watermarks', { body: formWith(['file', pngImage(8, 8), 'a.png']) })).json
      .watermarkId,
  hook: async () => 'publish',
  setting: async () => 'live.reconnectGrace',
  accountId: async () => (await server.call('GET', '/account')).json.accountId,
  userId: async () => {
    const path = `/invitations/${await newInvitationToken()}/accept`;
    await server.call('POST', path, { key: null, body: { password: team.password } });
    const headers = { cookie: await signIn(server, team) };
    return (await server.call('GET', '/account/members?sortOrder=desc', { headers })).json.data[0].userId;
  },
  projectId: async () => {
    const headers = { cookie: await signIn(server, { ...admin, password }) };
    return (await server.call('GET', '/account/projects', { headers })).json.data[0].projectId;
  },
  token: () => newInvitationToken(),
  resetToken: async () => {
    guests += 1;
    const email = `forgetful-${guests}@example.org`;
    await addUser(server, (await server.addAccount()).accountId, { ...team, email });
    const { accounts } = server.api;
    const { userId } = (await accounts.findUser(emailOf(email)))!;
    await accounts.passwordResets.add({ userId, token: email, expiresAtMs: Date.now() + 3_600_000 });
    return email;
  },
  keyPairId: () => made('/account/api-keys', { name: 'A pair' }, 'keyPairId'),
  signingKeyId: () => made('/account/signing-keys', { name: 'A key' }, 'signingKeyId'),
  uploadToken: () => made('/upload-tokens', {}, 'token'),
  playerId: () => made('/players', { name: 'A theme' }, 'playerId'),
  webhookId: () =>
    made('/webhooks', { url: 'https://hooks.example.net', events: ['video.source.recorded'] }, 'webhookId'),
  passkeyId: async () => {
    const cookie = await signIn(server, { ...admin, password });
    return (await addPasskey(server, cookie, { password })).passkeyId;
  },
  summaryId: async () => made('/summaries', { videoId: await makers.videoId!() }, 'summaryId'),
  audioTrackId: async () => '1',
  apiKey: async () => sandboxKey,
  email: async () => admin.email,
  password: async () => password,
  currentPassword: async () => password,
  refreshToken: () => made('/auth/api-key', { apiKey: sandboxKey }, 'refresh_token'),
};

/** Codes of the session's own user, which the examples cannot know, and the cookie from then on. */
const twoFactorCodes: Readonly<
  Record<string, (cookie: string) => Promise<{ code: string; cookie: string }>>
> = {
  'POST /account/two-factor/confirmation': async cookie => {
    const { secret } = await beginTwoFactor(server, cookie, password);
    return { code: codeOf(secret), cookie };
  },
  'POST /account/two-factor/recovery-codes': recoveryCode,
  'DELETE /account/two-factor': recoveryCode,
};
async function recoveryCode(before: string) {
  const { cookie, recoveryCodes } = await enableTwoFactor(server, before, { password });
  return { code: recoveryCodes[0]!, cookie };
}

/** Answers of authenticators, which the examples cannot know. */
const passkeyBodies: Readonly<Record<string, (cookie: string | undefined) => Promise<object>>> = {
  'POST /account/passkeys': cookie => newPasskey(server, cookie!, { password }),
  'POST /auth/passkey': async () => {
    const { authenticator } = await addPasskey(server, await signIn(server, { ...admin, password }), {
      password,
    });
    return passkeySignIn(server, authenticator);
  },
};

/** Further preparation of what a path names. */
const preparations: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  '/discarded/videos/{videoId}': path => server.call('DELETE', path.replace('/discarded', '')),
  '/videos/{videoId}/audio-tracks/{audioTrackId}': path => addAudioTracks(server, path.split('/')[2]!),
  '/videos/{videoId}/captions/{language}': path =>
    server.call('POST', path, { body: formWith(['file', Buffer.from('WEBVTT\n'), 'en.vtt']) }),
};

describe('an example of the API document can be sent as it stands', () => {
  test.each(examples)('$name', async ({ method, path, isForSessions, body, statuses }) => {
    const sent = structuredClone(body);
    for (const name of Object.keys(sent)) {
      if (!/invitations/.test(path) && Object.hasOwn(makers, name)) sent[name] = await makers[name]!();
    }
    let filled = path.replace('{language}', 'en');
    for (const [placeholder, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
      if (name === 'language') continue;
      const make = makers[name];
      if (make === undefined) throw new Error(`say in \`makers\` how a ${name} is made`);
      filled = filled.replace(placeholder, await make());
    }
    await preparations[path]?.(filled);
    const signedIn = isForSessions ? await signIn(server, { ...admin, password }) : undefined;
    if (Object.hasOwn(passkeyBodies, `${method} ${path}`)) {
      Object.assign(sent, await passkeyBodies[`${method} ${path}`]!(signedIn));
    }
    const coded = await twoFactorCodes[`${method} ${path}`]?.(signedIn!);
    if (coded !== undefined) sent.code = coded.code;
    const proved = path === '/auth/oidc' ? await proveAtProvider(server, 'admin') : undefined;
    if (proved !== undefined) sent.query = proved.query;
    const cookie = coded?.cookie ?? proved?.cookie ?? signedIn;
    const headers = cookie === undefined ? undefined : { cookie };
    const answer = await server.call(method, filled, { body: sent, ...(headers && { headers }) });
    if (typeof sent.newPassword === 'string') password = sent.newPassword;
    expect([answer.text, String(answer.status)]).toEqual([expect.any(String), statuses[0]]);
  });
});
