import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type ApiDocument,
  type DocumentedOperation,
  operationsOf,
  responseAt,
} from '../../scripts/api-document.ts';
import { type HttpReply, HttpTestClient } from '../support/http-test-client.ts';
import { rowsByTable } from '../support/sql.ts';
import { basic, startApi } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  common,
  exampleBody,
  type FilledProject,
  type FilledServer,
  fillPath,
  hearEvents,
  type IdKind,
  jsonOf,
  openNames,
  someFile,
  startFilled,
  type TypedBody,
} from './isolation-fixture.ts';

/** Kinds of ids that a name of a path takes. */
const kindsOf: Readonly<Record<string, readonly IdKind[]>> = {
  videoId: ['videoId', 'emptyVideoId', 'begunVideoId', 'discardedVideoId'],
  liveStreamId: ['liveStreamId'],
  uploadToken: ['uploadToken'],
  watermarkId: ['watermarkId'],
  playerId: ['playerId'],
  webhookId: ['webhookId'],
  deliveryId: ['deliveryId'],
  keyPairId: ['keyPairId'],
  signingKeyId: ['signingKeyId'],
  sessionId: ['sessionId'],
  passkeyId: ['passkeyId'],
  userId: ['userId'],
  invitationId: ['invitationId'],
  summaryId: ['summaryId'],
  projectId: ['projectId'],
};
interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
  /** Names in the path. */
  readonly names: readonly string[];
}

const sandboxes: ReadonlySet<string> = new Set(['owner-one', 'owner-three', 'owner-five']);

/** Keys of production show the audit log of their project, and sessions that of the account. */
function seesAuditOf(reader: FilledProject, owner: FilledProject): boolean {
  if (reader.isInSession) return reader.account === owner.account;
  return reader.pair === owner.pair && !sandboxes.has(reader.name);
}

let server: FilledServer;
let operations: readonly Operation[];
let asker: HttpTestClient;

