import { useState } from 'preact/hooks';
import { maxPasskeyNameLength } from '../../../../../shared/limits/resource-limits.ts';
import type { Passkey } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { registerPasskey } from '../../../api/passkeys.ts';
import { t } from '../../../texts/account.ts';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { OwnPasswordField, SecondFactorField } from '../proof-fields.tsx';
import { describeUserAgent } from '../user-agent.ts';

export function AddPasskeyDialog({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const [name, setName] = useState(describeUserAgent(navigator.userAgent));
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const twoFactor = useLoad('two-factor', signal => call('GET /account/two-factor', { signal }));
  const needsCode = twoFactor.value?.enabled === true;
  const submission = useSubmit(async () => {
    await registerPasskey(name.trim(), { password, ...(needsCode ? { code } : {}) });
    onAdded();
  });
  return (
    <FormDialog
      title={t('passkeys.addTitle')}
      action={t('passkeys.continue')}
      disabled={name.trim() === '' || password === '' || (needsCode && code.trim() === '')}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label={t('passkeys.name')}
        hint={t('passkeys.nameHint')}
        value={name}
        onValue={setName}
        field="name"
        maxLength={maxPasskeyNameLength}
      />
      <OwnPasswordField value={password} onValue={setPassword} />
      {needsCode && <SecondFactorField value={code} onValue={setCode} />}
    </FormDialog>
  );
}

export function RenamePasskeyDialog({
  passkey,
  onRenamed,
  onClose,
}: {
  passkey: Passkey;
  onRenamed: () => void;
  onClose: () => void;
}) {
  const [name, setName] = useState(passkey.name);
  const submission = useSubmit(async () => {
    await call('PUT /account/passkeys/{passkeyId}', { params: passkey, body: { name: name.trim() } });
    onRenamed();
  });
  return (
    <FormDialog
      title={t('passkeys.renameTitle')}
      action={t('passkeys.rename')}
      disabled={name.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label={t('passkeys.name')}
        value={name}
        onValue={setName}
        field="name"
        maxLength={maxPasskeyNameLength}
      />
    </FormDialog>
  );
}
