import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { Dialog, FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Notice } from '../../ui/notice.tsx';
import { type Role, roleOptions } from './roles.ts';

export function InviteDialog({ onInvited, onClose }: { onInvited: () => void; onClose: () => void }) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('editor');
  const [url, setUrl] = useState<string>();
  const submission = useSubmit(async () => {
    const made = await call('POST /account/invitations', { body: { email: email.trim(), role } });
    setUrl(made.url ?? '');
    onInvited();
  });
  if (url !== undefined) {
    return (
      <Dialog title="Send this link" onClose={onClose}>
        <div class="dialog-body">
          <Notice tone="warning" title="Copy it now.">
            The link is shown only once. It works once, within 7 days.
          </Notice>
          <CopyField label={`Link for ${email.trim()}`} value={url} />
        </div>
        <footer>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Invite to your team"
      action="Create link"
      submission={submission}
      disabled={email.trim() === ''}
      onClose={onClose}
    >
      <TextField
        label="Email"
        type="email"
        value={email}
        onValue={setEmail}
        error={submission.errorOf('email')}
      />
      <SelectField label="Role" value={role} onValue={setRole} options={roleOptions} />
    </FormDialog>
  );
}
