import type { Migration } from '../migration.ts';

const maxBlockRows = 2_000;
/** A smaller block joins the one before it, if both together have no more than `maxJoinedRows`. */
const minBlockRows = 400;
const maxJoinedRows = 1_200;

const newRevision = 'abs(random() % 9007199254740991)';
const textsOfLists = 'title_folded, description_folded, tags, metadata, live_stream_id';

/**
 * Splits the videos of a project in one sort order into blocks with counted rows, so that any page is found
 * by adding up a few hundred counts. A block goes from its first key to that of the next; the first one
 * begins below every key. Its `revision` is random and changes whenever a row comes, goes, or changes in a
 * filtered column, which invalidates cached counts.
 */
function sortOrder(order: { name: string; column: string; type: string; lowest: string }): string {
  const { column, type, lowest } = order;
  const blocks = `video_blocks_by_${order.name}`;
  const key = 'project_id, is_discarded, first_key, first_id';
  const blockOf = (row: 'old' | 'new') => `
    (${key}) = (
      SELECT ${key} FROM ${blocks}
      WHERE project_id = ${row}.project_id AND is_discarded = (${row}.discarded_at_ms IS NOT NULL)
        AND (first_key, first_id) <= (${row}.${column}, ${row}.id)
      ORDER BY first_key DESC, first_id DESC LIMIT 1
    )`;
  const countIn = `
      INSERT INTO ${blocks} (${key}, videos, revision)
        SELECT new.project_id, new.is_discarded, ${lowest}, '', 0, 0
        WHERE NOT EXISTS (
          SELECT 1 FROM ${blocks}
          WHERE project_id = new.project_id AND is_discarded = new.is_discarded
        );
      UPDATE ${blocks} SET videos = videos + 1, revision = ${newRevision} WHERE ${blockOf('new')};`;
  const countOut = `
      UPDATE ${blocks} SET videos = videos - 1, revision = ${newRevision} WHERE ${blockOf('old')};`;
  return `
    CREATE INDEX videos_by_${order.name} ON videos (project_id, is_discarded, ${column}, id);

    CREATE TABLE ${blocks} (
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      is_discarded INTEGER NOT NULL CHECK (is_discarded IN (0, 1)),
      first_key ${type} NOT NULL,
      first_id TEXT NOT NULL,
      videos INTEGER NOT NULL CHECK (videos >= 0),
      revision INTEGER NOT NULL,
      PRIMARY KEY (${key})
    ) STRICT, WITHOUT ROWID;

    CREATE TRIGGER videos_counted_in_by_${order.name} AFTER INSERT ON videos BEGIN ${countIn}
    END;
    CREATE TRIGGER videos_counted_out_by_${order.name} AFTER DELETE ON videos BEGIN ${countOut}
    END;
    -- Out before in: a block that is cut must hold exactly what its count says.
    CREATE TRIGGER videos_counted_again_by_${order.name}
    AFTER UPDATE OF project_id, is_discarded, ${column === 'title_folded' ? '' : `${column}, `}${textsOfLists} ON videos BEGIN
      ${countOut} ${countIn}
    END;

    CREATE TRIGGER ${blocks}_cut AFTER UPDATE OF videos ON ${blocks} WHEN new.videos > ${maxBlockRows} BEGIN
      INSERT INTO ${blocks} (${key}, videos, revision)
        SELECT project_id, is_discarded, ${column}, id, new.videos - ${maxBlockRows / 2}, ${newRevision} FROM videos
        WHERE project_id = new.project_id AND is_discarded = new.is_discarded
          AND (${column}, id) >= (new.first_key, new.first_id)
        ORDER BY ${column}, id LIMIT 1 OFFSET ${maxBlockRows / 2};
      UPDATE ${blocks} SET videos = ${maxBlockRows / 2}, revision = ${newRevision}
        WHERE (${key}) = (new.project_id, new.is_discarded, new.first_key, new.first_id);
    END;
    CREATE TRIGGER ${blocks}_joined AFTER UPDATE OF videos ON ${blocks}
    WHEN new.videos < old.videos AND new.videos < ${minBlockRows} AND new.first_id <> '' BEGIN
      UPDATE ${blocks} SET videos = videos + new.videos, revision = ${newRevision}
        WHERE (${key}) = (
          SELECT ${key} FROM ${blocks}
          WHERE project_id = new.project_id AND is_discarded = new.is_discarded
            AND (first_key, first_id) < (new.first_key, new.first_id)
          ORDER BY first_key DESC, first_id DESC LIMIT 1
        ) AND (new.videos = 0 OR videos + new.videos <= ${maxJoinedRows});
      DELETE FROM ${blocks}
        WHERE (${key}) = (new.project_id, new.is_discarded, new.first_key, new.first_id) AND changes() > 0;
    END;
  `;
}

const integer = { type: 'INTEGER', lowest: '-9223372036854775808' };
const orders = [
  { name: 'title', column: 'title_folded', type: 'TEXT', lowest: "''" },
  { name: 'creation', column: 'created_at_ms', ...integer },
  { name: 'publication', column: 'published_at_ms', ...integer },
  { name: 'update', column: 'updated_at_ms', ...integer },
];

