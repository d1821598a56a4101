import type { Database } from '../../src/store/database.ts';
import type { Row } from '../../src/store/tables.ts';
import type { AudioTrack } from '../../src/vod/encoding-repository.ts';

/** Stores encoded audio of a video that no job works on. */
export async function addAudioTracks(
  { database }: { readonly database: Database },
  videoId: string,
  tracks: readonly AudioTrack[] = [{ track: 1, isDefault: true }],
  renditions: Readonly<Record<string, Row<'renditions'>['status']>> = { audio: 'encoded' },
): Promise<void> {
  const { queries } = database;
  await database.run(
    queries.insertInto('video_encodings').values({
      video_id: videoId,
      facts: '{}',
      target_duration_seconds: null,
      failure: null,
      revision: 7,
      is_playable: 1,
      has_storyboard: 0,
      has_source_captions: 0,
      audio_tracks: JSON.stringify(tracks),
    }),
  );
  const rows = Object.entries(renditions).map(([quality, status], position) => ({
    video_id: videoId,
    type: 'audio' as const,
    quality,
    position,
    status,
    progress_percent: 100,
    file: null,
    facts: JSON.stringify({ channels: 2 }),
  }));
  await database.run(queries.insertInto('renditions').values(rows));
}
