/**
 * Triggers of PostgreSQL, with the names and effects of those of SQLite. There are none for the blocks and texts of video
 * lists: PostgreSQL counts rows, and its trigram indexes follow the tables.
 */
const storedKinds = [
  'source_bytes',
  'recording_bytes',
  'hls_bytes',
  'mp4_bytes',
  'image_bytes',
  'text_bytes',
];

/** @param event such as `AFTER INSERT ON videos`; `condition` follows WHEN */
function trigger(name: string, event: string, body: string, condition?: string): string {
  return `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN ${body}
  RETURN NEW;
END $body$;
CREATE TRIGGER ${name} ${event} FOR EACH ROW${condition === undefined ? '' : ` WHEN (${condition})`}
  EXECUTE FUNCTION ${name}();
`;
}

const addToList = (project: string, list: string, condition = '') => `
  INSERT INTO list_totals (project_id, list, total) SELECT ${project}, ${list}, 1 ${condition}
    ON CONFLICT (project_id, list) DO UPDATE SET total = list_totals.total + 1;`;
const removeFromList = (project: string, list: string, condition = '') => `
  UPDATE list_totals SET total = total - 1 WHERE project_id = ${project} AND list = ${list} ${condition};`;

function countedList(table: string, list: string): string {
  return (
    trigger(`${table}_counted_in`, `AFTER INSERT ON ${table}`, addToList('new.project_id', `'${list}'`)) +
    trigger(`${table}_counted_out`, `AFTER DELETE ON ${table}`, removeFromList('old.project_id', `'${list}'`))
  );
}

const addTags = `
  INSERT INTO video_tags (project_id, is_discarded, tag, video_number)
    SELECT DISTINCT new.project_id, new.is_discarded, value, new.number
    FROM jsonb_array_elements_text(new.tags::jsonb) AS value;`;
const removeTags = `
  DELETE FROM video_tags
    WHERE project_id = old.project_id AND is_discarded = old.is_discarded AND video_number = old.number
      AND tag IN (SELECT jsonb_array_elements_text(old.tags::jsonb));`;
const addMetadata = `
  INSERT INTO video_metadata (project_id, is_discarded, key, value, video_number)
    SELECT DISTINCT new.project_id, new.is_discarded, entry ->> 'key', entry ->> 'value', new.number
    FROM jsonb_array_elements(new.metadata::jsonb) AS entry;`;
const removeMetadata = `
  DELETE FROM video_metadata
    WHERE project_id = old.project_id AND is_discarded = old.is_discarded AND video_number = old.number
      AND (key, value) IN (
        SELECT entry ->> 'key', entry ->> 'value' FROM jsonb_array_elements(old.metadata::jsonb) AS entry);`;

const tags =
  trigger(
    'video_tags_counted_in',
    'AFTER INSERT ON video_tags',
    `
  INSERT INTO tags (project_id, is_discarded, tag, videos) VALUES (new.project_id, new.is_discarded, new.tag, 1)
    ON CONFLICT (project_id, is_discarded, tag) DO UPDATE SET videos = tags.videos + 1;`,
  ) +
  trigger(
    'video_tags_counted_out',
    'AFTER DELETE ON video_tags',
    `
  UPDATE tags SET videos = videos - 1
    WHERE project_id = old.project_id AND is_discarded = old.is_discarded AND tag = old.tag;
  DELETE FROM tags
    WHERE project_id = old.project_id AND is_discarded = old.is_discarded AND tag = old.tag AND videos = 0;`,
  ) +
  trigger('videos_tags_in', 'AFTER INSERT ON videos', addTags, "new.tags <> '[]'") +
  trigger('videos_tags_out', 'AFTER DELETE ON videos', removeTags, "old.tags <> '[]'") +
  trigger(
    'videos_tags_again',
    'AFTER UPDATE OF project_id, is_discarded, tags ON videos',
    removeTags + addTags,
  ) +
  trigger('videos_metadata_in', 'AFTER INSERT ON videos', addMetadata, "new.metadata <> '[]'") +
  trigger('videos_metadata_out', 'AFTER DELETE ON videos', removeMetadata, "old.metadata <> '[]'") +
  trigger(
    'videos_metadata_again',
    'AFTER UPDATE OF project_id, is_discarded, metadata ON videos',
    removeMetadata + addMetadata,
  ) +
  trigger('tags_folded', 'BEFORE INSERT ON tags', '\n  new.tag_folded := fold_text(new.tag);') +
  trigger(
    'tags_counted_in',
    'AFTER INSERT ON tags',
    addToList('new.project_id', "'tags'"),
    'new.is_discarded = 0',
  ) +
  trigger(
    'tags_counted_out',
    'AFTER DELETE ON tags',
    removeFromList('old.project_id', "'tags'"),
    'old.is_discarded = 0',
  );

