// Written from the OpenAPI document by `node scripts/write-references.ts`; do not edit.

export type ErrorBody = {
  readonly type?: string | undefined;
  readonly title: string;
  readonly status: number;
  readonly name?: string | undefined;
  readonly detail?: string | undefined;
  readonly range?: { readonly min?: number | undefined; readonly max?: number | undefined; } | undefined;
  readonly reason?: string | undefined;
  readonly problems?: readonly {
    readonly type?: string | undefined;
    readonly title: string;
    readonly name: string;
    readonly detail?: string | undefined;
    readonly range?: { readonly min?: number | undefined; readonly max?: number | undefined; } | undefined;
  }[] | undefined;
};

export type Session = {
  readonly sessionId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly account: SessionAccount;
  readonly role: "owner" | "editor" | "viewer";
  readonly scopes: readonly ("read" | "upload" | "live" | "admin")[];
  readonly accounts: readonly {
    readonly accountId: string;
    readonly name?: string | undefined;
    readonly ownerEmail?: string | undefined;
    readonly role: "owner" | "editor" | "viewer";
  }[];
  readonly environments: readonly ("sandbox" | "production")[];
  readonly projects: { readonly sandbox: string; readonly production?: string | undefined; };
  readonly allProjects: readonly Project[];
  readonly removedCredentials?: RemovedCredentials | undefined;
};

type SessionAccount = {
  readonly accountId: string;
  readonly name?: string | undefined;
  readonly createdAt: string;
  readonly upgraded: boolean;
  readonly isOperator: boolean;
};

export type Project = {
  readonly projectId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly environmentIds: { readonly sandbox: string; readonly production?: string | undefined; };
};

export type RemovedCredentials = {
  readonly passkeys: number;
  readonly sessions: number;
  readonly apiKeys: number;
  readonly signingKeys: number;
  readonly uploadTokens: number;
  readonly streamKeys: number;
  readonly webhooks: number;
  readonly hooks: number;
  readonly destinations: number;
  readonly invitations: number;
  readonly members: number;
  readonly twoFactor: boolean;
  readonly unknownApiKeys: number;
};

export type ListedSession = {
  readonly sessionId: string;
  readonly createdAt: string;
  readonly lastUsedAt: string;
  readonly address: string;
  readonly userAgent?: string | undefined;
  readonly isCurrent: boolean;
};

export type Pagination = {
  readonly currentPage: number;
  readonly currentPageItems: number;
  readonly pageSize: number;
  readonly pagesTotal: number;
  readonly itemsTotal: number;
  readonly links: readonly { readonly rel: "self" | "first" | "previous" | "next" | "last"; readonly uri: string; }[];
};

type TwoFactor = {
  readonly enabled: boolean;
  readonly enabledAt?: string | undefined;
  readonly recoveryCodesLeft?: number | undefined;
};

export type TwoFactorEnrollment = { readonly secret: string; readonly uri: string; };

type RecoveryCodes = { readonly recoveryCodes: readonly string[]; };

export type Passkey = {
  readonly passkeyId: string;
  readonly name: string;
  readonly createdAt: string;
  readonly lastUsedAt?: string | undefined;
};

type PasskeyOptions = { readonly publicKey: { readonly challenge: string; }; };

export type PasswordReset = {
  readonly email: string;
  readonly emailVerified: boolean;
  readonly expiresAt: string;
  readonly passkeys: readonly Passkey[];
  readonly sessions: readonly {
    readonly sessionId: string;
    readonly createdAt: string;
    readonly lastUsedAt: string;
    readonly address: string;
    readonly userAgent?: string | undefined;
  }[];
};

type SignInMethods = {
  readonly oidc?: { readonly name: string; } | undefined;
  readonly passwordReset: boolean;
  readonly signedIn: boolean;
};

type OidcRequest = { readonly url: string; };

type Identity = { readonly linked: boolean; readonly linkedAt?: string | undefined; };

export type Member = {
  readonly userId: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly role: "owner" | "editor" | "viewer";
  readonly createdAt: string;
  readonly isYou: boolean;
};

export type Invitation = {
  readonly invitationId: string;
  readonly email: string;
  readonly role: "owner" | "editor" | "viewer";
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly mail?: { readonly status: "sending" | "sent" | "failed"; readonly failure?: string | undefined; } | undefined;
  readonly url?: string | undefined;
};

type OpenedInvitation = {
  readonly email: string;
  readonly role: "owner" | "editor" | "viewer";
  readonly expiresAt: string;
  readonly accountName?: string | undefined;
  readonly ownerEmail?: string | undefined;
  readonly hasUser: boolean;
  readonly verifies: boolean;
};

export type Account = {
  readonly accountId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly createdAt: string;
  readonly upgraded: boolean;
  readonly operator?: true | undefined;
  readonly environment: "sandbox" | "production";
  readonly projectId: string;
  readonly projectName: string;
  readonly limits: {
    readonly apiKeyPairs: number;
    readonly webhooks: number;
    readonly requestsPerMinute: {
      readonly uploads?: number | undefined;
      readonly writes?: number | undefined;
      readonly reads?: number | undefined;
    };
    readonly videoRestoreDays?: number | undefined;
  };
  readonly ingest: {
    readonly rtmp: string;
    readonly rtmps?: string | undefined;
    readonly srt?: string | undefined;
    readonly whip?: string | undefined;
  };
};

export type ApiKeyPair = {
  readonly keyPairId: string;
  readonly name?: string | undefined;
  readonly scopes: readonly ("read" | "upload" | "live" | "admin")[];
  readonly createdAt: string;
  readonly sandbox?: ApiKey | undefined;
  readonly production?: ApiKey | undefined;
};

export type ApiKey = {
  readonly apiKey?: string | undefined;
  readonly hint?: string | undefined;
  readonly createdAt: string;
  readonly lastUsedAt?: string | undefined;
};

export type AuditEntry = {
  readonly number: number;
  readonly createdAt: string;
  readonly action: string;
  readonly summary: string;
  readonly actor: {
    readonly kind: "user" | "api-key" | "upload-token" | "operator";
    readonly id?: string | undefined;
    readonly name?: string | undefined;
  };
  readonly address?: string | undefined;
  readonly environment?: "sandbox" | "production" | undefined;
  readonly projectId?: string | undefined;
  readonly target?: {
    readonly kind: string;
    readonly id: string;
    readonly name?: string | undefined;
    readonly exists?: boolean | undefined;
  } | undefined;
  readonly changed?: readonly string[] | undefined;
};

export type SigningKey = {
  readonly signingKeyId: string;
  readonly name: string;
  readonly algorithm: "ES256" | "EdDSA" | "RS256";
  readonly publicKey: string;
  readonly privateKey?: string | undefined;
  readonly createdAt: string;
};

