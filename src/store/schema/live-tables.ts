import type { Table } from './table.ts';

export const liveTables = {
  /** `restreams` is a JSON array; `name_folded` is for sorting and searching. */
  live_streams: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      name: 'text NOT NULL',
      name_folded: 'text NOT NULL',
      stream_key: 'text NOT NULL UNIQUE',
      is_public: 'flag NOT NULL',
      player_id: 'text',
      restreams: 'validArray NOT NULL',
      thumbnail_type: 'text',
      created_at_ms: 'integer NOT NULL',
      updated_at_ms: 'integer NOT NULL',
      qualities: "text CHECK (qualities IN ('passthrough', 'ladder'))",
      is_recorded: 'flag',
      audio_tracks: 'text',
      source_url: 'text',
      is_source_enabled: 'integer CHECK (is_source_enabled IN (0, 1))',
      source_status: 'text',
      is_ultra_low_latency: 'integer CHECK (is_ultra_low_latency IN (0, 1))',
      keep_recordings_days: 'integer CHECK (keep_recordings_days > 0)',
      /** JSON. */
      playback_policy: 'text',
      has_viewer_clips: 'integer CHECK (has_viewer_clips IN (0, 1))',
      /** JSON of the publisher that `complete` has cut off. */
      cut_off_publisher: 'text',
    },
    indexes: {
      live_streams_by_name: '(project_id, name_folded, id)',
      live_streams_by_creation: '(project_id, created_at_ms, id)',
      live_streams_by_update: '(project_id, updated_at_ms, id)',
      live_streams_by_player: '(player_id) WHERE player_id IS NOT NULL',
      live_streams_with_source: '(id) WHERE is_source_enabled = 1',
    },
  },
  /** States and end reasons are defined in `live`. `live_at_ms` is the time of the first playable part. */
  broadcasts: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      live_stream_id: 'text NOT NULL REFERENCES live_streams (id) ON DELETE CASCADE',
      state: 'text NOT NULL',
      started_at_ms: 'integer NOT NULL',
      ended_at_ms: 'integer',
      end_reason: 'text',
      protocol: 'text NOT NULL',
      remote_address: 'text NOT NULL',
      encoder: 'text NOT NULL',
      video_codec: 'text',
      audio_codec: 'text',
      width: 'integer',
      height: 'integer',
      live_at_ms: 'integer',
      average_bits_per_second: 'integer',
      peak_bits_per_second: 'integer',
      average_frames_per_second: 'real',
      longest_gop_ms: 'integer',
      dropped_frames: 'integer',
      missing_frames: 'integer',
      dropped_connections: 'integer',
      away_ms: 'integer',
      /** The server that packages it, where several share the database; null while none does. */
      node_id: 'text',
      /** Counts the servers that packaged it. */
      claim: 'integer NOT NULL DEFAULT 0',
      /** First segment of this server. */
      first_sequence: 'integer NOT NULL DEFAULT 1',
      /** Time by the clock of the database. */
      claimed_at_ms: 'integer',
      /** End of a claim without a server, by the clock of the database. */
      expires_at_ms: 'integer',
      /** A server to which its publisher wants to connect. */
      wanted_by: 'text',
      /** A reason to end it, for the server that packages it. */
      requested_end: 'text',
      target_duration_seconds: 'integer',
      /** The multivariant playlist, with relative addresses. */
      multivariant: 'text',
      /** JSON: the state, health and viewers that other servers show. */
      report: 'text',
    },
    constraints: ['CHECK ((ended_at_ms IS NULL) = (end_reason IS NULL))'],
    indexes: {
      broadcasts_by_live_stream: '(live_stream_id, started_at_ms)',
      broadcasts_by_project: '(project_id, started_at_ms)',
      broadcasts_open: '(id) WHERE ended_at_ms IS NULL',
      broadcasts_by_end: '(ended_at_ms) WHERE ended_at_ms IS NOT NULL',
    },
  },
  /** `look` is a JSON object of colours and switches; the logo's file is relative to the theme's folder. */
  players: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      name: 'text',
      name_folded: 'text NOT NULL',
      look: 'object NOT NULL',
      logo_file: 'text',
      logo_bytes: 'integer',
      link: 'text',
      created_at_ms: 'integer NOT NULL',
      updated_at_ms: 'integer NOT NULL',
    },
    constraints: [
      'CHECK ((logo_file IS NULL) = (logo_bytes IS NULL))',
      'CHECK (link IS NULL OR logo_file IS NOT NULL)',
    ],
    indexes: {
      players_by_name: '(project_id, name_folded, id)',
      players_by_creation: '(project_id, created_at_ms, id)',
      players_by_update: '(project_id, updated_at_ms, id)',
    },
    isKeyed: true,
  },
  removed_players: {
    columns: {
      id: 'text PRIMARY KEY',
    },
    isKeyed: true,
  },
  /** The client that a private token was bound to at its first use. Hashes are SHA-256. */
  private_sessions: {
    columns: {
      token_hash: 'hash PRIMARY KEY',
      resource_id: 'text NOT NULL',
      client_hash: 'hash NOT NULL',
      expires_at_ms: 'integer NOT NULL',
    },
    indexes: { private_sessions_by_expiry: '(expires_at_ms)' },
    isKeyed: true,
  },
} as const satisfies Readonly<Record<string, Table>>;
