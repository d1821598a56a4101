import type { Webhook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';

export function DeleteWebhook({
  webhook: { webhookId, url },
  onDeleted,
  onClose,
}: {
  webhook: Webhook;
  onDeleted: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title={t('webhooks.deleteTitle')}
      action={t('webhooks.deleteAction')}
      name={url}
      onClose={onClose}
      work={async () => {
        await call('DELETE /webhooks/{webhookId}', { params: { webhookId } });
        showToast(t('webhooks.deleted'));
        onDeleted();
      }}
    >
      <p>{t('webhooks.deleteText')}</p>
    </ConfirmDialog>
  );
}