export type ProjectPlaybackPolicy = { readonly playbackPolicy: PlaybackPolicy | null; };

export type PlaybackPolicy = {
  readonly allowedDomains: readonly string[];
  readonly allowNoReferrer: boolean;
  readonly allowedCountries: readonly string[];
  readonly blockedCountries: readonly string[];
};

export type Channel = {
  readonly enabled: boolean;
  readonly slug?: string | undefined;
  readonly name: string;
  readonly description: string;
  readonly accentColor?: string | undefined;
  readonly logo?: string | undefined;
  readonly hasLogo: boolean;
  readonly url?: string | undefined;
};

export type Retention = {
  readonly keepVideosDays: number | null;
  readonly next: readonly { readonly videoId: string; readonly title: string; readonly expiresAt: string; }[];
};

export type VideoDefaults = {
  readonly transcript: boolean;
  readonly transcriptSummary: boolean;
  readonly recordings: boolean;
  readonly available: { readonly transcript: boolean; readonly transcriptSummary: boolean; };
};

export type LiveStream = {
  readonly liveStreamId: string;
  readonly name: string;
  readonly streamKey?: string | undefined;
  readonly public: boolean;
  readonly broadcasting: boolean;
  readonly playerId?: string | undefined;
  readonly restreams: readonly {
    readonly name: string;
    readonly serverUrl: string;
    readonly streamKey?: string | undefined;
    readonly enabled?: boolean | undefined;
    readonly rendition?: "source" | "240p" | "360p" | "480p" | "720p" | "1080p" | "2160p" | undefined;
  }[];
  readonly qualities?: "passthrough" | "ladder" | undefined;
  readonly audioTracks?: readonly AudioTracks[] | undefined;
  readonly record?: boolean | undefined;
  readonly keepRecordingsDays?: number | undefined;
  readonly playbackPolicy?: PlaybackPolicy | undefined;
  readonly ultraLowLatency?: boolean | undefined;
  readonly viewerClips?: boolean | undefined;
  readonly listed?: boolean | undefined;
  readonly showViewers?: boolean | undefined;
  readonly startsAt?: string | undefined;
  readonly hasThumbnail?: boolean | undefined;
  readonly source?: {
    readonly url: string;
    readonly enabled: boolean;
    readonly state: "off" | "connecting" | "live" | "retrying";
    readonly reason?: string | undefined;
    readonly nextAttemptAt?: string | undefined;
  } | undefined;
  readonly refusedEncoder?: { readonly name: string; readonly address: string; readonly until: string; } | undefined;
  readonly lastBroadcast?: { readonly startedAt: string; readonly endedAt?: string | undefined; } | undefined;
  readonly recordings?: number | undefined;
  readonly assets: { readonly hls: string; readonly iframe: string; readonly player: string; readonly thumbnail: string; };
  readonly createdAt: string;
  readonly updatedAt: string;
};

export type Broadcast = {
  readonly broadcastId: string;
  readonly state: "starting" | "live" | "waiting" | "stopping" | "ended";
  readonly startedAt: string;
  readonly liveAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly endReason?: string | undefined;
  readonly protocol: string;
  readonly encoder?: string | undefined;
  readonly videoCodec?: string | undefined;
  readonly audioCodec?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly averageBitrateBitsPerSecond?: number | undefined;
  readonly peakBitrateBitsPerSecond?: number | undefined;
  readonly averageFramesPerSecond?: number | undefined;
  readonly longestKeyframeIntervalSeconds?: number | undefined;
  readonly droppedFrames?: number | undefined;
  readonly missingFrames?: number | undefined;
  readonly droppedConnections?: number | undefined;
  readonly awaySeconds?: number | undefined;
};

export type IngestHealth = {
  readonly broadcasting: boolean;
  readonly alarms: readonly IngestAlarm[];
  readonly broadcastId?: string | undefined;
  readonly state?: "live" | "waiting" | "stopping" | undefined;
  readonly durationSeconds?: number | undefined;
  readonly protocol?: string | undefined;
  readonly encoder?: string | undefined;
  readonly videoCodec?: string | undefined;
  readonly audioCodec?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly tracks?: readonly IngestTrack[] | undefined;
  readonly bitrateBitsPerSecond?: number | undefined;
  readonly averageBitrateBitsPerSecond?: number | undefined;
  readonly peakBitrateBitsPerSecond?: number | undefined;
  readonly framesPerSecond?: number | undefined;
  readonly averageFramesPerSecond?: number | undefined;
  readonly declaredFramesPerSecond?: number | undefined;
  readonly keyframeIntervalSeconds?: number | undefined;
  readonly longestKeyframeIntervalSeconds?: number | undefined;
  readonly audioDriftMilliseconds?: number | undefined;
  readonly timestampJumps?: number | undefined;
  readonly droppedFrames?: number | undefined;
  readonly missingFrames?: number | undefined;
  readonly droppedConnections?: number | undefined;
  readonly lastDroppedAt?: string | undefined;
  readonly awaySeconds?: number | undefined;
  readonly silentSeconds?: number | undefined;
  readonly transport?: {
    readonly roundTripMilliseconds?: number | undefined;
    readonly packetsReceived: number;
    readonly packetsLost: number;
    readonly packetsRecovered: number;
  } | undefined;
};

export type IngestAlarm = { readonly alarm: string; readonly message: string; readonly raisedAt: string; };

export type IngestTrack = {
  readonly kind: "video" | "audio";
  readonly trackId: number;
  readonly codec: string;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  readonly channels?: number | undefined;
  readonly name?: string | undefined;
  readonly language?: string | undefined;
  readonly rendition?: string | undefined;
  readonly leftOutReason?: string | undefined;
  readonly recordingLeftOutReason?: string | undefined;
};

export type IngestHealthHistory = {
  readonly broadcasting: boolean;
  readonly broadcastId?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly stepSeconds?: number | undefined;
  readonly data: readonly HealthSample[];
};

type HealthSample = {
  readonly measuredAt: string;
  readonly bitrateBitsPerSecond?: number | undefined;
  readonly framesPerSecond?: number | undefined;
  readonly audioDriftMilliseconds?: number | undefined;
  readonly viewers?: number | undefined;
};

export type IngestLog = {
  readonly connecting?: {
    readonly protocol: string;
    readonly encoder?: string | undefined;
    readonly waitingFor: "media" | "keyframe";
  } | undefined;
  readonly data: readonly IngestLogEntry[];
};

export type IngestLogEntry = {
  readonly happenedAt: string;
  readonly type: "connected" | "disconnected" | "refused" | "ended" | "alarm-raised" | "alarm-cleared";
  readonly protocol?: string | undefined;
  readonly encoder?: string | undefined;
  readonly address?: string | undefined;
  readonly reason?: string | undefined;
  readonly alarm?: string | undefined;
  readonly message?: string | undefined;
  readonly times?: number | undefined;
};

