import type { Migration } from '../migration.ts';
import { addColumn } from '../schema/table.ts';

export const plannedStarts: Migration = {
  name: 'planned starts of live streams',
  sql: dialect => addColumn(dialect, 'live_streams', 'starts_at_ms', 'integer'),
};
