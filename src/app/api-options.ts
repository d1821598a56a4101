import type { SignedTokens } from '../delivery/signed-tokens.ts';
import type { EventFeed } from '../events/feed/event-feed.ts';
import type { WebhookQueue } from '../events/webhooks/webhook-queue.store.ts';
import type { WebhookSender } from '../events/webhooks/webhook-sender.ts';
import type { BrowserBundles } from '../http/pages/browser-bundles.ts';
import type { HttpObserver } from '../http/routing/koa-app.ts';
import type { RateLimits } from '../http/routing/rate-limiter.ts';
import type { Checks } from '../operations/checks/checks.ts';
import type { Probe } from '../operations/checks/probe.ts';
import type { CheckedServer } from '../operations/checks/server-checks.ts';
import type { HealthOptions } from '../operations/health/health.routes.ts';
import type { ServerComponents, ServerMonitor } from '../operations/server-state/server-monitor.ts';
import type { ServerSettings } from '../operations/settings/server-settings.ts';
import type { Traffic } from '../operations/usage/traffic.ts';
import type { Analytics, AnalyticsSettings } from '../resources/analytics/create-analytics.ts';
import type { IngestAddresses } from '../resources/identity/accounts/account.routes.ts';
import type { PeerReaders } from '../resources/identity/sessions/create-sessions.ts';
import type { HooksService } from '../resources/integrations/hooks/hooks.service.ts';
import type { WebhooksService } from '../resources/integrations/webhooks/webhooks.service.ts';
import type { IngestHealthSources } from '../resources/live/broadcasts/broadcasts.service.ts';
import type { LiveControl, RestreamControl } from '../resources/live/live-streams/live-control.ts';
import type { LiveQualities } from '../resources/live/live-streams/live-stream.ts';
import type { LiveStreamsService } from '../resources/live/live-streams/live-streams.service.ts';
import type { RestreamReports } from '../resources/live/live-streams/restreams/restreams.routes.ts';
import type { VideoStatusSources } from '../resources/videos/videos/status/video-status.routes.ts';
import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { PeriodicTasks, TaskLeaderLease } from '../shared/scheduling/periodic-tasks.ts';
import type { MediaFiles } from '../storage/media-files.ts';
import type { Database } from '../store/database.ts';
import type { Access } from './access.ts';
import type { VideoServices } from './video-services.ts';

export interface ApiOptions {
  readonly bundles: BrowserBundles;
  readonly database: Database;
  readonly dataDir: string;
  readonly files: MediaFiles;
  /** Public URL without a trailing slash. Read when needed: ports are known late. */
  readonly publicUrl: () => string;
  /** Project whose channel is at `/`. */
  readonly frontPage?: string | undefined;
  readonly ingest: () => IngestAddresses;
  readonly ingestPorts: () => Probe['ports'];
  readonly version: string;
  readonly rateLimits: RateLimits;
  readonly access: Access;
  readonly videoServices: VideoServices;
  readonly encodings: EncodingView;
  readonly minFreeBytes: () => number;
  /** Maximum silence of the sender of a file. */
  readonly uploadIdleTimeoutMs: number;
  /** Maximum silence of the sender of any other body, and the time for a JSON body. */
  readonly bodyTimeoutMs: number;
  readonly live: LiveControl;
  readonly ingestHealth: IngestHealthSources;
  readonly restreams: RestreamControl & RestreamReports;
  /** Qualities for live streams that choose none. */
  readonly liveQualities: () => LiveQualities;
  readonly webhookQueue: WebhookQueue;
  readonly webhookSender: WebhookSender;
  readonly hooks: HooksService;
  readonly feed: EventFeed | undefined;
  readonly peers: PeerReaders;
  readonly analytics: AnalyticsSettings;
  readonly health: HealthOptions;
  readonly serverComponents: ServerComponents;
  readonly checkedServer: () => CheckedServer;
  /** The last lines of the log, the oldest first. */
  readonly recentLog: () => readonly string[];
  readonly observer: HttpObserver;
  /** Default: this server does everything itself. */
  readonly leaderLease?: (name: string) => TaskLeaderLease;
  readonly clock: Clock;
  readonly settings: ServerSettings;
  readonly log: Logger;
}

type EncodingView = Pick<VideoStatusSources, 'encodingOf' | 'delayOf' | 'isPlayable'>;

export interface ApiServices {
  readonly liveStreams: LiveStreamsService;
  readonly webhooks: WebhooksService;
  readonly analytics: Analytics;
  readonly signedTokens: SignedTokens;
  readonly traffic: Traffic;
  readonly storageMeter: PeriodicTasks;
  readonly serverMonitor: ServerMonitor;
  readonly checks: Checks;
}
