import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { withServerSetting } from '../../format/server-setting.ts';
import { can, environment, projectHeaders } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { runBulk } from '../../ui/bulk/run-bulk.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showToast } from '../../ui/toast.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { videosChanged } from '../../uploads/upload-store.ts';
import { TrashList } from './trash-list.tsx';

export function TrashPage() {
  const restoreDays = useRestoreDays();
  const { value: days } = restoreDays;
  const [count, setCount] = useState(0);
  const [isEmptying, setEmptying] = useState(false);
  return (
    <Page
      title={t('videos.trash')}
      back={{ href: '/dashboard/videos', label: t('videos.title') }}
      lead={days === undefined || days === 0 ? undefined : leadOf(days)}
      actions={
        count > 0 &&
        can('upload') && (
          <Button icon="trash" onClick={() => setEmptying(true)}>
            {t('trash.empty')}
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
  const stay = t('trash.lead', { days });
  return environment.value === 'sandbox' ? `${stay} ${t('trash.sandbox')}` : stay;
}

function TurnedOff() {
  return (
    <Notice title={t('trash.off')}>
      <p>{withServerSetting(t('trash.offText'), 'MILLRACE_VIDEOS_RESTORE')}</p>
    </Notice>
  );
}

function EmptyTrashDialog({ count, onClose }: { count: number; onClose: () => void }) {
  const what = t('delete.what', { count });
  return (
    <ConfirmDialog
      title={t('trash.emptyTitle')}
      action={t('videos.deletePermanently')}
      name={what}
      work={async () => {
        try {
          await emptyTrash();
        } finally {
          videosChanged();
        }
        showToast(t('trash.emptied'));
      }}
      onClose={onClose}
    >
      <p>{t('trash.emptyText', { what })}</p>
    </ConfirmDialog>
  );
}

/** Works in the environment in which it began. @throws ApiProblem */
async function emptyTrash(): Promise<void> {
  const headers = projectHeaders();
  for (;;) {
    const { data } = await call('GET /discarded/videos', { query: { pageSize: 100 }, headers });
    if (data.length === 0) return;
    const input = { query: { permanently: 'true' }, headers } as const;
    const { failed } = await runBulk(data, ({ videoId }) =>
      call('DELETE /videos/{videoId}', { params: { videoId }, ...input }),
    );
    if (failed[0] !== undefined) throw failed[0].problem;
  }
}
