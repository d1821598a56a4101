import { Outbox } from '../../src/events/outbox.store.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { addAudioTracks } from '../support/audio-tracks.ts';
import { formWith, pngImage } from '../support/images.ts';
import { unreachableMailServer } from '../support/mail-server.ts';
import { proveAtProvider, TestOidcProvider } from '../support/oidc-provider.ts';
import { addPasskey, newPasskey, passkeySignIn } from '../support/passkeys.ts';
import { addUser, admin, emailOf, signIn } from '../support/sign-in.ts';
import { runSql } from '../support/sql.ts';
import { sandboxKey, sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';
import { beginTwoFactor, codeOf, enableTwoFactor, forgetTwoFactor } from '../support/two-factor.ts';

/** A request that succeeds. */
export interface WireCall {
  readonly path: string;
  /** Sent as JSON that is said to be plain text, unless it is a form. */
  readonly body?: object;
  /** Cookie of a session, where a key is not enough. */
  readonly cookie?: string;
}

/** An API that has one of everything, and knows a request that succeeds for each of its operations. */
export interface WireApi extends TestApi {
  /** Calls by method and path as in the API document, such as `GET /videos/{videoId}`. */
  readonly calls: Readonly<Record<string, () => WireCall | Promise<WireCall>>>;
  /** Existing ids, by the name in a path. */
  readonly ids: Readonly<Record<string, string>>;
}

const events = ['live-stream.broadcast.started'];
const image = () => formWith(['any name', pngImage(10, 5), 'image.png']);
const texts = () => formWith(['any name', Buffer.from('WEBVTT\n'), 'en.vtt']);
const film = () => formWith(['film.mp4', Buffer.from('bytes of a film'), 'film.mp4']);

/** Starts an API in which {@link WireApi.calls} succeed. */
export async function startWireApi(): Promise<WireApi> {
  let outbox: Outbox | undefined;
  const provider = await TestOidcProvider.start();
  const api = await startApi({
    oidc: provider.settings,
    smtp: unreachableMailServer,
    videos: { restoreDays: () => 90 },
    webhooks: database => {
      outbox = new Outbox(database, silentLogger);
      return outbox.webhooks;
    },
  });
  const made = async (path: string, body: object) => (await api.call('POST', path, { body })).json;
  const newVideo = async () => (await made('/videos', { title: 'Harbour' })).videoId as string;
  const newDiscarded = async () => {
    const videoId = await newVideo();
    await api.call('DELETE', `/videos/${videoId}`);
    return videoId;
  };
  const newStream = async () => (await made('/live-streams', { name: 'Pier cam' })).liveStreamId as string;
  const newToken = async () => (await made('/upload-tokens', { ttl: 3_600 })).token as string;
  const newPlayer = async () => (await made('/players', { name: 'Night' })).playerId as string;
  const newHook = async () =>
    (await made('/webhooks', { url: 'https://hooks.example.net', events })).webhookId as string;
  const newDecidingHook = async () => {
    const path = '/hooks/publish';
    await api.call('PUT', path, { body: { url: 'https://hooks.example.net/publish' } });
    return path;
  };
  const newSummary = async () =>
    (await made('/summaries', { videoId: await newVideo() })).summaryId as string;
  const newPair = async () => (await made('/account/api-keys', { name: 'A pair' })).keyPairId as string;

  const newSigningKey = async () =>
    (await made('/account/signing-keys', { name: 'Website' })).signingKeyId as string;

  let { password } = admin;
  const newCookie = () => signIn(api, { ...admin, password });

  const { videoId } = await made('/videos', {
    title: 'Dawn',
    description: 'Boats',
    tags: ['sea'],
    metadata: [{ key: 'shot', value: '12' }],
  });
  const ids: Record<string, string> = {
    videoId,
    discardedVideoId: await newDiscarded(),
    liveStreamId: await newStream(),
    uploadToken: await newToken(),
    playerId: await newPlayer(),
    watermarkId: (await made('/watermarks', image())).watermarkId,
    webhookId: await newHook(),
    summaryId: await newSummary(),
    keyPairId: await newPair(),
    signingKeyId: await newSigningKey(),
  };
  await addAudioTracks(api, videoId);
  await made(`/videos/${videoId}/captions/en`, texts());
  await made(`/videos/${videoId}/chapters/en`, texts());
  await api.call('PATCH', `/summaries/${ids.summaryId}/source`, { body: { abstract: 'Boats leave.' } });
  await outbox!.append(
    {
      projectId: await sandboxProjectOf(api.database),
      type: 'live-stream.broadcast.started',
      subjectId: ids.liveStreamId!,
      payload: { liveStreamId: ids.liveStreamId! },
    },
    Date.now(),
  );
  const deliveries = `/webhooks/${ids.webhookId}/deliveries`;
  ids.deliveryId = (await api.call('GET', deliveries)).json.data[0].deliveryId;

  const video = `/videos/${videoId}`;
  const stream = `/live-streams/${ids.liveStreamId}`;
  const player = `/players/${ids.playerId}`;
  const source = `/summaries/${ids.summaryId}/source`;
  const pair = `/account/api-keys/${ids.keyPairId}`;
  const at = (path: string, body?: object) => () => (body === undefined ? { path } : { path, body });
  const report = { sat: 1, sid: 's', mid: videoId, pid: 'p', ref: '', ver: '1', eve: [] };
  const oldReport = { emitted_at: '2026-03-04T05:06:07+00:00', events: [] };
  const session = { loaded_at: '2026-03-04T05:06:07+00:00', referrer: '', metadata: [] };

  const signedIn = (path: string) => async () => ({ path, cookie: await newCookie() });

  /** A user of its own, whose sign-in stays as it is for other calls. */
  const careful = { email: 'careful@example.org', password: 'a password of tests' };
  const { accountId } = (await api.api.accounts.findUser(emailOf(admin.email)))!;
  await addUser(api, accountId, careful);
  provider.people.set('careful', { email: careful.email });
  const carefulCookie = async () => {
    await forgetTwoFactor(api);
    await runSql(api.database, 'DELETE FROM passkeys');
    return signIn(api, careful);
  };
  const withTwoFactor = (path: string) => async () => {
    const { cookie, recoveryCodes } = await enableTwoFactor(api, await carefulCookie(), careful);
    return { path, cookie, body: { password: careful.password, code: recoveryCodes[0]! } };
  };

  const passkeyPath = (passkeyId: string) => `/account/passkeys/${passkeyId}`;
  const withPasskey = (pathOf: (passkeyId: string) => string, body?: object) => async () => {
    const cookie = await carefulCookie();
    const { passkeyId } = await addPasskey(api, cookie, careful);
    return { path: pathOf(passkeyId), cookie, ...(body && { body }) };
  };

  // Adds another owner: other calls change the password of the first one, and end all other sessions.
  const team = { email: 'team@example.org', password: 'nine boats leave at dawn' };
  await addUser(api, (await api.call('GET', '/account')).json.accountId, team);
  const ownerCookie = await signIn(api, team);
  const asOwner = (method: string, path: string, body?: object) =>
    api.call(method, path, { key: null, headers: { cookie: ownerCookie }, ...(body && { body }) });
  let guests = 0;
  const newInvitation = async () => {
    guests += 1;
    const email = `guest-${guests}@example.org`;
    return (await asOwner('POST', '/account/invitations', { email, role: 'viewer' })).json;
  };
  const newStranger = async ({ isVerified = true } = {}) => {
    guests += 1;
    const stranger = { email: `stranger-${guests}@example.org`, password: team.password };
    await addUser(api, (await api.addAccount()).accountId, { ...stranger, isVerified });
    return stranger;
  };
  const newResetPath = async () => {
    const { accounts } = api.api;
    const { userId } = (await accounts.findUser(emailOf((await newStranger()).email)))!;
    const token = `token-${userId}`;
    await accounts.passwordResets.add({ userId, token, expiresAtMs: Date.now() + 3_600_000 });
    return `/auth/password-resets/${token}`;
  };
  const newInvitationToken = async () => (await newInvitation()).url.split('/').at(-1) as string;
  const newMember = async () => {
    const path = `/invitations/${await newInvitationToken()}/accept`;
    await api.call('POST', path, { key: null, body: { password: team.password } });
    return (await asOwner('GET', '/account/members?sortOrder=desc')).json.data[0].userId as string;
  };

  const newProject = async () => {
    const { projectId } = (await asOwner('POST', '/account/projects', { name: 'Trailers' })).json;
    return `/account/projects/${projectId}`;
  };

  const calls: WireApi['calls'] = {
    'GET /account/passkeys': withPasskey(() => '/account/passkeys'),
    'POST /account/passkey-options': async () => ({
      path: '/account/passkey-options',
      cookie: await carefulCookie(),
      body: { password: careful.password },
    }),
    'POST /account/passkeys': async () => {
      const cookie = await carefulCookie();
      return { path: '/account/passkeys', cookie, body: await newPasskey(api, cookie, careful) };
    },
    'GET /account/passkeys/{passkeyId}': withPasskey(passkeyPath),
    'PUT /account/passkeys/{passkeyId}': withPasskey(passkeyPath, { name: 'Phone' }),
    'DELETE /account/passkeys/{passkeyId}': withPasskey(passkeyPath),
    'POST /auth/passkey-options': at('/auth/passkey-options'),
    'POST /auth/passkey': async () => {
      const { authenticator } = await addPasskey(api, await carefulCookie(), careful);
      return { path: '/auth/passkey', body: await passkeySignIn(api, authenticator) };
    },
    'GET /account/two-factor': async () => ({ path: '/account/two-factor', cookie: await carefulCookie() }),
    'POST /account/two-factor': async () => ({
      path: '/account/two-factor',
      cookie: await carefulCookie(),
      body: { password: careful.password },
    }),
    'POST /account/two-factor/confirmation': async () => {
      const cookie = await carefulCookie();
      const { secret } = await beginTwoFactor(api, cookie, careful.password);
      return { path: '/account/two-factor/confirmation', cookie, body: { code: codeOf(secret) } };
    },
    'POST /account/two-factor/recovery-codes': withTwoFactor('/account/two-factor/recovery-codes'),
    'DELETE /account/two-factor': withTwoFactor('/account/two-factor'),
    'GET /auth/methods': at('/auth/methods'),
    'POST /auth/oidc-request': at('/auth/oidc-request'),
    'POST /auth/oidc': async () => {
      const { cookie, query } = await proveAtProvider(api, 'careful');
      return { path: '/auth/oidc', cookie, body: { query } };
    },
    'POST /auth/password-resets': () => {
      guests += 1;
      return { path: '/auth/password-resets', body: { email: `guest-${guests}@example.org` } };
    },
    'GET /auth/password-resets/{resetToken}': async () => ({ path: await newResetPath() }),
    'POST /auth/password-resets/{resetToken}/complete': async () => ({
      path: `${await newResetPath()}/complete`,
      body: { password: `another ${team.password}` },
    }),
    'GET /account/identity': signedIn('/account/identity'),
    'DELETE /account/identity': signedIn('/account/identity'),
    'POST /auth/session': () => ({ path: '/auth/session', body: { ...admin, password } }),
    'GET /auth/session': signedIn('/auth/session'),
    'DELETE /auth/session': signedIn('/auth/session'),
    'GET /account/sessions': signedIn('/account/sessions'),
    'DELETE /account/sessions': signedIn('/account/sessions'),
    'DELETE /account/sessions/{sessionId}': async () => {
      const cookie = await newCookie();
      const { json } = await api.call('GET', '/auth/session', { headers: { cookie } });
      return { path: `/account/sessions/${json.sessionId}`, cookie };
    },
    'PUT /account/password': async () => {
      const cookie = await newCookie();
      const currentPassword = password;
      password = `another ${password}`;
      return { path: '/account/password', cookie, body: { currentPassword, newPassword: password } };
    },
    'POST /account/upgrade': signedIn('/account/upgrade'),
    'PATCH /account': async () => ({
      path: '/account',
      cookie: ownerCookie,
      body: { name: 'Harbour' },
    }),
    'PATCH /auth/session': async () => {
      const { accountId } = (await api.call('GET', '/account')).json;
      return { path: '/auth/session', cookie: ownerCookie, body: { accountId } };
    },
    'GET /account/members': () => ({ path: '/account/members', cookie: ownerCookie }),
    'PATCH /account/members/{userId}': async () => ({
      path: `/account/members/${await newMember()}`,
      cookie: ownerCookie,
      body: { role: 'editor' },
    }),
    'DELETE /account/members/{userId}': async () => ({
      path: `/account/members/${await newMember()}`,
      cookie: ownerCookie,
    }),
    'GET /server/settings': () => ({ path: '/server/settings', cookie: ownerCookie }),
    'PATCH /server/settings/{setting}': () => ({
      path: '/server/settings/audit.keepDays',
      cookie: ownerCookie,
      body: { value: null },
    }),
    'GET /server/unverified-users': () => ({ path: '/server/unverified-users', cookie: ownerCookie }),
    'POST /server/unverified-users/{userId}/verify': async () => {
      const { email } = await newStranger({ isVerified: false });
      const { userId } = (await api.api.accounts.findUser(emailOf(email)))!;
      return { path: `/server/unverified-users/${userId}/verify`, cookie: ownerCookie };
    },
    'GET /account/projects': () => ({ path: '/account/projects', cookie: ownerCookie }),
    'POST /account/projects': () => ({
      path: '/account/projects',
      cookie: ownerCookie,
      body: { name: 'Web shop' },
    }),
    'GET /account/projects/{projectId}': async () => ({ path: await newProject(), cookie: ownerCookie }),
    'PATCH /account/projects/{projectId}': async () => ({
      path: await newProject(),
      cookie: ownerCookie,
      body: { name: 'Film festival' },
    }),
    'DELETE /account/projects/{projectId}': async () => ({ path: await newProject(), cookie: ownerCookie }),
    'GET /account/invitations': () => ({ path: '/account/invitations', cookie: ownerCookie }),
    'POST /account/invitations': async () => ({
      path: '/account/invitations',
      cookie: ownerCookie,
      body: { email: 'anna@example.org', role: 'editor' },
    }),
    'DELETE /account/invitations/{invitationId}': async () => ({
      path: `/account/invitations/${(await newInvitation()).invitationId}`,
      cookie: ownerCookie,
    }),
    'GET /invitations/{token}': async () => ({ path: `/invitations/${await newInvitationToken()}` }),
    'POST /invitations/{token}/accept': async () => {
      const stranger = await newStranger();
      const body = { email: stranger.email, role: 'viewer' };
      const { url } = (await asOwner('POST', '/account/invitations', body)).json;
      const path = `/invitations/${url.split('/').at(-1)}/accept`;
      return { path, cookie: await signIn(api, stranger), body: {} };
    },
    'POST /auth/api-key': at('/auth/api-key', { apiKey: sandboxKey }),
    'POST /auth/refresh': async () => ({
      path: '/auth/refresh',
      body: { refreshToken: (await made('/auth/api-key', { apiKey: sandboxKey })).refresh_token },
    }),
    'GET /account': at('/account'),
    'GET /account/audit-log': at('/account/audit-log'),
    'GET /account/retention': at('/account/retention'),
    'PATCH /account/retention': at('/account/retention', { keepVideosDays: 30 }),
    'GET /account/video-defaults': at('/account/video-defaults'),
    'PATCH /account/video-defaults': at('/account/video-defaults', { recordings: false }),
    'GET /account/channel': at('/account/channel'),
    'PATCH /account/channel': at('/account/channel', { name: 'Pier TV' }),
    'POST /account/channel/logo': () => ({ path: '/account/channel/logo', body: image() }),
    'DELETE /account/channel/logo': at('/account/channel/logo'),
    'GET /account/playback-policy': at('/account/playback-policy'),
    'PATCH /account/playback-policy': at('/account/playback-policy', { playbackPolicy: null }),
    'GET /account/signing-keys': at('/account/signing-keys'),
    'POST /account/signing-keys': at('/account/signing-keys', { name: 'Another' }),
    'GET /account/signing-keys/{signingKeyId}': at(`/account/signing-keys/${ids.signingKeyId}`),
    'DELETE /account/signing-keys/{signingKeyId}': async () => ({
      path: `/account/signing-keys/${await newSigningKey()}`,
    }),
    'GET /account/api-keys': at('/account/api-keys'),
    'POST /account/api-keys': at('/account/api-keys', { name: 'Another' }),
    'GET /account/api-keys/{keyPairId}': at(pair),
    'PATCH /account/api-keys/{keyPairId}': at(pair, { name: 'Renamed' }),
    'DELETE /account/api-keys/{keyPairId}': async () => ({ path: `/account/api-keys/${await newPair()}` }),
    'POST /account/api-keys/{keyPairId}/{environment}': at(`${pair}/sandbox`),
    'DELETE /account/api-keys/{keyPairId}/{environment}': async () => ({
      path: `/account/api-keys/${await newPair()}/sandbox`,
    }),
    'GET /live-streams': at('/live-streams'),
    'POST /live-streams': at('/live-streams', { name: 'Mole' }),
    'GET /live-streams/{liveStreamId}': at(stream),
    'PATCH /live-streams/{liveStreamId}': at(stream, { name: 'Pier' }),
    'DELETE /live-streams/{liveStreamId}': async () => ({ path: `/live-streams/${await newStream()}` }),
    'PUT /live-streams/{liveStreamId}/complete': at(`${stream}/complete`),
    'PUT /live-streams/{liveStreamId}/allow-again': at(`${stream}/allow-again`),
    'POST /live-streams/{liveStreamId}/stream-key': at(`${stream}/stream-key`),
    'GET /live-streams/{liveStreamId}/restreams': at(`${stream}/restreams`),
    'GET /live-streams/{liveStreamId}/broadcasts': at(`${stream}/broadcasts`),
    'GET /live-streams/{liveStreamId}/health': at(`${stream}/health`),
    'GET /live-streams/{liveStreamId}/health/history': at(`${stream}/health/history?minutes=60`),
    'GET /live-streams/{liveStreamId}/ingest-log': at(`${stream}/ingest-log`),
    'POST /live-streams/{liveStreamId}/thumbnail': () => ({ path: `${stream}/thumbnail`, body: image() }),
    'DELETE /live-streams/{liveStreamId}/thumbnail': at(`${stream}/thumbnail`),
    'GET /videos': at('/videos'),
    'POST /videos': at('/videos', { title: 'Noon' }),
    'GET /videos/{videoId}': at(video),
    'PATCH /videos/{videoId}': at(video, { title: 'Dawn' }),
    'DELETE /videos/{videoId}': async () => ({ path: `/videos/${await newVideo()}` }),
    'GET /discarded/videos': at('/discarded/videos'),
    'GET /discarded/videos/{videoId}': at(`/discarded/videos/${ids.discardedVideoId}`),
    'PATCH /discarded/videos/{videoId}': async () => ({
      path: `/discarded/videos/${await newDiscarded()}`,
      body: { discarded: false },
    }),
    'POST /videos/{videoId}/retry': async () => {
      const videoId = await newVideo();
      const failed = `INSERT INTO video_sources (video_id, origin, status, started_at_ms) VALUES (?, 'url', 'failed', 1)`;
      await runSql(api.database, failed, videoId);
      return { path: `/videos/${videoId}/retry` };
    },
    'POST /videos/{videoId}/source': async () => ({
      path: `/videos/${await newVideo()}/source`,
      body: film(),
    }),
    'GET /videos/{videoId}/source': async () => {
      const path = `/videos/${await newVideo()}/source`;
      await made(path, film());
      return { path };
    },
    'POST /upload': () => ({ path: `/upload?token=${ids.uploadToken}`, body: film() }),
    'GET /videos/{videoId}/status': at(`${video}/status`),
    'GET /videos/statuses': at(`/videos/statuses?videoIds[]=${ids.videoId}`),
    'GET /upload-tokens': at('/upload-tokens'),
    'POST /upload-tokens': at('/upload-tokens', { ttl: 0 }),
    'GET /upload-tokens/{uploadToken}': at(`/upload-tokens/${ids.uploadToken}`),
    'DELETE /upload-tokens/{uploadToken}': async () => ({ path: `/upload-tokens/${await newToken()}` }),
    'POST /videos/{videoId}/thumbnail': () => ({ path: `${video}/thumbnail`, body: image() }),
    'PATCH /videos/{videoId}/thumbnail': at(`${video}/thumbnail`, { timecode: '00:00:01' }),
    'GET /watermarks': at('/watermarks'),
    'POST /watermarks': () => ({ path: '/watermarks', body: image() }),
    'GET /watermarks/{watermarkId}/image': at(`/watermarks/${ids.watermarkId}/image`),
    'PATCH /watermarks/{watermarkId}': at(`/watermarks/${ids.watermarkId}`, { name: 'Harbour logo' }),
    'DELETE /watermarks/{watermarkId}': async () => ({
      path: `/watermarks/${(await made('/watermarks', image())).watermarkId}`,
    }),
    'GET /hooks': async () => {
      await newDecidingHook();
      return { path: '/hooks' };
    },
    'GET /hooks/{hook}': async () => ({ path: await newDecidingHook() }),
    'PUT /hooks/{hook}': at('/hooks/publish', { url: 'https://hooks.example.net/publish' }),
    'DELETE /hooks/{hook}': async () => ({ path: await newDecidingHook() }),
    'POST /hooks/{hook}/test': async () => ({ path: `${await newDecidingHook()}/test` }),
    'GET /webhooks': at('/webhooks'),
    'POST /webhooks': at('/webhooks', { url: 'http://unreachable.example:1/x', events }),
    'GET /webhooks/{webhookId}': at(`/webhooks/${ids.webhookId}`),
    'PATCH /webhooks/{webhookId}': async () => ({
      path: `/webhooks/${await newHook()}`,
      body: { url: 'https://hooks.example.net/moved', events },
    }),
    'POST /webhooks/check': at('/webhooks/check', { url: 'https://hooks.example.net/in' }),
    'POST /webhooks/{webhookId}/test': at(`/webhooks/${ids.webhookId}/test`),
    'DELETE /webhooks/{webhookId}': async () => ({ path: `/webhooks/${await newHook()}` }),
    'GET /webhooks/{webhookId}/deliveries': at(deliveries),
    'GET /webhooks/{webhookId}/deliveries/{deliveryId}': at(`${deliveries}/${ids.deliveryId}`),
    'POST /webhooks/{webhookId}/deliveries/{deliveryId}/resend': at(`${deliveries}/${ids.deliveryId}/resend`),
    'GET /tags': at('/tags'),
    'GET /summaries': at('/summaries'),
    'POST /summaries': async () => ({ path: '/summaries', body: { videoId: await newVideo() } }),
    'DELETE /summaries/{summaryId}': async () => ({ path: `/summaries/${await newSummary()}` }),
    'GET /summaries/{summaryId}/source': at(source),
    'PATCH /summaries/{summaryId}/source': at(source, { takeaways: ['Early'] }),
    'GET /players': at('/players'),
    'POST /players': at('/players', {}),
    'GET /players/{playerId}': at(player),
    'PATCH /players/{playerId}': at(player, { name: 'Day' }),
    'DELETE /players/{playerId}': async () => ({ path: `/players/${await newPlayer()}` }),
    'POST /players/{playerId}/logo': () => ({ path: `${player}/logo`, body: image() }),
    'DELETE /players/{playerId}/logo': at(`${player}/logo`),
    'POST /watch': at('/watch', report),
    'POST /vod': at('/vod', { ...oldReport, session: { ...session, video_id: videoId } }),
    'POST /live': at('/live', { ...oldReport, session: { ...session, live_stream_id: ids.liveStreamId } }),
    'GET /data/metrics/{metric}/{aggregation}': at('/data/metrics/play/rate'),
    'GET /data/buckets/{metric}/{breakdown}': at('/data/buckets/play/country'),
    'GET /data/timeseries/{metric}': at('/data/timeseries/play'),
    'GET /usage': at('/usage'),
    'GET /server': at('/server'),
    'GET /server/checks': at('/server/checks'),
    'GET /health/checks': at('/health/checks'),
    'GET /health/log': at('/health/log'),
    'GET /health/probe': at('/health/probe'),
    'GET /health/probe/echo': at('/health/probe/echo'),
    'GET /health/probe/stream': at('/health/probe/stream'),
    'GET /openapi.json': at('/openapi.json'),
    'GET /': at('/'),
    'GET /health/live': at('/health/live'),
    'GET /health/ready': at('/health/ready'),
    'GET /docs/errors/{code}': at('/docs/errors/invalid-attribute'),
    ...Object.fromEntries(
      ['captions', 'chapters'].flatMap(kind => [
        [`GET /videos/{videoId}/${kind}`, at(`${video}/${kind}`)],
        [`GET /videos/{videoId}/${kind}/{language}`, at(`${video}/${kind}/en`)],
        [`POST /videos/{videoId}/${kind}/{language}`, () => ({ path: `${video}/${kind}/en`, body: texts() })],
        [
          `DELETE /videos/{videoId}/${kind}/{language}`,
          async () => {
            await made(`${video}/${kind}/fr`, texts());
            return { path: `${video}/${kind}/fr` };
          },
        ],
      ]),
    ),
    'GET /videos/{videoId}/audio-tracks': at(`${video}/audio-tracks`),
    'GET /videos/{videoId}/audio-tracks/{audioTrackId}': at(`${video}/audio-tracks/1`),
    'PATCH /videos/{videoId}/audio-tracks/{audioTrackId}': at(`${video}/audio-tracks/1`, { language: 'fr' }),
    'PATCH /videos/{videoId}/captions/{language}': at(`${video}/captions/en`, { default: true }),
  };
  const stop = () => Promise.all([api.stop(), provider.stop()]).then(() => {});
  return { ...api, stop, calls, ids };
}
