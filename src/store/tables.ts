/**
 * Rows as SQLite holds them: times are integer milliseconds since 1970 UTC, booleans 0 or 1, hashes 32 bytes of SHA-256.
 * Names here and in `migrations/` are the same.
 */
export interface Tables {
  secrets: SecretRow;
  accounts: AccountRow;
  projects: ProjectRow;
  api_keys: ApiKeyRow;
  access_tokens: TokenRow;
  refresh_tokens: TokenRow;
  users: UserRow;
  list_totals: ListTotalRow;
  live_streams: LiveStreamRow;
  broadcasts: BroadcastRow;
}

/** Which of an account's two projects: trial rules apply in the sandbox. */
export type Environment = 'sandbox' | 'production';

/** A key of this installation, made when the database was new. */
export interface SecretRow {
  name: string;
  bytes: Buffer;
}

/** Who pays and is suspended; owns two projects. */
export interface AccountRow {
  id: string;
  is_upgraded: number;
  is_suspended: number;
  created_at_ms: number;
}

/** What owns every resource. */
export interface ProjectRow {
  id: string;
  account_id: string;
  environment: Environment;
  created_at_ms: number;
}

/** One key of a pair; `pair_id` is the same for the sandbox and the production key. */
export interface ApiKeyRow {
  id: string;
  pair_id: string;
  project_id: string;
  key_hash: Buffer;
  created_at_ms: number;
  last_used_at_ms: number | null;
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
  thumbnail_type: string | null;
  created_at_ms: number;
  updated_at_ms: number;
}

/** One time that a live stream was on air. States and end reasons are the live room's. */
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
}
