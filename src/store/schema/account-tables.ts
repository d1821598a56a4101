import type { Table } from './table.ts';

export const accountTables: Readonly<Record<string, Table>> = {
  secrets: {
    columns: {
      name: 'text PRIMARY KEY',
      bytes: 'bytes NOT NULL',
    },
    isKeyed: true,
  },
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
  access_revisions: {
    columns: {
      id: 'number CHECK (id = 1)',
      revision: 'integer NOT NULL',
    },
  },
  project_pairs: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      name: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    indexes: { project_pairs_by_account: '(account_id, created_at_ms, id)' },
  },
  projects: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      environment: "text NOT NULL CHECK (environment IN ('sandbox', 'production'))",
      created_at_ms: 'integer NOT NULL',
      keep_videos_days: 'integer CHECK (keep_videos_days > 0)',
      playback_policy: 'text',
      pair_id: 'text NOT NULL REFERENCES project_pairs (id) ON DELETE CASCADE',
      has_transcripts: 'integer NOT NULL DEFAULT 0 CHECK (has_transcripts IN (0, 1))',
      has_summaries: 'integer NOT NULL DEFAULT 0 CHECK (has_summaries IN (0, 1))',
      has_recording_texts: 'integer NOT NULL DEFAULT 1 CHECK (has_recording_texts IN (0, 1))',
    },
    constraints: ['UNIQUE (pair_id, environment)'],
    indexes: { projects_by_account: '(account_id)' },
    isKeyed: true,
  },
  users: {
    columns: {
      id: 'text PRIMARY KEY',
      account_id: 'text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE',
      email: 'text NOT NULL UNIQUE',
      password_hash: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
      former_email: 'text',
      verified_at_ms: 'integer',
    },
    indexes: { users_by_account: '(account_id)' },
    isKeyed: true,
  },
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
      token_hash: 'bytes NOT NULL UNIQUE CHECK (length(token_hash) = 32)',
      created_at_ms: 'integer NOT NULL',
      expires_at_ms: 'integer NOT NULL',
      mail_status: "text CHECK (mail_status IN ('sending', 'sent', 'failed'))",
      mail_failure: 'text',
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
      account_id: 'text',
    },
    indexes: { sessions_by_user: '(user_id, last_used_at_ms)', sessions_by_expiry: '(expires_at_ms)' },
    isKeyed: true,
  },
  two_factor: {
    columns: {
      user_id: 'text PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE',
      secret: 'bytes NOT NULL',
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
  sign_in_attempts: {
    columns: {
      key_hash: 'bytes PRIMARY KEY CHECK (length(key_hash) = 32)',
      attempts: 'integer NOT NULL',
      ends_at_ms: 'integer NOT NULL',
    },
    indexes: { sign_in_attempts_by_end: '(ends_at_ms)' },
  },
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
      scopes: "text NOT NULL DEFAULT 'read upload live admin'",
    },
    indexes: { key_pairs_by_creation: '(account_id, created_at_ms, id)' },
    isKeyed: true,
  },
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
      public_key: 'text NOT NULL',
      created_at_ms: 'integer NOT NULL',
    },
    indexes: { signing_keys_by_creation: '(project_id, created_at_ms, id)' },
  },
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
      changed: 'text',
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
  list_totals: {
    columns: {
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      list: 'text NOT NULL',
      total: 'integer NOT NULL CHECK (total >= 0)',
    },
    constraints: ['PRIMARY KEY (project_id, list)'],
    isKeyed: true,
  },
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
};
