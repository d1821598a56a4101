import type { Generated } from 'kysely';
import type { AdditionalCodec } from '../shared/additional-codecs.ts';

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
  audio_tracks: string | null;
  source_url: string | null;
  is_source_enabled: number | null;
  source_status: string | null;
  is_ultra_low_latency: number | null;
  has_viewer_clips: number | null;
  keep_recordings_days: number | null;
  /** JSON. */
  playback_policy: string | null;
  thumbnail_type: string | null;
  /** JSON of the publisher that `complete` has cut off. */
  cut_off_publisher: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** States and end reasons are defined in `live`. `live_at_ms` is the time of the first playable part. */
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
  /** The server that packages it, where several share the database; null while none does. */
  node_id: Generated<string | null>;
  /** Counts the servers that packaged it. */
  claim: Generated<number>;
  /** First segment of this server. */
  first_sequence: Generated<number>;
  /** Time by the clock of the database. */
  claimed_at_ms: Generated<number | null>;
  /** End of a claim without a server, by the clock of the database. */
  expires_at_ms: Generated<number | null>;
  /** A server to which its publisher wants to connect. */
  wanted_by: Generated<string | null>;
  /** A reason to end it, for the server that packages it. */
  requested_end: Generated<string | null>;
  target_duration_seconds: Generated<number | null>;
  /** The multivariant playlist, with relative addresses. */
  multivariant: Generated<string | null>;
  /** JSON: the state, health and viewers that other servers show. */
  report: Generated<string | null>;
}

/**
 * `number` replaces the id in indexes. `tags` and `metadata` are JSON arrays, `watermark` a JSON placement;
 * clip times refer to the source, or to the video that it was `clipped_from` until the source is complete. Columns with `_folded` are for sorting and searching.
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
  clip_precision: 'keyframe' | 'frame' | null;
  clipped_from: string | null;
  watermark: string | null;
  created_at_ms: number;
  published_at_ms: number;
  updated_at_ms: number;
  discarded_at_ms: number | null;
  deletes_at_ms: number | null;
  expires_at_ms: number | null;
  /** JSON. */
  playback_policy: string | null;
  expiry_notice_at_ms: number | null;
  is_discarded: Generated<number>;
  description_folded: Generated<string>;
  is_language_detected: Generated<number>;
  /** Id of a video or live stream. */
  public_from: Generated<string | null>;
  /** Id of a video or live stream. */
  policy_from: Generated<string | null>;
  /** JSON. */
  viewer_limits: Generated<string | null>;
}

/**
 * Exists once an upload or import has started. `total`: announced bytes or parts; `bytes`: final size;
 * `address`: the URL or the id of the cloned video. Complete sources are `uploaded` or `ingested`;
 * `completed_at_ms` is the time of completion or failure. `is_joined`: joined from several files. Uploads
 * with a token have `upload_client`, a hash of the client, `upload_file_name`, and `has_created_video` if the
 * upload created the video.
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

/** Bytes `first` to `last` inclusive, or twice the part number. `digest`: SHA-256. */
interface UploadChunkRow {
  video_id: string;
  first: number;
  last: number;
  bytes: number;
  digest: Buffer;
  file: string | null;
}

/** A file that a server is receiving. */
interface ArrivingUploadRow {
  id: string;
  project_id: string;
  video_id: string | null;
  bytes: number;
  is_new: number;
  receiver_id: string;
  /** End of the lease by the clock of the database. */
  lease_until_ms: number;
}

/** `expires_at_ms` is null for a token that never expires. */
export interface UploadTokenRow {
  token: string;
  project_id: string;
  ttl_seconds: number;
  created_at_ms: number;
  expires_at_ms: number | null;
}

/** `video_id` is the id of the future video; the other columns come from its live stream. */
export interface RecordingRow {
  video_id: string;
  project_id: string;
  live_stream_id: string;
  broadcast_id: string;
  started_at_ms: number;
  title: string;
  is_public: number;
  player_id: string | null;
  node_id: string | null;
  /** JSON. */
  playback_policy: string | null;
}

