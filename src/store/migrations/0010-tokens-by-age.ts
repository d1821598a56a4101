import type { Migration } from '../migration.ts';

export const tokensByAge: Migration = {
  name: 'tokens by age',
  sql: `
    DROP INDEX refresh_tokens_by_key;
    CREATE INDEX refresh_tokens_by_key ON refresh_tokens (api_key_id, expires_at_ms);
  `,
};
