import { call } from '../../api/client.ts';
import { endingOf } from '../../format/ending.ts';
import { ConfirmDialog } from '../../ui/confirm.tsx';
import { tell } from '../../ui/toast.tsx';
import { WatermarkPicture } from './watermark-picture.tsx';

/** Asks for the end of a watermark's id before it is deleted. */
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
      action="Delete the watermark"
      name={endingOf(watermarkId)}
      onClose={onClose}
      work={async () => {
        await call('DELETE /watermarks/{watermarkId}', { params: { watermarkId } });
        tell('Watermark deleted.');
        onDeleted();
      }}
    >
      <WatermarkPicture watermarkId={watermarkId} />
      <p>It can be used for no more videos. Those that were made with it keep it.</p>
    </ConfirmDialog>
  );
}
