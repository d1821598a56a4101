import type { EventFeed } from '../events/feed/event-feed.ts';
import type { WebhookQueue } from '../events/webhooks/webhook-queue.store.ts';
import type { WebhookSender } from '../events/webhooks/webhook-sender.ts';
import type { BrowserBundles } from '../http/pages/browser-bundles.ts';
import type { HttpObserver } from '../http/routing/koa-app.ts';
import type { RateLimits } from '../http/routing/rate-limiter.ts';
import type { HealthOptions } from '../operations/health/health.routes.ts';
import type { ServerComponents, ServerMonitor } from '../operations/server-state/server-monitor.ts';
import type { Traffic } from '../operations/usage/traffic.ts';
import type { IngestAddresses } from '../resources/accounts/account.routes.ts';
import type { Analytics, AnalyticsSettings } from '../resources/analytics/create-analytics.ts';
import type { IngestHealthSources } from '../resources/broadcasts/broadcasts.service.ts';
import type { LiveControl } from '../resources/live-streams/live-control.ts';
import type { LiveStreamsService } from '../resources/live-streams/live-streams.service.ts';
import type { RestreamReport } from '../resources/live-streams/restreams/restreams.routes.ts';
import type { PeerReaders } from '../resources/sessions/create-sessions.ts';
import type { VideoStatusSources } from '../resources/videos/status/video-status.routes.ts';
import type { WebhooksService } from '../resources/webhooks/webhooks.service.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { PeriodicTasks } from '../shared/scheduling/periodic-tasks.ts';
import type { MediaFiles } from '../storage/media-files.ts';
import type { Database } from '../store/database.ts';
import type { Access } from './access.ts';
import type { VideoServices } from './video-services.ts';

/** Everything that the API needs of the rest of the server. */
export interface ApiOptions {
  readonly bundles: BrowserBundles;
  readonly database: Database;
  readonly dataDir: string;
  readonly files: MediaFiles;
  /** Base of every address that is handed out, without a slash at its end. Read when needed: ports are known late. */
  readonly publicUrl: () => string;
  /** Addresses that encoders publish to. Read when needed. */
  readonly ingest: () => IngestAddresses;
  readonly version: string;
  readonly rateLimits: RateLimits;
  readonly access: Access;
  readonly videoServices: VideoServices;
  readonly encodings: EncodingView;
  /** Free bytes of the disk below which uploads are refused. */
  readonly minFreeBytes: number;
  /** How long the sender of a file may be silent. */
  readonly uploadIdleTimeoutMs: number;
  /** How long the sender of any other body may be silent, or a JSON body may take. */
  readonly bodyTimeoutMs: number;
  readonly live: LiveControl;
  readonly ingestHealth: IngestHealthSources;
  /** Restreams of the running broadcast of a live stream. */
  readonly restreams: (liveStreamId: string) => readonly RestreamReport[] | undefined;
  readonly webhookQueue: WebhookQueue;
  readonly webhookSender: WebhookSender;
  /** Serves `/events`; undefined where nobody can listen. */
  readonly feed: EventFeed | undefined;
  readonly peers: PeerReaders;
  readonly analytics: AnalyticsSettings;
  readonly health: HealthOptions;
  readonly serverComponents: ServerComponents;
  readonly observer: HttpObserver;
  readonly clock: Clock;
  readonly log: Logger;
}

/** How far the encoding of videos is. */
export type EncodingView = Pick<VideoStatusSources, 'encodingOf' | 'isPlayable'>;

/** Services that are created with the API. */
export interface ApiServices {
  readonly liveStreams: LiveStreamsService;
  readonly webhooks: WebhooksService;
  readonly analytics: Analytics;
  readonly traffic: Traffic;
  readonly storageMeter: PeriodicTasks;
  readonly serverMonitor: ServerMonitor;
}
