import type { Webhook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
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
      title="Delete this webhook?"
      action="Delete webhook"
      name={url}
      onClose={onClose}
      work={async () => {
        await call('DELETE /webhooks/{webhookId}', { params: { webhookId } });
        showToast('Webhook deleted.');
        onDeleted();
      }}
    >
      <p>No more events are sent to this URL, and its delivery log is deleted.</p>
    </ConfirmDialog>
  );
}
