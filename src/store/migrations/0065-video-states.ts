import type { Migration } from '../migration.ts';
import { addColumn, createIndexes, type Dialect } from '../schema/table.ts';
import { createTrigger, type Trigger } from '../schema/trigger.ts';

const isPending = "r.status IN ('waiting', 'encoding')";
const ofVideo = "FROM renditions r WHERE r.video_id = v.id AND r.type <> 'audio'";

/** The same states as those of `GET /videos/{videoId}/status` show, as far as rows tell. */
const states = `
    SELECT v.number, CASE
      WHEN coalesce(e.is_playable, 0) = 0 AND coalesce(e.failure, s.failure) IS NOT NULL THEN 'failed'
      WHEN EXISTS (SELECT 1 ${ofVideo} AND ${isPending}) THEN 'processing'
      WHEN e.is_playable = 1 THEN 'ready'
      WHEN s.video_id IS NULL AND v.live_stream_id IS NULL THEN 'empty'
      WHEN s.status IN ('uploaded', 'ingested') AND EXISTS (SELECT 1 ${ofVideo}) THEN 'failed'
      ELSE 'processing' END AS state
    FROM videos v LEFT JOIN video_encodings e ON e.video_id = v.id LEFT JOIN video_sources s ON s.video_id = v.id`;

const setState = (row: 'old' | 'new') => `
  UPDATE videos SET state = found.state FROM (${states}
    WHERE v.id = ${row}.video_id) AS found
  WHERE videos.number = found.number AND videos.state <> found.state;`;

const pendingChanged = `(old.status IN ('waiting', 'encoding')) <> (new.status IN ('waiting', 'encoding'))`;

/** A row of `video_sources` goes with its video, or is replaced at once. */
const stateTriggers: readonly Trigger[] = [
  ['video_states_by_new_source', 'AFTER INSERT ON video_sources', setState('new')],
  ['video_states_by_source', 'AFTER UPDATE OF status, failure ON video_sources', setState('new')],
  ['video_states_by_new_encoding', 'AFTER INSERT ON video_encodings', setState('new')],
  ['video_states_by_encoding', 'AFTER UPDATE OF is_playable, failure ON video_encodings', setState('new')],
  ['video_states_by_new_rendition', 'AFTER INSERT ON renditions', setState('new')],
  ['video_states_by_rendition', 'AFTER UPDATE OF status ON renditions', setState('new'), pendingChanged],
  ['video_states_by_lost_rendition', 'AFTER DELETE ON renditions', setState('old')],
];

/** Invalidates the counts of a block: see `video-list-schema.ts`. */
export const blockRevision = ([name, column]: readonly [string, string]) => `
  UPDATE video_blocks_by_${name} SET revision = abs(random() % 9007199254740991)
    WHERE (project_id, is_discarded, first_key, first_id) = (
      SELECT project_id, is_discarded, first_key, first_id FROM video_blocks_by_${name}
      WHERE project_id = new.project_id AND is_discarded = (new.discarded_at_ms IS NOT NULL)
        AND (first_key, first_id) <= (new.${column}, new.id)
      ORDER BY first_key DESC, first_id DESC LIMIT 1);`;

const blockTrigger: Trigger = [
  'videos_filtered_again',
  'AFTER UPDATE OF state, is_public ON videos',
  (
    [
      ['title', 'title_folded'],
      ['creation', 'created_at_ms'],
      ['publication', 'published_at_ms'],
      ['update', 'updated_at_ms'],
    ] as const
  )
    .map(blockRevision)
    .join(''),
  'old.state <> new.state OR old.is_public <> new.is_public',
];

const triggersOf = (dialect: Dialect) => [...stateTriggers, ...(dialect === 'sqlite' ? [blockTrigger] : [])];

/** Lets lists of videos be filtered by state and visibility. */
export const videoStates: Migration = {
  name: 'states of videos',
  sql: dialect =>
    [
      addColumn(
        dialect,
        'videos',
        'state',
        "text NOT NULL DEFAULT 'empty' CHECK (state IN ('empty', 'processing', 'ready', 'failed'))",
      ),
      `UPDATE videos SET state = found.state FROM (${states}) AS found WHERE videos.number = found.number;\n`,
      createIndexes(dialect, 'videos', {
        columns: {},
        indexes: {
          videos_by_state: '(project_id, is_discarded, state)',
          videos_private: '(project_id, is_discarded) WHERE is_public = 0',
        },
      }),
      ...triggersOf(dialect).map(trigger => createTrigger(dialect, trigger)),
    ].join(''),
};
