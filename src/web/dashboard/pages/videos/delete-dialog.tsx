import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { titleOf } from '../../format/video-title.ts';
import { projectHeaders } from '../../state/session.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import { videosChanged } from '../../uploads/upload-store.ts';
import { describeVideos } from './discard-videos.ts';

export function DeleteDialog({
  videos,
  onDeleted,
  onClose,
}: {
  videos: readonly Video[];
  onDeleted?: () => void;
  onClose: () => void;
}) {
  const what = describeVideos(videos);
  const [first] = videos;
  const headers = projectHeaders();
  return (
    <ConfirmDialog
      title={`Delete ${what} permanently?`}
      action="Delete permanently"
      name={videos.length === 1 && first !== undefined ? titleOf(first) : what}
      work={async () => {
        try {
          for (const { videoId } of videos) await deletePermanently(videoId, headers);
        } finally {
          videosChanged();
        }
        showToast(`${what} deleted permanently.`);
        onDeleted?.();
      }}
      onClose={onClose}
    >
      <p>
        {videos.length === 1 ? 'The video, its files' : 'The videos, their files'}, captions and chapters are
        deleted. This cannot be undone, and links stop working.
      </p>
      {videos.length > 1 && (
        <ul class="name-list">
          {videos.map(video => (
            <li key={video.videoId}>{titleOf(video)}</li>
          ))}
        </ul>
      )}
    </ConfirmDialog>
  );
}

/** Ignores videos that are already deleted. @throws ApiProblem */
export async function deletePermanently(videoId: string, headers: Record<string, string>): Promise<void> {
  const input = { params: { videoId }, query: { permanently: 'true' }, headers } as const;
  await call('DELETE /videos/{videoId}', input).catch((error: unknown) => {
    if (problemOf(error).status !== 404) throw error;
  });
}
