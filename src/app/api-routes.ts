import { errorDocRoutes } from '../docs/error-docs.routes.ts';
import { rootRoutes } from '../docs/root.routes.ts';
import { WebhookTester } from '../events/webhooks/webhook-tester.ts';
import type { Route } from '../http/routing/route.ts';
import { checksRoutes } from '../operations/checks/checks.routes.ts';
import { probeRoutes } from '../operations/checks/probe.routes.ts';
import { healthRoutes, localOperatorCheck } from '../operations/health/health.routes.ts';
import { serverStateRoutes } from '../operations/server-state/server-state.routes.ts';
import { serverSettingsRoutes } from '../operations/settings/server-settings.routes.ts';
import { usageRoutes } from '../operations/usage/usage.routes.ts';
import { UsageService } from '../operations/usage/usage.service.ts';
import { accountRoutes } from '../resources/identity/accounts/account.routes.ts';
import { AccountAdmin } from '../resources/identity/accounts/account-admin.ts';
import { unverifiedUserRoutes } from '../resources/identity/accounts/unverified-users.routes.ts';
import { auditRoutes } from '../resources/identity/audit/audit.routes.ts';
import { AuditStore } from '../resources/identity/audit/audit.store.ts';
import { authRoutes } from '../resources/identity/auth/auth.routes.ts';
import { projectRoutes } from '../resources/identity/projects/projects.routes.ts';
import { ProjectsService } from '../resources/identity/projects/projects.service.ts';
import { eventFeedRoutes } from '../resources/integrations/events/event-feed.routes.ts';
import { hookRoutes } from '../resources/integrations/hooks/hooks.routes.ts';
import { deliveryRoutes } from '../resources/integrations/webhooks/deliveries.routes.ts';
import { DeliveriesService } from '../resources/integrations/webhooks/deliveries.service.ts';
import { DeliveriesStore } from '../resources/integrations/webhooks/deliveries.store.ts';
import { webhookRoutes } from '../resources/integrations/webhooks/webhooks.routes.ts';
import { broadcastRoutes } from '../resources/live/broadcasts/broadcasts.routes.ts';
import { BroadcastsService } from '../resources/live/broadcasts/broadcasts.service.ts';
import { BroadcastsStore } from '../resources/live/broadcasts/broadcasts.store.ts';
import { liveStreamRoutes } from '../resources/live/live-streams/live-streams.routes.ts';
import { restreamRoutes } from '../resources/live/live-streams/restreams/restreams.routes.ts';
import { channelRoutes } from '../resources/playback/channels/channels.routes.ts';
import { ChannelsService } from '../resources/playback/channels/channels.service.ts';
import { ChannelsStore } from '../resources/playback/channels/channels.store.ts';
import { playbackPolicyRoutes } from '../resources/playback/playback-policies/playback-policy.routes.ts';
import { PlaybackPolicyStore } from '../resources/playback/playback-policies/playback-policy.store.ts';
import { playerRoutes } from '../resources/playback/players/players.routes.ts';
import { signingKeyRoutes } from '../resources/playback/signing-keys/signing-keys.routes.ts';
import { SigningKeysService } from '../resources/playback/signing-keys/signing-keys.service.ts';
import { SigningKeysStore } from '../resources/playback/signing-keys/signing-keys.store.ts';
import { retentionRoutes } from '../resources/videos/retention/retention.routes.ts';
import { RetentionService } from '../resources/videos/retention/retention.service.ts';
import { RetentionStore } from '../resources/videos/retention/retention.store.ts';
import { summaryRoutes } from '../resources/videos/summaries/summaries.routes.ts';
import { tagRoutes } from '../resources/videos/tags/tags.routes.ts';
import { textTrackRoutes } from '../resources/videos/text-tracks/text-tracks.routes.ts';
import { uploadTokenRoutes } from '../resources/videos/upload-tokens/upload-tokens.routes.ts';
import { audioTrackRoutes } from '../resources/videos/videos/audio-tracks/audio-tracks.routes.ts';
import { discardedVideoRoutes } from '../resources/videos/videos/discarded/discarded-videos.routes.ts';
import { sourceFileRoutes } from '../resources/videos/videos/source-file/source-file.routes.ts';
import { videoStatusRoutes } from '../resources/videos/videos/status/video-status.routes.ts';
import { videoThumbnailRoutes } from '../resources/videos/videos/thumbnails/video-thumbnails.routes.ts';
import { videoRoutes } from '../resources/videos/videos/videos.routes.ts';
import { watermarkRoutes } from '../resources/videos/watermarks/watermarks.routes.ts';
import { maxWebhooks } from '../shared/limits/resource-limits.ts';
import type { ApiOptions, ApiServices } from './api-options.ts';

export function apiRoutes(options: ApiOptions, services: ApiServices): Route[] {
  return [
    ...accessRoutes(options),
    ...liveRoutes(options, services),
    ...routesOfVideos(options),
    ...routesOfWebhooks(options, services),
    ...services.analytics.routes,
    ...operationRoutes(options, services),
  ];
}

