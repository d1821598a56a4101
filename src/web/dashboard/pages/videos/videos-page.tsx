import { call } from '../../api/client.ts';
import { can, environment } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import type { QuietReload } from '../../ui/hooks/use-quiet-reload.ts';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadError } from '../../ui/states.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { useListView, ViewSwitch } from '../../ui/view-switch.tsx';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { videosRevision } from '../../uploads/upload-store.ts';
import { DropArea } from './drop-area.tsx';
import { isFiltered, noFilters, readChoice } from './list-query.ts';
import { useVideoList } from './use-video-list.ts';
import { VideoFilters } from './video-filters.tsx';
import { VideoList } from './video-list.tsx';
import { VideoListActions } from './video-list-actions.tsx';

export function VideosPage() {
  const { query, change } = useQuery();
  const choice = readChoice(query);
  const { list, quiet } = useVideoList(choice);
  const [view, setView] = useListView('videos');
  const restoreDays = useRestoreDays();
  const failed = useFailedCount();
  const hasFilter = isFiltered(choice);
  const isEmpty = list.value?.pagination.itemsTotal === 0 && !hasFilter;
  return (
    <Page
      title={t('videos.title')}
      lead={environment.value === 'sandbox' ? t('videos.sandbox') : undefined}
      actions={<VideoListActions />}
    >
      {can('upload') && <DropArea onFiles={uploadFiles} />}
      {!isEmpty && (
        <VideoFilters choice={choice} failed={failed} onChange={change}>
          <ViewSwitch view={view} onView={setView} />
        </VideoFilters>
      )}
      {query.date !== undefined && choice.date === undefined && (
        <Notice tone="warning">{t('filter.noSuchDay', { date: query.date })}</Notice>
      )}
      {list.value === undefined && list.problem === undefined && <ListSkeleton />}
      {list.problem !== undefined && <LoadError problem={list.problem} retry={list.reload} />}
      {list.value !== undefined && (
        <div class="shown list-body" aria-busy={list.isLoading} {...quiet.frame}>
          <NewRows quiet={quiet} />
          {list.value.data.length === 0 ? (
            <NoVideos isFiltered={hasFilter || choice.page > 1} onClear={() => change(noFilters)} />
          ) : (
            <VideoList
              videos={list.value.data}
              total={list.value.pagination.itemsTotal ?? 0}
              choice={choice}
              view={view}
              restoreDays={restoreDays.value ?? (restoreDays.problem === undefined ? undefined : 0)}
              onChoice={change}
            />
          )}
          <Pagination pagination={list.value.pagination} what="videos" scrollsUp />
        </div>
      )}
    </Page>
  );
}

/** Offers what others changed while the pointer was on the list. */
export function NewRows({ quiet: { isWaiting, show } }: { quiet: QuietReload }) {
  return (
    <div class="new-rows" role="status">
      {isWaiting && (
        <Button small icon="refresh" onClick={show}>
          {t('videos.showChanges')}
        </Button>
      )}
    </div>
  );
}

function useFailedCount(): number {
  const count = useLoad(`failed ${videosRevision.value}`, async signal => {
    const { pagination } = await call('GET /videos', { query: { status: 'failed', pageSize: 1 }, signal });
    return pagination.itemsTotal ?? 0;
  });
  useFeed(({ type }) => {
    if (['video.encoding.failed', 'video.source.failed', 'gap'].includes(type)) count.reload();
  });
  return count.value ?? 0;
}

function NoVideos({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState
        icon="search"
        title={t('videos.noResults')}
        action={<Button onClick={onClear}>{t('videos.showAll')}</Button>}
      >
        {t('videos.noMatch')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="video"
      title={t('videos.none')}
      action={
        can('live') && (
          <Button icon="live" href="/dashboard/live">
            {t('videos.goLive')}
          </Button>
        )
      }
    >
      {can('upload') ? t('videos.noneUpload') : t('videos.noneView')}
    </EmptyState>
  );
}
