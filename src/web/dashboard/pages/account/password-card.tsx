import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { session } from '../../state/session.ts';
import { t } from '../../texts/account.ts';
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
    showToast(t('password.changed'));
  });
  const isReady = currentPassword !== '' && password.isReady;
  return (
    <Section isSplit title={t('password.title')} id="password" lead={t('password.lead')}>
      <Form submission={submission} disabled={!isReady}>
        <HiddenUserName email={email} />
        <TextField
          label={t('password.current')}
          type="password"
          name="currentPassword"
          autocomplete="current-password"
          value={currentPassword}
          onValue={setCurrent}
          field="currentPassword"
        />
        <NewPasswordFields password={password} field="newPassword" />
        <FormActions action={t('password.change')} disabled={!isReady} />
      </Form>
    </Section>
  );
}
