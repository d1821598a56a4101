import { useState } from 'preact/hooks';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Pagination } from '../../ui/pagination.tsx';
import { Empty, Shown } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';
import { tell, tellProblem } from '../../ui/toast.tsx';
import { useLoad } from '../../ui/use-load.ts';
import { useQuery } from '../../ui/use-query.ts';
import { useRestoreDays } from '../../ui/use-restore-days.ts';
import { apiQueryOf, readChoice } from './list-query.ts';
import { VideoFilters } from './video-filters.tsx';

/** Videos that were thrown away and can come back. */
export function TrashPage() {
  const restoreDays = useRestoreDays();
  return (
    <Page
      title="Trash"
      back={{ href: '/dashboard/videos', words: 'Videos' }}
      lead={
        restoreDays.value === undefined || restoreDays.value === 0
          ? undefined
          : `Deleted videos stay here for ${restoreDays.value} days. They take room on the disk until they are deleted for good.`
      }
    >
      <Shown loaded={restoreDays} rows={4}>
        {days => (days === 0 ? <NoTrash /> : <TrashList />)}
      </Shown>
    </Page>
  );
}

function NoTrash() {
  return (
    <Notice title="This server keeps no deleted videos.">
      <p>
        A deleted video is gone at once. To keep deleted videos for 90 days, whoever runs the server sets{' '}
        <code>MILLRACE_VIDEOS_RESTORE=true</code> and starts it again.
      </p>
    </Notice>
  );
}

function TrashList() {
  const { query, change } = useQuery();
  const choice = readChoice(query);
  const apiQuery = apiQueryOf(choice);
  const list = useLoad(JSON.stringify(apiQuery), signal =>
    call('GET /discarded/videos', { query: apiQuery, signal }),
  );
  const [erased, setErased] = useState<Video>();
  const [restoring, setRestoring] = useState<string>();
  const restore = async (video: Video) => {
    const { videoId } = video;
    setRestoring(videoId);
    try {
      await call('PATCH /discarded/videos/{videoId}', { params: { videoId }, body: { discarded: false } });
      tell(`“${titleOf(video)}” is back among the videos.`);
    } catch (error) {
      tellProblem(error);
    }
    setRestoring(undefined);
    list.reload();
  };
  const isFiltered = choice.search.trim() !== '';
  return (
    <>
      {(isFiltered || (list.value?.pagination.itemsTotal ?? 0) > 0) && (
        <VideoFilters choice={choice} hasTags={false} onChange={change} />
      )}
      <Card flush>
        <Shown loaded={list} height={160}>
          {({ data, pagination }) =>
            data.length === 0 ? (
              <Empty
                icon={isFiltered ? 'search' : 'trash'}
                title={isFiltered ? 'No video fits' : 'The trash is empty'}
              />
            ) : (
              <>
                <Table
                  caption="Deleted videos"
                  rows={data}
                  keyOf={({ videoId }) => videoId}
                  columns={[
                    { head: 'Title', cell: video => <strong>{titleOf(video)}</strong> },
                    {
                      head: 'Deleted',
                      cell: ({ discardedAt }) => discardedAt !== null && <Moment time={discardedAt} />,
                    },
                    {
                      head: 'Gone for good',
                      cell: ({ deletesAt }) => (deletesAt === null ? '' : formatDate(deletesAt)),
                    },
                    {
                      head: 'Actions',
                      isActions: true,
                      cell: video => (
                        <span class="actions trash-actions">
                          <Button
                            small
                            icon="restore"
                            label={`Restore: ${titleOf(video)}`}
                            busy={restoring === video.videoId}
                            onClick={() => void restore(video)}
                          >
                            Restore
                          </Button>
                          <Button
                            small
                            kind="quiet"
                            icon="trash"
                            label={`Delete for good: ${titleOf(video)}`}
                            onClick={() => setErased(video)}
                          >
                            Delete for good
                          </Button>
                        </span>
                      ),
                    },
                  ]}
                />
                <Pagination
                  pagination={pagination}
                  what="deleted videos"
                  onPage={page => change({ page: page === 1 ? undefined : String(page) })}
                />
              </>
            )
          }
        </Shown>
      </Card>
      {erased !== undefined && (
        <EraseDialog video={erased} onErased={list.reload} onClose={() => setErased(undefined)} />
      )}
    </>
  );
}

function EraseDialog({
  video,
  onErased,
  onClose,
}: {
  video: Video;
  onErased: () => void;
  onClose: () => void;
}) {
  const { videoId } = video;
  const title = titleOf(video);
  return (
    <ConfirmDialog
      title={`Delete “${title}” for good?`}
      action="Delete for good"
      name={title}
      work={async () => {
        await call('DELETE /videos/{videoId}', { params: { videoId }, query: { permanently: 'true' } });
        tell(`“${title}” deleted for good.`);
        onErased();
      }}
      onClose={onClose}
    >
      <p>The video, its files, captions and chapters are deleted. This cannot be undone.</p>
    </ConfirmDialog>
  );
}
