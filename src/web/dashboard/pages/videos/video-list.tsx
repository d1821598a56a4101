import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { useSelection } from '../../ui/hooks/use-selection.ts';
import { showError } from '../../ui/toast.tsx';
import { useVideoStatuses } from '../../ui/video/use-video-statuses.ts';
import type { ListView } from '../../ui/view-switch.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { discardVideos, retryVideos } from './discard-videos.ts';
import { apiFilterOf, type ListChoice, writeTags } from './list-query.ts';
import { loadMatching } from './matching-videos.ts';
import { useBulkWork } from './use-bulk-work.ts';
import { usePlays } from './use-plays.ts';
import { VideoBulkBar } from './video-bulk-bar.tsx';
import { VideoCard } from './video-card.tsx';
import type { Changes } from './video-filters.tsx';
import { VideoTable } from './video-table.tsx';

const keyOf = ({ videoId }: Video) => videoId;

/** Videos of one page as a table or a grid, and what is done with several. */
export function VideoList({
  videos,
  total,
  choice,
  view,
  restoreDays,
  onChoice,
}: {
  videos: readonly Video[];
  /** Videos of all pages. */
  total: number;
  choice: ListChoice;
  view: ListView;
  /** Undefined until it is known. Nothing is deleted before that. */
  restoreDays: number | undefined;
  onChoice: (changes: Changes) => void;
}) {
  const statuses = useVideoStatuses(videos);
  const plays = usePlays(videos);
  const selection = useSelection(JSON.stringify(apiFilterOf(choice)), videos, keyOf, titleOf);
  const bulk = useBulkWork();
  const [deleted, setDeleted] = useState<readonly Video[]>();
  const items = videos.map(video => ({
    video,
    status: statuses.get(video.videoId),
    plays: plays?.get(video.videoId),
  }));
  const remove = async (unwanted: readonly Video[]) => {
    if (restoreDays === undefined) return;
    if (restoreDays === 0) return setDeleted(unwanted);
    const result = await bulk.run(t('videos.movingToTrash'), unwanted.length, options =>
      discardVideos(unwanted, options),
    );
    const gone = new Set([...(result?.done ?? []), ...(result?.missing ?? [])].map(keyOf));
    selection.set(selection.rows.filter(video => !gone.has(video.videoId)));
  };
  const retry = async (failed: readonly Video[]) => {
    await bulk.run(t('videos.retrying'), failed.length, options => retryVideos(failed, options));
  };
  const withAll = async (work: (all: readonly Video[]) => Promise<void>) => {
    try {
      await work(await loadMatching(choice));
    } catch (error) {
      showError(error);
    }
  };
  const discardLabel = restoreDays === 0 ? t('videos.deletePermanently') : t('videos.moveToTrash');
  const actions = {
    onTag: (tag: string) =>
      onChoice({ tags: writeTags([...new Set([...choice.tags, tag])]), page: undefined }),
    onDiscard: (video: Video) => void remove([video]),
    discardLabel,
    onRetry: (video: Video) => void retry([video]),
  };
  const chosen = can('upload') ? selection : undefined;
  return (
    <>
      {choice.status === 'failed' && can('upload') && selection.rows.length === 0 && (
        <div class="actions failed-actions">
          <Button small icon="refresh" onClick={() => void withAll(retry)}>
            {t('videos.retryFailed')}
          </Button>
          <Button small icon="trash" onClick={() => void withAll(remove)}>
            {t('videos.removeFailed')}
          </Button>
        </div>
      )}
      {view === 'list' ? (
        <VideoTable
          items={items}
          order={choice.order}
          selection={chosen}
          actions={actions}
          onOrder={order => onChoice({ order: order === 'newest' ? undefined : order, page: undefined })}
        />
      ) : (
        <ul class="video-grid">
          {items.map(item => (
            <VideoCard key={item.video.videoId} item={item} selection={chosen} actions={actions} />
          ))}
        </ul>
      )}
      {(selection.rows.length > 0 || bulk.progress !== undefined) && can('upload') && (
        <VideoBulkBar
          videos={selection.rows}
          total={total}
          bulk={bulk}
          canRetry={
            choice.status === 'failed' ||
            items.some(({ video, status }) => selection.has(video) && status?.encoding.failure !== undefined)
          }
          onAll={() => void withAll(async all => selection.set(all))}
          onRetry={() => void retry(selection.rows)}
          discardLabel={discardLabel}
          onDiscard={() => void remove(selection.rows)}
          onClear={selection.clear}
        />
      )}
      {deleted !== undefined && (
        <DeleteDialog videos={deleted} onDeleted={selection.clear} onClose={() => setDeleted(undefined)} />
      )}
    </>
  );
}