const tagsIn = `
      INSERT INTO video_tags (project_id, is_discarded, tag, video_number)
        SELECT DISTINCT new.project_id, new.is_discarded, value, new.number FROM json_each(new.tags);`;
const tagsOut = `
      DELETE FROM video_tags
        WHERE project_id = old.project_id AND is_discarded = old.is_discarded
          AND tag IN (SELECT value FROM json_each(old.tags)) AND video_number = old.number;`;
const metadataIn = `
      INSERT INTO video_metadata (project_id, is_discarded, key, value, video_number)
        SELECT DISTINCT new.project_id, new.is_discarded, value ->> 'key', value ->> 'value', new.number
        FROM json_each(new.metadata);`;
const metadataOut = `
      DELETE FROM video_metadata
        WHERE project_id = old.project_id AND is_discarded = old.is_discarded
          AND (key, value) IN (SELECT value ->> 'key', value ->> 'value' FROM json_each(old.metadata))
          AND video_number = old.number;`;

export const videoLists: Migration = {
  name: 'video lists',
  sql: `
    ${orders.map(sortOrder).join('')}
    CREATE INDEX videos_by_live_stream ON videos (project_id, is_discarded, live_stream_id) WHERE live_stream_id IS NOT NULL;
    CREATE INDEX videos_by_deletion ON videos (deletes_at_ms) WHERE deletes_at_ms IS NOT NULL;

    CREATE TABLE video_tags (
      project_id TEXT NOT NULL,
      is_discarded INTEGER NOT NULL,
      tag TEXT NOT NULL,
      video_number INTEGER NOT NULL,
      PRIMARY KEY (project_id, is_discarded, tag, video_number)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tags (
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      is_discarded INTEGER NOT NULL,
      tag TEXT NOT NULL,
      videos INTEGER NOT NULL CHECK (videos >= 0),
      PRIMARY KEY (project_id, is_discarded, tag)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER video_tags_counted_in AFTER INSERT ON video_tags BEGIN
      INSERT INTO tags (project_id, is_discarded, tag, videos)
        VALUES (new.project_id, new.is_discarded, new.tag, 1)
        ON CONFLICT DO UPDATE SET videos = videos + 1;
    END;
    CREATE TRIGGER video_tags_counted_out AFTER DELETE ON video_tags BEGIN
      UPDATE tags SET videos = videos - 1
        WHERE project_id = old.project_id AND is_discarded = old.is_discarded AND tag = old.tag;
      DELETE FROM tags
        WHERE project_id = old.project_id AND is_discarded = old.is_discarded AND tag = old.tag AND videos = 0;
    END;
    CREATE TRIGGER videos_tags_in AFTER INSERT ON videos WHEN new.tags <> '[]' BEGIN ${tagsIn}
    END;
    CREATE TRIGGER videos_tags_out AFTER DELETE ON videos WHEN old.tags <> '[]' BEGIN ${tagsOut}
    END;
    CREATE TRIGGER videos_tags_again AFTER UPDATE OF project_id, is_discarded, tags ON videos BEGIN
      ${tagsOut} ${tagsIn}
    END;

    CREATE TABLE video_metadata (
      project_id TEXT NOT NULL,
      is_discarded INTEGER NOT NULL,
      key TEXT NOT NULL,
      value TEXT NOT NULL,
      video_number INTEGER NOT NULL,
      PRIMARY KEY (project_id, is_discarded, key, value, video_number)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER videos_metadata_in AFTER INSERT ON videos WHEN new.metadata <> '[]' BEGIN ${metadataIn}
    END;
    CREATE TRIGGER videos_metadata_out AFTER DELETE ON videos WHEN old.metadata <> '[]' BEGIN ${metadataOut}
    END;
    CREATE TRIGGER videos_metadata_again AFTER UPDATE OF project_id, is_discarded, metadata ON videos BEGIN
      ${metadataOut} ${metadataIn}
    END;

    -- Trigrams of the folded texts, kept up many videos at a time, since one at a time costs as much as all the rest of a write.
    -- Those in video_texts_stale may be missing from it or stand in it as they were.
    CREATE VIRTUAL TABLE video_texts USING fts5 (
      title, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
    );
    CREATE TABLE video_texts_stale (video_number INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE video_text_slices (slice INTEGER PRIMARY KEY, revision INTEGER NOT NULL) STRICT;
    CREATE TRIGGER videos_texts_in AFTER INSERT ON videos BEGIN
      INSERT INTO video_texts_stale (video_number) VALUES (new.number) ON CONFLICT DO NOTHING;
    END;
    CREATE TRIGGER videos_texts_out AFTER DELETE ON videos BEGIN
      INSERT INTO video_texts_stale (video_number) VALUES (old.number) ON CONFLICT DO NOTHING;
    END;
    CREATE TRIGGER videos_texts_again AFTER UPDATE OF title_folded, description_folded ON videos BEGIN
      INSERT INTO video_texts_stale (video_number) VALUES (new.number) ON CONFLICT DO NOTHING;
    END;
  `,
};
