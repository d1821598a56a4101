import type { Migration } from '../migration.ts';
import { addColumn, createTable } from '../schema/table.ts';

/**
 * Lists what users set up before they proved their email address, as far as it grants access or sends data elsewhere, and marks
 * accounts that no verified user owns. The audit log tells what existing users have set up, except upload tokens, which it shortens.
 */
export const unverifiedChanges: Migration = {
  name: 'changes of unverified users',
  sql: dialect => `${createTable(dialect, 'unverified_changes', {
    columns: {
      user_id: 'text NOT NULL REFERENCES users (id) ON DELETE CASCADE',
      kind: 'text NOT NULL',
      target_id: 'text NOT NULL',
    },
    constraints: ['PRIMARY KEY (user_id, kind, target_id)'],
  })}
    ${addColumn(dialect, 'accounts', 'is_unclaimed', 'integer NOT NULL DEFAULT 0')}
    UPDATE accounts SET is_unclaimed = 1
      WHERE NOT EXISTS (SELECT 1 FROM members AS m JOIN users AS u ON u.id = m.user_id
        WHERE m.account_id = accounts.id AND m.role = 'owner' AND u.verified_at_ms IS NOT NULL)
      AND EXISTS (SELECT 1 FROM members AS m WHERE m.account_id = accounts.id AND m.role = 'owner');
    UPDATE api_keys SET user_id = (
      SELECT e.actor_id FROM projects AS p JOIN audit_entries AS e ON e.account_id = p.account_id
      WHERE p.id = api_keys.project_id AND e.target_id = api_keys.pair_id AND e.actor_kind = 'user'
        AND e.action IN ('api-key.create', 'api-key.regenerate')
        AND e.at_ms BETWEEN api_keys.created_at_ms AND api_keys.created_at_ms + 60000
      ORDER BY e.number LIMIT 1)
    WHERE user_id IS NULL;
    INSERT INTO unverified_changes (user_id, kind, target_id)
      SELECT DISTINCT u.id, CASE e.target_kind WHEN 'live-stream' THEN 'stream-key' ELSE e.target_kind END, e.target_id
      FROM users AS u JOIN members AS m ON m.user_id = u.id
      JOIN audit_entries AS e ON e.account_id = m.account_id AND e.actor_id = u.id
      WHERE u.verified_at_ms IS NULL AND e.actor_kind = 'user' AND e.target_id IS NOT NULL
        AND e.action IN ('signing-key.create', 'webhook.create', 'webhook.update', 'invitation.create',
          'live-stream.create', 'live-stream.stream-key.regenerate')
      UNION SELECT u.id, 'destination', e.target_id
      FROM users AS u JOIN members AS m ON m.user_id = u.id
      JOIN audit_entries AS e ON e.account_id = m.account_id AND e.actor_id = u.id
      WHERE u.verified_at_ms IS NULL AND e.actor_kind = 'user' AND e.target_id IS NOT NULL
        AND (e.action = 'live-stream.create' OR e.action = 'live-stream.update'
          AND (e.changed LIKE '%"restreams"%' OR e.changed LIKE '%"source"%'))
      UNION SELECT u.id, 'player-link', e.target_id
      FROM users AS u JOIN members AS m ON m.user_id = u.id
      JOIN audit_entries AS e ON e.account_id = m.account_id AND e.actor_id = u.id
      WHERE u.verified_at_ms IS NULL AND e.actor_kind = 'user' AND e.target_id IS NOT NULL
        AND e.action = 'player.logo.create'
      UNION SELECT u.id, 'hook', h.id
      FROM users AS u JOIN members AS m ON m.user_id = u.id
      JOIN audit_entries AS e ON e.account_id = m.account_id AND e.actor_id = u.id
      JOIN hooks AS h ON h.project_id = e.project_id AND h.kind = e.target_id
      WHERE u.verified_at_ms IS NULL AND e.actor_kind = 'user' AND e.action = 'hook.replace';
  `,
};
