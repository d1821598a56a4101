import type { Dialect } from './table.ts';
import { createTrigger, type Trigger } from './trigger.ts';
import { videoBlockTriggers, videoTextTriggers } from './video-list-schema.ts';

/** Triggers keep totals and other rows that follow from those of the API. SQLite fires the last one first. */
export function createTriggers(dialect: Dialect): string {
  const isSqlite = dialect === 'sqlite';
  return [
    ...countedList(dialect, 'live_streams', 'live-streams'),
    ...countedList(dialect, 'upload_tokens', 'upload-tokens'),
    ...countedList(dialect, 'watermarks', 'watermarks'),
    ...(isSqlite ? videoBlockTriggers : []),
    ...tagTriggers(dialect),
    ...(isSqlite ? videoTextTriggers : []),
    ...webhookTriggers(dialect),
    ...countedList(dialect, 'players', 'players'),
    ...analyticsTriggers(dialect),
    ...tagListTriggers(dialect),
    ...summaryTriggers(dialect),
    ...videoTriggers(dialect),
    ...storageTriggers(dialect),
  ]
    .map(trigger => createTrigger(dialect, trigger))
    .join('');
}

/** @param set changes of the row that is there already; `@` precedes its columns */
function onConflict(dialect: Dialect, table: string, key: string, set: string): string {
  const isSqlite = dialect === 'sqlite';
  const changes = set.replaceAll('@', isSqlite ? '' : `${table}.`);
  return `ON CONFLICT${isSqlite ? '' : ` (${key})`} DO UPDATE SET ${changes};`;
}

function addToList(dialect: Dialect, list: string, condition?: string): string {
  const row = `new.project_id, ${list}, 1`;
  const isPlain = dialect === 'sqlite' && condition === undefined;
  const rows = isPlain
    ? `VALUES (${row})`
    : `SELECT ${row}${condition === undefined ? '' : ` WHERE ${condition}`}`;
  return `
  INSERT INTO list_totals (project_id, list, total) ${rows}
    ${onConflict(dialect, 'list_totals', 'project_id, list', 'total = @total + 1')}`;
}

function removeFromList(list: string, condition = ''): string {
  return `
  UPDATE list_totals SET total = total - 1 WHERE project_id = old.project_id AND list = ${list}${condition};`;
}

function countedList(dialect: Dialect, table: string, list: string): Trigger[] {
  return [
    [`${table}_counted_in`, `AFTER INSERT ON ${table}`, addToList(dialect, `'${list}'`)],
    [`${table}_counted_out`, `AFTER DELETE ON ${table}`, removeFromList(`'${list}'`)],
  ];
}

const ofTag = 'project_id = old.project_id AND is_discarded = old.is_discarded AND tag = old.tag';
const ofVideo = 'project_id = old.project_id AND is_discarded = old.is_discarded';

const jsonRows = {
  sqlite: {
    addTags: 'value, new.number FROM json_each(new.tags)',
    removeTags: 'AND tag IN (SELECT value FROM json_each(old.tags)) AND video_number = old.number',
    addMetadata: "value ->> 'key', value ->> 'value', new.number FROM json_each(new.metadata)",
    removeMetadata: `AND (key, value) IN (SELECT value ->> 'key', value ->> 'value' FROM json_each(old.metadata))
      AND video_number = old.number`,
  },
  postgres: {
    addTags: 'value, new.number FROM jsonb_array_elements_text(new.tags::jsonb) AS value',
    removeTags: `AND video_number = old.number
      AND tag IN (SELECT jsonb_array_elements_text(old.tags::jsonb))`,
    addMetadata: `entry ->> 'key', entry ->> 'value', new.number
      FROM jsonb_array_elements(new.metadata::jsonb) AS entry`,
    removeMetadata: `AND video_number = old.number
      AND (key, value) IN (
        SELECT entry ->> 'key', entry ->> 'value' FROM jsonb_array_elements(old.metadata::jsonb) AS entry)`,
  },
} as const satisfies Record<Dialect, unknown>;

