import type { Migration } from '../migration.ts';
import { addColumn, createIndexes, createTable, type Dialect } from '../schema/table.ts';
import { createTrigger, type Trigger } from '../schema/trigger.ts';
import {
  blockTable,
  blockTriggers,
  lowestInteger,
  maxBlockRows,
  newRevision,
  type VideoOrder,
} from '../schema/video-list-schema.ts';
import { blockRevision } from './0065-video-states.ts';

const order: VideoOrder = { name: 'plays', column: 'plays', type: 'integer', lowest: lowestInteger };
const blockRows = maxBlockRows / 2;

/** Counts the videos into blocks of `blockRows`, the first of which begins below every key. */
const fillBlocks = `
  INSERT INTO video_blocks_by_plays (project_id, is_discarded, first_key, first_id, videos, revision)
    SELECT project_id, is_discarded, CASE place WHEN 0 THEN ${lowestInteger} ELSE plays END,
      CASE place WHEN 0 THEN '' ELSE id END, min(${blockRows}, total - place), ${newRevision}
    FROM (
      SELECT project_id, is_discarded, plays, id, row_number() OVER sorted - 1 AS place,
        count(*) OVER (PARTITION BY project_id, is_discarded) AS total
      FROM videos WINDOW sorted AS (PARTITION BY project_id, is_discarded ORDER BY plays, id)
    ) WHERE place % ${blockRows} = 0;
`;

const setPlays = `
  UPDATE videos SET plays = new.plays WHERE id = new.media_id
    AND project_id = (SELECT project_id FROM analytics_projects WHERE number = new.project);`;
const ofVideo = "new.media_type = 'video'";

const triggersOf = (dialect: Dialect): readonly Trigger[] => [
  ['video_plays_counted_in', 'AFTER INSERT ON analytics_totals', setPlays, ofVideo],
  ['video_plays_counted_again', 'AFTER UPDATE OF plays ON analytics_totals', setPlays, ofVideo],
  ...(dialect === 'sqlite'
    ? [
        ...blockTriggers(order),
        [
          'videos_filtered_again_by_plays',
          'AFTER UPDATE OF state, is_public ON videos',
          blockRevision([order.name, order.column]),
          'old.state <> new.state OR old.is_public <> new.is_public',
        ] as const,
      ]
    : []),
];

const countPlays = `UPDATE videos SET plays = t.plays FROM analytics_totals t JOIN analytics_projects p ON p.number = t.project
  WHERE t.media_type = 'video' AND t.media_id = videos.id AND p.project_id = videos.project_id;
`;

/** Lets lists of videos be sorted by plays, which triggers copy from the totals: both change in one statement. */
export const videoPlays: Migration = {
  name: 'plays of videos',
  sql: dialect => {
    const triggers = triggersOf(dialect).map(trigger => createTrigger(dialect, trigger));
    return [
      addColumn(dialect, 'videos', 'plays', 'integer NOT NULL DEFAULT 0'),
      // The triggers wait for the reports that other nodes are writing, so that their plays are counted.
      ...(dialect === 'sqlite' ? [countPlays] : [...triggers, countPlays]),
      createIndexes(dialect, 'videos', {
        columns: {},
        indexes: { videos_by_plays: '(project_id, is_discarded, plays, id)' },
      }),
      ...(dialect === 'sqlite'
        ? [createTable(dialect, 'video_blocks_by_plays', blockTable(order)), fillBlocks, ...triggers]
        : []),
    ].join('');
  },
};
