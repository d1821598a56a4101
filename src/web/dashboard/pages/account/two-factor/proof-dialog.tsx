import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { OwnPasswordField, SecondFactorField } from '../proof-fields.tsx';

export function ProofDialog({
  title,
  action,
  danger = false,
  work,
  onClose,
  children,
}: {
  title: string;
  action: string;
  danger?: boolean;
  work: (proof: { password: string; code: string }) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const submission = useSubmit(() => work({ password, code }));
  return (
    <FormDialog
      title={title}
      action={action}
      danger={danger}
      submission={submission}
      onClose={onClose}
      disabled={password === '' || code.trim() === ''}
    >
      <p>{children}</p>
      <OwnPasswordField value={password} onValue={setPassword} />
      <SecondFactorField value={code} onValue={setCode} />
    </FormDialog>
  );
}
