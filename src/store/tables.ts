import type { Generated } from 'kysely';

/**
 * Rows as SQLite holds them: times are integer milliseconds since 1970 UTC, booleans 0 or 1, hashes 32 bytes of SHA-256.
 * Names here and in `migrations/` are the same.
 */
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

/** Which of an account's two projects: trial rules apply in the sandbox. */
export type Environment = 'sandbox' | 'production';

/** A key of this installation, made when the database was new. */
export interface SecretRow {
  name: string;
  bytes: Buffer;
}

/** Who pays and is suspended; owns two projects. The operator's is the one that the first start made. */
export interface AccountRow {
  id: string;
  is_upgraded: number;
  is_suspended: number;
  is_operator: Generated<number>;
  created_at_ms: number;
}

/** What owns every resource. */
export interface ProjectRow {
  id: string;
  account_id: string;
  environment: Environment;
  created_at_ms: number;
}

/** A sandbox and a production key that were made together; either may be missing. */
export interface KeyPairRow {
  id: string;
  account_id: string;
  name: string | null;
  created_at_ms: number;
}

/**
 * One key of a pair. `hint`: its last characters, where they were noted. A revoked key opens nothing, and has its own id as
 * `pair_id`.
 */
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

/** An access or refresh token; gone with the API key that it was made from. */
export interface TokenRow {
  token_hash: Buffer;
  api_key_id: string;
  expires_at_ms: number;
}

/** Somebody who may sign in to the dashboard. */
export interface UserRow {
  id: string;
  account_id: string;
  email: string;
  password_hash: string;
  created_at_ms: number;
}

/** Somebody who is signed in, until it expires. `address` and `user_agent` are those of the sign-in. */
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

/** How many rows a project has in a list; kept by triggers, so that no page of a list counts. */
export interface ListTotalRow {
  project_id: string;
  list: string;
  total: number;
}

/** A live stream container. `restreams` is a JSON array; `name_folded` is what is sorted by and searched in. */
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

/** One time that a live stream was on air. States and end reasons are the live room's. `live_at_ms`: when it could first be played. */
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
 * A video container. `number` stands for it in indexes. `tags` and `metadata` are JSON arrays, `watermark`
 * a JSON placement; a clip's ends are in the source's time. The `_folded` texts are what is sorted by and searched in.
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
 * Where a video's source comes from, once something has begun. `total`: bytes or parts announced; `bytes`: size of the source,
 * known at the end; `address`: the URL or the cloned video's id. Complete is what has been `uploaded` or `ingested`;
 * `completed_at_ms`: since when, or since when it has `failed`. `is_joined`: it was put together from several files.
 * Of an upload with a token: `upload_client` is a hash of the client that began it, `upload_file_name` the name of its file, and
 * `has_created_video` says that it created the video.
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

/** A stored piece of a ranged upload: bytes `first` to `last`, both included, or the part number twice. `digest`: SHA-256. */
export interface UploadChunkRow {
  video_id: string;
  first: number;
  last: number;
  bytes: number;
  digest: Buffer;
}

/** Lets whoever holds it upload videos into a project. `expires_at_ms` is null for one that never expires. */
export interface UploadTokenRow {
  token: string;
  project_id: string;
  ttl_seconds: number;
  created_at_ms: number;
  expires_at_ms: number | null;
}

/** A recording that is not a video yet: `video_id` is the id that it will have. The rest is what it takes from its live stream. */
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

/** What is known of a video's source, and whether viewers can play it. `revision` grows whenever what they get changes. */
export interface VideoEncodingRow {
  video_id: string;
  facts: string;
  target_duration_seconds: number | null;
  is_playable: number;
  has_storyboard: number;
  failure: string | null;
  revision: number;
}

/** One form in which a video is, or will be, delivered. `file` is relative to the video's folder; `facts` is JSON of the vod room. */
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

