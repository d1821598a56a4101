import type { Video } from '../../api/api-types.ts';
import { titleOf } from '../../format/video-title.ts';
import { projectHeaders } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { deletePermanently } from './discard-videos.ts';

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
  const count = videos.length;
  const [first] = videos;
  const title = count === 1 && first !== undefined ? titleOf(first) : undefined;
  const headers = projectHeaders();
  return (
    <ConfirmDialog
      title={title === undefined ? t('delete.title', { count }) : t('delete.titleOne', { name: title })}
      action={t('videos.deletePermanently')}
      name={title ?? t('delete.what', { count })}
      work={async () => {
        const { failed } = await deletePermanently(videos, headers);
        if (failed.length < count) onDeleted?.();
      }}
      onClose={onClose}
    >
      <p>{t('delete.text', { count })}</p>
      {count > 1 && (
        <ul class="name-list">
          {videos.slice(0, maxNamed).map(video => (
            <li key={video.videoId}>{titleOf(video)}</li>
          ))}
          {count > maxNamed && <li>{t('delete.more', { count: count - maxNamed })}</li>}
        </ul>
      )}
    </ConfirmDialog>
  );
}
