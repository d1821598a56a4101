import { useState } from 'preact/hooks';
import type { Invitation } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatDate } from '../../format/time.ts';
import { t } from '../../texts/account.ts';
import { CopyField } from '../../ui/copy.tsx';
import { FormDialog, ResultDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Notice } from '../../ui/notice.tsx';
import { type Role, roleOptions } from './roles.ts';

export function InviteDialog({ onInvited, onClose }: { onInvited: () => void; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const [made, setMade] = useState<Invitation>();
  const submission = useSubmit(async () => {
    setMade(await call('POST /account/invitations', { body: { email: email.trim(), role } }));
    onInvited();
  });
  if (made !== undefined) {
    const told = { email: made.email, date: formatDate(made.expiresAt) };
    return (
      <ResultDialog title={t('invite.created')} onClose={onClose}>
        <Notice tone="warning" title={t('invite.copyNow')}>
          {made.mail === undefined ? t('invite.notMailed', told) : t('invite.mailed', told)}
        </Notice>
        <CopyField label={t('invite.linkFor', { email: made.email })} value={made.url ?? ''} />
      </ResultDialog>
    );
  }
  return (
    <FormDialog
      title={t('team.invite')}
      action={t('invite.create')}
      submission={submission}
      disabled={email.trim() === ''}
      onClose={onClose}
    >
      <TextField label={t('invite.email')} type="email" value={email} onValue={setEmail} field="email" />
      <SelectField label={t('team.role')} value={role} onValue={setRole} options={roleOptions()} />
      <p class="hint">{t('invite.hint')}</p>
    </FormDialog>
  );
}
