import type { Table } from './table.ts';

export const accountTables = {
  secrets: {
    columns: {
      name: 'text PRIMARY KEY',
      bytes: 'bytes NOT NULL',
    },
    isKeyed: true,
  },
  /** Owns one pair of projects or more. The first start creates the operator's. */
  accounts: {
    columns: {
      id: 'text PRIMARY KEY',
      is_upgraded: 'flag NOT NULL',
      is_suspended: 'flag NOT NULL',
      created_at_ms: 'integer NOT NULL',
      is_operator: 'flag NOT NULL DEFAULT 0',
      name: 'text',
    },
    isKeyed: true,
  },
  /** One row. `revision` counts changes of accounts, keys and sessions. */
  access_revisions: {
    columns: {
      id: 'number CHECK (id = 1)',
      revision: 'integer NOT NULL',
    },
  },
  /** A project as users see it: a sandbox and a production project. */
  project_pairs: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      name: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    indexes: { project_pairs_by_account: '(account_id, created_at_ms, id)' },
  },
  /** One environment of a pair. */
  projects: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      environment: "text NOT NULL CHECK (environment IN ('sandbox', 'production'))",
      created_at_ms: 'integer NOT NULL',
      keep_videos_days: 'integer CHECK (keep_videos_days > 0)',
      /** JSON. */
      playback_policy: 'text',
      pair_id: 'text NOT NULL REFERENCES project_pairs (id) ON DELETE CASCADE',
      /** 1: generated for new videos. */
      has_transcripts: 'integer NOT NULL DEFAULT 0 CHECK (has_transcripts IN (0, 1))',
      has_summaries: 'integer NOT NULL DEFAULT 0 CHECK (has_summaries IN (0, 1))',
      /** 0: not for recordings. */
      has_recording_texts: 'integer NOT NULL DEFAULT 1 CHECK (has_recording_texts IN (0, 1))',
    },
    constraints: ['UNIQUE (pair_id, environment)'],
    indexes: { projects_by_account: '(account_id)' },
    isKeyed: true,
  },
  /**
   * `account_id` is the first account that the user is a member of. `former_email` is an address that a migration replaced: it was
   * no longer an address, or that of another user, too.
   */
  users: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      email: 'text NOT NULL UNIQUE',
      password_hash: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
      former_email: 'text',
      /** Null until somebody proves that the address is theirs. */
      verified_at_ms: 'integer',
    },
    indexes: { users_by_account: '(account_id)' },
    isKeyed: true,
  },
  /** A user in an account. */
  members: {
    columns: {
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      user_id: 'text NOT NULL REFERENCES users (id) ON DELETE CASCADE',
      role: "text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer'))",
      created_at_ms: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (account_id, user_id)'],
    indexes: { members_by_user: '(user_id)' },
  },
  invitations: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      email: 'text NOT NULL',
      role: "text NOT NULL CHECK (role IN ('owner', 'editor', 'viewer'))",
      /** Token of the link that the inviter sees. */
      token_hash: 'bytes NOT NULL UNIQUE CHECK (length(token_hash) = 32)',
      created_at_ms: 'integer NOT NULL',
      expires_at_ms: 'integer NOT NULL',
      mail_status: "text CHECK (mail_status IN ('sending', 'sent', 'failed'))",
      mail_failure: 'text',
      /** Token of the link that is only mailed. */
      mail_token_hash: 'bytes',
    },
    constraints: ['UNIQUE (account_id, email)'],
    indexes: {
      invitations_by_expiry: '(expires_at_ms)',
      invitations_by_mail_token: 'UNIQUE (mail_token_hash)',
    },
  },
  sessions: {
    columns: {
      id: 'text PRIMARY KEY',
      user_id: 'text NOT NULL REFERENCES users (id) ON DELETE CASCADE',
      secret_hash: 'hash NOT NULL UNIQUE',
      created_at_ms: 'integer NOT NULL',
      last_used_at_ms: 'integer NOT NULL',
      expires_at_ms: 'integer NOT NULL',
      address: 'text NOT NULL',
      user_agent: 'text',
      /** Null: the user's first account. */
      account_id: 'text',
    },
    indexes: { sessions_by_user: '(user_id, last_used_at_ms)', sessions_by_expiry: '(expires_at_ms)' },
    isKeyed: true,
  },
  /** `enabled_at_ms` is null until the user has confirmed a code. */
  two_factor: {
    columns: {
      user_id: 'text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE',
      /** Plain, because each sign-in needs it. */
      secret: 'bytes NOT NULL',
      /** Step of the last code that was used. Its 30 seconds are counted from 1970. */
      last_step: 'integer NOT NULL',
      created_at_ms: 'integer NOT NULL',
      enabled_at_ms: 'integer',
    },
  },
  recovery_codes: {
    columns: {
      user_id: 'text NOT NULL REFERENCES users (id) ON DELETE CASCADE',
      code_hash: 'bytes NOT NULL',
    },
    constraints: ['PRIMARY KEY (user_id, code_hash)'],
  },
  /** A password reset; at most one per user. */
  password_resets: {
    columns: {
      user_id: 'text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE',
      token_hash: 'bytes NOT NULL UNIQUE CHECK (length(token_hash) = 32)',
      expires_at_ms: 'integer NOT NULL',
    },
    indexes: { password_resets_by_expiry: '(expires_at_ms)' },
  },
  passkeys: {
    columns: {
      id: 'text PRIMARY KEY',
      user_id: 'text NOT NULL REFERENCES users (id) ON DELETE CASCADE',
      name: 'text NOT NULL',
      credential_id: 'bytes NOT NULL UNIQUE',
      public_key: 'bytes NOT NULL',
      counter: 'integer NOT NULL',
      /** JSON. */
      transports: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
      last_used_at_ms: 'integer',
    },
    indexes: { passkeys_by_user: '(user_id, created_at_ms)' },
  },
  used_challenges: {
    columns: {
      challenge_hash: 'bytes PRIMARY KEY',
      expires_at_ms: 'integer NOT NULL',
    },
    indexes: { used_challenges_by_expiry: '(expires_at_ms)' },
  },
  /** A user as an OpenID Connect provider knows them. */
  identities: {
    columns: {
      issuer: 'text NOT NULL',
      subject: 'text NOT NULL',
      user_id: 'text NOT NULL REFERENCES users (id) ON DELETE CASCADE',
      created_at_ms: 'integer NOT NULL',
    },
    constraints: ['PRIMARY KEY (issuer, subject)'],
    indexes: { identities_by_user: 'UNIQUE (user_id, issuer)' },
  },
  /** Attempts within a time that begins with the first one. */
  sign_in_attempts: {
    columns: {
      key_hash: 'bytes PRIMARY KEY CHECK (length(key_hash) = 32)',
      attempts: 'integer NOT NULL',
      ends_at_ms: 'integer NOT NULL',
    },
    indexes: { sign_in_attempts_by_end: '(ends_at_ms)' },
  },
  /** An email address and a network where its password was right. */
  known_sign_ins: {
    columns: {
      key_hash: 'bytes PRIMARY KEY CHECK (length(key_hash) = 32)',
      ends_at_ms: 'integer NOT NULL',
    },
    indexes: { known_sign_ins_by_end: '(ends_at_ms)' },
  },
  key_pairs: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      name: 'text',
      created_at_ms: 'integer NOT NULL',
      /** Scopes with spaces between them. */
      scopes: "text NOT NULL DEFAULT 'read upload live admin'",
    },
    indexes: { key_pairs_by_creation: '(account_id, created_at_ms, id)' },
    isKeyed: true,
  },
  /** `hint` is the last characters, if known. A revoked key has its own id as `pair_id`. */
  api_keys: {
    columns: {
      id: 'text PRIMARY KEY',
      pair_id: 'text NOT NULL',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      key_hash: 'hash NOT NULL UNIQUE',
      created_at_ms: 'integer NOT NULL',
      last_used_at_ms: 'integer',
      hint: 'text',
      revoked_at_ms: 'integer',
      /** The user who created it, or the key that created it, if it was one. */
      user_id: 'text',
    },
    constraints: ['UNIQUE (pair_id, project_id)'],
    indexes: {
      api_keys_by_project: '(project_id)',
      api_keys_revoked: '(revoked_at_ms) WHERE revoked_at_ms IS NOT NULL',
      api_keys_by_user: '(user_id)',
    },
    isKeyed: true,
  },
  /** Deleted with its API key. */
  access_tokens: {
    columns: {
      token_hash: 'hash PRIMARY KEY',
      api_key_id: 'text NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE',
      expires_at_ms: 'integer NOT NULL',
    },
    indexes: { access_tokens_by_key: '(api_key_id)', access_tokens_by_expiry: '(expires_at_ms)' },
    isKeyed: true,
  },
  refresh_tokens: {
    columns: {
      token_hash: 'hash PRIMARY KEY',
      api_key_id: 'text NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE',
      expires_at_ms: 'integer NOT NULL',
    },
    indexes: {
      refresh_tokens_by_expiry: '(expires_at_ms)',
      refresh_tokens_by_key: '(api_key_id, expires_at_ms)',
    },
    isKeyed: true,
  },
  signing_keys: {
    columns: {
      id: 'text PRIMARY KEY',
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      name: 'text NOT NULL',
      algorithm: "text NOT NULL CHECK (algorithm IN ('ES256', 'EdDSA', 'RS256'))",
      /** PEM. */
      public_key: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    indexes: { signing_keys_by_creation: '(project_id, created_at_ms, id)' },
  },
  /** Locks the log of an account while an entry is added. */
  audit_counters: {
    columns: {
      account_id: 'text PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE',
      last_number: 'integer NOT NULL',
      last_at_ms: 'integer NOT NULL',
    },
  },
  audit_entries: {
    columns: {
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      /** Number from 1, without gaps. Times never decrease with it. */
      number: 'integer NOT NULL',
      at_ms: 'integer NOT NULL',
      project_id: 'text',
      environment: 'text',
      actor_kind: 'text NOT NULL',
      actor_id: 'text',
      actor_name: 'text',
      address: 'text',
      action: 'text NOT NULL',
      summary: 'text NOT NULL',
      target_kind: 'text',
      target_id: 'text',
      target_name: 'text',
      /** JSON. */
      changed: 'text',
      /** Numbers the entries of the same actor, without gaps. */
      actor_position: 'integer',
      action_position: 'integer NOT NULL',
      target_position: 'integer',
    },
    constraints: ['PRIMARY KEY (account_id, number)'],
    indexes: {
      audit_entries_by_actor: '(account_id, actor_id, actor_position)',
      audit_entries_by_action: '(account_id, action, action_position)',
      audit_entries_by_target: '(account_id, target_id, target_position)',
    },
  },
  /** Counted by triggers so that list pages do not count. */
  list_totals: {
    columns: {
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      list: 'text NOT NULL',
      total: 'integer NOT NULL CHECK (total >= 0)',
    },
    constraints: ['PRIMARY KEY (project_id, list)'],
    isKeyed: true,
  },
  /** Body bytes of one day. `day`: days since 1970, UTC. */
  traffic: {
    columns: {
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      day: 'integer NOT NULL',
      live_bytes: 'integer NOT NULL DEFAULT 0',
      vod_bytes: 'integer NOT NULL DEFAULT 0',
    },
    constraints: ['PRIMARY KEY (project_id, day)'],
    indexes: { traffic_by_day: '(day)' },
    isKeyed: true,
  },
} as const satisfies Readonly<Record<string, Table>>;
