import type { Generated } from 'kysely';

/** Rows as stored in SQLite: times are Unix times in milliseconds, booleans 0 or 1, hashes 32 bytes of SHA-256. */
export interface Tables {
  secrets: SecretRow;
  accounts: AccountRow;
  projects: ProjectRow;
  key_pairs: KeyPairRow;
  api_keys: ApiKeyRow;
  access_tokens: TokenRow;
  refresh_tokens: TokenRow;
  users: UserRow;
  sessions: SessionRow;
  list_totals: ListTotalRow;
  live_streams: LiveStreamRow;
  broadcasts: BroadcastRow;
  videos: VideoRow;
  video_sources: VideoSourceRow;
  upload_chunks: UploadChunkRow;
  upload_tokens: UploadTokenRow;
  recordings: RecordingRow;
  video_encodings: VideoEncodingRow;
  renditions: RenditionRow;
  video_thumbnails: VideoThumbnailRow;
  watermarks: WatermarkRow;
  text_tracks: TextTrackRow;
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
  webhook_delivery_totals: WebhookDeliveryTotalRow;
  traffic: TrafficRow;
  stored_videos: StoredVideoRow;
  storage_totals: StorageTotalRow;
}

/** The project of an account: the sandbox has trial limits. */
export type Environment = 'sandbox' | 'production';

/** A key of this installation, created with the database. */
export interface SecretRow {
  name: string;
  bytes: Buffer;
}

/** Owner of two projects, which can be suspended. The first start creates the operator's. */
export interface AccountRow {
  id: string;
  is_upgraded: number;
  is_suspended: number;
  is_operator: Generated<number>;
  created_at_ms: number;
}

/** Owner of every resource. */
export interface ProjectRow {
  id: string;
  account_id: string;
  environment: Environment;
  created_at_ms: number;
}

/** A sandbox and a production key that were created together; either may be missing. */
export interface KeyPairRow {
  id: string;
  account_id: string;
  name: string | null;
  created_at_ms: number;
}

/** An API key. `hint` is its last characters, if known. A revoked key has its own id as `pair_id`. */
export interface ApiKeyRow {
  id: string;
  pair_id: string;
  project_id: string;
  key_hash: Buffer;
  hint: string | null;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
}

/** An access or refresh token; deleted with its API key. */
export interface TokenRow {
  token_hash: Buffer;
  api_key_id: string;
  expires_at_ms: number;
}

/** A user of the dashboard. */
export interface UserRow {
  id: string;
  account_id: string;
  email: string;
  password_hash: string;
  created_at_ms: number;
}

/** A sign-in until it expires, with its `address` and `user_agent`. */
export interface SessionRow {
  id: string;
  user_id: string;
  secret_hash: Buffer;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  address: string;
  user_agent: string | null;
}

/** Number of a project's rows in a list, counted by triggers so that list pages do not count. */
export interface ListTotalRow {
  project_id: string;
  list: string;
  total: number;
}

