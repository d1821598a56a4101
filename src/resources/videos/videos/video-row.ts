import type { Row } from '../../../store/tables.ts';
import { policyFrom } from '../../playback/playback-policies/playback-policy.store.ts';
import type { Video } from './video.ts';

export const videoColumns = [
  'id',
  'project_id',
  'title',
  'description',
  'is_public',
  'is_listed',
  'is_panoramic',
  'has_mp4_support',
  'player_id',
  'tags',
  'metadata',
  'language',
  'is_language_detected',
  'live_stream_id',
  'clipped_from',
  'created_at_ms',
  'published_at_ms',
  'updated_at_ms',
  'discarded_at_ms',
  'deletes_at_ms',
  'expires_at_ms',
  'playback_policy',
] as const;

export type SelectedVideoRow = Pick<
  Row<'videos'>,
  Exclude<(typeof videoColumns)[number], 'is_language_detected' | 'is_listed'>
> & {
  readonly is_language_detected: number;
  readonly is_listed: number;
  readonly is_audio_only: number | null;
};

/** 1 when the renditions of a video are audio only, null before its source was probed. */
export function isAudioOnlyOf(videoId: string): string {
  return `(SELECT min(CASE WHEN type = 'audio' THEN 1 ELSE 0 END) FROM renditions WHERE video_id = ${videoId})`;
}

/** Columns of the videos `v`. */
export const selectedColumns = [
  ...videoColumns.map(column => `v.${column}`),
  `${isAudioOnlyOf('v.id')} AS is_audio_only`,
].join(', ');

export function videoFrom(row: SelectedVideoRow): Video {
  return {
    videoId: row.id,
    projectId: row.project_id,
    title: row.title,
    description: row.description,
    public: row.is_public === 1,
    listed: row.is_listed === 1,
    panoramic: row.is_panoramic === 1,
    mp4Support: row.has_mp4_support === 1,
    playerId: row.player_id ?? undefined,
    tags: listFrom<Video['tags']>(row.tags),
    metadata: listFrom<Video['metadata']>(row.metadata),
    language: row.language ?? undefined,
    isLanguageDetected: row.is_language_detected === 1,
    isAudioOnly: row.is_audio_only === 1,
    liveStreamId: row.live_stream_id ?? undefined,
    clippedFrom: row.clipped_from ?? undefined,
    createdAtMs: row.created_at_ms,
    publishedAtMs: row.published_at_ms,
    updatedAtMs: row.updated_at_ms,
    expiresAtMs: row.expires_at_ms ?? undefined,
    playbackPolicy: policyFrom(row.playback_policy),
    discarded:
      row.discarded_at_ms === null || row.deletes_at_ms === null
        ? undefined
        : { atMs: row.discarded_at_ms, deletesAtMs: row.deletes_at_ms },
  };
}

const emptyList = [] as const;

function listFrom<List extends readonly unknown[]>(json: string): List {
  return (json === '[]' ? emptyList : JSON.parse(json)) as unknown as List;
}