const deliveryTotal = (row: 'old' | 'new') =>
  `webhook_id = ${row}.webhook_id AND state = ${row}.state AND type = ${row}.type`;
const addDelivery = `
  INSERT INTO webhook_delivery_totals (webhook_id, state, type, total)
    VALUES (new.webhook_id, new.state, new.type, 1)
    ON CONFLICT (webhook_id, state, type) DO UPDATE SET total = webhook_delivery_totals.total + 1;`;
const removeDelivery = `
  UPDATE webhook_delivery_totals SET total = total - 1 WHERE ${deliveryTotal('old')};`;
const nextDelivery = `
  UPDATE webhook_deliveries SET is_next = 1 WHERE number = (
    SELECT number FROM webhook_deliveries
      WHERE webhook_id = old.webhook_id AND sequence = old.sequence AND due_at_ms IS NOT NULL
      ORDER BY number LIMIT 1);`;

const webhooks =
  trigger(
    'webhooks_removed',
    'AFTER DELETE ON webhooks',
    '\n  INSERT INTO removed_webhooks (webhook_id) VALUES (old.id) ON CONFLICT DO NOTHING;',
  ) +
  trigger('webhook_deliveries_counted_in', 'AFTER INSERT ON webhook_deliveries', addDelivery) +
  trigger(
    'webhook_deliveries_counted_over',
    'AFTER UPDATE OF state ON webhook_deliveries',
    removeDelivery + addDelivery,
    'old.state <> new.state',
  ) +
  trigger('webhook_deliveries_counted_out', 'AFTER DELETE ON webhook_deliveries', removeDelivery) +
  trigger(
    'webhook_deliveries_turn_after_end',
    'AFTER UPDATE OF is_next ON webhook_deliveries',
    nextDelivery,
    'old.is_next = 1 AND new.is_next = 0',
  ) +
  trigger(
    'webhook_deliveries_turn_after_removal',
    'AFTER DELETE ON webhook_deliveries',
    nextDelivery,
    'old.is_next = 1',
  );

const analytics =
  trigger(
    'analytics_totals_counted_in',
    'AFTER INSERT ON analytics_totals',
    `
  INSERT INTO analytics_project_totals (project, media_type, plays, media)
    VALUES (new.project, new.media_type, new.plays, 1)
    ON CONFLICT (project, media_type) DO UPDATE
      SET plays = analytics_project_totals.plays + new.plays, media = analytics_project_totals.media + 1;`,
  ) +
  trigger(
    'analytics_totals_counted_again',
    'AFTER UPDATE OF plays ON analytics_totals',
    `
  UPDATE analytics_project_totals SET plays = plays + new.plays - old.plays
    WHERE project = new.project AND media_type = new.media_type;`,
  );

const addSummary = addToList(
  'new.project_id',
  "'summaries-' || new.source_status",
  'WHERE new.is_discarded = 0',
);
const removeSummary = removeFromList(
  'old.project_id',
  "'summaries-' || old.source_status",
  'AND old.is_discarded = 0',
);
const summaries =
  trigger('summaries_counted_in', 'AFTER INSERT ON summaries', addSummary) +
  trigger('summaries_counted_out', 'AFTER DELETE ON summaries', removeSummary) +
  trigger(
    'summaries_counted_again',
    'AFTER UPDATE OF is_discarded, source_status ON summaries',
    removeSummary + addSummary,
  ) +
  trigger(
    'videos_summaries_again',
    'AFTER UPDATE OF is_discarded ON videos',
    '\n  UPDATE summaries SET is_discarded = new.is_discarded WHERE video_id = new.id;',
  );

const addSandboxVideo = `
  INSERT INTO sandbox_videos (completed_at_ms, video_id)
    SELECT new.completed_at_ms, v.id FROM videos v JOIN projects p ON p.id = v.project_id
    WHERE v.id = new.video_id AND p.environment = 'sandbox' AND new.completed_at_ms IS NOT NULL;`;
const removeSandboxVideo = `
  DELETE FROM sandbox_videos WHERE completed_at_ms = old.completed_at_ms AND video_id = old.video_id;`;
const removeEmptyVideo = `
  DELETE FROM empty_videos WHERE created_at_ms = old.created_at_ms AND video_id = old.id;`;

