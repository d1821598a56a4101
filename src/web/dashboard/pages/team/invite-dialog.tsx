import { useState } from 'preact/hooks';
import type { Invitation } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
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
    return (
      <ResultDialog
        title={made.mail === undefined ? 'Send this link' : 'Invitation created'}
        onClose={onClose}
      >
        <Notice tone="warning" title="Copy it now.">
          {made.mail !== undefined &&
            'We’re sending another link by email, which verifies the address. The list of invitations shows whether it was sent. '}
          With this link, the person joins as unverified. The link is shown only once. It works once, within 7
          days.
        </Notice>
        <CopyField label={`Link for ${email.trim()}`} value={made.url ?? ''} />
      </ResultDialog>
    );
  }
  return (
    <FormDialog
      title="Invite people"
      action="Create link"
      submission={submission}
      disabled={email.trim() === ''}
      onClose={onClose}
    >
      <TextField label="Email" type="email" value={email} onValue={setEmail} field="email" />
      <SelectField label="Role" value={role} onValue={setRole} options={roleOptions} />
      <p class="hint">You get a link to send to this person.</p>
    </FormDialog>
  );
}