/** `restreams` is a JSON array; `name_folded` is for sorting and searching. */
export interface LiveStreamRow {
  id: string;
  project_id: string;
  name: string;
  name_folded: string;
  stream_key: string;
  is_public: number;
  player_id: string | null;
  restreams: string;
  qualities: 'passthrough' | 'ladder' | null;
  is_recorded: number | null;
  thumbnail_type: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/**
 * A broadcast of a live stream. States and end reasons are defined in `live`. `live_at_ms` is the time of the first playable
 * part.
 */
export interface BroadcastRow {
  id: string;
  project_id: string;
  live_stream_id: string;
  state: string;
  started_at_ms: number;
  ended_at_ms: number | null;
  end_reason: string | null;
  protocol: string;
  remote_address: string;
  encoder: string;
  video_codec: string | null;
  audio_codec: string | null;
  width: number | null;
  height: number | null;
  live_at_ms: number | null;
  average_bits_per_second: number | null;
  peak_bits_per_second: number | null;
  average_frames_per_second: number | null;
  longest_gop_ms: number | null;
  dropped_frames: number | null;
  missing_frames: number | null;
  dropped_connections: number | null;
  away_ms: number | null;
}

/**
 * `number` replaces the id in indexes. `tags` and `metadata` are JSON arrays, `watermark` a JSON placement; clip times refer to
 * the source. Columns with `_folded` are for sorting and searching.
 */
export interface VideoRow {
  number: Generated<number>;
  id: string;
  project_id: string;
  title: string;
  title_folded: string;
  description: string;
  is_public: number;
  is_panoramic: number;
  has_mp4_support: number;
  player_id: string | null;
  tags: string;
  metadata: string;
  language: string | null;
  live_stream_id: string | null;
  clip_start_ms: number | null;
  clip_end_ms: number | null;
  watermark: string | null;
  created_at_ms: number;
  published_at_ms: number;
  updated_at_ms: number;
  discarded_at_ms: number | null;
  deletes_at_ms: number | null;
  is_discarded: Generated<number>;
  description_folded: Generated<string>;
}

/**
 * The source of a video, once an upload or import has started. `total`: announced bytes or parts; `bytes`: final size; `address`:
 * the URL or the id of the cloned video. Complete sources are `uploaded` or `ingested`; `completed_at_ms` is the time of
 * completion or failure. `is_joined`: joined from several files. For uploads with a token, `upload_client` is a hash of the
 * client, `upload_file_name` its file, and `has_created_video` tells that the upload created the video.
 */
export interface VideoSourceRow {
  video_id: string;
  origin: 'upload' | 'url' | 'clone' | 'recording';
  form: 'plain' | 'bytes' | 'parts' | null;
  status: 'uploading' | 'assembling' | 'uploaded' | 'ingesting' | 'ingested' | 'failed';
  address: string | null;
  upload_token: string | null;
  total: number | null;
  bytes: number | null;
  failure: string | null;
  started_at_ms: number;
  completed_at_ms: number | null;
  is_joined: number;
  upload_client: string | null;
  upload_file_name: string | null;
  has_created_video: Generated<number>;
}

/** A stored chunk of a ranged upload: bytes `first` to `last` inclusive, or twice the part number. `digest`: SHA-256. */
export interface UploadChunkRow {
  video_id: string;
  first: number;
  last: number;
  bytes: number;
  digest: Buffer;
}

/** A token for uploads into a project. `expires_at_ms` is null for one that never expires. */
export interface UploadTokenRow {
  token: string;
  project_id: string;
  ttl_seconds: number;
  created_at_ms: number;
  expires_at_ms: number | null;
}

/** A recording in progress. `video_id` is the id of its future video; the other columns come from its live stream. */
export interface RecordingRow {
  video_id: string;
  project_id: string;
  live_stream_id: string;
  broadcast_id: string;
  started_at_ms: number;
  title: string;
  is_public: number;
  player_id: string | null;
}

/** Properties of a video's source, and whether it is playable. `revision` increases with every change of its media. */
export interface VideoEncodingRow {
  video_id: string;
  facts: string;
  target_duration_seconds: number | null;
  is_playable: number;
  has_storyboard: number;
  failure: string | null;
  revision: number;
}

/** An output of a video's encoding. `file` is relative to the video's folder; `facts` is JSON of the vod room. */
export interface RenditionRow {
  video_id: string;
  type: 'hls' | 'mp4' | 'audio';
  quality: string;
  position: number;
  status: 'waiting' | 'encoding' | 'encoded' | 'failed';
  progress_percent: number;
  file: string | null;
  facts: string | null;
}

/** The thumbnail of a video; the default frame without a row. `file` is null until the image exists. */
export interface VideoThumbnailRow {
  video_id: string;
  choice: 'default' | 'timecode' | 'upload';
  timecode: string | null;
  file: string | null;
}

/** An image to burn into videos. */
export interface WatermarkRow {
  id: string;
  project_id: string;
  media_type: string;
  width: number;
  height: number;
  created_at_ms: number;
}

/** A block of consecutive rows in an order of a project's videos, counted by triggers. */
export interface VideoBlockRow {
  project_id: string;
  is_discarded: number;
  videos: number;
}

/** Number of a project's videos with a tag, counted by triggers. `tag_folded` is for sorting and searching. */
export interface TagRow {
  project_id: string;
  is_discarded: number;
  tag: string;
  videos: number;
  tag_folded: string;
}

/** A text summary of a video. `takeaways` is a JSON array; a trigger copies `is_discarded` from the video. */
export interface SummaryRow {
  id: string;
  project_id: string;
  video_id: string;
  is_discarded: Generated<number>;
  source_status: 'missing' | 'completed';
  abstract: string | null;
  takeaways: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** A WebVTT file of a video. `file` is relative to the video's folder and changes with each upload. */
export interface TextTrackRow {
  video_id: string;
  kind: 'captions' | 'chapters';
  language: string;
  is_default: number;
  file: string;
  bytes: number;
}

/** A player theme. `look` is a JSON object of its colours and switches; the logo's file is relative to the theme's folder. */
export interface PlayerRow {
  id: string;
  project_id: string;
  name: string | null;
  name_folded: string;
  look: string;
  logo_file: string | null;
  logo_bytes: number | null;
  link: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** A deleted theme that videos or live streams still refer to. */
export interface RemovedPlayerRow {
  id: string;
}

/** A deleted video whose files may still exist. */
export interface RemovedVideoRow {
  id: string;
}

/** A video that never had a source and is not in the trash; maintained by triggers. */
export interface EmptyVideoRow {
  created_at_ms: number;
  video_id: string;
}

/** Time range in which servers used this database, updated each minute. */
export interface DatabaseUseRow {
  began_at_ms: number;
  last_at_ms: number;
}

/** A sandbox video with a complete or failed source, and the time of it; maintained by triggers. */
export interface SandboxVideoRow {
  completed_at_ms: number;
  video_id: string;
}

/** The client that a private token was bound to at its first use. Hashes are SHA-256. */
export interface PrivateSessionRow {
  token_hash: Buffer;
  resource_id: string;
  client_hash: Buffer;
  expires_at_ms: number;
}

/** A job that survives a crash. `payload` is JSON specific to its kind. */
export interface JobRow {
  id: Generated<number>;
  kind: string;
  lane: string;
  subject_id: string;
  group_id: Generated<string>;
  payload: string;
  priority: number;
  state: 'waiting' | 'running' | 'failed';
  attempts: number;
  crashes: Generated<number>;
  progress_percent: number;
  run_at_ms: number;
  lease_until_ms: number | null;
  failure: string | null;
  created_at_ms: number;
  failed_at_ms: number | null;
}

/** The number of a project's newest event. */
export interface EventCounterRow {
  project_id: string;
  last: number;
}

/** An event, stored in the transaction of its change. `number` counts a project's events; `payload` is JSON. */
export interface EventRow {
  id: Generated<number>;
  number: number;
  project_id: string;
  type: string;
  subject_id: string;
  payload: string;
  created_at_ms: number;
}

/** `events` is a JSON array of event types. */
export interface WebhookRow {
  id: string;
  project_id: string;
  events: string;
  url: string;
  signature_secret: string;
  created_at_ms: number;
}

/** A deleted webhook whose deliveries are being removed. */
export interface RemovedWebhookRow {
  webhook_id: string;
}

/**
 * A delivery of an event to a webhook, and its history. Deliveries of one `sequence` are sent in order: `is_next` marks the
 * current one. `due_at_ms` is null for finished ones; `body` is the exact request body.
 */
export interface WebhookDeliveryRow {
  number: Generated<number>;
  id: string;
  webhook_id: string;
  event_number: number;
  type: string;
  sequence: string;
  body: string;
  state: 'waiting' | 'retrying' | 'succeeded' | 'failed';
  is_next: number;
  due_at_ms: number | null;
  attempts: number;
  first_attempt_at_ms: number | null;
  resent_from: string | null;
  created_at_ms: number;
}

/** An attempt of a delivery, numbered from 1. `response` is the start of the response body. */
export interface WebhookAttemptRow {
  delivery_number: number;
  attempt: number;
  attempted_at_ms: number;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response: string | null;
}

/** Number of a webhook's deliveries, counted by triggers so that list pages do not count. */
export interface WebhookDeliveryTotalRow {
  webhook_id: string;
  state: WebhookDeliveryRow['state'];
  type: string;
  total: number;
}

/** Body bytes sent to a project's viewers on one day. `day`: days since 1970, UTC. */
export interface TrafficRow {
  project_id: string;
  day: number;
  live_bytes: number;
  vod_bytes: number;
}

/** Size of all video files of a project by kind, counted by triggers. */
export interface StorageTotalRow {
  project_id: string;
  source_bytes: Generated<number>;
  recording_bytes: Generated<number>;
  hls_bytes: Generated<number>;
  mp4_bytes: Generated<number>;
  image_bytes: Generated<number>;
  text_bytes: Generated<number>;
}

/**
 * The same of one video, or of a recording, when it was last measured. `due_at_ms` is the time of the next measurement; 0 after
 * changes, which `changes` counts.
 */
export interface StoredVideoRow extends StorageTotalRow {
  video_id: string;
  is_measured: Generated<number>;
  due_at_ms: Generated<number>;
  changes: Generated<number>;
}
