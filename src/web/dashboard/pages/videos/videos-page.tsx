import { call } from '../../api/client.ts';
import { can, environment } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import type { QuietReload } from '../../ui/hooks/use-quiet-reload.ts';
import { ListSkeleton } from '../../ui/list-skeleton.tsx';
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
      title="Videos"
      lead={
        environment.value === 'sandbox'
          ? 'In the sandbox videos are cut after 30 seconds, carry a watermark and are deleted after 24 hours.'
          : undefined
      }
      actions={<VideoListActions />}
    >
      {can('upload') && <DropArea onFiles={uploadFiles} />}
      {!isEmpty && (
        <VideoFilters choice={choice} failed={failed} onChange={change}>
          <ViewSwitch view={view} onView={setView} />
        </VideoFilters>
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
          <Pagination
            pagination={list.value.pagination}
            what="videos"
            onPage={page => {
              change({ page: page === 1 ? undefined : String(page) });
              scrollTo({ top: 0 });
            }}
          />
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
          Show changes
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
        title="No results"
        action={<Button onClick={onClear}>Show all videos</Button>}
      >
        No video matches these filters.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="video"
      title="No videos yet"
      action={
        can('live') && (
          <Button icon="live" href="/dashboard/live">
            Go live
          </Button>
        )
      }
    >
      {can('upload') && 'Drop files anywhere on this page to upload them. '}Recordings of your live streams
      appear here{can('upload') && ', too'}.
    </EmptyState>
  );
}