/** Which image a video shows. No row: the default frame. `file` is null until the image is there. */
export interface VideoThumbnailRow {
  video_id: string;
  choice: 'default' | 'timecode' | 'upload';
  timecode: string | null;
  file: string | null;
}

/** An image that can be burned into videos. */
export interface WatermarkRow {
  id: string;
  project_id: string;
  media_type: string;
  width: number;
  height: number;
  created_at_ms: number;
}

/** A run of neighbours in an order of a project's videos, as triggers count them. */
export interface VideoBlockRow {
  project_id: string;
  is_discarded: number;
  videos: number;
}

/** How many videos of a project have a tag; kept by triggers. `tag_folded` is what is sorted by and searched in. */
export interface TagRow {
  project_id: string;
  is_discarded: number;
  tag: string;
  videos: number;
  tag_folded: string;
}

/** What a video is about, in words. `takeaways` is a JSON array; `is_discarded` is kept as the video's by a trigger. */
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

/** A WebVTT file of a video. `file` is relative to the video's folder, and new with each upload. */
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

/** A theme that is gone while videos or live streams still name it. */
export interface RemovedPlayerRow {
  id: string;
}

/** A video whose row is gone while its files may still be there. */
export interface RemovedVideoRow {
  id: string;
}

/** A video that no source has ever begun for, unless it is in the trash; kept by triggers. */
export interface EmptyVideoRow {
  created_at_ms: number;
  video_id: string;
}

/** From when to when servers have used this database, as they said each minute. */
export interface DatabaseUseRow {
  began_at_ms: number;
  last_at_ms: number;
}

/** A video of the sandbox whose source is complete, or failed for good, and since when; kept by triggers. */
export interface SandboxVideoRow {
  completed_at_ms: number;
  video_id: string;
}

/** Which client a private token was bound to at its first use. Hashes are SHA-256. */
export interface PrivateSessionRow {
  token_hash: Buffer;
  resource_id: string;
  client_hash: Buffer;
  expires_at_ms: number;
}

/** A piece of work that outlives a crash. `payload` is JSON of its kind. */
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

/** Something that happened, written in the transaction that made it happen. `number` counts a project's events; `payload` is JSON. */
export interface EventRow {
  id: Generated<number>;
  number: number;
  project_id: string;
  type: string;
  subject_id: string;
  payload: string;
  created_at_ms: number;
}

/** Where events of a project are sent to. `events` is a JSON array of names. */
export interface WebhookRow {
  id: string;
  project_id: string;
  events: string;
  url: string;
  signature_secret: string;
  created_at_ms: number;
}

/** A webhook that is gone, and whose deliveries are being removed. */
export interface RemovedWebhookRow {
  webhook_id: string;
}

/**
 * An event on its way to a webhook, and the memory of it. Those of one `sequence` are sent one after the other: `is_next` is the one
 * whose turn it is. `due_at_ms` is null for what is over; `body` is what is sent, to the byte.
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

/** One try of a delivery; `attempt` counts from 1. `response` is the beginning of the answer. */
export interface WebhookAttemptRow {
  delivery_number: number;
  attempt: number;
  attempted_at_ms: number;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response: string | null;
}

/** How many deliveries a webhook has; kept by triggers, so that no page of a list counts. */
export interface WebhookDeliveryTotalRow {
  webhook_id: string;
  state: WebhookDeliveryRow['state'];
  type: string;
  total: number;
}

/** Body bytes that viewers of a project were sent on one day. `day`: whole days since 1970, UTC. */
export interface TrafficRow {
  project_id: string;
  day: number;
  live_bytes: number;
  vod_bytes: number;
}

/** How many bytes the files of a project's videos have, by kind; kept by triggers. */
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
 * The same of one video, or of a recording that will be one, when its files were last measured. `due_at_ms`: when they are to be measured
 * again; 0 when something has changed since, which `changes` counts.
 */
export interface StoredVideoRow extends StorageTotalRow {
  video_id: string;
  is_measured: Generated<number>;
  due_at_ms: Generated<number>;
  changes: Generated<number>;
}
