import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { can, environment, projectHeaders } from '../../state/session.ts';
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
    const input = { query: { permanently: 'true' }, headers } as const;
    const { failed } = await runBulk(data, ({ videoId }) =>
      call('DELETE /videos/{videoId}', { params: { videoId }, ...input }),
    );
    if (failed[0] !== undefined) throw failed[0].problem;
  }
}
