import type { Generated, Selectable } from 'kysely';
import type { EmailAddress } from '../shared/email-address.ts';
import type { accountTables } from './schema/account-tables.ts';
import type { eventTables } from './schema/event-tables.ts';
import type { liveTables } from './schema/live-tables.ts';
import type { RowOf } from './schema/row.ts';
import type { serverTables } from './schema/server-tables.ts';
import type { videoTables } from './schema/video-tables.ts';

export type Environment = 'sandbox' | 'production';

type Described = typeof accountTables &
  typeof eventTables &
  typeof liveTables &
  typeof serverTables &
  typeof videoTables;

/** Columns that migrations added, and those that the schema tells less about. */
interface OwnColumns {
  accounts: {
    /** 1: no owner has ever proved their email address, as far as is known. */
    is_unclaimed: Generated<number>;
  };
  hook_results: { error_code: string | null };
  invitations: { email: EmailAddress };
  live_streams: {
    is_listed: Generated<number>;
    shows_viewers: Generated<number>;
    starts_at_ms: Generated<number | null>;
  };
  users: { email: EmailAddress };
  videos: {
    is_discarded: Generated<number>;
    is_listed: Generated<number>;
    /** Follows `analytics_totals`, by triggers. */
    plays: Generated<number>;
    /** Follows from the source and the renditions, by triggers. */
    state: Generated<'empty' | 'processing' | 'ready' | 'failed'>;
  };
  watermarks: { name: string | null };
  webhook_attempts: { error_code: string | null };
  webhook_delivery_totals: { state: 'waiting' | 'retrying' | 'succeeded' | 'failed' };
}

/** Tables that migrations added, and those of one database. */
interface OwnTables {
  /** The public page of a production project. */
  channels: {
    project_id: string;
    is_enabled: number;
    /** Names it in its address; null until one is chosen. */
    slug: string | null;
    name: string;
    description: string;
    /** A color like `#0a7a66`. */
    accent_color: string | null;
    logo: Buffer | null;
    logo_type: string | null;
    updated_at_ms: number;
  };
  /**
   * Something that a user set up before they proved their email address. `target_id` is the id of the resource, or the text of an
   * upload token.
   */
  unverified_changes: {
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
  };
  /** A block of consecutive rows in an order of a project's videos, counted by triggers. */
  video_blocks_by_creation: { project_id: string; is_discarded: number; videos: number };
}

/** Rows by table, from the schema. Times are Unix times in milliseconds, booleans 0 or 1, hashes 32 bytes of SHA-256. */
export type Tables = {
  [Name in keyof Described]: RowOf<
    Described[Name],
    Name extends keyof OwnColumns ? OwnColumns[Name] : Record<never, never>
  >;
} & OwnTables;

/** A row as it is read. */
export type Row<Name extends keyof Tables> = Selectable<Tables[Name]>;
