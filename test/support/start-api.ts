import { randomUUID } from 'node:crypto';
import type { EventFeed } from '../../src/events/feed/event-feed.ts';
import type { WebhookQueue } from '../../src/events/webhooks/webhook-queue.store.ts';
import { secureReader } from '../../src/http/listener/client-address.ts';
import { HttpListener, type HttpListenerOptions } from '../../src/http/listener/http-listener.ts';
import { Jobs } from '../../src/jobs/jobs.ts';
import { Metrics } from '../../src/metrics/metrics.ts';
import type { LiveControl, RestreamControl } from '../../src/resources/live/live-streams/live-control.ts';
import type { RestreamDestination } from '../../src/resources/live/live-streams/live-stream.ts';
import type { Logger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import type { MediaStorage } from '../../src/storage/media-storage.ts';
import type { Database } from '../../src/store/database.ts';
import { createDetachedApi, type DetachedApi, type DetachedApiOptions } from './detached-api.ts';
import { addFirstAccount, insertAccount, productionKey, sandboxKey } from './first-account.ts';
import { keptLog } from './server-logs.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { openTestDatabase } from './test-database.ts';

export { productionKey, sandboxKey };

/** Options that a test may set. */
export interface StartApiOptions
  extends Partial<
      Pick<
        DetachedApiOptions,
        | 'rateLimits'
        | 'quotas'
        | 'maxWrongKeysPerMinute'
        | 'oidc'
        | 'clock'
        | 'peers'
        | 'smtp'
        | 'analytics'
        | 'bodyTimeoutMs'
        | 'ingestHealth'
        | 'webhookSender'
        | 'videos'
        | 'images'
        | 'captionGeneration'
        | 'uploads'
      >
    >,
    Partial<
      Pick<
        HttpListenerOptions,
        'https' | 'beforeKoa' | 'headersTimeoutMs' | 'keepAliveTimeoutMs' | 'perAddress' | 'isProxy'
      >
    > {
  readonly dataDir?: string;
  /** Default: that of the test's project. */
  readonly database?: (dataDir: string) => Promise<Database>;
  /** Default: the data folder. */
  readonly mediaStorage?: (dataDir: string) => Promise<MediaStorage>;
  readonly isUpgraded?: boolean;
  readonly log?: Logger;
  readonly metricsToken?: string;
  readonly faults?: () => string | undefined;
  /** Listener to events; the test stops it. */
  readonly feed?: (database: Database) => EventFeed;
  /** Queue where events wait for webhooks. */
  readonly webhooks?: (database: Database) => WebhookQueue;
}

/** Broadcasts as a test wants them; notes what was asked. */
export class FakeLiveControl implements LiveControl, RestreamControl {
  readonly broadcasting = new Set<string>();
  readonly completed: string[] = [];
  readonly removed: string[] = [];
  /** The last update of each live stream. */
  readonly destinations = new Map<string, readonly RestreamDestination[]>();

  isBroadcasting(liveStreamId: string): boolean {
    return this.broadcasting.has(liveStreamId);
  }

  complete(liveStreamId: string): void {
    this.completed.push(liveStreamId);
    this.broadcasting.delete(liveStreamId);
  }

  update(liveStreamId: string, destinations: readonly RestreamDestination[]): void {
    this.destinations.set(liveStreamId, destinations);
  }

  async remove(liveStreamId: string): Promise<void> {
    this.removed.push(liveStreamId);
    this.broadcasting.delete(liveStreamId);
  }
}

/** An answer with its body read. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly json: any;
}

/** A running API. */
export interface TestApi {
  readonly api: DetachedApi;
  readonly database: Database;
  readonly listener: HttpListener;
  readonly live: FakeLiveControl;
  readonly metrics: Metrics;
  readonly dataDir: string;
  readonly baseUrl: string;
  /** Calls it with the sandbox key, unless `key` says otherwise (null: none). `body` is sent as JSON. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; key?: string | null; headers?: Record<string, string> },
  ): Promise<ApiReply>;
  /** Adds a further account; keys that are not given are made up. */
  addAccount(account?: {
    isUpgraded?: boolean;
    sandboxKey?: string;
    productionKey?: string;
  }): Promise<TestAccount>;
  stop(): Promise<void>;
}

/** A further account, with what opens its two projects. */
export interface TestAccount {
  readonly accountId: string;
  readonly sandboxKey: string;
  readonly productionKey: string;
  readonly projectIds: Readonly<Record<'sandbox' | 'production', string>>;
}

/** `Authorization` for an API key. */
export function basic(key: string): string {
  return `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
}

/** Id of the project that `sandboxKey` opens. */
export async function sandboxProjectOf(database: Database): Promise<string> {
  const { queries } = database;
  const project = await database.first(
    queries
      .selectFrom('projects')
      .select('id')
      .where('environment', '=', 'sandbox')
      .orderBy('created_at_ms')
      .limit(1),
  );
  return project!.id;
}

/** Starts the real API on a free port; its data folder is a new one, removed by `stop`, unless `dataDir` is given. */
export async function startApi(options: StartApiOptions = {}): Promise<TestApi> {
  const dataDir = options.dataDir ?? (await makeTempDir());
  const log = options.log ?? keptLog;
  const database = await (options.database ?? openTestDatabase)(dataDir);
  await addFirstAccount(database, { isUpgraded: options.isUpgraded ?? false });
  const live = new FakeLiveControl();
  const metrics = new Metrics();
  const publicUrl = () => `http://localhost:${listener.httpPort}`;
  const jobs = new Jobs({
    database,
    lanes: { transfer: { maxRunning: 3, maxPerGroup: 2 }, assembly: 2, clips: 2 },
    log,
  });
  const {
    database: _,
    mediaStorage,
    feed,
    webhooks,
    faults = () => undefined,
    metricsToken,
    ...given
  } = options;
  const api = await createDetachedApi({
    rateLimits: { uploads: 6_000, writes: 6_000, reads: 6_000 },
    ...given,
    database,
    dataDir,
    publicUrl,
    live,
    log,
    observer: metrics,
    ...(mediaStorage === undefined ? {} : { storage: await mediaStorage(dataDir) }),
    restreams: {
      update: (liveStreamId, destinations) => live.update(liveStreamId, destinations),
      ofStream: () => undefined,
    },
    health: {
      checks: [{ name: 'test', fault: faults }],
      metrics,
      token: metricsToken === undefined ? undefined : new Secret(metricsToken),
    },
    uploads: { jobs, ...options.uploads },
    feed: feed?.(database),
    ...(webhooks === undefined ? {} : { webhookQueue: webhooks(database) }),
  });
  const listener: HttpListener = new HttpListener({
    host: '127.0.0.1',
    port: 0,
    beforeKoa: [
      ...(options.beforeKoa ?? []),
      (request, response) => api.dashboard.handle(request, response),
      (request, response) => api.docs.handle(request, response),
      (request, response) => api.unknownPages.handle(request, response),
    ],
    upgrades: api.upgrades,
    koa: api.koa,
    docsBase: api.docsBase,
    allowedMethods: api.allowedMethods,
    log,
    https: options.https,
    hsts: { maxAgeSeconds: 3_600, isSecure: options.peers?.isSecure ?? secureReader([]) },
    perAddress: options.perAddress,
    isProxy: options.isProxy,
    headersTimeoutMs: options.headersTimeoutMs,
    keepAliveTimeoutMs: options.keepAliveTimeoutMs,
  });
  for (const kind of api.uploads.jobKinds) jobs.register(kind);
  await jobs.start();
  await api.tokenCleanup.start();
  await listener.start();
  const baseUrl = `http://127.0.0.1:${listener.httpPort}`;
  return {
    api,
    database,
    listener,
    live,
    metrics,
    dataDir,
    baseUrl,
    call: (method, path, request = {}) => call(`${baseUrl}${path}`, method, request),
    addAccount: account => addAccount(database, account),
    async stop() {
      await listener.stop();
      await api.mails?.stop();
      await api.analytics.tracker.stop();
      await api.tokenCleanup.stop();
      await api.serverMonitor.stop();
      await api.traffic.stop();
      await jobs.stop();
      metrics.stop();
      await database.stop();
      if (options.dataDir === undefined) await removeDir(dataDir);
    },
  };
}

async function addAccount(
  database: Database,
  {
    isUpgraded = false,
    sandboxKey: sandbox = `sandbox-${randomUUID()}`,
    productionKey: production = `production-${randomUUID()}`,
  }: { isUpgraded?: boolean; sandboxKey?: string; productionKey?: string } = {},
): Promise<TestAccount> {
  return database.transaction(async transaction => ({
    ...(await insertAccount(database, { isUpgraded, keys: { sandbox, production } }, transaction)),
    sandboxKey: sandbox,
    productionKey: production,
  }));
}

async function call(
  url: string,
  method: string,
  {
    body,
    key = sandboxKey,
    headers = {},
  }: { body?: unknown; key?: string | null; headers?: Record<string, string> },
): Promise<ApiReply> {
  const response = await fetch(url, {
    method,
    headers: { ...(key === null ? {} : { authorization: basic(key) }), ...headers },
    body:
      body === undefined
        ? undefined
        : body instanceof FormData || typeof body === 'string'
          ? body
          : JSON.stringify(body),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type') === 'application/json' && text !== '';
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
