import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';

export function NewThemeDialog({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const [name, setName] = useState('');
  const submission = useSubmit(async () => {
    const made = await call('POST /players', { body: { name: name.trim() } });
    route(`/dashboard/players/${made.playerId}`);
  });
  return (
    <FormDialog
      title="New player theme"
      action="Create theme"
      disabled={name.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="Only you see it. You can set colours, behaviour and a logo next."
        value={name}
        onValue={setName}
        error={submission.errorOf('name')}
        maxLength={100}
        required
      />
    </FormDialog>
  );
}