function tagTriggers(dialect: Dialect): Trigger[] {
  const rows = jsonRows[dialect];
  const addTags = `
  INSERT INTO video_tags (project_id, is_discarded, tag, video_number)
    SELECT DISTINCT new.project_id, new.is_discarded, ${rows.addTags};`;
  const removeTags = `
  DELETE FROM video_tags WHERE ${ofVideo} ${rows.removeTags};`;
  const addMetadata = `
  INSERT INTO video_metadata (project_id, is_discarded, key, value, video_number)
    SELECT DISTINCT new.project_id, new.is_discarded, ${rows.addMetadata};`;
  const removeMetadata = `
  DELETE FROM video_metadata WHERE ${ofVideo} ${rows.removeMetadata};`;
  const countTag = `
  INSERT INTO tags (project_id, is_discarded, tag, videos) VALUES (new.project_id, new.is_discarded, new.tag, 1)
    ${onConflict(dialect, 'tags', 'project_id, is_discarded, tag', 'videos = @videos + 1')}`;
  const uncountTag = `
  UPDATE tags SET videos = videos - 1 WHERE ${ofTag};
  DELETE FROM tags WHERE ${ofTag} AND videos = 0;`;
  return [
    ['video_tags_counted_in', 'AFTER INSERT ON video_tags', countTag],
    ['video_tags_counted_out', 'AFTER DELETE ON video_tags', uncountTag],
    ['videos_tags_in', 'AFTER INSERT ON videos', addTags, "new.tags <> '[]'"],
    ['videos_tags_out', 'AFTER DELETE ON videos', removeTags, "old.tags <> '[]'"],
    [
      'videos_tags_again',
      'AFTER UPDATE OF project_id, is_discarded, tags ON videos',
      `${removeTags} ${addTags}`,
    ],
    ['videos_metadata_in', 'AFTER INSERT ON videos', addMetadata, "new.metadata <> '[]'"],
    ['videos_metadata_out', 'AFTER DELETE ON videos', removeMetadata, "old.metadata <> '[]'"],
    [
      'videos_metadata_again',
      'AFTER UPDATE OF project_id, is_discarded, metadata ON videos',
      `${removeMetadata} ${addMetadata}`,
    ],
  ];
}

function tagListTriggers(dialect: Dialect): Trigger[] {
  const folded: Trigger =
    dialect === 'sqlite'
      ? [
          'tags_folded',
          'AFTER INSERT ON tags',
          `
  UPDATE tags SET tag_folded = fold_text(new.tag) WHERE ${ofTag.replaceAll('old.', 'new.')};`,
        ]
      : ['tags_folded', 'BEFORE INSERT ON tags', '\n  new.tag_folded := fold_text(new.tag);'];
  return [
    folded,
    ['tags_counted_in', 'AFTER INSERT ON tags', addToList(dialect, "'tags'"), 'new.is_discarded = 0'],
    ['tags_counted_out', 'AFTER DELETE ON tags', removeFromList("'tags'"), 'old.is_discarded = 0'],
  ];
}

const nextDelivery = `
  UPDATE webhook_deliveries SET is_next = 1 WHERE number = (
    SELECT number FROM webhook_deliveries
      WHERE webhook_id = old.webhook_id AND sequence = old.sequence AND due_at_ms IS NOT NULL
      ORDER BY number LIMIT 1);`;

function webhookTriggers(dialect: Dialect): Trigger[] {
  const ignored = dialect === 'sqlite' ? '' : ' ON CONFLICT DO NOTHING';
  const add = `
  INSERT INTO webhook_delivery_totals (webhook_id, state, type, total)
    VALUES (new.webhook_id, new.state, new.type, 1)
    ${onConflict(dialect, 'webhook_delivery_totals', 'webhook_id, state, type', 'total = @total + 1')}`;
  const remove = `
  UPDATE webhook_delivery_totals SET total = total - 1
    WHERE webhook_id = old.webhook_id AND state = old.state AND type = old.type;`;
  return [
    [
      'webhooks_removed',
      'AFTER DELETE ON webhooks',
      `\n  INSERT INTO removed_webhooks (webhook_id) VALUES (old.id)${ignored};`,
    ],
    ['webhook_deliveries_counted_in', 'AFTER INSERT ON webhook_deliveries', add],
    [
      'webhook_deliveries_counted_over',
      'AFTER UPDATE OF state ON webhook_deliveries',
      remove + add,
      'old.state <> new.state',
    ],
    ['webhook_deliveries_counted_out', 'AFTER DELETE ON webhook_deliveries', remove],
    [
      'webhook_deliveries_turn_after_end',
      'AFTER UPDATE OF is_next ON webhook_deliveries',
      nextDelivery,
      'old.is_next = 1 AND new.is_next = 0',
    ],
    [
      'webhook_deliveries_turn_after_removal',
      'AFTER DELETE ON webhook_deliveries',
      nextDelivery,
      'old.is_next = 1',
    ],
  ];
}

