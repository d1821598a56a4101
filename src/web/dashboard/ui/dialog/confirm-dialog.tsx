import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { typable } from '../../format/typable.ts';
import { t } from '../../texts/shell.ts';
import { TextField } from '../form/field.tsx';
import { useSubmit } from '../form/use-submit.ts';
import { FormDialog } from './dialog.tsx';

export function ConfirmDialog({
  title,
  action,
  name,
  work,
  onClose,
  children,
}: {
  title: string;
  action: string;
  name?: string;
  work: () => Promise<unknown>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const [typed, setTyped] = useState('');
  const submission = useSubmit(async () => {
    await work();
    onClose();
  });
  return (
    <FormDialog
      title={title}
      action={action}
      danger
      disabled={name !== undefined && typable(typed) !== typable(name)}
      submission={submission}
      onClose={onClose}
    >
      <div class="prose">{children}</div>
      {name !== undefined && (
        <TextField
          label={t('dialog.confirm', { name })}
          value={typed}
          onValue={setTyped}
          autocomplete="off"
          spellcheck={false}
        />
      )}
    </FormDialog>
  );
}
