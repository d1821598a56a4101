import { call } from '../../api/client.ts';
import { shortId } from '../../format/short-id.ts';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { showToast } from '../../ui/toast.tsx';
import { WatermarkPicture } from './watermark-picture.tsx';

export function DeleteWatermark({
  watermarkId,
  onDeleted,
  onClose,
}: {
  watermarkId: string;
  onDeleted: () => void;
  onClose: () => void;
}) {
  return (
    <ConfirmDialog
      title="Delete this watermark?"
      action="Delete watermark"
      name={shortId(watermarkId)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /watermarks/{watermarkId}', { params: { watermarkId } });
        showToast('Watermark deleted.');
        onDeleted();
      }}
    >
      <WatermarkPicture watermarkId={watermarkId} />
      <p>New videos can’t use it. Existing videos keep it.</p>
    </ConfirmDialog>
  );
}
