import { useState } from 'preact/hooks';
import type { Size } from '../../../../shared/limits/watermark-placement.ts';
import { call } from '../../api/client.ts';
import { formatBytes } from '../../format/size.ts';
import { t } from '../../texts/players.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { FileField } from '../../ui/form/file-field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';
import { imageProblem } from './image-check.ts';
import { NameField } from './name-field.tsx';
import { useObjectUrl } from './use-watermark-image.ts';
import { PreviewImage } from './watermark-image.tsx';

export function UploadDialog({
  onMade,
  onClose,
}: {
  onMade: (watermarkId: string) => void;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [file, setFile] = useState<File>();
  const [size, setSize] = useState<Size>();
  const problem = file && imageProblem(file, size);
  const [isBroken, setBroken] = useState(false);
  const url = useObjectUrl(file !== undefined && imageProblem(file) === undefined ? file : undefined);
  const submission = useSubmit(async () => {
    if (file === undefined) return;
    const body = new FormData();
    if (name.trim() !== '') body.append('name', name.trim());
    body.append('file', file, file.name);
    const { watermarkId } = await call('POST /watermarks', { body });
    showToast(t('upload.uploaded'));
    onMade(watermarkId);
  });
  return (
    <FormDialog
      title={t('watermarks.new')}
      action={t('upload.action')}
      disabled={file === undefined || problem !== undefined || isBroken}
      submission={submission}
      onClose={onClose}
    >
      <FileField
        label={t('upload.image')}
        accept="image/png,image/jpeg,.png,.jpg,.jpeg"
        hint={t('upload.imageHint')}
        error={problem ?? (isBroken ? t('upload.damaged') : undefined)}
        onFile={chosen => {
          setFile(chosen);
          setSize(undefined);
          setBroken(false);
          submission.clear();
        }}
      />
      <PreviewImage url={url} alt={t('upload.chosen')} onSize={setSize} onBroken={() => setBroken(true)} />
      <p class="hint" role="status">
        {fileText(file, size)}
      </p>
      <NameField value={name} onValue={setName} />
    </FormDialog>
  );
}

function fileText(file: File | undefined, size: Size | undefined): string {
  if (file === undefined) return t('upload.noPreview');
  const bytes = formatBytes(file.size);
  if (size === undefined) return bytes;
  const { width, height } = size;
  return t('upload.pixelsAndBytes', { width: String(width), height: String(height), size: bytes });
}