export type RestreamList = {
  readonly data: readonly Restream[];
  readonly renditions: readonly ("source" | "240p" | "360p" | "480p" | "720p" | "1080p" | "2160p")[];
};

export type Restream = {
  readonly name: string;
  readonly serverUrl: string;
  readonly rendition?: string | undefined;
  readonly state: "idle" | "connecting" | "live" | "retrying" | "stopped" | "disabled";
  readonly since?: string | undefined;
  readonly reason?: string | undefined;
  readonly lastError?: string | undefined;
  readonly bitrateBitsPerSecond?: number | undefined;
  readonly droppedFrames?: number | undefined;
  readonly retries?: number | undefined;
};

export type Video = {
  readonly videoId: string;
  readonly title: string;
  readonly description: string;
  readonly public: boolean;
  readonly listed?: boolean | undefined;
  readonly panoramic: boolean;
  readonly mp4Support: boolean;
  readonly playerId?: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: readonly { readonly key: string; readonly value: string; }[];
  readonly language?: string | undefined;
  readonly languageOrigin: "api" | "auto" | null;
  readonly createdAt: string;
  readonly publishedAt: string;
  readonly updatedAt: string;
  readonly expiresAt?: string | undefined;
  readonly playbackPolicy?: PlaybackPolicy | undefined;
  readonly discarded: boolean;
  readonly discardedAt: string | null;
  readonly deletesAt: string | null;
  readonly source: {
    readonly type: "upload" | "liveStream";
    readonly uri: string;
    readonly liveStream?: { readonly liveStreamId: string; readonly links: readonly { readonly rel: "self"; readonly uri: string; }[]; } | undefined;
    readonly clippedFrom?: {
      readonly videoId?: string | undefined;
      readonly liveStreamId?: string | undefined;
      readonly links: readonly { readonly rel: "self"; readonly uri: string; }[];
    } | undefined;
  };
  readonly assets: {
    readonly hls: string;
    readonly iframe: string;
    readonly player: string;
    readonly thumbnail: string;
    readonly mp4?: string | undefined;
  } | null;
};

export type VideoStatus = {
  readonly ingest?: Ingest | undefined;
  readonly encoding: Encoding;
  readonly transcript?: Transcript | undefined;
};

export type UploadToken = {
  readonly token: string;
  readonly ttl: number;
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
};

export type Watermark = { readonly watermarkId: string; readonly createdAt: string; readonly name?: string | undefined; };

type Tag = { readonly value: string; readonly videoCount: number; };

export type Summary = {
  readonly summaryId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly videoId: string;
  readonly origin: "api" | "auto";
  readonly sourceStatus: "missing" | "waiting" | "failed" | "completed" | "unprocessable";
  readonly failure?: string | undefined;
};

export type SummarySource = { readonly abstract?: string | undefined; readonly takeaways?: readonly string[] | undefined; };

export type AudioTrack = {
  readonly uri: string;
  readonly audioTrackId: string;
  readonly name: string;
  readonly language: string | null;
  readonly channels: number | null;
  readonly codec: string | null;
  readonly default: boolean;
  readonly position: number;
  readonly status: "waiting" | "encoding" | "encoded" | "failed";
};

export type Caption = {
  readonly uri: string;
  readonly src: string;
  readonly warnings?: readonly string[] | undefined;
  readonly srclang: string;
  readonly languageName: string;
  readonly default: boolean;
  readonly generated?: boolean | undefined;
};

export type Chapter = {
  readonly uri: string;
  readonly src: string;
  readonly warnings?: readonly string[] | undefined;
  readonly language: string;
};

export type Player = {
  readonly playerId: string;
  readonly name?: string | undefined;
  readonly text: string;
  readonly link: string;
  readonly linkHover: string;
  readonly linkActive: string;
  readonly trackPlayed: string;
  readonly trackUnplayed: string;
  readonly trackBackground: string;
  readonly backgroundTop: string;
  readonly backgroundBottom: string;
  readonly backgroundText: string;
  readonly enableApi: boolean;
  readonly enableControls: boolean;
  readonly forceAutoplay: boolean;
  readonly hideTitle: boolean;
  readonly forceLoop: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly assets: { readonly logo: string | null; readonly link: string | null; };
};

export type Webhook = {
  readonly webhookId: string;
  readonly createdAt: string;
  readonly events: readonly ("live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated")[];
  readonly url: string;
  readonly signatureSecret: string;
};

export type WebhookVerdict = {
  readonly deliverable: boolean;
  readonly reason?: string | undefined;
  readonly setting?: string | undefined;
};

export type WebhookDelivery = {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId?: string | undefined;
  readonly type: "live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated" | "webhook.test";
  readonly status: "waiting" | "retrying" | "succeeded" | "failed";
  readonly attemptsTotal: number;
  readonly createdAt: string;
  readonly nextAttemptAt?: string | undefined;
  readonly resentFrom?: string | undefined;
  readonly lastAttempt?: {
    readonly attemptedAt: string;
    readonly durationMs: number;
    readonly statusCode?: number | undefined;
    readonly error?: string | undefined;
    readonly errorCode?: "timeout" | "connection-refused" | "connection-closed" | "host-unreachable" | "host-not-public" | "dns-failed" | "tls-failed" | "response-invalid" | "redirect" | "canceled" | "request-failed" | undefined;
  } | undefined;
};

export type WebhookDeliveryDetails = {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly eventId?: string | undefined;
  readonly type: "live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated" | "webhook.test";
  readonly status: "waiting" | "retrying" | "succeeded" | "failed";
  readonly attemptsTotal: number;
  readonly createdAt: string;
  readonly nextAttemptAt?: string | undefined;
  readonly resentFrom?: string | undefined;
  readonly body: string;
  readonly attempts: readonly WebhookAttempt[];
};

export type WebhookAttempt = {
  readonly attemptedAt: string;
  readonly durationMs: number;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
  readonly errorCode?: "timeout" | "connection-refused" | "connection-closed" | "host-unreachable" | "host-not-public" | "dns-failed" | "tls-failed" | "response-invalid" | "redirect" | "canceled" | "request-failed" | undefined;
  readonly response?: string | undefined;
};

type Hooks = { readonly publish: Hook | null; readonly play: Hook | null; };

export type Hook = {
  readonly hookId: string;
  readonly hook: "publish" | "play";
  readonly url: string;
  readonly timeoutSeconds: number;
  readonly onFailure: "allow" | "refuse";
  readonly signatureSecret: string;
  readonly createdAt: string;
  readonly results: readonly HookResult[];
};

