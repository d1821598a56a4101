import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import type { DocumentedOperation } from '../../scripts/api-document.ts';
import { EventFeed } from '../../src/events/feed/event-feed.ts';
import { Outbox } from '../../src/events/outbox.store.ts';
import { WebhookDispatcher } from '../../src/events/webhooks/webhook-dispatcher.ts';
import { WebhookSender } from '../../src/events/webhooks/webhook-sender.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { HostResolver } from '../../src/shared/network/host-resolver.ts';
import { addAudioTracks } from '../support/audio-tracks.ts';
import { formWith, pngImage } from '../support/images.ts';
import { addPasskey } from '../support/passkeys.ts';
import { addUser, admin, type SignInCredentials, signIn } from '../support/sign-in.ts';
import { productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { chunkBytes, fileForm, noise } from './upload-fixture.ts';

/** A project with one of everything. */
export interface FilledProject {
  readonly name: string;
  readonly key: string;
  /** Somebody is signed in to the account with it. */
  readonly cookie: string;
  readonly projectId: string;
  /** Projects of one account share its members and sessions. */
  readonly account: number;
  /** The environments of one project share their key pairs. */
  readonly pair: number;
  /** Headers that choose this environment and project for the session. */
  readonly choice: Readonly<Record<string, string>>;
  /** True when it is used with the session, and not with the key. */
  readonly isInSession: boolean;
  /** Ids by kind: the name that paths give them, or one of the like. */
  readonly ids: Readonly<Record<IdKind, string>>;
}

/** Kinds of ids that a project has. */
export type IdKind =
  | 'videoId'
  | 'emptyVideoId'
  | 'begunVideoId'
  | 'discardedVideoId'
  | 'liveStreamId'
  | 'streamKey'
  | 'uploadToken'
  | 'watermarkId'
  | 'playerId'
  | 'webhookId'
  | 'deliveryId'
  | 'hookId'
  | 'keyPairId'
  | 'signingKeyId'
  | 'sessionId'
  | 'passkeyId'
  | 'userId'
  | 'invitationId'
  | 'summaryId'
  | 'projectId';

/** Six environments of three projects and two accounts, on an API with its feed and its webhooks. */
export interface FilledServer extends TestApi {
  readonly outbox: Outbox;
  readonly projects: readonly FilledProject[];
  /** Webhooks that were sent, by the name of their project. */
  readonly hooks: Map<string, string[]>;
  stop(): Promise<void>;
}

/** The same in all projects, so that every filter and search has something to find in each. */
export const common = {
  title: 'Harbour',
  tag: 'pier',
  key: 'shot',
  value: '12',
  referrer: 'https://a.example/',
};

/** Starts it and fills the projects, each in the same way. */
export async function startFilled(): Promise<FilledServer> {
  let outbox: Outbox | undefined;
  const outboxOf = (database: ConstructorParameters<typeof Outbox>[0]) => {
    outbox ??= new Outbox(database, silentLogger);
    return outbox;
  };
  let feed!: EventFeed;
  const api = await startApi({
    isUpgraded: true,
    videos: { restoreDays: () => 90 },
    rateLimits: { uploads: 0, writes: 0, reads: 0 },
    analytics: { reportsPerMinute: 0 },
    feed: database => {
      feed = new EventFeed({
        outbox: outboxOf(database),
        signals: database.signals,
        broadcasts: () => [],
        projectOfVideo: async () => undefined,
        observer: { clientOpened() {}, clientClosed() {}, sent() {}, dropped() {} },
        clock: systemClock,
        log: silentLogger,
      });
      return feed;
    },
    webhooks: database => outboxOf(database).webhooks,
  });
  const resolver = new HostResolver();
  const dispatcher = new WebhookDispatcher({
    queue: outbox!.webhooks,
    leaderLease: { isLeader: true, on: ({ take }) => take() },
    sender: new WebhookSender({
      allowPrivateTargets: true,
      resolve: hostname => resolver.resolve(hostname),
      timeoutMs: 5_000,
    }),
    version: '0.0.0',
    log: silentLogger,
  });
  await dispatcher.start();
  const hooks = new Map<string, string[]>();
  const receiver = await startReceiver(hooks);
  const other = await api.addAccount({ isUpgraded: true });
  const stranger = { email: 'stranger@example.org', password: 'a password of theirs' };
  await addUser(api, other.accountId, stranger);
  const ofFirst = { account: 1, ...(await signedIn(api, admin)) };
  const ofSecond = { account: 2, ...(await signedIn(api, stranger)) };
  const addition = { headers: { cookie: ofFirst.cookie }, body: { name: 'Further' } };
  await api.call('POST', '/account/projects', addition);
  const [first, further] = await projectsOf(api, ofFirst.cookie);
  const [strangers] = await projectsOf(api, ofSecond.cookie);
  const choice = { 'millrace-environment': 'production', 'millrace-project': further!.projectId };
  const headers = { cookie: ofFirst.cookie, ...choice };
  const { json } = await api.call('POST', '/account/api-keys', { key: null, headers, body: {} });
  const keys = { sandbox: json.sandbox.apiKey, production: json.production.apiKey };
  const plans = [
    { name: 'owner-one', key: sandboxKey, ...environment(first!, 'sandbox'), pair: 1, ...ofFirst },
    { name: 'owner-two', key: productionKey, ...environment(first!, 'production'), pair: 1, ...ofFirst },
    {
      name: 'owner-three',
      key: other.sandboxKey,
      ...environment(strangers!, 'sandbox'),
      pair: 2,
      ...ofSecond,
    },
    {
      name: 'owner-four',
      key: other.productionKey,
      pair: 2,
      ...environment(strangers!, 'production'),
      ...ofSecond,
    },
    { name: 'owner-five', key: keys.sandbox, ...environment(further!, 'sandbox'), pair: 3, ...ofFirst },
    { name: 'owner-six', key: keys.production, ...environment(further!, 'production'), pair: 3, ...ofFirst },
  ].map(plan => ({ ...plan, isInSession: plan.name === 'owner-five' }));
  const projects: FilledProject[] = [];
  for (const plan of plans) {
    const port = (receiver.address() as AddressInfo).port;
    const ids = await fill(api, outbox!, {
      ...plan,
      hookUrl: `http://127.0.0.1:${port}/${plan.name}`,
    });
    projects.push({ ...plan, ids: { ...ids, projectId: plan.choice['millrace-project'] } });
  }
  await api.api.analytics.tracker.flush();
  return {
    ...api,
    outbox: outbox!,
    projects,
    hooks,
    async stop() {
      receiver.closeAllConnections();
      receiver.close();
      await dispatcher.stop();
      await feed.stop();
      await api.stop();
    },
  };
}

interface ListedProject {
  readonly projectId: string;
  readonly environmentIds: Readonly<Record<'sandbox' | 'production', string>>;
}

async function projectsOf(api: TestApi, cookie: string): Promise<ListedProject[]> {
  return (await api.call('GET', '/account/projects?sortBy=createdAt', { headers: { cookie } })).json.data;
}

function environment({ projectId, environmentIds }: ListedProject, name: 'sandbox' | 'production') {
  return {
    projectId: environmentIds[name],
    choice: { 'millrace-environment': name, 'millrace-project': projectId },
  };
}

/** A session to call with, and the id of another one of the same user. */
async function signedIn(api: TestApi, who: SignInCredentials): Promise<AccountIds & { cookie: string }> {
  const headers = { cookie: await signIn(api, who) };
  const { json } = await api.call('GET', '/auth/session', { headers });
  const { passkeyId } = await addPasskey(api, headers.cookie, who);
  const { data } = (await api.call('GET', '/account/members', { headers })).json;
  const body = { email: `guest-of-${who.email}`, role: 'viewer' };
  const invited = await api.call('POST', '/account/invitations', { headers, body });
  return {
    cookie: await signIn(api, who),
    sessionId: json.sessionId,
    passkeyId,
    userId: data[0].userId,
    invitationId: invited.json.invitationId,
  };
}

interface AccountIds {
  readonly sessionId: string;
  readonly passkeyId: string;
  readonly userId: string;
  readonly invitationId: string;
}

async function startReceiver(hooks: Map<string, string[]>): Promise<Server> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const name = (request.url ?? '').slice(1);
    hooks.set(name, [...(hooks.get(name) ?? []), body]);
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}

