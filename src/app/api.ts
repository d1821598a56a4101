import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type Koa from 'koa';
import { DashboardPages } from '../delivery/pages/dashboard-pages.ts';
import { UnknownPages } from '../delivery/pages/unknown-pages.ts';
import { deliveryNames, deliveryPaths } from '../delivery/paths/delivery-paths.ts';
import { SignedTokens } from '../delivery/signed-tokens.ts';
import { apiDocument, apiDocumentRoute } from '../docs/openapi/api-document.ts';
import { DocsPages } from '../docs/pages/docs-pages.ts';
import type { UpgradeHandler } from '../http/listener/upgrade-handler.ts';
import type { JsonObject } from '../http/openapi/openapi-schemas.ts';
import { pageMethods } from '../http/responses/page-responses.ts';
import { createKoaApp } from '../http/routing/koa-app.ts';
import { Checks } from '../operations/checks/checks.ts';
import { probeUpgrade } from '../operations/checks/probe.routes.ts';
import { serverChecks } from '../operations/checks/server-checks.ts';
import { ServerMonitor } from '../operations/server-state/server-monitor.ts';
import { ServerStateStore } from '../operations/server-state/server-state.store.ts';
import { StorageMeterStore } from '../operations/usage/storage-meter.store.ts';
import { StorageMeter } from '../operations/usage/storage-meter.ts';
import { TrafficStore } from '../operations/usage/traffic.store.ts';
import { Traffic } from '../operations/usage/traffic.ts';
import { type Analytics, createAnalytics } from '../resources/analytics/create-analytics.ts';
import { eventFeedUpgrade } from '../resources/integrations/events/event-feed-upgrade.ts';
import { WebhooksService } from '../resources/integrations/webhooks/webhooks.service.ts';
import { WebhooksStore } from '../resources/integrations/webhooks/webhooks.store.ts';
import { LiveStreamsService } from '../resources/live/live-streams/live-streams.service.ts';
import { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import { LiveThumbnailFiles } from '../resources/live/live-streams/live-thumbnail-files.ts';
import { SigningKeysStore } from '../resources/playback/signing-keys/signing-keys.store.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import { PeriodicTasks } from '../shared/scheduling/periodic-tasks.ts';
import type { ApiOptions, ApiServices } from './api-options.ts';
import { apiRoutes } from './api-routes.ts';

export interface Api {
  readonly koa: Koa;
  readonly liveStreams: LiveStreamsService;
  readonly analytics: Analytics;
  readonly signedTokens: SignedTokens;
  readonly traffic: Traffic;
  readonly storageMeter: PeriodicTasks;
  readonly serverMonitor: ServerMonitor;
  readonly checks: Checks;
  readonly upgrades: readonly UpgradeHandler[];
  /** Base of the `type` of errors, for responses that Koa does not send. */
  readonly docsBase: () => string;
  /** Undefined for paths outside the API, the documentation and the dashboard. */
  readonly allowedMethods: (path: string) => string | undefined;
  readonly docs: DocsPages;
  readonly dashboard: DashboardPages;
  readonly unknownPages: UnknownPages;
  readonly document: () => JsonObject;
}

const storageIntervalMs = 5_000;

/** @throws AppError `data-dir-unusable` when the folder for uploads cannot be created */
export function createApi(options: ApiOptions): Api {
  const { access, publicUrl, version, clock } = options;
  const log = options.log;
  const docsBase = () => `${publicUrl()}/docs/errors`;
  const services = createApiServices(options);
  const description = { version, publicUrl, docsBase, paths: deliveryPaths, pathNames: deliveryNames };
  const routes = apiRoutes(options, services);
  routes.push(apiDocumentRoute(routes, description));
  const koa = createKoaApp({
    routes,
    authenticate: access.authenticate,
    authenticateSession: (request, setHeader) => access.sessions.gate.sessionOf(request, setHeader),
    authenticateUpload: token => options.videoServices.uploadTokens.authenticate(token),
    followAccess: (accountId, changed) => access.watch.follow(accountId, changed),
    recordChange: change => access.recordChange(change),
    inTransaction: work => options.database.sharedTransaction(work),
    limiter: access.limiter,
    docsBase,
    uploadDir: emptyFolder(join(options.dataDir, 'incoming')),
    requireFreeSpace: bytes => options.files.expectRoom(bytes, options.minFreeBytes()),
    uploadIdleTimeoutMs: options.uploadIdleTimeoutMs,
    bodyTimeoutMs: options.bodyTimeoutMs,
    observer: options.observer,
    clock,
    log: log.child('api'),
  });
  const document = () => apiDocument(routes, description);
  const docs = new DocsPages({
    version,
    publicUrl,
    docsBase,
    bundles: options.bundles,
    ingestUrl: () => options.ingest().rtmp,
    document,
    log: log.child('docs'),
  });
  const dashboard = new DashboardPages({ bundles: options.bundles, docsBase, log: log.child('dashboard') });
  const unknownPages = new UnknownPages({
    bundles: options.bundles,
    docsBase,
    hasRoute: path => koa.methodsOf(path).length > 0,
    log: log.child('pages'),
  });
  return {
    ...services,
    koa,
    docs,
    dashboard,
    unknownPages,
    docsBase,
    upgrades: upgrades(options),
    allowedMethods: path => {
      if (dashboard.owns(path) || docs.owns(path)) return pageMethods;
      return koa.methodsOf(path).join(', ') || undefined;
    },
    document,
  };
}

function createApiServices(options: ApiOptions): ApiServices {
  const { database, files, publicUrl, videoServices, clock, log } = options;
  const { players, privateTokens, mark } = videoServices;
  const signingKeys = new SigningKeysStore(database);
  const signedTokens = new SignedTokens({
    findSigningKey: signingKeyId => signingKeys.findForVerification(signingKeyId),
    clock,
  });
  const storage = new StorageMeter({
    store: new StorageMeterStore(database),
    files,
    clock,
    log: log.child('usage'),
  });
  return {
    liveStreams: new LiveStreamsService({
      database,
      store: new LiveStreamsStore(database),
      thumbnails: new LiveThumbnailFiles(files, mark),
      baseUrl: publicUrl,
      live: options.live,
      restreams: options.restreams,
      privateTokens,
      players,
      clock,
    }),
    webhooks: new WebhooksService({
      store: new WebhooksStore(database),
      queue: options.webhookQueue,
      sender: options.webhookSender,
      clock,
    }),
    analytics: createAnalytics({
      ...options.analytics,
      viewerOf: async (token, media) => {
        const claims = await signedTokens.verify(token, media);
        return typeof claims === 'string' ? undefined : claims.viewer;
      },
      database,
      clock,
      log,
    }),
    signedTokens,
    traffic: new Traffic({ store: new TrafficStore(database), clock, log: log.child('usage') }),
    serverMonitor: new ServerMonitor({
      version: options.version,
      dataDir: options.dataDir,
      store: new ServerStateStore(database),
      components: options.serverComponents,
      clock,
      log: log.child('server-watch'),
    }),
    checks: new Checks(() => serverChecks(options.checkedServer()), clock),
    storageMeter: new PeriodicTasks({
      name: 'storage-meter',
      tasks: [{ name: 'measure-storage', run: signal => storage.run(signal) }],
      everyMs: storageIntervalMs,
      leaderLease: options.leaderLease?.('storage-meter'),
      log: log.child('usage'),
    }),
  };
}

function upgrades({ feed, access }: ApiOptions): UpgradeHandler[] {
  if (feed === undefined) return [probeUpgrade];
  const { authenticate, sessions, limiter, watch } = access;
  return [
    probeUpgrade,
    eventFeedUpgrade({ feed, authenticate, gate: sessions.gate, limiter, access: watch }),
  ];
}

function emptyFolder(path: string): string {
  try {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
    return path;
  } catch (error) {
    throw new AppError('data-dir-unusable', `The folder ${path} cannot be written: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
