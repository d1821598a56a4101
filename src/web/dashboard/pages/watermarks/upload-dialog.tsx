import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { formatBytes } from '../../format/size.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { FileField } from '../../ui/form/file-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';
import { imageProblem } from './image-check.ts';
import type { Size } from './placement.ts';
import { useObjectUrl } from './use-watermark-image.ts';
import { PreviewImage } from './watermark-image.tsx';

export function UploadDialog({
  onMade,
  onClose,
}: {
  onMade: (watermarkId: string) => void;
  onClose: () => void;
}) {
  const [file, setFile] = useState<File>();
  const [size, setSize] = useState<Size>();
  const problem = file && imageProblem(file, size);
  const [isBroken, setBroken] = useState(false);
  const url = useObjectUrl(file !== undefined && imageProblem(file) === undefined ? file : undefined);
  const submission = useSubmit(async () => {
    if (file === undefined) return;
    const body = new FormData();
    body.append('file', file, file.name);
    const { watermarkId } = await call('POST /watermarks', { body });
    showToast('Watermark uploaded.');
    onMade(watermarkId);
  });
  return (
    <FormDialog
      title="New watermark"
      action="Upload"
      disabled={file === undefined || problem !== undefined || isBroken}
      submission={submission}
      onClose={onClose}
    >
      <FileField
        label="Image"
        accept="image/png,image/jpeg,.png,.jpg,.jpeg"
        hint="PNG with transparency, or JPEG. Up to 8 MB, and 4096 pixels on each side."
        error={problem ?? (isBroken ? 'The image is damaged, or isn’t what its name says.' : undefined)}
        onFile={chosen => {
          setFile(chosen);
          setSize(undefined);
          setBroken(false);
          submission.clear();
        }}
      />
      <PreviewImage url={url} alt="The chosen image" onSize={setSize} onBroken={() => setBroken(true)} />
      <p class="hint" role="status">
        {file === undefined
          ? 'A preview appears here.'
          : [size && `${size.width} × ${size.height} pixels`, formatBytes(file.size)]
              .filter(Boolean)
              .join(', ')}
      </p>
    </FormDialog>
  );
}
