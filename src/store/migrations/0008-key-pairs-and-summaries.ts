import type { Migration } from '../migration.ts';

const totalOf = (row: 'old' | 'new') =>
  `project_id = ${row}.project_id AND list = 'summaries-' || ${row}.source_status`;
const summaryIn = `
      INSERT INTO list_totals (project_id, list, total)
        SELECT new.project_id, 'summaries-' || new.source_status, 1 WHERE new.is_discarded = 0
        ON CONFLICT DO UPDATE SET total = total + 1;`;
const summaryOut = `
      UPDATE list_totals SET total = total - 1 WHERE ${totalOf('old')} AND old.is_discarded = 0;`;

const summaryOrders = [
  { name: 'creation', column: 'created_at_ms' },
  { name: 'update', column: 'updated_at_ms' },
  { name: 'video', column: 'video_id' },
];

export const keyPairsAndSummaries: Migration = {
  name: 'key pairs and summaries',
  sql: `
    CREATE TABLE key_pairs (
      id TEXT PRIMARY KEY,
      account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
      name TEXT,
      created_at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX key_pairs_by_creation ON key_pairs (account_id, created_at_ms, id);
    INSERT INTO key_pairs (id, account_id, name, created_at_ms)
      SELECT k.pair_id, p.account_id, NULL, min(k.created_at_ms)
      FROM api_keys k JOIN projects p ON p.id = k.project_id GROUP BY k.pair_id;
    -- The last characters of a key; unknown of those that were made before.
    ALTER TABLE api_keys ADD COLUMN hint TEXT;
    -- A revoked key opens nothing any more; it goes once its tokens are gone, which may be very many. Its pair is then itself.
    ALTER TABLE api_keys ADD COLUMN revoked_at_ms INTEGER;
    CREATE INDEX api_keys_revoked ON api_keys (revoked_at_ms) WHERE revoked_at_ms IS NOT NULL;

    ALTER TABLE tags ADD COLUMN tag_folded TEXT NOT NULL DEFAULT '';
    UPDATE tags SET tag_folded = fold_text(tag);
    CREATE INDEX tags_by_text ON tags (project_id, is_discarded, tag_folded, tag);
    CREATE INDEX tags_by_videos ON tags (project_id, is_discarded, videos, tag_folded, tag);
    CREATE TRIGGER tags_folded AFTER INSERT ON tags BEGIN
      UPDATE tags SET tag_folded = fold_text(new.tag)
        WHERE project_id = new.project_id AND is_discarded = new.is_discarded AND tag = new.tag;
    END;
    INSERT INTO list_totals (project_id, list, total)
      SELECT project_id, 'tags', count(*) FROM tags WHERE is_discarded = 0 GROUP BY project_id;
    CREATE TRIGGER tags_counted_in AFTER INSERT ON tags WHEN new.is_discarded = 0 BEGIN
      INSERT INTO list_totals (project_id, list, total) VALUES (new.project_id, 'tags', 1)
        ON CONFLICT DO UPDATE SET total = total + 1;
    END;
    CREATE TRIGGER tags_counted_out AFTER DELETE ON tags WHEN old.is_discarded = 0 BEGIN
      UPDATE list_totals SET total = total - 1 WHERE project_id = old.project_id AND list = 'tags';
    END;

    CREATE TABLE summaries (
      id TEXT PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      video_id TEXT NOT NULL UNIQUE REFERENCES videos (id) ON DELETE CASCADE,
      is_discarded INTEGER NOT NULL DEFAULT 0 CHECK (is_discarded IN (0, 1)),
      source_status TEXT NOT NULL CHECK (source_status IN ('missing', 'completed')),
      abstract TEXT,
      takeaways TEXT CHECK (takeaways IS NULL OR json_type(takeaways) = 'array'),
      created_at_ms INTEGER NOT NULL,
      updated_at_ms INTEGER NOT NULL,
      CHECK (source_status = 'completed' OR (abstract IS NULL AND takeaways IS NULL))
    ) STRICT, WITHOUT ROWID;
    ${summaryOrders
      .map(
        ({ name, column }) => `
    CREATE INDEX summaries_by_${name} ON summaries (project_id, is_discarded, ${column}, id);
    CREATE INDEX summaries_by_status_and_${name} ON summaries (project_id, is_discarded, source_status, ${column}, id);`,
      )
      .join('')}
    CREATE TRIGGER summaries_counted_in AFTER INSERT ON summaries BEGIN ${summaryIn}
    END;
    CREATE TRIGGER summaries_counted_out AFTER DELETE ON summaries BEGIN ${summaryOut}
    END;
    CREATE TRIGGER summaries_counted_again AFTER UPDATE OF is_discarded, source_status ON summaries BEGIN
      ${summaryOut} ${summaryIn}
    END;
    CREATE TRIGGER videos_summaries_again AFTER UPDATE OF is_discarded ON videos BEGIN
      UPDATE summaries SET is_discarded = new.is_discarded WHERE video_id = new.id;
    END;
  `,
};
