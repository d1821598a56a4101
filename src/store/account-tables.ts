import type { Generated } from 'kysely';
import type { EmailAddress } from '../shared/email-address.ts';

export type Environment = 'sandbox' | 'production';

interface SecretRow {
  name: string;
  bytes: Buffer;
}

/** Owns one pair of projects or more. The first start creates the operator's. */
interface AccountRow {
  id: string;
  is_upgraded: number;
  is_suspended: number;
  is_operator: Generated<number>;
  created_at_ms: number;
  name: string | null;
  /** 1: no owner has ever proved their email address, as far as is known. */
  is_unclaimed: Generated<number>;
}

/** A user in an account. */
interface MemberRow {
  account_id: string;
  user_id: string;
  role: 'owner' | 'editor' | 'viewer';
  created_at_ms: number;
}

export interface InvitationRow {
  id: string;
  account_id: string;
  email: EmailAddress;
  role: MemberRow['role'];
  /** Token of the link that the inviter sees. */
  token_hash: Buffer;
  /** Token of the link that is only mailed. */
  mail_token_hash: Buffer | null;
  created_at_ms: number;
  expires_at_ms: number;
  mail_status: 'sending' | 'sent' | 'failed' | null;
  mail_failure: string | null;
}

/** One row. `revision` counts changes of accounts, keys and sessions. */
interface AccessRevisionRow {
  id: number;
  revision: number;
}

/** A project as users see it: a sandbox and a production project. */
interface ProjectPairRow {
  id: string;
  account_id: string;
  name: string;
  created_at_ms: number;
}

/** One environment of a pair. */
interface ProjectRow {
  id: string;
  pair_id: string;
  account_id: string;
  environment: Environment;
  created_at_ms: number;
  keep_videos_days: number | null;
  /** JSON. */
  playback_policy: string | null;
  /** 1: generated for new videos. */
  has_transcripts: Generated<number>;
  has_summaries: Generated<number>;
  /** 0: not for recordings. */
  has_recording_texts: Generated<number>;
}

export interface SigningKeyRow {
  id: string;
  project_id: string;
  name: string;
  algorithm: 'ES256' | 'EdDSA' | 'RS256';
  /** PEM. */
  public_key: string;
  created_at_ms: number;
}

interface KeyPairRow {
  id: string;
  account_id: string;
  name: string | null;
  created_at_ms: number;
  /** Scopes with spaces between them. */
  scopes: string;
}

/** `hint` is the last characters, if known. A revoked key has its own id as `pair_id`. */
interface ApiKeyRow {
  id: string;
  pair_id: string;
  project_id: string;
  key_hash: Buffer;
  hint: string | null;
  created_at_ms: number;
  last_used_at_ms: number | null;
  revoked_at_ms: number | null;
  /** The user who created it, or the key that created it, if it was one. */
  user_id: string | null;
}

/**
 * Something that a user set up before they proved their email address. `target_id` is the id of the resource, or the text of an
 * upload token.
 */
export interface UnverifiedChangeRow {
  user_id: string;
  kind:
    | 'signing-key'
    | 'webhook'
    | 'hook'
    | 'upload-token'
    | 'invitation'
    | 'stream-key'
    | 'destination'
    | 'player-link';
  target_id: string;
}

/** Deleted with its API key. */
interface TokenRow {
  token_hash: Buffer;
  api_key_id: string;
  expires_at_ms: number;
}

/**
 * `account_id` is the first account that the user is a member of. `former_email` is an address that a migration replaced: it was
 * no longer an address, or that of another user, too.
 */
interface UserRow {
  id: string;
  account_id: string;
  email: EmailAddress;
  password_hash: string;
  created_at_ms: number;
  former_email: string | null;
  /** Null until somebody proves that the address is theirs. */
  verified_at_ms: number | null;
}

export interface SessionRow {
  id: string;
  user_id: string;
  secret_hash: Buffer;
  created_at_ms: number;
  last_used_at_ms: number;
  expires_at_ms: number;
  address: string;
  user_agent: string | null;
  /** Null: the user's first account. */
  account_id: string | null;
}

/** `enabled_at_ms` is null until the user has confirmed a code. */
interface TwoFactorRow {
  user_id: string;
  /** Plain, because each sign-in needs it. */
  secret: Buffer;
  /** Step of the last code that was used. Its 30 seconds are counted from 1970. */
  last_step: number;
  created_at_ms: number;
  enabled_at_ms: number | null;
}

export interface PasskeyRow {
  id: string;
  user_id: string;
  name: string;
  credential_id: Buffer;
  public_key: Buffer;
  counter: number;
  /** JSON. */
  transports: string;
  created_at_ms: number;
  last_used_at_ms: number | null;
}

interface UsedChallengeRow {
  challenge_hash: Buffer;
  expires_at_ms: number;
}

/** A user as an OpenID Connect provider knows them. */
interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: string;
  created_at_ms: number;
}

interface RecoveryCodeRow {
  user_id: string;
  code_hash: Buffer;
}

/** A password reset; at most one per user. */
interface PasswordResetRow {
  user_id: string;
  token_hash: Buffer;
  expires_at_ms: number;
}

/** Attempts within a time that begins with the first one. */
interface SignInAttemptsRow {
  key_hash: Buffer;
  attempts: number;
  ends_at_ms: number;
}

/** An email address and a network where its password was right. */
interface KnownSignInRow {
  key_hash: Buffer;
  ends_at_ms: number;
}

/** Locks the log of an account while an entry is added. */
interface AuditCounterRow {
  account_id: string;
  last_number: number;
  last_at_ms: number;
}

export interface AuditEntryRow {
  account_id: string;
  /** Number from 1, without gaps. Times never decrease with it. */
  number: number;
  at_ms: number;
  project_id: string | null;
  environment: string | null;
  actor_kind: string;
  actor_id: string | null;
  actor_name: string | null;
  address: string | null;
  action: string;
  summary: string;
  target_kind: string | null;
  target_id: string | null;
  target_name: string | null;
  /** JSON. */
  changed: string | null;
  /** Numbers the entries of the same actor, without gaps. */
  actor_position: number | null;
  action_position: number;
  target_position: number | null;
}

/** Counted by triggers so that list pages do not count. */
interface ListTotalRow {
  project_id: string;
  list: string;
  total: number;
}

/** Time range in which servers used this database, updated each minute. */
interface DatabaseUseRow {
  began_at_ms: number;
  last_at_ms: number;
}

/** The client that a private token was bound to at its first use. Hashes are SHA-256. */
interface PrivateSessionRow {
  token_hash: Buffer;
  resource_id: string;
  client_hash: Buffer;
  expires_at_ms: number;
}

/** Body bytes of one day. `day`: days since 1970, UTC. */
interface TrafficRow {
  project_id: string;
  day: number;
  live_bytes: number;
  vod_bytes: number;
}

export interface AccountTables {
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
  database_uses: DatabaseUseRow;
  private_sessions: PrivateSessionRow;
  traffic: TrafficRow;
}
