import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate, formatDateTime, formatRelative } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { BulkBar } from '../../ui/bulk/bulk-bar.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { useSelection } from '../../ui/hooks/use-selection.ts';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { VideoTitle } from '../../ui/video/video-title.tsx';
import { videosRevision } from '../../uploads/upload-store.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { restoreVideos } from './discard-videos.ts';
import { apiQueryOf, readChoice, videoOrders } from './list-query.ts';
import { maxMatching } from './matching-videos.ts';
import { useBulkWork } from './use-bulk-work.ts';
import { VideoFilters } from './video-filters.tsx';

const keyOf = ({ videoId }: Video) => videoId;

export function TrashList({ onCount }: { onCount: (count: number) => void }) {
  const { query, change } = useQuery();
  const choice = readChoice(query);
  const apiQuery = apiQueryOf(choice);
  const isFiltered = choice.search.trim() !== '';
  const list = useLoad(`${videosRevision.value} ${JSON.stringify(apiQuery)}`, async signal => {
    const loaded = await call('GET /discarded/videos', { query: apiQuery, signal });
    if (!isFiltered) onCount(loaded.pagination.itemsTotal);
    return loaded;
  });
  return (
    <>
      {(isFiltered || (list.value?.pagination.itemsTotal ?? 0) > 0) && (
        <VideoFilters choice={choice} isTrash onChange={change} />
      )}
      <div class="list-body">
        <LoadedContent loaded={list} height={160}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <NoDeletedVideos isFiltered={isFiltered || choice.page > 1} />
            ) : (
              <>
                <TrashTable videos={data} total={pagination.itemsTotal ?? 0} search={choice.search} />
                <Pagination pagination={pagination} what="deletedVideos" />
              </>
            )
          }
        </LoadedContent>
      </div>
    </>
  );
}

function TrashTable({ videos, total, search }: { videos: readonly Video[]; total: number; search: string }) {
  const { query, change } = useQuery();
  const { sortBy, sortOrder } = videoOrders[readChoice(query).order];
  const selection = useSelection(search, videos, keyOf, titleOf);
  const bulk = useBulkWork();
  const [unwanted, setUnwanted] = useState<readonly Video[]>();
  const restore = async (chosen: readonly Video[]) => {
    const result = await bulk.run(t('trash.restoring'), chosen.length, options =>
      restoreVideos(chosen, undefined, options),
    );
    const gone = new Set(result?.done.map(keyOf));
    selection.set(selection.rows.filter(video => !gone.has(video.videoId)));
  };
  const selectAll = async () => {
    const found: Video[] = [];
    for (let currentPage = 1; currentPage <= maxMatching / 100; currentPage += 1) {
      const { data, pagination } = await call('GET /discarded/videos', {
        query: { title: search.trim() || undefined, currentPage, pageSize: 100 },
      });
      found.push(...data);
      if (currentPage >= pagination.pagesTotal) break;
    }
    selection.set(found);
  };
  return (
    <>
      <Table
        look="media-table"
        caption={t('trash.caption')}
        rows={videos}
        keyOf={keyOf}
        columns={columnsOf({
          onRestore: video => void restore([video]),
          onDelete: video => setUnwanted([video]),
        })}
        sort={{
          field: sortBy,
          direction: sortOrder,
          onSort: (field, direction) =>
            change({
              order: field === 'title' ? (direction === 'asc' ? 'title' : 'title-back') : undefined,
              page: undefined,
            }),
        }}
        selection={can('upload') ? selection : undefined}
      />
      {(selection.rows.length > 0 || bulk.progress !== undefined) && can('upload') && (
        <BulkBar
          count={selection.rows.length}
          total={total}
          maxTotal={maxMatching}
          progress={bulk.progress}
          onAll={() => void selectAll()}
          onClear={selection.clear}
        >
          <Button small icon="restore" onClick={() => void restore(selection.rows)}>
            {t('trash.restore')}
          </Button>
          <Button small icon="trash" onClick={() => setUnwanted(selection.rows)}>
            {t('videos.deletePermanently')}
          </Button>
        </BulkBar>
      )}
      {unwanted !== undefined && (
        <DeleteDialog videos={unwanted} onDeleted={selection.clear} onClose={() => setUnwanted(undefined)} />
      )}
    </>
  );
}

function NoDeletedVideos({ isFiltered }: { isFiltered: boolean }) {
  const { change } = useQuery();
  if (isFiltered) {
    return (
      <EmptyState
        icon="search"
        title={t('videos.noResults')}
        action={
          <Button onClick={() => change({ search: undefined, page: undefined })}>{t('trash.showAll')}</Button>
        }
      />
    );
  }
  return (
    <EmptyState
      icon="trash"
      title={t('trash.isEmpty')}
      action={<Button href="/dashboard/videos">{t('trash.toVideos')}</Button>}
    >
      {t('trash.isEmptyText')}
    </EmptyState>
  );
}

function columnsOf({
  onRestore,
  onDelete,
}: {
  onRestore: (video: Video) => void;
  onDelete: (video: Video) => void;
}): Column<Video>[] {
  return [
    {
      head: t('videos.head.title'),
      look: 'cell-media',
      sort: { field: 'title', direction: 'asc' },
      cell: video => (
        <strong class="media-title" dir="auto">
          <VideoTitle video={video} />
        </strong>
      ),
    },
    {
      head: t('videos.head.created'),
      look: 'cell-date',
      cell: ({ createdAt }) => (
        <time dateTime={createdAt} title={formatDateTime(createdAt)}>
          {formatDate(createdAt)}
        </time>
      ),
    },
    {
      head: t('trash.deleted'),
      look: 'cell-date',
      cell: ({ discardedAt }) => discardedAt !== null && <RelativeTime time={discardedAt} />,
    },
    {
      head: t('trash.permanent'),
      look: 'cell-date',
      cell: ({ deletesAt }) =>
        deletesAt !== null && (
          <time dateTime={deletesAt} title={formatDateTime(deletesAt)}>
            {formatRelative(deletesAt)}
          </time>
        ),
    },
    {
      head: t('videos.head.actions'),
      isActions: true,
      cell: video =>
        can('upload') && (
          <span class="actions trash-actions">
            <Button
              small
              icon="restore"
              label={t('trash.restoreTitle', { title: titleOf(video) })}
              onClick={() => onRestore(video)}
            >
              {t('trash.restore')}
            </Button>
            <IconButton
              icon="trash"
              label={t('trash.deleteTitle', { title: titleOf(video) })}
              onClick={() => onDelete(video)}
            />
          </span>
        ),
    },
  ];
}
