import type { Video } from '../../api/api-types.ts';
import { titleOf } from '../../format/video-title.ts';
import { projectHeaders } from '../../state/session.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { deletePermanently, describeVideos } from './discard-videos.ts';

const maxNamed = 100;

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
        const { failed } = await deletePermanently(videos, headers);
        if (failed.length < videos.length) onDeleted?.();
      }}
      onClose={onClose}
    >
      <p>
        {videos.length === 1 ? 'The video, its files' : 'The videos, their files'}, captions and chapters are
        deleted. This cannot be undone, and links stop working.
      </p>
      {videos.length > 1 && (
        <ul class="name-list">
          {videos.slice(0, maxNamed).map(video => (
            <li key={video.videoId}>{titleOf(video)}</li>
          ))}
          {videos.length > maxNamed && <li>and {videos.length - maxNamed} more</li>}
        </ul>
      )}
    </ConfirmDialog>
  );
}