async function fill(
  api: TestApi,
  outbox: Outbox,
  plan: AccountIds & { name: string; key: string; projectId: string; hookUrl: string },
): Promise<Omit<FilledProject['ids'], 'projectId'>> {
  const { name, key, projectId, sessionId, passkeyId, userId, invitationId, hookUrl } = plan;
  const send = async (method: string, path: string, body?: unknown, headers = {}) => {
    const { status, json, text } = await api.call(method, path, { key, body, headers });
    if (status >= 400) throw new Error(`${method} ${path}: ${text}`);
    return json;
  };
  const picture: Parameters<typeof formWith>[0] = ['file', pngImage(4, 4), `${name}.png`];
  const image = () => formWith(picture);
  const { playerId } = await send('POST', '/players', { name });
  await send('POST', `/players/${playerId}/logo`, formWith(picture, ['link', Buffer.from(name)]));
  const { watermarkId } = await send('POST', '/watermarks', image());
  const video = async (attributes: object = {}): Promise<string> => {
    const { title, tag, key: metadataKey, value } = common;
    const body = { title, description: name, tags: [tag, name], metadata: [{ key: metadataKey, value }] };
    return (await send('POST', '/videos', { ...body, ...attributes })).videoId;
  };
  const videoId = await video({ public: false, playerId, watermark: { id: watermarkId, top: '0px' } });
  await send('POST', `/videos/${videoId}/source`, fileForm(noise(100)));
  await send('POST', `/videos/${videoId}/thumbnail`, image());
  const track = () => formWith(['file', Buffer.from(`WEBVTT\n\nNOTE ${name}\n`), `${name}.vtt`]);
  for (const kind of ['captions', 'chapters']) await send('POST', `/videos/${videoId}/${kind}/en`, track());
  await addAudioTracks(api, videoId, [{ track: 1, name, isDefault: true }]);
  const { summaryId } = await send('POST', '/summaries', { videoId });
  await send('PATCH', `/summaries/${summaryId}/source`, { abstract: name, takeaways: [name] });
  const begunVideoId = await video();
  const range = { 'content-range': 'part 1/2' };
  await send('POST', `/videos/${begunVideoId}/source`, fileForm(noise(chunkBytes)), range);
  const discardedVideoId = await video();
  await send('DELETE', `/videos/${discardedVideoId}`);
  const { liveStreamId, streamKey } = await send('POST', '/live-streams', { name: common.title, playerId });
  await send('POST', `/live-streams/${liveStreamId}/thumbnail`, image());
  const { token } = await send('POST', '/upload-tokens', {});
  const { keyPairId } = await send('POST', '/account/api-keys', { name: 'Of the account' });
  const { signingKeyId } = await send('POST', '/account/signing-keys', { name });
  const { hookId } = await send('PUT', '/hooks/publish', { url: hookUrl });
  const { webhookId } = await send('POST', '/webhooks', {
    url: hookUrl,
    events: ['live-stream.broadcast.started'],
  });
  const event = { projectId, type: 'live-stream.broadcast.started', subjectId: liveStreamId };
  await outbox.append({ ...event, payload: { liveStreamId } }, Date.now());
  const deliveryId = await waitUntil(async () => {
    const { data } = await send('GET', `/webhooks/${webhookId}/deliveries?status=succeeded`);
    return data[0]?.deliveryId as string | undefined;
  });
  await watch(api, videoId, 1);
  await watch(api, liveStreamId, 2);
  return {
    videoId,
    begunVideoId,
    discardedVideoId,
    emptyVideoId: await video(),
    liveStreamId,
    streamKey,
    uploadToken: token,
    watermarkId,
    playerId,
    webhookId,
    deliveryId,
    hookId,
    keyPairId,
    signingKeyId,
    summaryId,
    sessionId,
    passkeyId,
    userId,
    invitationId,
  };
}

