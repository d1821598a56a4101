import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { titleOf } from '../../format/video-title.ts';
import { ConfirmDialog } from '../../ui/confirm.tsx';
import { tell } from '../../ui/toast.tsx';

/** Asks before videos are deleted, or thrown away where they can come back. */
export function DeleteDialog({
  videos,
  restoreDays,
  onChanged,
  onClose,
}: {
  videos: readonly Video[];
  /** 0: they are gone at once. */
  restoreDays: number;
  onChanged: () => void;
  onClose: () => void;
}) {
  const [first] = videos;
  const what = videos.length === 1 ? `“${first && titleOf(first)}”` : `${videos.length} videos`;
  const work = async () => {
    try {
      for (const { videoId } of videos) {
        await call('DELETE /videos/{videoId}', { params: { videoId } }).catch((error: unknown) => {
          // Somebody else was faster.
          if (problemOf(error).status !== 404) throw error;
        });
      }
    } finally {
      onChanged();
    }
    tell(restoreDays > 0 ? `${what} moved to the trash.` : `${what} deleted for good.`);
  };
  if (restoreDays > 0) {
    return (
      <ConfirmDialog
        title={`Move ${what} to the trash?`}
        action="Move to the trash"
        work={work}
        onClose={onClose}
      >
        <p>
          Nobody can watch {videos.length === 1 ? 'it' : 'them'} any more. For {restoreDays} days{' '}
          {videos.length === 1 ? 'it' : 'they'} can be restored from the trash.
        </p>
      </ConfirmDialog>
    );
  }
  return (
    <ConfirmDialog
      title={`Delete ${what} for good?`}
      action="Delete for good"
      name={videos.length === 1 && first !== undefined ? titleOf(first) : what}
      work={work}
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