/** `revision` increases with every change of the video's media. `audio_tracks` is JSON of the vod room. */
export interface VideoEncodingRow {
  video_id: string;
  facts: string;
  target_duration_seconds: number | null;
  is_playable: number;
  has_storyboard: number;
  failure: string | null;
  revision: number;
  audio_tracks: string | null;
  has_source_captions: number;
}

/** `file` is relative to the video's folder; `facts` is JSON of the vod room. */
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

/** HLS in another codec than H.264. */
export interface CodecRenditionRow extends Omit<RenditionRow, 'type'> {
  codec: AdditionalCodec;
}

/** Thumbnail of a video; without a row, the default frame. `file` is null until the image exists. */
export interface VideoThumbnailRow {
  video_id: string;
  choice: 'default' | 'timecode' | 'upload';
  timecode: string | null;
  file: string | null;
}

export interface WatermarkRow {
  id: string;
  project_id: string;
  media_type: string;
  width: number;
  height: number;
  created_at_ms: number;
}

/** A block of consecutive rows in an order of a project's videos, counted by triggers. */
interface VideoBlockRow {
  project_id: string;
  is_discarded: number;
  videos: number;
}

/** Counted by triggers. `tag_folded` is for sorting and searching. */
export interface TagRow {
  project_id: string;
  is_discarded: number;
  tag: string;
  videos: number;
  tag_folded: string;
}

/** `takeaways` is a JSON array; a trigger copies `is_discarded` from the video. */
export interface SummaryRow {
  id: string;
  project_id: string;
  video_id: string;
  is_discarded: Generated<number>;
  source_status: 'missing' | 'completed';
  abstract: string | null;
  takeaways: string | null;
  origin: Generated<'api' | 'auto'>;
  /** State of a text that is being generated, or could not be; replaces `source_status`. */
  generation: Generated<'waiting' | 'failed' | 'unprocessable' | null>;
  /** JSON array: what to generate. */
  attributes: Generated<string | null>;
  /** The reason of a text that could not be generated. */
  failure: Generated<string | null>;
  created_at_ms: number;
  updated_at_ms: number;
}

/** `file` is relative to the video's folder and changes with each upload. */
export interface TextTrackRow {
  video_id: string;
  kind: 'captions' | 'chapters';
  language: string;
  is_default: number;
  file: string;
  bytes: number;
  is_generated: Generated<number>;
  /** JSON array of sentences. */
  warnings: Generated<string | null>;
}

/** Exists once one was requested. */
export interface TranscriptRow {
  video_id: string;
  status: 'waiting' | 'processing' | 'completed' | 'failed';
  progress_percent: Generated<number>;
  language: string | null;
  failure: string | null;
}

/** A part that is transcribed, until all are. `segments` is JSON of the vod room. */
interface TranscriptPartRow {
  video_id: string;
  start_ms: number;
  end_ms: number;
  language: string | null;
  segments: string;
}

/** `look` is a JSON object of colours and switches; the logo's file is relative to the theme's folder. */
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

interface RemovedPlayerRow {
  id: string;
}

interface RemovedVideoRow {
  id: string;
}

/** A video that never had a source and is not in the trash; maintained by triggers. */
interface EmptyVideoRow {
  created_at_ms: number;
  video_id: string;
}

/** A sandbox video with a complete or failed source, and the time of it; maintained by triggers. */
interface SandboxVideoRow {
  completed_at_ms: number;
  video_id: string;
}

interface StorageTotalRow {
  project_id: string;
  source_bytes: Generated<number>;
  recording_bytes: Generated<number>;
  hls_bytes: Generated<number>;
  mp4_bytes: Generated<number>;
  image_bytes: Generated<number>;
  text_bytes: Generated<number>;
}

/** `due_at_ms`: the next measurement; 0 after changes, which `changes` counts. */
interface StoredVideoRow extends StorageTotalRow {
  video_id: string;
  is_measured: Generated<number>;
  due_at_ms: Generated<number>;
  changes: Generated<number>;
}

export interface MediaTables {
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
  video_blocks_by_creation: VideoBlockRow;
  tags: TagRow;
  summaries: SummaryRow;
  stored_videos: StoredVideoRow;
  storage_totals: StorageTotalRow;
}
