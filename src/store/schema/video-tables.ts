import type { Table } from './table.ts';

export const videoTables = {
  /**
   * `number` replaces the id in indexes. `tags` and `metadata` are JSON arrays, `watermark` a JSON placement;
   * clip times refer to the source, or to the video that it was `clipped_from` until the source is complete. Columns with `_folded` are for sorting and searching.
   */
  videos: {
    columns: {
      number: 'number',
      id: 'text NOT NULL UNIQUE',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      title: 'text NOT NULL',
      title_folded: 'text NOT NULL',
      is_public: 'flag NOT NULL',
      is_panoramic: 'flag NOT NULL',
      has_mp4_support: 'flag NOT NULL',
      player_id: 'text',
      tags: 'array NOT NULL',
      metadata: 'array NOT NULL',
      language: 'text',
      live_stream_id: 'text',
      clip_start_ms: 'integer',
      clip_end_ms: 'integer',
      watermark: 'object',
      created_at_ms: 'integer NOT NULL',
      published_at_ms: 'integer NOT NULL',
      updated_at_ms: 'integer NOT NULL',
      discarded_at_ms: 'integer',
      deletes_at_ms: 'integer',
      is_discarded: {
        sqlite: 'INTEGER NOT NULL DEFAULT 0 CHECK (is_discarded = (discarded_at_ms IS NOT NULL))',
        postgres: 'SMALLINT NOT NULL DEFAULT 0 CHECK ((is_discarded = 1) = (discarded_at_ms IS NOT NULL))',
      },
      description: 'text NOT NULL',
      description_folded: "text NOT NULL DEFAULT ''",
      expires_at_ms: 'integer',
      expiry_notice_at_ms: 'integer',
      /** JSON. */
      playback_policy: 'text',
      clipped_from: 'text',
      clip_precision: "text CHECK (clip_precision IN ('keyframe', 'frame'))",
      is_language_detected: 'integer NOT NULL DEFAULT 0 CHECK (is_language_detected IN (0, 1))',
      /** Id of a video or live stream. */
      public_from: 'text',
      /** Id of a video or live stream. */
      policy_from: 'text',
      /** JSON. */
      viewer_limits: 'text',
    },
    constraints: ['CHECK ((discarded_at_ms IS NULL) = (deletes_at_ms IS NULL))'],
    indexes: {
      videos_by_title: '(project_id, is_discarded, title_folded, id)',
      videos_by_creation: '(project_id, is_discarded, created_at_ms, id)',
      videos_by_publication: '(project_id, is_discarded, published_at_ms, id)',
      videos_by_update: '(project_id, is_discarded, updated_at_ms, id)',
      videos_by_live_stream: '(project_id, is_discarded, live_stream_id) WHERE live_stream_id IS NOT NULL',
      videos_by_deletion: '(deletes_at_ms) WHERE deletes_at_ms IS NOT NULL',
      videos_by_player: '(player_id) WHERE player_id IS NOT NULL',
      videos_by_expiry: '(expires_at_ms) WHERE expires_at_ms IS NOT NULL',
      videos_of_project_by_expiry: '(project_id, expires_at_ms) WHERE expires_at_ms IS NOT NULL',
      videos_by_expiry_notice: '(expiry_notice_at_ms) WHERE expiry_notice_at_ms IS NOT NULL',
      videos_by_public_from: '(public_from) WHERE public_from IS NOT NULL',
      videos_by_policy_from: '(policy_from) WHERE policy_from IS NOT NULL',
    },
    postgresIndexes: {
      videos_by_title_text: 'USING gin (title_folded gin_trgm_ops)',
      videos_by_description_text: 'USING gin (description_folded gin_trgm_ops)',
    },
  },
  video_tags: {
    columns: {
      project_id: 'text NOT NULL',
      is_discarded: 'small NOT NULL',
      tag: 'text NOT NULL',
      video_number: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (project_id, is_discarded, tag, video_number)'],
    isKeyed: true,
  },
  /** Counted by triggers. `tag_folded` is for sorting and searching. */
  tags: {
    columns: {
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      is_discarded: 'small NOT NULL',
      tag: 'text NOT NULL',
      videos: 'integer NOT NULL CHECK (videos >= 0)',
      tag_folded: "text NOT NULL DEFAULT ''",
    },
    constraints: ['PRIMARY KEY (project_id, is_discarded, tag)'],
    indexes: {
      tags_by_text: '(project_id, is_discarded, tag_folded, tag)',
      tags_by_videos: '(project_id, is_discarded, videos, tag_folded, tag)',
    },
    postgresIndexes: { tags_by_text_search: 'USING gin (tag_folded gin_trgm_ops)' },
    isKeyed: true,
  },
  video_metadata: {
    columns: {
      project_id: 'text NOT NULL',
      is_discarded: 'small NOT NULL',
      key: 'text NOT NULL',
      value: 'text NOT NULL',
      video_number: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (project_id, is_discarded, key, value, video_number)'],
    isKeyed: true,
  },
  /**
   * Exists once an upload or import has started. `total`: announced bytes or parts; `bytes`: final size;
   * `address`: the URL or the id of the cloned video. Complete sources are `uploaded` or `ingested`;
   * `completed_at_ms` is the time of completion or failure. `is_joined`: joined from several files. Uploads
   * with a token have `upload_client`, a hash of the client, `upload_file_name`, and `has_created_video` if the
   * upload created the video.
   */
  video_sources: {
    columns: {
      video_id: 'text PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE',
      origin: "text NOT NULL CHECK (origin IN ('upload', 'url', 'clone', 'recording'))",
      form: "text CHECK (form IN ('plain', 'bytes', 'parts'))",
      status:
        "text NOT NULL CHECK (status IN ('uploading', 'assembling', 'uploaded', 'ingesting', 'ingested', 'failed'))",
      address: 'text',
      upload_token: 'text',
      total: 'integer',
      bytes: 'integer',
      failure: 'text',
      started_at_ms: 'integer NOT NULL',
      completed_at_ms: 'integer',
      is_joined: 'flag NOT NULL DEFAULT 0',
      upload_client: 'text',
      upload_file_name: 'text',
      has_created_video: 'flag NOT NULL DEFAULT 0',
    },
    indexes: {
      video_sources_open: "(started_at_ms) WHERE status IN ('uploading', 'assembling', 'ingesting')",
      video_sources_by_token:
        "(upload_token, started_at_ms) WHERE status = 'uploading' AND upload_token IS NOT NULL",
    },
    isKeyed: true,
  },
  /** Bytes `first` to `last` inclusive, or twice the part number. `digest`: SHA-256. */
  upload_chunks: {
    columns: {
      video_id: 'text NOT NULL REFERENCES videos (id) ON DELETE CASCADE',
      first: 'integer NOT NULL',
      last: 'integer NOT NULL',
      bytes: 'integer NOT NULL',
      digest: 'bytes NOT NULL',
      file: 'text',
    },
    constraints: ['PRIMARY KEY (video_id, first)', 'CHECK (last >= first)'],
    isKeyed: true,
  },
  /** A file that a server is receiving. */
  arriving_uploads: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      video_id: 'text',
      bytes: 'integer NOT NULL',
      is_new: 'integer NOT NULL CHECK (is_new IN (0, 1))',
      receiver_id: 'text NOT NULL',
      /** End of the lease by the clock of the database. */
      lease_until_ms: 'integer NOT NULL',
    },
    indexes: {
      arriving_uploads_by_project: '(project_id)',
      arriving_uploads_by_video: '(video_id) WHERE video_id IS NOT NULL',
      arriving_uploads_by_receiver: '(receiver_id)',
    },
  },
  /** `expires_at_ms` is null for a token that never expires. */
  upload_tokens: {
    columns: {
      token: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      ttl_seconds: 'integer NOT NULL',
      created_at_ms: 'integer NOT NULL',
      expires_at_ms: 'integer',
    },
    indexes: {
      upload_tokens_by_creation: '(project_id, created_at_ms, token)',
      upload_tokens_by_ttl: '(project_id, ttl_seconds, token)',
      upload_tokens_by_expiry: '(expires_at_ms) WHERE expires_at_ms IS NOT NULL',
    },
    isKeyed: true,
  },
  /** `video_id` is the id of the future video; the other columns come from its live stream. */
  recordings: {
    columns: {
      video_id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      live_stream_id: 'text NOT NULL',
      broadcast_id: 'text NOT NULL',
      started_at_ms: 'integer NOT NULL',
      title: 'text NOT NULL',
      is_public: 'flag NOT NULL',
      player_id: 'text',
      node_id: 'text',
      /** JSON. */
      playback_policy: 'text',
    },
    isKeyed: true,
  },
  /** A sandbox video with a complete or failed source, and the time of it; maintained by triggers. */
  sandbox_videos: {
    columns: {
      completed_at_ms: 'integer NOT NULL',
      video_id: 'text NOT NULL',
    },
    constraints: ['PRIMARY KEY (completed_at_ms, video_id)'],
    isKeyed: true,
  },
  /** A video that never had a source and is not in the trash; maintained by triggers. */
  empty_videos: {
    columns: {
      created_at_ms: 'integer NOT NULL',
      video_id: 'text NOT NULL',
    },
    constraints: ['PRIMARY KEY (created_at_ms, video_id)'],
    isKeyed: true,
  },
  removed_videos: {
    columns: {
      id: 'text PRIMARY KEY',
    },
    isKeyed: true,
  },
  /** `revision` increases with every change of the video's media. `audio_tracks` is JSON of the vod room. */
  video_encodings: {
    columns: {
      video_id: 'text PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE',
      facts: 'object NOT NULL',
      target_duration_seconds: 'integer',
      is_playable: 'flag NOT NULL DEFAULT 0',
      has_storyboard: 'flag NOT NULL DEFAULT 0',
      failure: 'text',
      revision: 'integer NOT NULL DEFAULT 0',
      audio_tracks: 'text',
      has_source_captions: 'integer NOT NULL DEFAULT 0 CHECK (has_source_captions IN (0, 1))',
    },
    isKeyed: true,
  },
  /** `file` is relative to the video's folder; `facts` is JSON of the vod room. */
  renditions: {
    columns: {
      video_id: 'text NOT NULL REFERENCES videos (id) ON DELETE CASCADE',
      type: "text NOT NULL CHECK (type IN ('hls', 'mp4', 'audio'))",
      quality: 'text NOT NULL',
      position: 'integer NOT NULL',
      status: "text NOT NULL CHECK (status IN ('waiting', 'encoding', 'encoded', 'failed'))",
      progress_percent: 'integer NOT NULL DEFAULT 0',
      file: 'text',
      facts: 'text',
    },
    constraints: ['PRIMARY KEY (video_id, type, quality)'],
    isKeyed: true,
  },
  /** HLS in another codec than H.264. */
  codec_renditions: {
    columns: {
      video_id: 'text NOT NULL REFERENCES videos (id) ON DELETE CASCADE',
      codec: "text NOT NULL CHECK (codec IN ('hevc', 'av1'))",
      quality: 'text NOT NULL',
      position: 'integer NOT NULL',
      status: "text NOT NULL CHECK (status IN ('waiting', 'encoding', 'encoded', 'failed'))",
      progress_percent: 'integer NOT NULL DEFAULT 0',
      file: 'text',
      facts: 'text',
    },
    constraints: ['PRIMARY KEY (video_id, codec, quality)'],
  },
  /** Thumbnail of a video; without a row, the default frame. `file` is null until the image exists. */
  video_thumbnails: {
    columns: {
      video_id: 'text PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE',
      choice: "text NOT NULL CHECK (choice IN ('default', 'timecode', 'upload'))",
      timecode: 'text',
      file: 'text',
    },
    constraints: ["CHECK ((choice = 'timecode') = (timecode IS NOT NULL))"],
    isKeyed: true,
  },
  watermarks: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      media_type: 'text NOT NULL',
      width: 'integer NOT NULL',
      height: 'integer NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    indexes: { watermarks_by_creation: '(project_id, created_at_ms, id)' },
    isKeyed: true,
  },
  /** `file` is relative to the video's folder and changes with each upload. */
  text_tracks: {
    columns: {
      video_id: 'text NOT NULL REFERENCES videos (id) ON DELETE CASCADE',
      kind: "text NOT NULL CHECK (kind IN ('captions', 'chapters'))",
      language: 'text NOT NULL',
      is_default: 'flag NOT NULL DEFAULT 0',
      file: 'text NOT NULL',
      bytes: 'integer NOT NULL',
      is_generated: 'integer NOT NULL DEFAULT 0 CHECK (is_generated IN (0, 1))',
      /** JSON array of sentences. */
      warnings: 'text',
    },
    constraints: ['PRIMARY KEY (video_id, kind, language)', "CHECK (is_default = 0 OR kind = 'captions')"],
    indexes: { text_tracks_default: 'UNIQUE (video_id) WHERE is_default = 1' },
    isKeyed: true,
  },
  /** Exists once one was requested. */
  transcripts: {
    columns: {
      video_id: 'text PRIMARY KEY REFERENCES videos (id) ON DELETE CASCADE',
      status: "text NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'failed'))",
      progress_percent: 'integer NOT NULL DEFAULT 0',
      language: 'text',
      failure: 'text',
    },
  },
  /** A part that is transcribed, until all are. `segments` is JSON of the vod room. */
  transcript_parts: {
    columns: {
      video_id: 'text NOT NULL REFERENCES transcripts (video_id) ON DELETE CASCADE',
      start_ms: 'integer NOT NULL',
      end_ms: 'integer NOT NULL',
      language: 'text',
      segments: 'text NOT NULL',
    },
    constraints: ['PRIMARY KEY (video_id, start_ms)'],
  },
  /** `takeaways` is a JSON array; a trigger copies `is_discarded` from the video. */
  summaries: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      video_id: 'text NOT NULL UNIQUE REFERENCES videos (id) ON DELETE CASCADE',
      is_discarded: 'flag NOT NULL DEFAULT 0',
      source_status: "text NOT NULL CHECK (source_status IN ('missing', 'completed'))",
      abstract: 'text',
      takeaways: 'array',
      created_at_ms: 'integer NOT NULL',
      updated_at_ms: 'integer NOT NULL',
      origin: "text NOT NULL DEFAULT 'api' CHECK (origin IN ('api', 'auto'))",
      /** State of a text that is being generated, or could not be; replaces `source_status`. */
      generation: "text CHECK (generation IN ('waiting', 'failed', 'unprocessable'))",
      /** JSON array: what to generate. */
      attributes: 'text',
      /** The reason of a text that could not be generated. */
      failure: 'text',
    },
    constraints: ["CHECK (source_status = 'completed' OR (abstract IS NULL AND takeaways IS NULL))"],
    indexes: {
      summaries_by_creation: '(project_id, is_discarded, created_at_ms, id)',
      summaries_by_status_and_creation: '(project_id, is_discarded, source_status, created_at_ms, id)',
      summaries_by_update: '(project_id, is_discarded, updated_at_ms, id)',
      summaries_by_status_and_update: '(project_id, is_discarded, source_status, updated_at_ms, id)',
      summaries_by_video: '(project_id, is_discarded, video_id, id)',
      summaries_by_status_and_video: '(project_id, is_discarded, source_status, video_id, id)',
    },
    isKeyed: true,
  },
  /** `due_at_ms`: the next measurement; 0 after changes, which `changes` counts. */
  stored_videos: {
    columns: {
      video_id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      source_bytes: 'integer NOT NULL DEFAULT 0',
      recording_bytes: 'integer NOT NULL DEFAULT 0',
      hls_bytes: 'integer NOT NULL DEFAULT 0',
      mp4_bytes: 'integer NOT NULL DEFAULT 0',
      image_bytes: 'integer NOT NULL DEFAULT 0',
      text_bytes: 'integer NOT NULL DEFAULT 0',
      is_measured: 'flag NOT NULL DEFAULT 0',
      due_at_ms: 'integer NOT NULL DEFAULT 0',
      changes: 'integer NOT NULL DEFAULT 0',
    },
    indexes: {
      stored_videos_by_due: '(due_at_ms)',
      stored_videos_by_project: '(project_id)',
      stored_videos_unmeasured: '(project_id) WHERE is_measured = 0',
    },
    isKeyed: true,
  },
  storage_totals: {
    columns: {
      project_id: 'text PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE',
      source_bytes: 'integer NOT NULL DEFAULT 0',
      recording_bytes: 'integer NOT NULL DEFAULT 0',
      hls_bytes: 'integer NOT NULL DEFAULT 0',
      mp4_bytes: 'integer NOT NULL DEFAULT 0',
      image_bytes: 'integer NOT NULL DEFAULT 0',
      text_bytes: 'integer NOT NULL DEFAULT 0',
    },
    isKeyed: true,
  },
} as const satisfies Readonly<Record<string, Table>>;
