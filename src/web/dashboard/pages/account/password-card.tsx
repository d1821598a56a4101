import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { session } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { ProblemNotice } from '../../ui/dialog/dialog.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Card } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { minPasswordLength, strengthOf } from './password-strength.ts';

export function PasswordCard() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const [repeated, setRepeated] = useState('');
  const email = session.value?.email ?? '';
  const strength = strengthOf(newPassword, email);
  const differs = repeated !== '' && repeated !== newPassword;
  const submission = useSubmit(async () => {
    await call('PUT /account/password', { body: { currentPassword, newPassword } });
    setCurrent('');
    setNew('');
    setRepeated('');
    showToast('Password changed. You’re signed out everywhere else.');
  });
  const isReady =
    currentPassword !== '' && strength !== undefined && strength.score > 0 && repeated === newPassword;
  return (
    <Card title="Password">
      <Form submission={submission} disabled={!isReady}>
        {/* Password managers need the user name. */}
        <input type="text" hidden readOnly name="username" autocomplete="username" value={email} />
        <TextField
          label="Current password"
          type="password"
          name="currentPassword"
          autocomplete="current-password"
          value={currentPassword}
          onValue={setCurrent}
          error={submission.errorOf('currentPassword')}
        />
        <TextField
          label="New password"
          type="password"
          name="newPassword"
          autocomplete="new-password"
          value={newPassword}
          onValue={setNew}
          hint={
            <span class="strength" data-score={strength?.score ?? 0} role="status">
              <span class="strength-bar" aria-hidden="true" />
              {strength?.words ?? `Use at least ${minPasswordLength} characters.`}
            </span>
          }
          error={submission.errorOf('newPassword')}
        />
        <TextField
          label="Confirm new password"
          type="password"
          name="repeated"
          autocomplete="new-password"
          value={repeated}
          onValue={setRepeated}
          error={differs ? 'The passwords don’t match.' : undefined}
        />
        <ProblemNotice problem={submission.notice} />
        <div class="actions">
          <Button kind="primary" type="submit" busy={submission.busy} disabled={!isReady}>
            Change password
          </Button>
        </div>
        <p class="hint">You stay signed in here, and are signed out everywhere else.</p>
      </Form>
    </Card>
  );
}