function analyticsTriggers(dialect: Dialect): Trigger[] {
  const set = `plays = @plays + new.plays, media = @media + 1`;
  return [
    [
      'analytics_totals_counted_in',
      'AFTER INSERT ON analytics_totals',
      `
  INSERT INTO analytics_project_totals (project, media_type, plays, media)
    VALUES (new.project, new.media_type, new.plays, 1)
    ${onConflict(dialect, 'analytics_project_totals', 'project, media_type', set)}`,
    ],
    [
      'analytics_totals_counted_again',
      'AFTER UPDATE OF plays ON analytics_totals',
      `
  UPDATE analytics_project_totals SET plays = plays + new.plays - old.plays
    WHERE project = new.project AND media_type = new.media_type;`,
    ],
  ];
}

function summaryTriggers(dialect: Dialect): Trigger[] {
  const add = addToList(dialect, "'summaries-' || new.source_status", 'new.is_discarded = 0');
  const remove = removeFromList("'summaries-' || old.source_status", ' AND old.is_discarded = 0');
  return [
    ['summaries_counted_in', 'AFTER INSERT ON summaries', add],
    ['summaries_counted_out', 'AFTER DELETE ON summaries', remove],
    [
      'summaries_counted_again',
      'AFTER UPDATE OF is_discarded, source_status ON summaries',
      `${remove} ${add}`,
    ],
    [
      'videos_summaries_again',
      'AFTER UPDATE OF is_discarded ON videos',
      '\n  UPDATE summaries SET is_discarded = new.is_discarded WHERE video_id = new.id;',
    ],
  ];
}

const addSandboxVideo = `
  INSERT INTO sandbox_videos (completed_at_ms, video_id)
    SELECT new.completed_at_ms, v.id FROM videos v JOIN projects p ON p.id = v.project_id
    WHERE v.id = new.video_id AND p.environment = 'sandbox' AND new.completed_at_ms IS NOT NULL;`;
const removeSandboxVideo = `
  DELETE FROM sandbox_videos WHERE completed_at_ms = old.completed_at_ms AND video_id = old.video_id;`;
const removeEmptyVideo = `
  DELETE FROM empty_videos WHERE created_at_ms = old.created_at_ms AND video_id = old.id;`;

function videoTriggers(dialect: Dialect): Trigger[] {
  const leaveFiles =
    dialect === 'sqlite'
      ? 'INSERT OR IGNORE INTO removed_videos (id) VALUES (old.id);'
      : 'INSERT INTO removed_videos (id) VALUES (old.id) ON CONFLICT DO NOTHING;';
  return [
    ['videos_leave_files', 'AFTER DELETE ON videos', `\n  ${leaveFiles}`],
    ['video_sources_complete_at_once', 'AFTER INSERT ON video_sources', addSandboxVideo],
    [
      'video_sources_complete',
      'AFTER UPDATE OF completed_at_ms ON video_sources',
      removeSandboxVideo + addSandboxVideo,
    ],
    ['video_sources_leave_sandbox', 'AFTER DELETE ON video_sources', removeSandboxVideo],
    [
      'videos_begin_empty',
      'AFTER INSERT ON videos',
      '\n  INSERT INTO empty_videos (created_at_ms, video_id) VALUES (new.created_at_ms, new.id);',
      'new.is_discarded = 0',
    ],
    ['videos_end_empty', 'AFTER DELETE ON videos', removeEmptyVideo],
    [
      'videos_empty_again',
      'AFTER UPDATE OF is_discarded ON videos',
      `${removeEmptyVideo}
  INSERT INTO empty_videos (created_at_ms, video_id)
    SELECT new.created_at_ms, new.id
    WHERE new.is_discarded = 0 AND NOT EXISTS (SELECT 1 FROM video_sources WHERE video_id = new.id);`,
    ],
    [
      'video_sources_fill',
      'AFTER INSERT ON video_sources',
      `
  DELETE FROM empty_videos
    WHERE (created_at_ms, video_id) = (SELECT created_at_ms, id FROM videos WHERE id = new.video_id);`,
    ],
  ];
}