const videos =
  trigger(
    'videos_leave_files',
    'AFTER DELETE ON videos',
    '\n  INSERT INTO removed_videos (id) VALUES (old.id) ON CONFLICT DO NOTHING;',
  ) +
  trigger('video_sources_complete_at_once', 'AFTER INSERT ON video_sources', addSandboxVideo) +
  trigger(
    'video_sources_complete',
    'AFTER UPDATE OF completed_at_ms ON video_sources',
    removeSandboxVideo + addSandboxVideo,
  ) +
  trigger('video_sources_leave_sandbox', 'AFTER DELETE ON video_sources', removeSandboxVideo) +
  trigger(
    'videos_begin_empty',
    'AFTER INSERT ON videos',
    '\n  INSERT INTO empty_videos (created_at_ms, video_id) VALUES (new.created_at_ms, new.id);',
    'new.is_discarded = 0',
  ) +
  trigger('videos_end_empty', 'AFTER DELETE ON videos', removeEmptyVideo) +
  trigger(
    'videos_empty_again',
    'AFTER UPDATE OF is_discarded ON videos',
    `${removeEmptyVideo}
  INSERT INTO empty_videos (created_at_ms, video_id)
    SELECT new.created_at_ms, new.id
    WHERE new.is_discarded = 0 AND NOT EXISTS (SELECT 1 FROM video_sources WHERE video_id = new.id);`,
  ) +
  trigger(
    'video_sources_fill',
    'AFTER INSERT ON video_sources',
    `
  DELETE FROM empty_videos
    WHERE (created_at_ms, video_id) = (SELECT created_at_ms, id FROM videos WHERE id = new.video_id);`,
  );

const differences = storedKinds.map(kind => `${kind} = ${kind} + new.${kind} - old.${kind}`).join(', ');
const withoutOld = storedKinds.map(kind => `${kind} = ${kind} - old.${kind}`).join(', ');
/** Marks a changed video as due. One that is being removed is not found any more. */
const dueAgain = (videoId: string) => `
  INSERT INTO stored_videos (video_id, project_id) SELECT id, project_id FROM videos WHERE id = ${videoId}
    ON CONFLICT (video_id) DO UPDATE SET due_at_ms = 0, changes = stored_videos.changes + 1;`;

const storage =
  trigger(
    'stored_videos_counted',
    `AFTER UPDATE OF ${storedKinds.join(', ')} ON stored_videos`,
    `
  INSERT INTO storage_totals (project_id) VALUES (new.project_id) ON CONFLICT DO NOTHING;
  UPDATE storage_totals SET ${differences} WHERE project_id = new.project_id;`,
  ) +
  trigger(
    'stored_videos_counted_out',
    'AFTER DELETE ON stored_videos',
    `
  UPDATE storage_totals SET ${withoutOld} WHERE project_id = old.project_id;`,
    `${storedKinds.map(kind => `old.${kind}`).join(' + ')} > 0`,
  ) +
  trigger(
    'videos_leave_storage',
    'AFTER DELETE ON videos',
    '\n  DELETE FROM stored_videos WHERE video_id = old.id;',
  ) +
  trigger(
    'videos_store_watermarks',
    'AFTER INSERT ON videos',
    dueAgain('new.id'),
    'new.watermark IS NOT NULL',
  ) +
  trigger('video_sources_stored', 'AFTER INSERT ON video_sources', dueAgain('new.video_id')) +
  trigger(
    'video_sources_stored_again',
    'AFTER UPDATE OF status, bytes ON video_sources',
    dueAgain('new.video_id'),
  ) +
  trigger(
    'renditions_stored',
    'AFTER UPDATE OF status, file ON renditions',
    dueAgain('new.video_id'),
    'new.status IS DISTINCT FROM old.status OR new.file IS DISTINCT FROM old.file',
  ) +
  trigger('renditions_removed', 'AFTER DELETE ON renditions', dueAgain('old.video_id')) +
  trigger(
    'storyboards_stored',
    'AFTER UPDATE OF has_storyboard ON video_encodings',
    dueAgain('new.video_id'),
  ) +
  ['video_thumbnails', 'text_tracks']
    .map(table => {
      const name = table.replace('video_', '');
      return (
        trigger(`${name}_stored`, `AFTER INSERT ON ${table}`, dueAgain('new.video_id')) +
        trigger(`${name}_stored_again`, `AFTER UPDATE OF file ON ${table}`, dueAgain('new.video_id')) +
        trigger(`${name}_removed`, `AFTER DELETE ON ${table}`, dueAgain('old.video_id'))
      );
    })
    .join('') +
  trigger(
    'recordings_stored',
    'AFTER INSERT ON recordings',
    `
  INSERT INTO stored_videos (video_id, project_id) VALUES (new.video_id, new.project_id)
    ON CONFLICT (video_id) DO UPDATE SET due_at_ms = 0, changes = stored_videos.changes + 1;`,
  ) +
  trigger(
    'recordings_end',
    'AFTER DELETE ON recordings',
    `
  UPDATE stored_videos SET due_at_ms = 0, changes = changes + 1 WHERE video_id = old.video_id;
  DELETE FROM stored_videos
    WHERE video_id = old.video_id AND NOT EXISTS (SELECT 1 FROM videos WHERE id = old.video_id);`,
  );

export const triggers =
  countedList('live_streams', 'live-streams') +
  countedList('upload_tokens', 'upload-tokens') +
  countedList('watermarks', 'watermarks') +
  countedList('players', 'players') +
  tags +
  webhooks +
  analytics +
  summaries +
  videos +
  storage;
