import type { Migration } from '../migration.ts';

/** Who watched what, where and how long. */
export const analytics: Migration = {
  name: 'analytics',
  sql: '',
};
