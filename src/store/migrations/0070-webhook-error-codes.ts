import type { Migration } from '../migration.ts';
import { addColumn } from '../schema/table.ts';

export const webhookErrorCodes: Migration = {
  name: 'error codes of webhooks and hooks',
  sql: dialect =>
    ['webhook_attempts', 'hook_results']
      .map(table => addColumn(dialect, table, 'error_code', 'text'))
      .join(''),
};
