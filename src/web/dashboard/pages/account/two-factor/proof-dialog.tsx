import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';

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
      {...{ title, action, danger, submission, onClose }}
      disabled={password === '' || code.trim() === ''}
    >
      <p>{children}</p>
      <TextField
        label="Your password"
        type="password"
        autocomplete="current-password"
        value={password}
        onValue={setPassword}
        error={submission.errorOf('password')}
      />
      <TextField
        label="Code"
        autocomplete="one-time-code"
        hint="From your authenticator app, or a recovery code."
        value={code}
        onValue={setCode}
        error={submission.errorOf('code')}
        spellcheck={false}
      />
    </FormDialog>
  );
}
