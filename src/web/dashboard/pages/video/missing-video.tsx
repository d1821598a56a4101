import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { can, elsewhere } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, LoadError, Skeleton } from '../../ui/states.tsx';
import { restoreVideos } from '../videos/discard-videos.ts';

const back = { href: '/dashboard/videos', label: 'Videos' };

export function MissingVideo({ videoId, onRestored }: { videoId: string; onRestored: () => void }) {
  const params = { videoId };
  const { value, problem, reload } = useLoad(videoId, signal =>
    call('GET /discarded/videos/{videoId}', { params, signal }),
  );
  const restoring = useSubmit(async () => {
    if (value !== undefined) await restoreVideos([value]);
    onRestored();
  });
  if (value !== undefined) {
    return (
      <Page title={titleOf(value)} back={back}>
        <EmptyState
          icon="trash"
          title="This video is in the trash"
          action={
            <div class="actions">
              {can('upload') && (
                <Button kind="primary" icon="restore" busy={restoring.busy} onClick={restoring.submit}>
                  Restore
                </Button>
              )}
              <Button href="/dashboard/videos/trash">Open trash</Button>
            </div>
          }
        >
          {value.discardedAt !== null && `Deleted on ${formatDateTime(value.discardedAt)}. `}
          {value.deletesAt !== null && `It is deleted permanently on ${formatDateTime(value.deletesAt)}.`}
        </EmptyState>
      </Page>
    );
  }
  if (problem === undefined) {
    return (
      <Page title="Video" back={back}>
        <Skeleton height={240} />
      </Page>
    );
  }
  return (
    <Page title="Not found" back={back}>
      {problem.status === 404 ? (
        <EmptyState
          icon="video"
          title="Video not found"
          action={<Button href="/dashboard/videos">Go to videos</Button>}
        >
          It was deleted, or it belongs to {elsewhere.value}.
        </EmptyState>
      ) : (
        <LoadError problem={problem} retry={reload} />
      )}
    </Page>
  );
}
