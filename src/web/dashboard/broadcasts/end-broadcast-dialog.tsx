import type { LiveStream } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { t } from '../texts/shell.ts';
import { ConfirmDialog } from '../ui/dialog/confirm-dialog.tsx';

export function EndBroadcastDialog({
  stream: { liveStreamId, name },
  onEnded,
  onClose,
}: {
  stream: LiveStream;
  onEnded?: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={t('stream.endTitle')}
      action={t('stream.end')}
      work={async () => {
        await call('PUT /live-streams/{liveStreamId}/complete', { params: { liveStreamId } });
        onEnded?.();
      }}
      onClose={onClose}
    >
      <p>{t('stream.endViewers', { name })}</p>
      <p>{t('stream.endEncoder')}</p>
    </ConfirmDialog>
  );
}
