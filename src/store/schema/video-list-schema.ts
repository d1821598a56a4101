import type { Table } from './table.ts';
import type { Trigger } from './trigger.ts';

/** Tables with which SQLite pages through and searches long lists of videos. PostgreSQL counts rows, and has trigram indexes. */

export const maxBlockRows = 2_000;
/** A smaller block joins the one before it, if both together have no more than `maxJoinedRows`. */
const minBlockRows = 400;
const maxJoinedRows = 1_200;

export const newRevision = 'abs(random() % 9007199254740991)';
const textsOfLists = 'title_folded, description_folded, tags, metadata, live_stream_id';
const key = 'project_id, is_discarded, first_key, first_id';
const newKey = '(new.project_id, new.is_discarded, new.first_key, new.first_id)';

export interface VideoOrder {
  readonly name: string;
  readonly column: string;
  readonly type: string;
  readonly lowest: string;
}

export const lowestInteger = '-9223372036854775808';
const orders: readonly VideoOrder[] = [
  { name: 'title', column: 'title_folded', type: 'text', lowest: "''" },
  { name: 'creation', column: 'created_at_ms', type: 'integer', lowest: lowestInteger },
  { name: 'publication', column: 'published_at_ms', type: 'integer', lowest: lowestInteger },
  { name: 'update', column: 'updated_at_ms', type: 'integer', lowest: lowestInteger },
];

export const videoListTables: Readonly<Record<string, Table>> = {
  ...Object.fromEntries(orders.map(order => [`video_blocks_by_${order.name}`, blockTable(order)])),
  video_texts_stale: { columns: { video_number: 'integer PRIMARY KEY' } },
  video_text_slices: {
    columns: { slice: 'integer PRIMARY KEY', revision: 'integer NOT NULL' },
  },
};

export const videoTextsTable = `CREATE VIRTUAL TABLE video_texts USING fts5 (
  title, description, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
`;

const markStale = (row: 'old' | 'new') => `
  INSERT INTO video_texts_stale (video_number) VALUES (${row}.number) ON CONFLICT DO NOTHING;`;

export const videoTextTriggers: readonly Trigger[] = [
  ['videos_texts_in', 'AFTER INSERT ON videos', markStale('new')],
  ['videos_texts_out', 'AFTER DELETE ON videos', markStale('old')],
  ['videos_texts_again', 'AFTER UPDATE OF title_folded, description_folded ON videos', markStale('new')],
];

export const videoBlockTriggers: readonly Trigger[] = orders.flatMap(blockTriggers);

/**
 * Splits the videos of a project in one sort order into blocks with counted rows, so that any page is found
 * by adding up a few hundred counts. A block goes from its first key to that of the next; the first one
 * begins below every key. Its `revision` is random and changes whenever a row comes, goes, or changes in a
 * filtered column, which invalidates cached counts.
 */
export function blockTable({ type }: VideoOrder): Table {
  return {
    columns: {
      project_id: 'text NOT NULL REFERENCES projects (id) ON DELETE CASCADE',
      is_discarded: 'flag NOT NULL',
      first_key: `${type} NOT NULL`,
      first_id: 'text NOT NULL',
      videos: 'integer NOT NULL CHECK (videos >= 0)',
      revision: 'integer NOT NULL',
    },
    constraints: [`PRIMARY KEY (${key})`],
    isKeyed: true,
  };
}

export function blockTriggers({ name, column, lowest }: VideoOrder): Trigger[] {
  const blocks = `video_blocks_by_${name}`;
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
  const filtered = column === 'title_folded' ? textsOfLists : `${column}, ${textsOfLists}`;
  const cut = `
  INSERT INTO ${blocks} (${key}, videos, revision)
    SELECT project_id, is_discarded, ${column}, id, new.videos - ${maxBlockRows / 2}, ${newRevision} FROM videos
    WHERE project_id = new.project_id AND is_discarded = new.is_discarded
      AND (${column}, id) >= (new.first_key, new.first_id)
    ORDER BY ${column}, id LIMIT 1 OFFSET ${maxBlockRows / 2};
  UPDATE ${blocks} SET videos = ${maxBlockRows / 2}, revision = ${newRevision}
    WHERE (${key}) = ${newKey};`;
  const join = `
  UPDATE ${blocks} SET videos = videos + new.videos, revision = ${newRevision}
    WHERE (${key}) = (
      SELECT ${key} FROM ${blocks}
      WHERE project_id = new.project_id AND is_discarded = new.is_discarded
        AND (first_key, first_id) < (new.first_key, new.first_id)
      ORDER BY first_key DESC, first_id DESC LIMIT 1
    ) AND (new.videos = 0 OR videos + new.videos <= ${maxJoinedRows});
  DELETE FROM ${blocks}
    WHERE (${key}) = ${newKey} AND changes() > 0;`;
  return [
    [`videos_counted_in_by_${name}`, 'AFTER INSERT ON videos', countIn],
    [`videos_counted_out_by_${name}`, 'AFTER DELETE ON videos', countOut],
    // Out before in: a block that is cut must hold exactly what its count says.
    [
      `videos_counted_again_by_${name}`,
      `AFTER UPDATE OF project_id, is_discarded, ${filtered} ON videos`,
      `${countOut} ${countIn}`,
    ],
    [`${blocks}_cut`, `AFTER UPDATE OF videos ON ${blocks}`, cut, `new.videos > ${maxBlockRows}`],
    [
      `${blocks}_joined`,
      `AFTER UPDATE OF videos ON ${blocks}`,
      join,
      `new.videos < old.videos AND new.videos < ${minBlockRows} AND new.first_id <> ''`,
    ],
  ];
}