export type HookResult = {
  readonly attemptedAt: string;
  readonly durationMs: number;
  readonly result: "allowed" | "refused";
  readonly test: boolean;
  readonly liveStreamId?: string | undefined;
  readonly videoId?: string | undefined;
  readonly remoteAddress: string;
  readonly statusCode?: number | undefined;
  readonly error?: string | undefined;
  readonly errorCode?: "timeout" | "connection-refused" | "connection-closed" | "host-unreachable" | "host-not-public" | "dns-failed" | "tls-failed" | "response-invalid" | "redirect" | "canceled" | "request-failed" | "paused" | "busy" | "response-incomplete" | "response-unusable" | "status" | undefined;
  readonly response?: string | undefined;
};

type AnalyticsMetric = {
  readonly context: {
    readonly metric: string;
    readonly aggregation: string;
    readonly timeframe?: { readonly from: string; readonly to: string; } | undefined;
  };
  readonly data: number;
};

type AnalyticsBuckets = {
  readonly context: {
    readonly metric: string;
    readonly breakdown: string;
    readonly timeframe?: { readonly from: string; readonly to: string; } | undefined;
  };
  readonly data: readonly { readonly dimensionValue: string; readonly metricValue: number; }[];
  readonly pagination: Pagination;
};

type AnalyticsTimeseries = {
  readonly context: {
    readonly metric: string;
    readonly interval: "minute" | "hour" | "day";
    readonly timeframe: { readonly from: string; readonly to: string; };
  };
  readonly data: readonly { readonly emittedAt: string; readonly metricValue: number; }[];
  readonly pagination: Pagination;
};

export type Usage = {
  readonly projectId: string;
  readonly environment: "sandbox" | "production";
  readonly videos: number;
  readonly liveStreams: number;
  readonly storage: {
    readonly totalBytes: number;
    readonly sourceBytes: number;
    readonly recordingBytes: number;
    readonly hlsBytes: number;
    readonly mp4Bytes: number;
    readonly imageBytes: number;
    readonly textBytes: number;
    readonly maxBytes?: number | undefined;
    readonly measuring?: true | undefined;
  };
  readonly uploads: { readonly inProgress: number; readonly max?: number | undefined; };
  readonly bandwidth: {
    readonly todayBytes: number;
    readonly last30DaysBytes: number;
    readonly days: readonly { readonly date: string; readonly bytes: number; readonly liveBytes: number; readonly videoBytes: number; }[];
  };
};

export type ServerState = {
  readonly version: string;
  readonly newerVersion?: string | undefined;
  readonly startedAt: string;
  readonly measuredAt: string;
  readonly cpu: { readonly cores: number; readonly serverPercent: number; readonly machinePercent: number; };
  readonly memory: {
    readonly serverBytes: number;
    readonly childrenBytes?: number | undefined;
    readonly machineTotalBytes: number;
    readonly machineFreeBytes: number;
  };
  readonly disk: { readonly totalBytes: number; readonly freeBytes: number; readonly minFreeBytes: number; };
  readonly queue: {
    readonly waiting: number;
    readonly running: number;
    readonly failedToday: number;
    readonly isPaused: boolean;
  };
  readonly live: { readonly broadcasts: number; readonly viewers: number; readonly recordingLagSeconds: number; };
  readonly programs: readonly {
    readonly name: "ffmpeg" | "ffprobe";
    readonly path: string;
    readonly version: string;
    readonly lacks?: readonly string[] | undefined;
  }[];
  readonly isolation: { readonly isActive: boolean; readonly missing?: string | undefined; };
  readonly encoder: {
    readonly kind: "software" | "nvenc" | "qsv" | "vaapi" | "videotoolbox";
    readonly reason?: string | undefined;
  };
  readonly codecs: readonly ("h264" | "hevc" | "av1")[];
  readonly certificate?: {
    readonly domains: readonly string[];
    readonly state: "missing" | "valid" | "expired";
    readonly expiresAt?: string | undefined;
    readonly renewAt?: string | undefined;
    readonly failure?: { readonly reason: string; readonly uncoveredDomains: readonly string[]; readonly retryAt: string; } | undefined;
  } | undefined;
  readonly nodes?: readonly {
    readonly nodeId: string;
    readonly url: string;
    readonly roles: readonly ("api" | "ingest" | "delivery" | "worker")[];
    readonly version: string;
    readonly startedAt: string;
    readonly state: "ready" | "draining" | "unresponsive";
    readonly isCurrent: boolean;
    readonly jobs: number;
    readonly load?: {
      readonly cores: number;
      readonly machinePercent: number;
      readonly memoryTotalBytes: number;
      readonly memoryFreeBytes: number;
      readonly broadcasts: number;
      readonly viewers: number;
    } | undefined;
  }[] | undefined;
  readonly warnings: readonly {
    readonly code: "disk-full" | "disk-nearly-full" | "memory-low" | "cpu-busy" | "encoding-paused" | "queue-long" | "program-lacks" | "recording-upload-behind" | "certificate-failed";
    readonly text: string;
  }[];
};

type ServerSettings = { readonly settings: readonly ServerSetting[]; };

export type ServerSetting = {
  readonly name: string;
  readonly variable: string;
  readonly description: string;
  readonly kind: string;
  readonly words?: readonly string[] | undefined;
  readonly isList: boolean;
  readonly isSecret: boolean;
  readonly applies: "now" | "restart";
  readonly origin: "default" | "dashboard" | "file" | "environment" | "flag";
  readonly where?: string | undefined;
  readonly isChangeable: boolean;
  readonly isSet: boolean;
  readonly value?: string | undefined;
  readonly fallback?: string | undefined;
};

export type ServerChecks = {
  readonly checkedAt: string;
  readonly findings: readonly {
    readonly check: "settings" | "server" | "data-folder" | "ports" | "disk-space" | "disk-speed" | "open-files" | "clock" | "database" | "bucket" | "ffmpeg" | "encoders" | "hardware" | "isolation" | "certificate" | "latency" | "name" | "http" | "http2" | "proxy" | "query" | "range" | "buffering" | "websocket" | "rtmp" | "rtmps" | "srt" | "webrtc-udp" | "webrtc-tcp";
    readonly title: string;
    readonly state: "ok" | "warning" | "failed" | "skipped";
    readonly text: string;
    readonly why?: string | undefined;
    readonly mend?: string | undefined;
    readonly facts?: Readonly<Record<string, number | boolean>> | undefined;
  }[];
};

export type UnverifiedUser = { readonly userId: string; readonly email: string; readonly createdAt: string; };

export type VerifiedUser = { readonly email: string; readonly password: string; };

type AudioTracks = {
  readonly name?: string | undefined;
  readonly language?: string | undefined;
  readonly default?: true | undefined;
  readonly position?: number | undefined;
};

