import type { Migration } from '../migration.ts';

/**
 * Users whose email address is proved. Of existing ones, these are: users who were created together with their account (by
 * the first start, the operator or an OpenID Connect provider), or by a provider with an invitation, and those who have
 * reset their password with a link and had neither passkeys nor codes before. The address of an invitation is proved by
 * a token that is only mailed, stored as SHA-256. Keys that a user created before the proof end with it.
 */
export const verifiedEmails: Migration = {
  name: 'verified email addresses',
  // Older nodes let everybody who knows an invitation use its address.
  isCompatible: false,
  sql: `
    ALTER TABLE users ADD COLUMN verified_at_ms INTEGER;
    UPDATE users SET verified_at_ms = created_at_ms WHERE former_email IS NULL AND (
      EXISTS (SELECT 1 FROM accounts AS a WHERE a.id = users.account_id AND a.created_at_ms = users.created_at_ms)
      OR EXISTS (SELECT 1 FROM identities AS i WHERE i.user_id = users.id
        AND i.created_at_ms BETWEEN users.created_at_ms AND users.created_at_ms + 1000)
      OR id IN (SELECT e.actor_id FROM audit_entries AS e
        WHERE e.action = 'password.reset' AND e.actor_kind = 'user'
          AND NOT EXISTS (SELECT 1 FROM passkeys AS p WHERE p.user_id = e.actor_id AND p.created_at_ms <= e.at_ms)
          AND NOT EXISTS (SELECT 1 FROM two_factor AS t WHERE t.user_id = e.actor_id AND t.created_at_ms <= e.at_ms)));
    ALTER TABLE invitations ADD COLUMN mail_token_hash BLOB;
    CREATE UNIQUE INDEX invitations_by_mail_token ON invitations (mail_token_hash);
    ALTER TABLE api_keys ADD COLUMN user_id TEXT;
    CREATE INDEX api_keys_by_user ON api_keys (user_id);
  `,
};
