import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { can, environment, projectHeaders } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Notice } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState, LoadedContent } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { videosChanged, videosRevision } from '../../uploads/upload-store.ts';
import { DeleteDialog, deletePermanently } from './delete-dialog.tsx';
import { restoreVideos } from './discard-videos.ts';
import { apiQueryOf, readChoice } from './list-query.ts';
import { VideoFilters } from './video-filters.tsx';

export function TrashPage() {
  const restoreDays = useRestoreDays();
  const { value: days } = restoreDays;
  const [count, setCount] = useState(0);
  const [isEmptying, setEmptying] = useState(false);
  return (
    <Page
      title="Trash"
      back={{ href: '/dashboard/videos', label: 'Videos' }}
      lead={days === undefined || days === 0 ? undefined : leadOf(days)}
      actions={
        count > 0 &&
        can('upload') && (
          <Button icon="trash" onClick={() => setEmptying(true)}>
            Empty trash
          </Button>
        )
      }
    >
      <LoadedContent loaded={restoreDays} rows={4}>
        {value => (value === 0 ? <TurnedOff /> : <TrashList onCount={setCount} />)}
      </LoadedContent>
      {isEmptying && <EmptyTrashDialog count={count} onClose={() => setEmptying(false)} />}
    </Page>
  );
}

function leadOf(days: number): string {
  const stay = `Deleted videos stay here for ${days === 1 ? 'a day' : `${days} days`}, or until the disk is full. They count towards your storage.`;
  return environment.value === 'sandbox'
    ? `${stay} In the sandbox they are deleted permanently 24 hours after their upload.`
    : stay;
}

function TurnedOff() {
  return (
    <Notice title="Trash is turned off">
      <p>
        Deleting a video is permanent. To keep deleted videos for a week, the operator of this server sets{' '}
        <code>MILLRACE_VIDEOS_RESTORE=7d</code> and restarts it.
      </p>
    </Notice>
  );
}

function TrashList({ onCount }: { onCount: (count: number) => void }) {
  const { query, change } = useQuery();
  const choice = readChoice(query);
  const apiQuery = apiQueryOf(choice);
  const isFiltered = choice.search.trim() !== '';
  const list = useLoad(`${videosRevision.value} ${JSON.stringify(apiQuery)}`, async signal => {
    const loaded = await call('GET /discarded/videos', { query: apiQuery, signal });
    if (!isFiltered) onCount(loaded.pagination.itemsTotal);
    return loaded;
  });
  const [unwanted, setUnwanted] = useState<Video>();
  const [restoring, setRestoring] = useState<string>();
  const restore = async (video: Video) => {
    setRestoring(video.videoId);
    await restoreVideos([video]);
    setRestoring(undefined);
  };
  return (
    <>
      {(isFiltered || (list.value?.pagination.itemsTotal ?? 0) > 0) && (
        <VideoFilters choice={choice} hasTags={false} onChange={change} />
      )}
      <Card flush>
        <LoadedContent loaded={list} height={160}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <NoDeletedVideos isFiltered={isFiltered || choice.page > 1} />
            ) : (
              <>
                <Table
                  caption="Deleted videos"
                  rows={data}
                  keyOf={({ videoId }) => videoId}
                  columns={columnsOf({
                    restoring,
                    onRestore: video => void restore(video),
                    onDelete: setUnwanted,
                  })}
                />
                <Pagination
                  pagination={pagination}
                  what="deleted videos"
                  onPage={page => change({ page: page === 1 ? undefined : String(page) })}
                />
              </>
            )
          }
        </LoadedContent>
      </Card>
      {unwanted !== undefined && <DeleteDialog videos={[unwanted]} onClose={() => setUnwanted(undefined)} />}
    </>
  );
}

function NoDeletedVideos({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState icon="search" title="No results" />;
  return (
    <EmptyState
      icon="trash"
      title="The trash is empty"
      action={<Button href="/dashboard/videos">Go to videos</Button>}
    >
      When you delete a video, you can restore it here.
    </EmptyState>
  );
}

function columnsOf({
  restoring,
  onRestore,
  onDelete,
}: {
  restoring: string | undefined;
  onRestore: (video: Video) => void;
  onDelete: (video: Video) => void;
}): Column<Video>[] {
  return [
    { head: 'Title', cell: video => <strong>{titleOf(video)}</strong> },
    {
      head: 'Deleted',
      cell: ({ discardedAt }) => discardedAt !== null && <RelativeTime time={discardedAt} />,
    },
    {
      head: 'Permanent deletion',
      cell: ({ deletesAt }) =>
        deletesAt !== null && <time dateTime={deletesAt}>{formatDateTime(deletesAt)}</time>,
    },
    {
      head: 'Actions',
      isActions: true,
      cell: video =>
        can('upload') && (
          <span class="actions trash-actions">
            <Button
              small
              icon="restore"
              label={`Restore: ${titleOf(video)}`}
              busy={restoring === video.videoId}
              onClick={() => onRestore(video)}
            >
              Restore
            </Button>
            <Button
              small
              kind="quiet"
              icon="trash"
              label={`Delete permanently: ${titleOf(video)}`}
              onClick={() => onDelete(video)}
            >
              Delete permanently
            </Button>
          </span>
        ),
    },
  ];
}

function EmptyTrashDialog({ count, onClose }: { count: number; onClose: () => void }) {
  const what = count === 1 ? '1 video' : `${count} videos`;
  return (
    <ConfirmDialog
      title="Empty the trash?"
      action="Delete permanently"
      name={what}
      work={async () => {
        try {
          await emptyTrash();
        } finally {
          videosChanged();
        }
        showToast('The trash is empty.');
      }}
      onClose={onClose}
    >
      <p>
        Everything in the trash ({what}) is deleted permanently, with all files, captions and chapters. This
        cannot be undone.
      </p>
    </ConfirmDialog>
  );
}

/** Works in the environment in which it began. @throws ApiProblem */
async function emptyTrash(): Promise<void> {
  const headers = projectHeaders();
  for (;;) {
    const { data } = await call('GET /discarded/videos', { query: { pageSize: 100 }, headers });
    if (data.length === 0) return;
    for (const { videoId } of data) await deletePermanently(videoId, headers);
  }
}