type Ingest = {
  readonly status: "uploading" | "uploaded" | "ingesting" | "ingested" | "failed";
  readonly filesize: number | null;
  readonly receivedBytes: readonly { readonly from: number; readonly to: number; readonly total: number; }[];
  readonly receivedParts?: { readonly parts: readonly number[]; readonly total: number | null; } | undefined;
};

type Encoding = {
  readonly playable: boolean;
  readonly qualities: readonly {
    readonly type: "hls" | "mp4";
    readonly quality: "240p" | "360p" | "480p" | "720p" | "1080p" | "2160p";
    readonly status: "waiting" | "encoding" | "encoded" | "failed";
    readonly progress: number;
  }[];
  readonly additionalQualities?: readonly {
    readonly quality: "240p" | "360p" | "480p" | "720p" | "1080p" | "2160p";
    readonly status: "waiting" | "encoding" | "encoded" | "failed";
    readonly progress: number;
    readonly codec: "hevc" | "av1";
  }[] | undefined;
  readonly metadata: {
    readonly width: number | null;
    readonly height: number | null;
    readonly bitrate: number | null;
    readonly duration: number | null;
    readonly framerate: number | null;
    readonly samplerate: number | null;
    readonly videoCodec: string | null;
    readonly audioCodec: string | null;
    readonly aspectRatio: string | null;
    readonly subtitles?: readonly {
      readonly codec: string;
      readonly language: string | null;
      readonly title: string | null;
      readonly status: "captions" | "skipped";
      readonly reason: string | null;
    }[] | undefined;
    readonly closedCaptions?: boolean | undefined;
  };
  readonly failure?: string | undefined;
  readonly delay?: string | undefined;
};

type Transcript = {
  readonly status: "none" | "waiting" | "processing" | "completed" | "failed";
  readonly progress: number;
  readonly language?: string | undefined;
  readonly failure?: string | undefined;
};

type PlaybackPolicy2 = {
  readonly allowedDomains?: readonly string[] | undefined;
  readonly allowNoReferrer?: boolean | undefined;
  readonly allowedCountries?: readonly string[] | undefined;
  readonly blockedCountries?: readonly string[] | undefined;
};

type Restreams = {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
  readonly enabled?: boolean | undefined;
  readonly rendition?: "source" | "240p" | "360p" | "480p" | "720p" | "1080p" | "2160p" | undefined;
};

type Body = {
  readonly name?: string | null | undefined;
  readonly text?: string | undefined;
  readonly link?: string | undefined;
  readonly linkHover?: string | undefined;
  readonly linkActive?: string | undefined;
  readonly trackPlayed?: string | undefined;
  readonly trackUnplayed?: string | undefined;
  readonly trackBackground?: string | undefined;
  readonly backgroundTop?: string | undefined;
  readonly backgroundBottom?: string | undefined;
  readonly backgroundText?: string | undefined;
  readonly enableApi?: boolean | undefined;
  readonly enableControls?: boolean | undefined;
  readonly forceAutoplay?: boolean | undefined;
  readonly hideTitle?: boolean | undefined;
  readonly forceLoop?: boolean | undefined;
  readonly shapeMargin?: unknown | undefined;
  readonly shapeRadius?: unknown | undefined;
  readonly shapeAspect?: unknown | undefined;
  readonly shapeBackgroundTop?: unknown | undefined;
  readonly shapeBackgroundBottom?: unknown | undefined;
  readonly language?: unknown | undefined;
};

type FilterBy = {
  readonly mediaId?: readonly string[] | undefined;
  readonly mediaType?: "video" | "live-stream" | undefined;
  readonly continent?: readonly ("AS" | "AF" | "NA" | "SA" | "AN" | "EU" | "AZ")[] | undefined;
  readonly country?: readonly string[] | undefined;
  readonly deviceType?: readonly ("computer" | "phone" | "tablet" | "tv" | "console" | "wearable" | "unknown")[] | undefined;
  readonly operatingSystem?: readonly string[] | undefined;
  readonly browser?: readonly string[] | undefined;
  readonly tag?: string | undefined;
  readonly referrer?: readonly string[] | undefined;
  readonly viewerId?: readonly string[] | undefined;
};

