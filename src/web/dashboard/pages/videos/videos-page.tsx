import { can, environment } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { EmptyState, LoadError, Skeleton } from '../../ui/states.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { uploadFiles } from '../../uploads/upload-queue.ts';
import { DropArea } from './drop-area.tsx';
import { readChoice, writeTags } from './list-query.ts';
import { useVideoList } from './use-video-list.ts';
import { VideoFilters } from './video-filters.tsx';
import { VideoGrid } from './video-grid.tsx';
import { VideoListActions } from './video-list-actions.tsx';

export function VideosPage() {
  const { query, change } = useQuery();
  const choice = readChoice(query);
  const list = useVideoList(choice);
  const restoreDays = useRestoreDays();
  const isFiltered = choice.search.trim() !== '' || choice.tags.length > 0;
  const isEmpty = list.value?.pagination.itemsTotal === 0 && !isFiltered;
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
      {!isEmpty && <VideoFilters choice={choice} onChange={change} />}
      {list.value === undefined && list.problem === undefined && <VideoGridSkeleton />}
      {list.problem !== undefined && <LoadError problem={list.problem} retry={list.reload} />}
      {list.value !== undefined && (
        <div class="shown" aria-busy={list.isLoading}>
          {list.value.data.length === 0 ? (
            <NoVideos
              isFiltered={isFiltered || choice.page > 1}
              onClear={() => change({ search: undefined, tags: undefined, page: undefined })}
            />
          ) : (
            <VideoGrid
              videos={list.value.data}
              restoreDays={restoreDays.value ?? (restoreDays.problem === undefined ? undefined : 0)}
              onTag={tag => change({ tags: writeTags([...new Set([...choice.tags, tag])]), page: undefined })}
              onChanged={list.reload}
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

function NoVideos({ isFiltered, onClear }: { isFiltered: boolean; onClear: () => void }) {
  if (isFiltered) {
    return (
      <EmptyState
        icon="search"
        title="No results"
        action={<Button onClick={onClear}>Show all videos</Button>}
      >
        Try another word, or fewer tags.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon="video" title="No videos yet">
      {can('upload') && 'Drop files anywhere on this page to upload them. '}Recordings of your live streams
      appear here{can('upload') && ', too'}.
    </EmptyState>
  );
}

const cards = 8;

function VideoGridSkeleton() {
  return (
    <div role="status">
      <span class="for-readers">Loading</span>
      <ul class="video-grid" aria-hidden="true">
        {Array.from({ length: cards }, (_, index) => (
          <li key={index} class="video-card">
            <div class="video-picture" />
            <div class="video-progress" />
            <div class="video-text">
              <Skeleton rows={2} />
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}