/** Reports that so many players began to play. */
async function watch(api: TestApi, mid: string, players: number): Promise<void> {
  for (let player = 0; player < players; player += 1) {
    const eat = Date.now();
    const eve = [1, 2, 4].map(typ => ({ eat, typ, vti: 0 }));
    const body = { sat: eat, mid, pid: `${mid}-${player}`, ref: common.referrer, eve };
    await api.call('POST', '/watch', { key: null, body });
  }
}

/** Listens to the events of a project, from the oldest on; what it heard grows. */
export async function hearEvents(
  server: FilledServer,
  key: string,
  query: string,
): Promise<{ heard: string[]; socket: WebSocket }> {
  const headers = { authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` };
  const socket = new WebSocket(`${server.baseUrl}/events?${query}`, { headers });
  const heard: string[] = [];
  socket.on('message', data => heard.push(String(data)));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return { heard, socket };
}

const boundary = 'boundary-of-this-test';

/** A body with its content type. */
export interface TypedBody {
  readonly text: string;
  readonly type: string;
}

export const jsonOf = (body: unknown): TypedBody => ({
  text: JSON.stringify(body),
  type: 'application/json',
});

/** A form with a file that is none of a known format. */
export function someFile(fields: Readonly<Record<string, string>> = {}): TypedBody {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nsome bytes\r\n--${boundary}--\r\n`;
  return { text: parts.join('') + file, type: `multipart/form-data; boundary=${boundary}` };
}

/** A body that the operation accepts. */
export function exampleBody({ requestBody }: DocumentedOperation): TypedBody | undefined {
  if (requestBody === undefined) return undefined;
  const content = requestBody.content['application/json'];
  if (content === undefined) return someFile();
  return jsonOf(content.example ?? Object.values(content.examples ?? {})[0]?.value);
}

/** Names of paths that belong to nobody. */
export const openNames: Readonly<Record<string, string>> = {
  language: 'en',
  audioTrackId: '1',
  environment: 'sandbox',
  metric: 'play',
  aggregation: 'count',
  breakdown: 'media-id',
  code: 'invalid-attribute',
  hook: 'publish',
};

export function fillPath(path: string, values: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? openNames[name] ?? '');
}
