import type { Connection, Transaction } from '../../../../store/connection.ts';
import { asText } from '../../../../store/prepared-query.ts';
import { lockForKeyShare } from '../../../../store/row-locks.ts';
import type { Row } from '../../../../store/tables.ts';

export interface VideoOwner {
  readonly projectId: string;
  readonly liveStreamId: string | null;
}

/** Columns of a planned rendition. */
export const waitingRendition = { status: 'waiting', progress_percent: 0, file: null, facts: null } as const;

/** Columns of a finished rendition. */
export function encodedRendition({
  file,
  renditionMetadata,
}: {
  readonly file: string;
  readonly renditionMetadata: unknown;
}) {
  return {
    status: 'encoded',
    progress_percent: 100,
    file,
    facts: JSON.stringify(renditionMetadata),
  } as const;
}

/**
 * Runs `work` in a transaction with the next revision. Changes of one video wait for each other. Does nothing when the
 * video is deleted.
 */
export function changeEncoding(
  videoId: string,
  connection: Connection,
  work: (transaction: Transaction, owner: VideoOwner) => Promise<void>,
): Promise<void> {
  return connection.transaction(async transaction => {
    const video = await transaction.first(lockForKeyShare(requestOf(videoId, transaction), transaction, 'v'));
    if (video === undefined) return;
    await transaction.run(
      transaction.queries
        .insertInto('video_encodings')
        .values({
          video_id: videoId,
          facts: '{}',
          target_duration_seconds: null,
          is_playable: 0,
          has_storyboard: 0,
          failure: null,
          revision: 1,
          audio_tracks: null,
          has_source_captions: 0,
        })
        .onConflict(conflict =>
          conflict.column('video_id').doUpdateSet(expression => ({
            revision: expression('video_encodings.revision', '+', 1),
          })),
        ),
    );
    await work(transaction, videoOwnerOf(video));
  });
}

export function requestOf(videoId: string, { queries }: Connection) {
  return queries
    .selectFrom('videos as v')
    .innerJoin('projects as p', 'p.id', 'v.project_id')
    .leftJoin('video_sources as s', 's.video_id', 'v.id')
    .select(['v.project_id', 'v.clip_start_ms', 'v.clip_end_ms', 'v.watermark', 'v.has_mp4_support'])
    .select(['v.language', 'v.live_stream_id', 'p.environment', 's.origin', 's.is_joined'])
    .select('v.clipped_from')
    .where('v.id', '=', asText(videoId));
}

export function videoOwnerOf(video: Pick<Row<'videos'>, 'project_id' | 'live_stream_id'>): VideoOwner {
  return { projectId: video.project_id, liveStreamId: video.live_stream_id };
}