export interface Operations {
  'POST /auth/session': {
    body: { readonly email: string; readonly password: string; readonly code?: string | undefined; };
    answer: Session;
  };
  'GET /auth/session': { answer: Session; };
  'PATCH /auth/session': { body: { readonly accountId: string; }; answer: Session; };
  'DELETE /auth/session': object;
  'GET /account/sessions': {
    query: { readonly sortBy?: "createdAt" | "lastUsedAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly ListedSession[]; readonly pagination: Pagination; };
  };
  'DELETE /account/sessions': object;
  'DELETE /account/sessions/{sessionId}': object;
  'PUT /account/password': { body: { readonly currentPassword: string; readonly newPassword: string; }; };
  'PATCH /account': { body: { readonly name: string | null; }; answer: SessionAccount; };
  'GET /account': { answer: Account; };
  'POST /account/upgrade': { answer: SessionAccount; };
  'GET /account/two-factor': { answer: TwoFactor; };
  'POST /account/two-factor': { body: { readonly password: string; }; answer: TwoFactorEnrollment; };
  'DELETE /account/two-factor': { body: { readonly password: string; readonly code: string; }; };
  'POST /account/two-factor/confirmation': { body: { readonly code: string; }; answer: RecoveryCodes; };
  'POST /account/two-factor/recovery-codes': { body: { readonly password: string; readonly code: string; }; answer: RecoveryCodes; };
  'GET /account/passkeys': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Passkey[]; readonly pagination: Pagination; };
  };
  'POST /account/passkeys': {
    body: {
      readonly name: string;
      readonly credential: {
        readonly id: string;
        readonly rawId: string;
        readonly type: "public-key";
        readonly response: {
          readonly clientDataJSON: string;
          readonly attestationObject: string;
          readonly transports?: readonly string[] | undefined;
        };
      };
    };
    answer: Passkey;
  };
  'POST /account/passkey-options': { body: { readonly password: string; readonly code?: string | undefined; }; answer: PasskeyOptions; };
  'PUT /account/passkeys/{passkeyId}': { body: { readonly name: string; }; answer: Passkey; };
  'DELETE /account/passkeys/{passkeyId}': object;
  'POST /auth/passkey-options': { answer: PasskeyOptions; };
  'POST /auth/passkey': {
    body: {
      readonly credential: {
        readonly id: string;
        readonly rawId: string;
        readonly type: "public-key";
        readonly response: {
          readonly clientDataJSON: string;
          readonly authenticatorData: string;
          readonly signature: string;
          readonly userHandle?: string | null | undefined;
        };
      };
    };
    answer: Session;
  };
  'POST /auth/password-resets': { body: { readonly email: string; }; };
  'GET /auth/password-resets/{resetToken}': { answer: PasswordReset; };
  'POST /auth/password-resets/{resetToken}/complete': {
    body: {
      readonly password: string;
      readonly keepPasskeys?: readonly string[] | undefined;
      readonly keepSessions?: readonly string[] | undefined;
    };
  };
  'GET /auth/methods': { answer: SignInMethods; };
  'POST /auth/oidc-request': { answer: OidcRequest; };
  'POST /auth/oidc': { body: { readonly query: string; readonly invitationToken?: string | undefined; }; answer: Session; };
  'GET /account/identity': { answer: Identity; };
  'DELETE /account/identity': object;
  'GET /account/members': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Member[]; readonly pagination: Pagination; };
  };
  'PATCH /account/members/{userId}': { body: { readonly role: "owner" | "editor" | "viewer"; }; answer: Member; };
  'DELETE /account/members/{userId}': object;
  'GET /account/invitations': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Invitation[]; readonly pagination: Pagination; };
  };
  'POST /account/invitations': { body: { readonly email: string; readonly role: "owner" | "editor" | "viewer"; }; answer: Invitation; };
  'DELETE /account/invitations/{invitationId}': object;
  'GET /invitations/{token}': { answer: OpenedInvitation; };
  'POST /invitations/{token}/accept': { body: { readonly password?: string | undefined; }; answer: Session; };
  'POST /account/projects': { body: { readonly name: string; }; answer: Project; };
  'PATCH /account/projects/{projectId}': { body: { readonly name: string; }; answer: Project; };
  'DELETE /account/projects/{projectId}': object;
  'GET /account/api-keys': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly ApiKeyPair[]; readonly pagination: Pagination; };
  };
  'POST /account/api-keys': {
    body: {
      readonly name?: string | undefined;
      readonly scopes?: readonly ("read" | "upload" | "live" | "admin")[] | undefined;
    };
    answer: ApiKeyPair;
  };
  'PATCH /account/api-keys/{keyPairId}': {
    body: {
      readonly name?: string | null | undefined;
      readonly scopes?: readonly ("read" | "upload" | "live" | "admin")[] | undefined;
    };
    answer: ApiKeyPair;
  };
  'DELETE /account/api-keys/{keyPairId}': object;
  'POST /account/api-keys/{keyPairId}/{environment}': { answer: ApiKeyPair; };
  'DELETE /account/api-keys/{keyPairId}/{environment}': object;
  'GET /account/audit-log': {
    query: { readonly actor?: string | undefined; readonly action?: string | undefined; readonly targetId?: string | undefined; readonly from?: string | undefined; readonly to?: string | undefined; readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly AuditEntry[]; readonly pagination: Pagination; };
  };
  'GET /account/signing-keys': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly SigningKey[]; readonly pagination: Pagination; };
  };
  'POST /account/signing-keys': {
    body: {
      readonly name: string;
      readonly algorithm?: "ES256" | "EdDSA" | "RS256" | undefined;
      readonly publicKey?: string | Readonly<Record<string, unknown>> | undefined;
    };
    answer: SigningKey;
  };
  'DELETE /account/signing-keys/{signingKeyId}': object;
  'GET /account/playback-policy': { answer: ProjectPlaybackPolicy; };
  'PATCH /account/playback-policy': { body: { readonly playbackPolicy?: PlaybackPolicy2 | null | undefined; }; answer: ProjectPlaybackPolicy; };
  'GET /account/channel': { answer: Channel; };
  'PATCH /account/channel': {
    body: {
      readonly enabled?: boolean | undefined;
      readonly slug?: string | null | undefined;
      readonly name?: string | undefined;
      readonly description?: string | undefined;
      readonly accentColor?: string | null | undefined;
    };
    answer: Channel;
  };
  'POST /account/channel/logo': { body: FormData; answer: Channel; };
  'DELETE /account/channel/logo': object;
  'GET /account/retention': { answer: Retention; };
  'PATCH /account/retention': {
    body: { readonly keepVideosDays?: number | null | undefined; readonly applyToExisting?: boolean | undefined; };
    answer: Retention;
  };
  'GET /account/video-defaults': { answer: VideoDefaults; };
  'PATCH /account/video-defaults': {
    body: {
      readonly transcript?: boolean | undefined;
      readonly transcriptSummary?: boolean | undefined;
      readonly recordings?: boolean | undefined;
    };
    answer: VideoDefaults;
  };
  'GET /live-streams': {
    query: { readonly streamKey?: string | undefined; readonly liveStreamId?: string | undefined; readonly name?: string | undefined; readonly sortBy?: "name" | "createdAt" | "updatedAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly LiveStream[]; readonly pagination: Pagination; };
  };
  'POST /live-streams': {
    body: {
      readonly name: string;
      readonly public?: boolean | undefined;
      readonly playerId?: string | null | undefined;
      readonly restreams?: readonly Restreams[] | undefined;
      readonly qualities?: "passthrough" | "ladder" | null | undefined;
      readonly audioTracks?: readonly AudioTracks[] | null | undefined;
      readonly record?: boolean | null | undefined;
      readonly keepRecordingsDays?: number | null | undefined;
      readonly playbackPolicy?: PlaybackPolicy2 | null | undefined;
      readonly ultraLowLatency?: boolean | undefined;
      readonly viewerClips?: boolean | undefined;
      readonly listed?: boolean | undefined;
      readonly showViewers?: boolean | undefined;
      readonly startsAt?: string | null | undefined;
      readonly source?: { readonly url: string; readonly enabled?: boolean | undefined; } | null | undefined;
    };
    answer: LiveStream;
  };
  'GET /live-streams/{liveStreamId}': { answer: LiveStream; };
  'PATCH /live-streams/{liveStreamId}': {
    body: {
      readonly name?: string | undefined;
      readonly public?: boolean | undefined;
      readonly playerId?: string | null | undefined;
      readonly restreams?: readonly Restreams[] | undefined;
      readonly qualities?: "passthrough" | "ladder" | null | undefined;
      readonly audioTracks?: readonly AudioTracks[] | null | undefined;
      readonly record?: boolean | null | undefined;
      readonly keepRecordingsDays?: number | null | undefined;
      readonly playbackPolicy?: PlaybackPolicy2 | null | undefined;
      readonly ultraLowLatency?: boolean | undefined;
      readonly viewerClips?: boolean | undefined;
      readonly listed?: boolean | undefined;
      readonly showViewers?: boolean | undefined;
      readonly startsAt?: string | null | undefined;
      readonly source?: { readonly url: string; readonly enabled?: boolean | undefined; } | null | undefined;
    };
    answer: LiveStream;
  };
  'DELETE /live-streams/{liveStreamId}': object;
  'PUT /live-streams/{liveStreamId}/complete': object;
  'PUT /live-streams/{liveStreamId}/allow-again': { answer: LiveStream; };
  'POST /live-streams/{liveStreamId}/stream-key': { answer: LiveStream; };
  'POST /live-streams/{liveStreamId}/thumbnail': { body: FormData; answer: LiveStream; };
  'DELETE /live-streams/{liveStreamId}/thumbnail': { answer: LiveStream; };
  'GET /live-streams/{liveStreamId}/broadcasts': {
    query: { readonly sortBy?: "startedAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Broadcast[]; readonly pagination: Pagination; };
  };
  'GET /live-streams/{liveStreamId}/health': { answer: IngestHealth; };
  'GET /live-streams/{liveStreamId}/health/history': { query: { readonly minutes?: number | undefined; }; answer: IngestHealthHistory; };
  'GET /live-streams/{liveStreamId}/ingest-log': { answer: IngestLog; };
  'GET /live-streams/{liveStreamId}/restreams': { answer: RestreamList; };
  'GET /videos': {
    query: { readonly title?: string | undefined; readonly description?: string | undefined; readonly 'tags[]'?: readonly string[] | undefined; readonly metadata?: Readonly<Record<string, string>> | undefined; readonly liveStreamId?: string | undefined; readonly status?: "empty" | "processing" | "ready" | "failed" | undefined; readonly public?: boolean | undefined; readonly sourceType?: "upload" | "liveStream" | undefined; readonly createdFrom?: string | undefined; readonly createdTo?: string | undefined; readonly sortBy?: "title" | "createdAt" | "publishedAt" | "updatedAt" | "plays" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Video[]; readonly pagination: Pagination; };
  };
  'POST /videos': {
    body: {
      readonly title: string;
      readonly source?: string | undefined;
      readonly description?: string | undefined;
      readonly public?: boolean | undefined;
      readonly listed?: boolean | undefined;
      readonly panoramic?: boolean | undefined;
      readonly mp4Support?: boolean | undefined;
      readonly playerId?: string | null | undefined;
      readonly tags?: readonly string[] | undefined;
      readonly metadata?: readonly { readonly key: string; readonly value: string; }[] | undefined;
      readonly language?: string | null | undefined;
      readonly expiresAt?: string | null | undefined;
      readonly playbackPolicy?: PlaybackPolicy2 | null | undefined;
      readonly transcript?: boolean | undefined;
      readonly transcriptSummary?: boolean | undefined;
      readonly transcriptSummaryAttributes?: readonly ("abstract" | "takeaways")[] | undefined;
      readonly clip?: {
        readonly startTimecode?: string | undefined;
        readonly endTimecode?: string | undefined;
        readonly lastSeconds?: number | undefined;
        readonly precision?: "keyframe" | "frame" | undefined;
      } | undefined;
      readonly watermark?: {
        readonly id: string;
        readonly top?: string | undefined;
        readonly left?: string | undefined;
        readonly bottom?: string | undefined;
        readonly right?: string | undefined;
        readonly width?: string | undefined;
        readonly height?: string | undefined;
        readonly opacity?: string | undefined;
      } | undefined;
    };
    answer: Video;
  };
  'GET /videos/{videoId}': { answer: Video; };
  'PATCH /videos/{videoId}': {
    body: {
      readonly title?: string | undefined;
      readonly description?: string | undefined;
      readonly public?: boolean | undefined;
      readonly listed?: boolean | undefined;
      readonly panoramic?: boolean | undefined;
      readonly mp4Support?: boolean | undefined;
      readonly playerId?: string | null | undefined;
      readonly tags?: readonly string[] | undefined;
      readonly metadata?: readonly { readonly key: string; readonly value: string; }[] | undefined;
      readonly language?: string | null | undefined;
      readonly expiresAt?: string | null | undefined;
      readonly playbackPolicy?: PlaybackPolicy2 | null | undefined;
      readonly transcript?: boolean | undefined;
      readonly transcriptSummary?: boolean | undefined;
      readonly transcriptSummaryAttributes?: readonly ("abstract" | "takeaways")[] | undefined;
    };
    answer: Video;
  };
  'DELETE /videos/{videoId}': { query: { readonly permanently?: "true" | "false" | undefined; }; };
  'GET /discarded/videos': {
    query: { readonly title?: string | undefined; readonly description?: string | undefined; readonly 'tags[]'?: readonly string[] | undefined; readonly metadata?: Readonly<Record<string, string>> | undefined; readonly liveStreamId?: string | undefined; readonly status?: "empty" | "processing" | "ready" | "failed" | undefined; readonly public?: boolean | undefined; readonly sourceType?: "upload" | "liveStream" | undefined; readonly createdFrom?: string | undefined; readonly createdTo?: string | undefined; readonly sortBy?: "title" | "createdAt" | "publishedAt" | "updatedAt" | "plays" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Video[]; readonly pagination: Pagination; };
  };
  'GET /discarded/videos/{videoId}': { answer: Video; };
  'PATCH /discarded/videos/{videoId}': { body: { readonly discarded?: boolean | undefined; }; answer: Video; };
  'POST /videos/{videoId}/retry': { answer: Video; };
  'GET /videos/statuses': {
    query: { readonly 'videoIds[]'?: readonly string[] | undefined; };
    answer: {
      readonly data: readonly {
        readonly ingest?: Ingest | undefined;
        readonly encoding: Encoding;
        readonly transcript?: Transcript | undefined;
        readonly videoId: string;
      }[];
    };
  };
  'GET /videos/{videoId}/status': { answer: VideoStatus; };
  'GET /upload-tokens': {
    query: { readonly sortBy?: "createdAt" | "ttl" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly UploadToken[]; readonly pagination: Pagination; };
  };
  'POST /upload-tokens': { body: { readonly ttl?: number | undefined; }; answer: UploadToken; };
  'DELETE /upload-tokens/{uploadToken}': object;
  'POST /videos/{videoId}/thumbnail': { body: FormData; answer: Video; };
  'PATCH /videos/{videoId}/thumbnail': { body: { readonly timecode: string; }; answer: Video; };
  'GET /watermarks': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Watermark[]; readonly pagination: Pagination; };
  };
  'POST /watermarks': { body: FormData; answer: Watermark; };
  'GET /watermarks/{watermarkId}/image': {
    query: { readonly environment?: "sandbox" | "production" | undefined; readonly project?: string | undefined; };
    answer: Blob;
  };
  'PATCH /watermarks/{watermarkId}': { body: { readonly name?: string | null | undefined; }; answer: Watermark; };
  'DELETE /watermarks/{watermarkId}': object;
  'GET /tags': {
    query: { readonly value?: string | undefined; readonly sortBy?: "value" | "videoCount" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Tag[]; readonly pagination: Pagination; };
  };
  'GET /summaries': {
    query: { readonly videoId?: string | undefined; readonly origin?: "api" | "auto" | undefined; readonly sourceStatus?: "missing" | "waiting" | "failed" | "completed" | "unprocessable" | undefined; readonly sortBy?: "createdAt" | "updatedAt" | "videoId" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Summary[]; readonly pagination: Pagination; };
  };
  'POST /summaries': {
    body: {
      readonly videoId: string;
      readonly origin?: "api" | "auto" | undefined;
      readonly attributes?: readonly ("abstract" | "takeaways")[] | undefined;
    };
    answer: Summary;
  };
  'DELETE /summaries/{summaryId}': object;
  'GET /summaries/{summaryId}/source': { answer: SummarySource; };
  'GET /videos/{videoId}/audio-tracks': {
    query: { readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly AudioTrack[]; readonly pagination: Pagination; };
  };
  'PATCH /videos/{videoId}/audio-tracks/{audioTrackId}': {
    body: {
      readonly name?: string | null | undefined;
      readonly language?: string | null | undefined;
      readonly default?: true | undefined;
      readonly position?: number | undefined;
    };
    answer: AudioTrack;
  };
  'GET /videos/{videoId}/captions': {
    query: { readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Caption[]; readonly pagination: Pagination; };
  };
  'GET /videos/{videoId}/captions/{language}': { answer: Caption; };
  'POST /videos/{videoId}/captions/{language}': { body: FormData; answer: Caption; };
  'PATCH /videos/{videoId}/captions/{language}': { body: { readonly default?: boolean | undefined; }; answer: Caption; };
  'DELETE /videos/{videoId}/captions/{language}': object;
  'GET /videos/{videoId}/chapters': {
    query: { readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Chapter[]; readonly pagination: Pagination; };
  };
  'POST /videos/{videoId}/chapters/{language}': { body: FormData; answer: Chapter; };
  'DELETE /videos/{videoId}/chapters/{language}': object;
  'GET /players': {
    query: { readonly sortBy?: "name" | "createdAt" | "updatedAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Player[]; readonly pagination: Pagination; };
  };
  'POST /players': { body: Body; answer: Player; };
  'GET /players/{playerId}': { answer: Player; };
  'PATCH /players/{playerId}': { body: Body; answer: Player; };
  'DELETE /players/{playerId}': object;
  'POST /players/{playerId}/logo': { body: FormData; answer: Player; };
  'DELETE /players/{playerId}/logo': object;
  'GET /webhooks': {
    query: { readonly events?: "live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated" | undefined; readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly Webhook[]; readonly pagination: Pagination; };
  };
  'POST /webhooks': {
    body: {
      readonly events: readonly ("live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated")[];
      readonly url: string;
    };
    answer: Webhook;
  };
  'GET /webhooks/{webhookId}': { answer: Webhook; };
  'PATCH /webhooks/{webhookId}': {
    body: {
      readonly events?: readonly ("live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated")[] | undefined;
      readonly url?: string | undefined;
    };
    answer: Webhook;
  };
  'DELETE /webhooks/{webhookId}': object;
  'POST /webhooks/check': { body: { readonly url: string; }; answer: WebhookVerdict; };
  'GET /webhooks/{webhookId}/deliveries': {
    query: { readonly status?: "waiting" | "retrying" | "succeeded" | "failed" | undefined; readonly type?: "live-stream.broadcast.started" | "live-stream.broadcast.ended" | "live-stream.restream.stopped" | "live-stream.quality.dropped" | "live-stream.alarm.raised" | "live-stream.alarm.cleared" | "video.source.recorded" | "video.source.failed" | "video.encoding.failed" | "live-stream.recording.stopped" | "video.encoding.quality.completed" | "video.expiring" | "video.expired" | "video.caption.generated" | "video.summary.generated" | "webhook.test" | undefined; readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly WebhookDelivery[]; readonly pagination: Pagination; };
  };
  'GET /webhooks/{webhookId}/deliveries/{deliveryId}': { answer: WebhookDeliveryDetails; };
  'POST /webhooks/{webhookId}/deliveries/{deliveryId}/resend': { answer: WebhookDeliveryDetails; };
  'POST /webhooks/{webhookId}/test': { answer: WebhookDeliveryDetails; };
  'GET /hooks': { answer: Hooks; };
  'PUT /hooks/{hook}': {
    body: {
      readonly url: string;
      readonly timeoutSeconds?: number | undefined;
      readonly onFailure?: "allow" | "refuse" | undefined;
    };
    answer: Hook;
  };
  'DELETE /hooks/{hook}': object;
  'POST /hooks/{hook}/test': { answer: HookResult; };
  'GET /data/metrics/{metric}/{aggregation}': {
    query: { readonly from?: string | undefined; readonly to?: string | undefined; readonly unique?: boolean | undefined; readonly viewDuration?: "3s" | "5s" | "10s" | "30s" | undefined; readonly filterBy?: FilterBy | undefined; };
    answer: AnalyticsMetric;
  };
  'GET /data/buckets/{metric}/{breakdown}': {
    query: { readonly from?: string | undefined; readonly to?: string | undefined; readonly unique?: boolean | undefined; readonly viewDuration?: "3s" | "5s" | "10s" | "30s" | undefined; readonly filterBy?: FilterBy | undefined; readonly sortBy?: "metricValue" | "dimensionValue" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: AnalyticsBuckets;
  };
  'GET /data/timeseries/{metric}': {
    query: { readonly from?: string | undefined; readonly to?: string | undefined; readonly unique?: boolean | undefined; readonly viewDuration?: "3s" | "5s" | "10s" | "30s" | undefined; readonly filterBy?: FilterBy | undefined; readonly interval?: "minute" | "hour" | "day" | undefined; readonly sortBy?: "metricValue" | "emittedAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: AnalyticsTimeseries;
  };
  'GET /usage': { answer: Usage; };
  'GET /server': { answer: ServerState; };
  'GET /server/settings': { answer: ServerSettings; };
  'PATCH /server/settings/{setting}': { body: { readonly value: string | null; }; answer: ServerSetting; };
  'GET /server/checks': { answer: ServerChecks; };
  'GET /server/unverified-users': {
    query: { readonly sortBy?: "createdAt" | undefined; readonly sortOrder?: "asc" | "desc" | undefined; readonly currentPage?: number | undefined; readonly pageSize?: number | undefined; };
    answer: { readonly data: readonly UnverifiedUser[]; readonly pagination: Pagination; };
  };
  'POST /server/unverified-users/{userId}/verify': { answer: VerifiedUser; };
}
