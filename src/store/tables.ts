import type {
  AccessRevisionRow,
  AccountRow,
  ApiKeyRow,
  AuditCounterRow,
  AuditEntryRow,
  DatabaseUseRow,
  IdentityRow,
  InvitationRow,
  KeyPairRow,
  KnownSignInRow,
  ListTotalRow,
  MemberRow,
  PasskeyRow,
  PasswordResetRow,
  PrivateSessionRow,
  ProjectPairRow,
  ProjectRow,
  RecoveryCodeRow,
  SecretRow,
  SessionRow,
  SignInAttemptsRow,
  SigningKeyRow,
  TokenRow,
  TrafficRow,
  TwoFactorRow,
  UnverifiedChangeRow,
  UsedChallengeRow,
  UserRow,
} from './account-tables.ts';
import type {
  EventCounterRow,
  EventRow,
  HookResultRow,
  HookRow,
  JobRow,
  RemovedWebhookRow,
  WebhookAttemptRow,
  WebhookDeliveryRow,
  WebhookDeliveryTotalRow,
  WebhookRow,
} from './event-tables.ts';
import type {
  ArrivingUploadRow,
  BroadcastRow,
  CodecRenditionRow,
  EmptyVideoRow,
  LiveStreamRow,
  PlayerRow,
  RecordingRow,
  RemovedPlayerRow,
  RemovedVideoRow,
  RenditionRow,
  SandboxVideoRow,
  StorageTotalRow,
  StoredVideoRow,
  SummaryRow,
  TagRow,
  TextTrackRow,
  TranscriptPartRow,
  TranscriptRow,
  UploadChunkRow,
  UploadTokenRow,
  VideoBlockRow,
  VideoEncodingRow,
  VideoRow,
  VideoSourceRow,
  VideoThumbnailRow,
  WatermarkRow,
} from './media-tables.ts';
import type { DutyRow, NodeLoadRow, NodeRow } from './node-tables.ts';

/** Times are Unix times in milliseconds, booleans 0 or 1, hashes 32 bytes of SHA-256. */
export interface Tables {
  secrets: SecretRow;
  accounts: AccountRow;
  access_revisions: AccessRevisionRow;
  project_pairs: ProjectPairRow;
  projects: ProjectRow;
  members: MemberRow;
  invitations: InvitationRow;
  key_pairs: KeyPairRow;
  signing_keys: SigningKeyRow;
  api_keys: ApiKeyRow;
  access_tokens: TokenRow;
  refresh_tokens: TokenRow;
  users: UserRow;
  unverified_changes: UnverifiedChangeRow;
  sessions: SessionRow;
  two_factor: TwoFactorRow;
  recovery_codes: RecoveryCodeRow;
  password_resets: PasswordResetRow;
  passkeys: PasskeyRow;
  used_challenges: UsedChallengeRow;
  identities: IdentityRow;
  sign_in_attempts: SignInAttemptsRow;
  known_sign_ins: KnownSignInRow;
  audit_counters: AuditCounterRow;
  audit_entries: AuditEntryRow;
  list_totals: ListTotalRow;
  live_streams: LiveStreamRow;
  broadcasts: BroadcastRow;
  videos: VideoRow;
  video_sources: VideoSourceRow;
  upload_chunks: UploadChunkRow;
  arriving_uploads: ArrivingUploadRow;
  upload_tokens: UploadTokenRow;
  recordings: RecordingRow;
  video_encodings: VideoEncodingRow;
  renditions: RenditionRow;
  codec_renditions: CodecRenditionRow;
  video_thumbnails: VideoThumbnailRow;
  watermarks: WatermarkRow;
  text_tracks: TextTrackRow;
  transcripts: TranscriptRow;
  transcript_parts: TranscriptPartRow;
  players: PlayerRow;
  removed_players: RemovedPlayerRow;
  removed_videos: RemovedVideoRow;
  sandbox_videos: SandboxVideoRow;
  empty_videos: EmptyVideoRow;
  database_uses: DatabaseUseRow;
  video_blocks_by_creation: VideoBlockRow;
  tags: TagRow;
  summaries: SummaryRow;
  private_sessions: PrivateSessionRow;
  jobs: JobRow;
  events: EventRow;
  event_counters: EventCounterRow;
  webhooks: WebhookRow;
  removed_webhooks: RemovedWebhookRow;
  webhook_deliveries: WebhookDeliveryRow;
  webhook_attempts: WebhookAttemptRow;
  hooks: HookRow;
  hook_results: HookResultRow;
  webhook_delivery_totals: WebhookDeliveryTotalRow;
  traffic: TrafficRow;
  stored_videos: StoredVideoRow;
  storage_totals: StorageTotalRow;
  nodes: NodeRow;
  duties: DutyRow;
  node_loads: NodeLoadRow;
}
