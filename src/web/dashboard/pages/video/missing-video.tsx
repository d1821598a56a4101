import { call } from '../../api/client.ts';
import { formatDateTime } from '../../format/time.ts';
import { titleOf } from '../../format/video-title.ts';
import { can, elsewhere } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { t as listText } from '../../texts/videos.ts';
import { Button } from '../../ui/button.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Page } from '../../ui/page.tsx';
import { EmptyState, LoadError, Skeleton } from '../../ui/states.tsx';
import { restoreVideos } from '../videos/discard-videos.ts';

export function backToVideos() {
  return { href: '/dashboard/videos', label: listText('videos.title') };
}

export function MissingVideo({ videoId, onRestored }: { videoId: string; onRestored: () => void }) {
  const params = { videoId };
  const back = backToVideos();
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
          title={t('video.inTrash')}
          action={
            <div class="actions">
              {can('upload') && (
                <Button kind="primary" icon="restore" busy={restoring.busy} onClick={restoring.submit}>
                  {listText('trash.restore')}
                </Button>
              )}
              <Button href="/dashboard/videos/trash">{t('video.openTrash')}</Button>
            </div>
          }
        >
          {value.discardedAt !== null && t('video.deletedOn', { date: formatDateTime(value.discardedAt) })}{' '}
          {value.deletesAt !== null && t('video.deletesOn', { date: formatDateTime(value.deletesAt) })}
        </EmptyState>
      </Page>
    );
  }
  if (problem === undefined) {
    return (
      <Page title={t('video.page')} back={back}>
        <Skeleton height={240} />
      </Page>
    );
  }
  return (
    <Page title={t('video.notFoundTitle')} back={back}>
      {problem.status === 404 ? (
        <EmptyState
          icon="video"
          title={t('video.notFound')}
          action={<Button href="/dashboard/videos">{listText('trash.toVideos')}</Button>}
        >
          {t('video.notFoundText', { elsewhere: elsewhere.value })}
        </EmptyState>
      ) : (
        <LoadError problem={problem} retry={reload} />
      )}
    </Page>
  );
}