beforeAll(async () => {
  server = await startFilled();
  asker = new HttpTestClient(server.listener.httpPort);
  const document: ApiDocument = (await server.call('GET', '/openapi.json', { key: null })).json;
  operations = operationsOf(document)
    // Skips links: everyone with the token may see them.
    .filter(({ path }) => !/^\/(?:invitations|auth\/password-resets)\/\{/.test(path))
    // Only the operator has users of all accounts: everybody else is refused, whatever the id.
    .filter(({ path }) => !path.startsWith('/server/'))
    // Skips media, which belongs to nobody's key.
    .filter(({ operation }) =>
      Object.values(operation.responses).some(
        response => responseAt(document, response).headers?.['X-Request-Id'] !== undefined,
      ),
    )
    .map(entry => ({ ...entry, names: [...entry.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name) }));
});
afterAll(async () => {
  asker.stop();
  await server.stop();
});

function ask(method: string, path: string, key: string | null, body?: TypedBody): Promise<HttpReply> {
  const project = server.projects.find(one => one.key === key);
  const headers = {
    ...(key === null || project?.isInSession ? {} : { authorization: basic(key) }),
    ...(project?.isInSession ? project.choice : {}),
    ...(project === undefined ? {} : { cookie: project.cookie }),
    ...(body === undefined ? {} : { 'content-type': body.type }),
  };
  return asker.send({ method, path, headers, body: body?.text });
}

const ask1 = ({ method, operation }: Operation, path: string, { key }: FilledProject) =>
  ask(method, path, key, exampleBody(operation));

/** An id of the same form that nothing ever had. */
const neverWas = (id: string) => `${id.slice(0, -4)}0000`;

/** Ids of `owner` that `reader` may not see. */
function hiddenOf(owner: FilledProject, reader: FilledProject): [IdKind, string][] {
  return (Object.entries(owner.ids) as [IdKind, string][]).filter(([kind]) => {
    if (kind === 'keyPairId') return owner.pair !== reader.pair;
    return !/^(?:project|session|user|invitation|passkey)Id$/.test(kind) || owner.account !== reader.account;
  });
}

/** The further project of an account is compared with the other one of that account. */
function areCompared(one: FilledProject, other: FilledProject): boolean {
  return one.account === other.account || (one.pair < 3 && other.pair < 3);
}

/** Returns all rows, except for those that record the use of keys and sessions, and tokens of addresses. */
function rows(): Promise<Record<string, unknown[]>> {
  return rowsByTable(
    server.database,
    name => !/^(?:api_keys|sessions|private_tokens)$|_(?:data|idx|content|docsize|config)$/.test(name),
  );
}

/** Requests everything that a project can see. */
async function shownTo(project: FilledProject): Promise<Record<string, string>> {
  const shown: Record<string, string> = {};
  for (const { method, path, names } of operations) {
    if (method !== 'GET' || /^\/(?:health|metrics|events|openapi|server)/.test(path)) continue;
    const isOfDiscarded = path.startsWith('/discarded');
    const videoId = isOfDiscarded ? project.ids.discardedVideoId : project.ids.videoId;
    const filled = fillPath(path, { ...project.ids, videoId });
    const { status, text } = await ask('GET', filled, project.key);
    expect([names, filled, status]).toEqual([names, filled, 200]);
    shown[path] = text
      .replaceAll(/(?<=token[/=])[0-9a-f-]{36}/g, '')
      .replaceAll(/"lastUsedAt":"[^"]*",?/g, '')
      // Analytics and usage say when they were asked.
      .replaceAll(/"timeframe":\{[^}]*\}|"date":"[^"]*"/g, '')
      // A time series goes on every hour.
      .replaceAll(/\{"emittedAt":"[^"]*","metricValue":0\},?/g, '');
  }
  return shown;
}

async function expectNothingChanged(work: () => Promise<void>): Promise<void> {
  const before = { rows: await rows(), shown: await Promise.all(server.projects.map(shownTo)) };
  await work();
  expect(await Promise.all(server.projects.map(shownTo))).toEqual(before.shown);
  expect(await rows()).toEqual(before.rows);
}

describe('every endpoint of the API', () => {
  it('has only ids in its path that this test has, too', () => {
    const unknown = operations.flatMap(({ names, path }) =>
      names
        .filter(name => !Object.hasOwn(kindsOf, name) && !Object.hasOwn(openNames, name))
        .map(name => `${path}: ${name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('answers an id of another project as one that never was, and changes nothing', async () => {
    const wrong: string[] = [];
    let asked = 0;
    const walks: { entry: Operation; reader: FilledProject; path: string; unknown: string }[] = [];
    for (const entry of operations) {
      const idNames = entry.names.filter(name => Object.hasOwn(kindsOf, name));
      for (const name of idNames) {
        for (const reader of server.projects) {
          const owners = server.projects.filter(other => areCompared(reader, other));
          const stranger = owners.find(owner => owner !== reader);
          // Nothing looks for ids of another kind: two readers, one with a key and one in a session, try their own and those of one owner.
          const triesOtherKinds = reader === server.projects[0] || reader.isInSession;
          for (const owner of owners) {
            const ids = hiddenOf(owner, reader).filter(([kind]) =>
              kindsOf[name]!.includes(kind)
                ? owner !== reader
                : triesOtherKinds && [reader, stranger].includes(owner),
            );
            for (const [, id] of ids) {
              const plans: Record<string, string>[] = [{ ...reader.ids, [name]: id }];
              if (idNames.length > 1 && owner !== reader) plans.push({ ...owner.ids, [name]: id });
              for (const values of plans) {
                const unknown = Object.fromEntries(
                  Object.entries(values).map(([key, value]) => [
                    key,
                    Object.values(reader.ids).includes(value) && value !== id ? value : neverWas(value),
                  ]),
                );
                walks.push({
                  entry,
                  reader,
                  path: fillPath(entry.path, values),
                  unknown: fillPath(entry.path, unknown),
                });
              }
            }
          }
        }
      }
    }
    const unknownAnswers = new Map<string, Promise<HttpReply>>();
    await expectNothingChanged(() =>
      asker.inParallel(walks, async ({ entry, reader, path, unknown }) => {
        // Ids that never were are all the same to a server: one of a length is enough.
        const key = `${entry.method} ${reader.name} ${entry.path} ${unknown.length}`;
        if (!unknownAnswers.has(key)) unknownAnswers.set(key, ask1(entry, unknown, reader));
        const expected = await unknownAnswers.get(key)!;
        const told = await ask1(entry, path, reader);
        asked += 1;
        if (told.status !== 404 || expected.status !== 404 || told.text !== expected.text) {
          wrong.push(
            `${reader.name}: ${entry.method} ${path} ${told.status} ${told.text}, not ${expected.text}`,
          );
        }
      }),
    );
    expect(wrong).toEqual([]);
    expect(asked).toBeGreaterThan(4_000);
  });

  it('shows nothing of others in what it lists and tells', async () => {
    for (const reader of server.projects) {
      const shown = Object.entries(await shownTo(reader));
      const others = server.projects.filter(other => other !== reader);
      for (const other of others) {
        const texts = [other.name, ...hiddenOf(other, reader).map(([, id]) => id)];
        const isAudit = (path: string) => path === '/account/audit-log' && seesAuditOf(reader, other);
        const visible = shown.filter(([path]) => !isAudit(path));
        const leaks = visible.flatMap(([path, answer]) =>
          texts.filter(text => answer.includes(text)).map(text => [path, text]),
        );
        expect(leaks).toEqual([]);
      }
      for (const id of Object.values(reader.ids)) {
        expect([id, shown.some(([, answer]) => answer.includes(id))]).toEqual([id, true]);
      }
    }
  });
});

/** Queries that find something in each project, and how much. The names of ids stand for the reader's own. */
const findings: readonly (readonly [path: string, query: string, items: number])[] = [
  ['/videos', '', 3],
  ['/videos', 'title=HARB', 3],
  ['/videos', 'title=ha', 3],
  ['/videos', 'description=owner', 3],
  ['/videos', `tags[]=${common.tag}`, 3],
  ['/videos', `tags[]=${common.tag}&title=r&sortBy=title`, 3],
  ['/videos', `metadata[${common.key}]=${common.value}`, 3],
  ['/videos', 'createdFrom=1970-01-01T00:00:00Z&createdTo=2100-01-01T00:00:00Z', 3],
  ['/videos', 'public=false&sourceType=upload', 1],
  ['/videos', 'status=empty', 1],
  ['/discarded/videos', '', 1],
  ['/discarded/videos', 'title=HARB', 1],
  ['/discarded/videos', 'description=owner', 1],
  ['/discarded/videos', `tags[]=${common.tag}`, 1],
  ['/discarded/videos', `metadata[${common.key}]=${common.value}`, 1],
  ['/tags', '', 2],
  ['/tags', `value=${common.tag}`, 1],
  ['/live-streams', 'name=harb', 1],
  ['/live-streams', 'streamKey={streamKey}', 1],
  ['/live-streams', 'liveStreamId={liveStreamId}', 1],
  ['/players', '', 1],
  ['/watermarks', '', 1],
  ['/upload-tokens', '', 1],
  ['/account/signing-keys', '', 1],
  ['/webhooks', '', 1],
  ['/webhooks', 'events=live-stream.broadcast.started', 1],
  ['/webhooks/{webhookId}/deliveries', 'status=succeeded&type=live-stream.broadcast.started', 1],
  ['/summaries', 'origin=api&sourceStatus=completed', 1],
  ['/summaries', 'videoId={videoId}', 1],
  ['/data/buckets/play/media-id', '', 2],
  ['/data/buckets/play-total/media-id', '', 2],
  ['/data/buckets/play/media-id', `filterBy[tag]=${common.tag}`, 1],
  ['/data/buckets/play/media-id', 'filterBy[mediaId][]={videoId}', 1],
  ['/data/buckets/play/referrer', `filterBy[referrer][]=${common.referrer}`, 1],
];
/** Parameters that choose none of the items, or none that is somebody's. */
const harmless = new Set([
  ...['_HLS_msn', '_HLS_part'],
  ...[
    'sortBy',
    'sortOrder',
    'currentPage',
    'pageSize',
    'from',
    'to',
    'unique',
    'viewDuration',
    'interval',
    'minutes',
    'token',
    'environment',
    'project',
  ],
]);

describe('the key pairs of an account', () => {
  it('are shown to the sandbox without their production keys, which it can neither make nor delete', async () => {
    for (const { key, ids, name } of server.projects) {
      const isSandbox = sandboxes.has(name);
      const path = `/account/api-keys/${ids.keyPairId}`;
      for (const { text } of [await ask('GET', '/account/api-keys', key), await ask('GET', path, key)]) {
        expect([name, text.includes('"sandbox":{')]).toEqual([name, true]);
      }
      const { text: listed } = await ask('GET', '/account/api-keys', key);
      expect([name, listed.includes('"production":{')]).toEqual([name, !isSandbox]);
      if (!isSandbox) continue;
      for (const method of ['POST', 'DELETE']) {
        expect([method, (await ask(method, `${path}/production`, key)).status]).toEqual([method, 403]);
      }
    }
  });
});

describe('filters, counts and totals', () => {
  it('find in each project its own', async () => {
    for (const reader of server.projects) {
      const filled = (text: string) => fillPath(text, reader.ids);
      for (const [path, query, items] of findings) {
        const { status, text } = await ask('GET', `${filled(path)}?${filled(query)}`, reader.key);
        expect([path, query, status]).toEqual([path, query, 200]);
        const { data, pagination } = JSON.parse(text);
        expect([path, query, data.length, pagination.itemsTotal]).toEqual([path, query, items, items]);
      }
      const number = async (path: string) =>
        JSON.parse((await ask('GET', `/data/${path}`, reader.key)).text).data;
      expect(await number('metrics/play/count')).toBe(3);
      expect(await number('metrics/play/total')).toBe(3);
      expect(await number(`metrics/play/count?filterBy[tag]=${common.tag}`)).toBe(1);
      expect(await number('metrics/ccv/peak?unique=true')).toBeLessThanOrEqual(3);
      const points: { metricValue: number }[] = await number('timeseries/play?pageSize=100');
      expect(points.reduce((sum, { metricValue }) => sum + metricValue, 0)).toBe(3);
      const tags = JSON.parse((await ask('GET', `/tags?value=${common.tag}`, reader.key)).text);
      expect(tags.data).toEqual([{ value: common.tag, videoCount: 3 }]);
    }
  });

  it('find nothing by what belongs to others', async () => {
    const used = new Set<string>();
    for (const [reader, owner] of pairs()) {
      const { ids, name } = owner;
      const every = hiddenOf(owner, reader).map(([, id]) => id);
      for (const [path, ...queries] of [
        ['/videos', `description=${name}`, `tags[]=${name}`, ...every.map(id => `liveStreamId=${id}`)],
        [
          '/discarded/videos',
          `description=${name}`,
          `tags[]=${name}`,
          ...every.map(id => `liveStreamId=${id}`),
        ],
        ['/videos/statuses', ...every.map(id => `videoIds[]=${id}`)],
        ['/tags', `value=${name}`],
        [
          '/live-streams',
          `streamKey=${ids.streamKey}`,
          `name=${name}`,
          ...every.map(id => `liveStreamId=${id}`),
        ],
        ['/summaries', ...every.map(id => `videoId=${id}`)],
        ...(seesAuditOf(reader, owner)
          ? []
          : [
              [
                '/account/audit-log',
                ...every.map(id => `targetId=${id}`),
                ...every.map(id => `actor=${id}`),
                `action=video.create&targetId=${ids.videoId}`,
              ],
            ]),
        [
          '/data/buckets/play/media-id',
          ...every.map(id => `filterBy[mediaId][]=${id}`),
          `filterBy[tag]=${name}`,
          `filterBy[mediaId][]=${ids.videoId}&filterBy[mediaType]=video`,
        ],
        ['/data/buckets/play-total/media-id', `filterBy[mediaId][]=${ids.videoId}`],
        ['/data/timeseries/play', `filterBy[mediaId][]=${ids.liveStreamId}`],
        ['/data/metrics/play/total', `filterBy[mediaId][]=${ids.videoId}`],
        ['/data/metrics/view/count', `filterBy[mediaId][]=${ids.videoId}&viewDuration=3s`],
      ] as [string, ...string[]][]) {
        for (const query of queries) {
          used.add(query.replace(/[=[].*/, ''));
          const { status, text } = await ask('GET', `${path}?${query}`, reader.key);
          expect([path, query, status]).toEqual([path, query, 200]);
          const { data } = JSON.parse(text) as { data: number | { metricValue?: number }[] };
          const found = typeof data === 'number' ? data : data.filter(item => item.metricValue !== 0).length;
          expect([path, query, found]).toEqual([path, query, 0]);
        }
      }
    }
    for (const [, query] of findings)
      for (const pair of query.split('&')) used.add(pair.replace(/[=[].*/, ''));
    const forgotten = operations
      .filter(({ method, path }) => method === 'GET' && path !== '/events')
      .flatMap(({ operation }) => operation.parameters ?? [])
      .filter(
        ({ in: place, name }) =>
          place === 'query' && !harmless.has(name) && !used.has(name.replace('[]', '')),
      );
    expect(forgotten.map(({ name }) => name)).toEqual([]);
  });
});

/** Bodies that name what is elsewhere. */
const naming: readonly (readonly [
  method: string,
  path: string,
  name: string,
  body: (id: string) => object,
])[] = [
  ['PATCH', '/auth/session', 'accountId', accountId => ({ accountId })],
  ['POST', '/videos', 'playerId', playerId => ({ title: 'a', playerId })],
  ['POST', '/videos', 'source', source => ({ title: 'a', source })],
  ['POST', '/videos', 'watermark.id', id => ({ title: 'a', watermark: { id } })],
  ['PATCH', '/videos/{videoId}', 'playerId', playerId => ({ playerId })],
  ['POST', '/live-streams', 'playerId', playerId => ({ name: 'a', playerId })],
  ['PATCH', '/live-streams/{liveStreamId}', 'playerId', playerId => ({ playerId })],
  ['POST', '/summaries', 'videoId', videoId => ({ videoId })],
];
/** Names that look like ids and are none of ours. */
const elsewhere = new Set([
  'restreams.streamKey',
  'transcriptSummaryAttributes',
  'metadata.key',
  'publicKey',
  // The id is that of a device, not of the server.
  'credential.id',
  'credential.rawId',
]);
/** Addresses outside of the server. */
const pulled = new Set(['/live-streams source', '/live-streams/{liveStreamId} source']);

describe('a body', () => {
  it('that names what belongs to others is refused as if that never was', async () => {
    const wrong: string[] = [];
    const walks = pairs().flatMap(([reader, owner]) =>
      hiddenOf(owner, reader).flatMap(([, id]) => naming.map(name => ({ reader, id, name }))),
    );
    const unknownAnswers = new Map<string, Promise<HttpReply>>();
    await expectNothingChanged(() =>
      asker.inParallel(walks, async ({ reader, id, name: [method, path, field, body] }) => {
        const filled = fillPath(path, reader.ids);
        const key = `${method} ${reader.name} ${path} ${field} ${id.length}`;
        if (!unknownAnswers.has(key))
          unknownAnswers.set(key, ask(method, filled, reader.key, jsonOf(body(neverWas(id)))));
        const expected = await unknownAnswers.get(key)!;
        const told = await ask(method, filled, reader.key, jsonOf(body(id)));
        if (told.status < 400 || told.status !== expected.status || told.text !== expected.text)
          wrong.push(`${reader.name}: ${method} ${filled} ${id} ${told.status} ${told.text}`);
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('has no other field that could', () => {
    const known = new Set(naming.map(([method, path, name]) => `${method} ${path} ${name}`));
    const forgotten = operations.flatMap(({ method, path, operation }) => {
      const schema = operation.requestBody?.content['application/json']?.schema;
      if (schema === undefined || operation.security.length === 0) return [];
      return fieldsOf(schema)
        .filter(
          name =>
            /(?:id|key|source|token)$/i.test(name) && !elsewhere.has(name) && !pulled.has(`${path} ${name}`),
        )
        .map(name => `${method} ${path} ${name}`)
        .filter(line => !known.has(line));
    });
    expect(forgotten).toEqual([]);
  });

  it('of an upload reaches no video but those of the project that its token is of', async () => {
    await expectNothingChanged(async () => {
      for (const [reader, owner] of pairs()) {
        const upload = (token: string, videoId: string) =>
          ask('POST', `/upload?token=${token}`, null, someFile({ videoId }));
        for (const [, id] of hiddenOf(owner, reader)) {
          const told = await upload(reader.ids.uploadToken, id);
          const expected = await upload(reader.ids.uploadToken, neverWas(id));
          expect([id, told.status, told.text]).toEqual([id, 404, expected.text]);
        }
        const other = await upload(owner.ids.uploadToken, reader.ids.emptyVideoId);
        expect(other.status).toBe(404);
      }
    });
  });
});

describe('events', () => {
  it('reach the listeners and the webhooks of their project only', async () => {
    const listeners = await Promise.all(
      server.projects.map(async project => ({
        project,
        ...(await hearEvents(server, project.key, 'lastEventId=0')),
      })),
    );
    try {
      for (const { projectId, ids } of server.projects) {
        const subjectId = ids.liveStreamId;
        const type = 'live-stream.broadcast.started';
        await server.outbox.append(
          { projectId, type, subjectId, payload: { liveStreamId: subjectId } },
          Date.now(),
        );
      }
      const ofEach = (texts: readonly string[] = []) =>
        texts.map(text => JSON.parse(text).liveStreamId).filter(id => id !== undefined);
      for (const { project, heard } of listeners) {
        const twice = [project.ids.liveStreamId, project.ids.liveStreamId];
        await waitUntil(() => ofEach(heard).length >= 2);
        await waitUntil(() => ofEach(server.hooks.get(project.name)).length >= 2);
        expect(ofEach(heard)).toEqual(twice);
        expect(ofEach(server.hooks.get(project.name))).toEqual(twice);
      }
    } finally {
      for (const { socket } of listeners) socket.terminate();
    }
  });

  it('of a subject of another project are not heard', async () => {
    const [reader, owner] = pairs()[0]!;
    const { socket, heard } = await hearEvents(
      server,
      reader.key,
      `lastEventId=0&subjectId=${owner.ids.liveStreamId}`,
    );
    const { projectId, ids } = reader;
    try {
      await waitUntil(() => heard.length > 0);
      const event = { projectId, type: 'live-stream.broadcast.ended', subjectId: ids.liveStreamId };
      await server.outbox.append({ ...event, payload: { liveStreamId: ids.liveStreamId } }, Date.now());
      const own = await hearEvents(server, reader.key, 'lastEventId=0');
      await waitUntil(() => own.heard.some(text => text.includes('broadcast.ended')));
      own.socket.terminate();
      expect(heard.filter(text => text.includes('liveStreamId'))).toEqual([]);
    } finally {
      socket.terminate();
    }
  });
});

describe('a limit', () => {
  it('of requests that one project has used up leaves the others theirs', async () => {
    const limited = await startApi({ isUpgraded: true, rateLimits: { uploads: 3, writes: 3, reads: 3 } });
    try {
      const { sandboxKey: other, productionKey } = await limited.addAccount({ isUpgraded: true });
      const status = async (key?: string) =>
        (await limited.call('GET', '/videos', key === undefined ? {} : { key })).status;
      const own = [await status(), await status(), await status(), await status()];
      expect(own).toEqual([200, 200, 200, 429]);
      expect([await status(other), await status(productionKey)]).toEqual([200, 200]);
    } finally {
      await limited.stop();
    }
  });
});

/** Pairs each project with each other one. */
function pairs(): [reader: FilledProject, owner: FilledProject][] {
  return server.projects.flatMap(reader =>
    server.projects
      .filter(owner => owner !== reader && areCompared(reader, owner))
      .map((owner): [FilledProject, FilledProject] => [reader, owner]),
  );
}

/** Names of all fields of a schema, inner ones after their outer ones and a dot. */
function fieldsOf(schema: object, prefix = ''): string[] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, object>;
    items?: object;
    anyOf?: object[];
  };
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [
      `${prefix}${name}`,
      ...fieldsOf(inner, `${prefix}${name}.`),
    ]),
    ...(items === undefined ? [] : fieldsOf(items, prefix)),
    ...anyOf.flatMap(inner => fieldsOf(inner, prefix)),
  ];
}
