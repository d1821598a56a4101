import { useState } from 'preact/hooks';
import type { Watermark } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/players.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { showToast } from '../../ui/toast.tsx';
import { NameField } from './name-field.tsx';

export function RenameDialog({
  watermark: { watermarkId, name: before = '' },
  onRenamed,
  onClose,
}: {
  watermark: Watermark;
  onRenamed: () => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(before);
  const submission = useSubmit(async () => {
    await call('PATCH /watermarks/{watermarkId}', {
      params: { watermarkId },
      body: { name: name.trim() || null },
    });
    showToast(t('watermarks.renamed'));
    onRenamed();
  });
  return (
    <FormDialog
      title={t('watermarks.renameTitle')}
      action={t('watermarks.rename')}
      disabled={name.trim() === before}
      submission={submission}
      onClose={onClose}
    >
      <NameField value={name} onValue={setName} />
    </FormDialog>
  );
}
