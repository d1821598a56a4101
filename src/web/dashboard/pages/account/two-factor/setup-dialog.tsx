import { useState } from 'preact/hooks';
import type { TwoFactorEnrollment } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { t } from '../../../texts/account.ts';
import { CopyField } from '../../../ui/copy.tsx';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { QrCode } from '../../../ui/qr-code.tsx';
import { OwnPasswordField } from '../proof-fields.tsx';

export function SetupDialog({
  onEnabled,
  onClose,
}: {
  onEnabled: (recoveryCodes: readonly string[]) => void;
  onClose: () => void;
}) {
  const [enrollment, setEnrollment] = useState<TwoFactorEnrollment>();
  if (enrollment === undefined) return <PasswordStep onBegun={setEnrollment} onClose={onClose} />;
  return <CodeStep enrollment={enrollment} onEnabled={onEnabled} onClose={onClose} />;
}

function PasswordStep({
  onBegun,
  onClose,
}: {
  onBegun: (enrollment: TwoFactorEnrollment) => void;
  onClose: () => void;
}) {
  const [password, setPassword] = useState('');
  const submission = useSubmit(async () => {
    onBegun(await call('POST /account/two-factor', { body: { password } }));
  });
  return (
    <FormDialog
      title={t('twoFactor.turnOnTitle')}
      action={t('twoFactor.continue')}
      disabled={password === ''}
      submission={submission}
      onClose={onClose}
    >
      <OwnPasswordField value={password} onValue={setPassword} />
    </FormDialog>
  );
}

function CodeStep({
  enrollment: { uri, secret },
  onEnabled,
  onClose,
}: {
  enrollment: TwoFactorEnrollment;
  onEnabled: (recoveryCodes: readonly string[]) => void;
  onClose: () => void;
}) {
  const [code, setCode] = useState('');
  const submission = useSubmit(async () => {
    const { recoveryCodes } = await call('POST /account/two-factor/confirmation', { body: { code } });
    onEnabled(recoveryCodes);
  });
  return (
    <FormDialog
      title={t('twoFactor.scanTitle')}
      action={t('twoFactor.turnOn')}
      disabled={code.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <p>{t('twoFactor.scanText')}</p>
      <QrCode text={uri} label={t('twoFactor.qrLabel')} />
      <TextField
        label={t('twoFactor.appCode')}
        autocomplete="one-time-code"
        value={code}
        onValue={setCode}
        field="code"
        placeholder="123456"
        spellcheck={false}
      />
      <CopyField label={t('twoFactor.setupKey')} value={secret} hint={t('twoFactor.setupKeyHint')} />
      <p class="hint">{t('twoFactor.staySignedIn')}</p>
    </FormDialog>
  );
}
