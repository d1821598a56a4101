import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { useVideoStatuses } from '../../ui/video/use-video-statuses.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { discardVideos } from './discard-videos.ts';
import { EditVideosDialog } from './edit-videos-dialog.tsx';
import { VideoCard } from './video-card.tsx';

export function VideoGrid({
  videos,
  restoreDays,
  onTag,
  onChanged,
}: {
  videos: readonly Video[];
  /** Undefined until it is known. Nothing is deleted before that. */
  restoreDays: number | undefined;
  onTag: (tag: string) => void;
  onChanged: () => void;
}) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isEditing, setEditing] = useState(false);
  const [deleted, setDeleted] = useState<readonly Video[]>();
  const [isDiscarding, setDiscarding] = useState(false);
  const statuses = useVideoStatuses(videos);
  const chosen = videos.filter(({ videoId }) => selected.has(videoId));
  const remove = async (unwanted: readonly Video[]) => {
    if (restoreDays === undefined || isDiscarding) return;
    if (restoreDays === 0) return setDeleted(unwanted);
    setDiscarding(true);
    await discardVideos(unwanted);
    setDiscarding(false);
  };
  return (
    <>
      {chosen.length > 0 && can('upload') && (
        <SelectionBar
          count={chosen.length}
          isAll={chosen.length === videos.length}
          onAll={() => setSelected(new Set(videos.map(({ videoId }) => videoId)))}
          onEdit={() => setEditing(true)}
          isDeleting={isDiscarding}
          onDelete={() => void remove(chosen)}
          onClear={() => setSelected(new Set())}
        />
      )}
      <ul class="video-grid">
        {videos.map(video => (
          <VideoCard
            key={video.videoId}
            video={video}
            status={statuses.get(video.videoId)}
            isSelected={selected.has(video.videoId)}
            onSelect={isSelected => {
              const next = new Set(selected);
              if (isSelected) next.add(video.videoId);
              else next.delete(video.videoId);
              setSelected(next);
            }}
            onTag={onTag}
            onDelete={() => void remove([video])}
          />
        ))}
      </ul>
      {isEditing && (
        <EditVideosDialog videos={chosen} onChanged={onChanged} onClose={() => setEditing(false)} />
      )}
      {deleted !== undefined && <DeleteDialog videos={deleted} onClose={() => setDeleted(undefined)} />}
    </>
  );
}

function SelectionBar({
  count,
  isAll,
  isDeleting,
  onAll,
  onEdit,
  onDelete,
  onClear,
}: {
  count: number;
  isAll: boolean;
  isDeleting: boolean;
  onAll: () => void;
  onEdit: () => void;
  onDelete: () => void;
  onClear: () => void;
}) {
  return (
    <section class="selection-bar" aria-label="Selected videos">
      <strong role="status">{count === 1 ? '1 video selected' : `${count} videos selected`}</strong>
      <div class="actions">
        {!isAll && (
          <Button small kind="quiet" onClick={onAll}>
            Select all
          </Button>
        )}
        <Button small kind="quiet" onClick={onClear}>
          Clear
        </Button>
        <Button small icon="edit" onClick={onEdit}>
          Edit
        </Button>
        <Button small icon="trash" busy={isDeleting} onClick={onDelete}>
          Delete
        </Button>
      </div>
    </section>
  );
}
