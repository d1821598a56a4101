import type { Migration } from '../migration.ts';
import { createIndexes } from '../schema/table.ts';

/** Lets a server find the broadcasts that it packages among those of all servers. */
export const claimsOfNodes: Migration = {
  name: 'claims of nodes',
  sql: dialect =>
    createIndexes(dialect, 'broadcasts', {
      columns: {},
      indexes: { broadcasts_by_node: '(node_id) WHERE ended_at_ms IS NULL AND node_id IS NOT NULL' },
    }),
};
