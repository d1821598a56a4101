import type { AccountTables } from './account-tables.ts';
import type { EventTables } from './event-tables.ts';
import type { MediaTables } from './media-tables.ts';
import type { NodeTables } from './node-tables.ts';

/** Times are Unix times in milliseconds, booleans 0 or 1, hashes 32 bytes of SHA-256. */
export interface Tables extends AccountTables, EventTables, MediaTables, NodeTables {}
