import type { Migration } from '../migration.ts';

/** Webhooks and what is delivered to them. */
export const webhooks: Migration = {
  name: 'webhooks',
  sql: '',
};
