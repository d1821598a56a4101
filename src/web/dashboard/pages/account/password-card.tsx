import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { session } from '../../state/session.ts';
import { TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';
import { HiddenUserName, NewPasswordFields, useNewPassword } from './new-password-fields.tsx';

export function PasswordCard() {
  const email = session.value?.email ?? '';
  const [currentPassword, setCurrent] = useState('');
  const password = useNewPassword(email);
  const submission = useSubmit(async () => {
    await call('PUT /account/password', { body: { currentPassword, newPassword: password.value } });
    setCurrent('');
    password.setValue('');
    password.setRepeated('');
    showToast('Password changed. You’re signed out everywhere else.');
  });
  const isReady = currentPassword !== '' && password.isReady;
  return (
    <Section
      isSplit
      title="Password"
      id="password"
      lead="When you change it, you stay signed in here and are signed out everywhere else."
    >
      <Form submission={submission} disabled={!isReady}>
        <HiddenUserName email={email} />
        <TextField
          label="Current password"
          type="password"
          name="currentPassword"
          autocomplete="current-password"
          value={currentPassword}
          onValue={setCurrent}
          field="currentPassword"
        />
        <NewPasswordFields password={password} field="newPassword" />
        <FormActions action="Change password" disabled={!isReady} />
      </Form>
    </Section>
  );
}