const storedKinds = [
  'source_bytes',
  'recording_bytes',
  'hls_bytes',
  'mp4_bytes',
  'image_bytes',
  'text_bytes',
];
const differences = storedKinds.map(kind => `${kind} = ${kind} + new.${kind} - old.${kind}`).join(', ');
const withoutOld = storedKinds.map(kind => `${kind} = ${kind} - old.${kind}`).join(', ');

function storageTriggers(dialect: Dialect): Trigger[] {
  const isDue = onConflict(dialect, 'stored_videos', 'video_id', 'due_at_ms = 0, changes = @changes + 1');
  /** Marks a changed video as due. One that is being removed is not found any more. */
  const dueAgain = (videoId: string) => `
  INSERT INTO stored_videos (video_id, project_id) SELECT id, project_id FROM videos WHERE id = ${videoId}
    ${isDue}`;
  const differ = dialect === 'sqlite' ? 'IS NOT' : 'IS DISTINCT FROM';
  return [
    [
      'stored_videos_counted',
      `AFTER UPDATE OF ${storedKinds.join(', ')} ON stored_videos`,
      `
  INSERT INTO storage_totals (project_id) VALUES (new.project_id) ON CONFLICT DO NOTHING;
  UPDATE storage_totals SET ${differences} WHERE project_id = new.project_id;`,
    ],
    [
      'stored_videos_counted_out',
      'AFTER DELETE ON stored_videos',
      `\n  UPDATE storage_totals SET ${withoutOld} WHERE project_id = old.project_id;`,
      `${storedKinds.map(kind => `old.${kind}`).join(' + ')} > 0`,
    ],
    [
      'videos_leave_storage',
      'AFTER DELETE ON videos',
      '\n  DELETE FROM stored_videos WHERE video_id = old.id;',
    ],
    ['videos_store_watermarks', 'AFTER INSERT ON videos', dueAgain('new.id'), 'new.watermark IS NOT NULL'],
    ['video_sources_stored', 'AFTER INSERT ON video_sources', dueAgain('new.video_id')],
    [
      'video_sources_stored_again',
      'AFTER UPDATE OF status, bytes ON video_sources',
      dueAgain('new.video_id'),
    ],
    [
      'renditions_stored',
      'AFTER UPDATE OF status, file ON renditions',
      dueAgain('new.video_id'),
      `new.status ${differ} old.status OR new.file ${differ} old.file`,
    ],
    ['renditions_removed', 'AFTER DELETE ON renditions', dueAgain('old.video_id')],
    ['storyboards_stored', 'AFTER UPDATE OF has_storyboard ON video_encodings', dueAgain('new.video_id')],
    ...[
      ['thumbnails', 'video_thumbnails'],
      ['text_tracks', 'text_tracks'],
    ].flatMap(([name, table]): Trigger[] => [
      [`${name}_stored`, `AFTER INSERT ON ${table}`, dueAgain('new.video_id')],
      [`${name}_stored_again`, `AFTER UPDATE OF file ON ${table}`, dueAgain('new.video_id')],
      [`${name}_removed`, `AFTER DELETE ON ${table}`, dueAgain('old.video_id')],
    ]),
    [
      'recordings_stored',
      'AFTER INSERT ON recordings',
      `
  INSERT INTO stored_videos (video_id, project_id) VALUES (new.video_id, new.project_id)
    ${isDue}`,
    ],
    [
      'recordings_end',
      'AFTER DELETE ON recordings',
      `
  UPDATE stored_videos SET due_at_ms = 0, changes = changes + 1 WHERE video_id = old.video_id;
  DELETE FROM stored_videos
    WHERE video_id = old.video_id AND NOT EXISTS (SELECT 1 FROM videos WHERE id = old.video_id);`,
    ],
  ];
}