function accessRoutes(options: ApiOptions): Route[] {
  const pages = { baseUrl: options.publicUrl, frontPage: options.frontPage };
  const { access, database, files, peers, rateLimits, videoServices, ingest, clock, log } = options;
  const { accounts, keyPairs, auth, sessions } = access;
  return [
    ...authRoutes(auth, peers.addressOf),
    ...sessions.routes,
    ...projectRoutes(new ProjectsService({ accounts, files, clock, log: log.child('auth') })),
    ...accountRoutes({
      accounts,
      keyPairs,
      ingest,
      limits: {
        webhooks: maxWebhooks,
        rates: rateLimits,
        videoRestoreDays: () => videoServices.videos.restoreDays,
      },
    }),
    ...auditRoutes(new AuditStore(database), accounts.projects),
    ...signingKeyRoutes(new SigningKeysService(new SigningKeysStore(database), clock)),
    ...playbackPolicyRoutes(new PlaybackPolicyStore(database)),
    ...channelRoutes(new ChannelsService({ database, store: new ChannelsStore(database), ...pages, clock })),
    ...retentionRoutes(new RetentionService(new RetentionStore(database), clock)),
    ...videoServices.videoDefaults,
  ];
}

function liveRoutes(options: ApiOptions, { liveStreams }: ApiServices): Route[] {
  const store = new BroadcastsStore(options.database);
  return [
    ...liveStreamRoutes(liveStreams),
    ...broadcastRoutes(
      new BroadcastsService({ store, ...options.ingestHealth }),
      liveStreams,
      options.peers.addressOf,
    ),
    ...restreamRoutes({
      find: (projectId, liveStreamId) => liveStreams.find(projectId, liveStreamId),
      running: options.restreams,
      defaultQualities: options.liveQualities,
    }),
  ];
}

function routesOfVideos({ videoServices, encodings, files }: ApiOptions): Route[] {
  const { videos, uploads, thumbnails } = videoServices;
  return [
    ...videoRoutes(videos),
    ...discardedVideoRoutes(videos),
    ...uploads.routes,
    ...sourceFileRoutes(videos, files),
    ...videoStatusRoutes({
      hasVideo: async (projectId, videoId) => (await videos.find(projectId, videoId)) !== undefined,
      videosAmong: (projectId, videoIds) => videos.idsAmong(projectId, videoIds),
      ingestOf: videoId => uploads.service.ingestOf(videoId),
      sourceFailureOf: videoId => uploads.service.failureOf(videoId),
      ...encodings,
      ...videoServices.transcripts,
    }),
    ...uploadTokenRoutes(videoServices.uploadTokens),
    ...videoThumbnailRoutes(thumbnails, videos),
    ...watermarkRoutes(videoServices.watermarks),
    ...tagRoutes(videoServices.tags),
    ...summaryRoutes(videoServices.summaries),
    ...audioTrackRoutes(videoServices.audioTracks),
    ...textTrackRoutes(videoServices.captions),
    ...textTrackRoutes(videoServices.chapters),
    ...playerRoutes(videoServices.players),
  ];
}

function routesOfWebhooks(options: ApiOptions, { webhooks }: ApiServices): Route[] {
  const { database, webhookQueue: queue, webhookSender: sender, version, clock } = options;
  const tester = new WebhookTester({ queue, sender, version, clock });
  return [
    ...webhookRoutes(webhooks),
    ...deliveryRoutes(
      webhooks,
      new DeliveriesService({ store: new DeliveriesStore(database), queue, tester, clock }),
    ),
    ...hookRoutes(options.hooks),
  ];
}

function operationRoutes(options: ApiOptions, { traffic, serverMonitor, checks }: ApiServices): Route[] {
  const { access, database, videoServices, version, publicUrl, clock, log } = options;
  const { usage, quotas } = videoServices;
  const isOperator = async (accountId: string) =>
    (await access.accounts.find(accountId))?.isOperator === true;
  return [
    ...healthRoutes({ ...options.health, log: log.child('health') }),
    ...usageRoutes(new UsageService({ store: usage, traffic, quotas, clock })),
    ...serverStateRoutes({ monitor: serverMonitor, isOperator }),
    ...serverSettingsRoutes({ settings: options.settings, isOperator }),
    ...checksRoutes({
      checks,
      isOperator,
      isLocalOperator: localOperatorCheck(options.health.token),
      recentLog: options.recentLog,
    }),
    ...probeRoutes({ ...options.peers, publicUrl, ports: options.ingestPorts, clock }),
    ...unverifiedUserRoutes({ admin: new AccountAdmin(database, clock, access.accounts), isOperator }),
    ...eventFeedRoutes(),
    ...errorDocRoutes(),
    ...rootRoutes({ version, publicUrl }),
  ];
}
