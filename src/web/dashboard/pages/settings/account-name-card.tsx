import { useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { loadSession, sessionChannel } from '../../api/sessions.ts';
import { session } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { Section } from '../../ui/page.tsx';
import { showToast } from '../../ui/toast.tsx';

export function AccountNameCard() {
  const stored = session.value?.account.name ?? '';
  const [name, setName] = useState(stored);
  const isChanged = name.trim() !== stored;
  const submission = useSubmit(async () => {
    await call('PATCH /account', { body: { name: name.trim() === '' ? null : name.trim() } });
    showToast(t('account.nameSaved'));
    sessionChannel.postMessage('changed');
    await loadSession();
  });
  return (
    <Section isSplit title={t('account.name')} id="name" lead={t('account.nameText')}>
      <Form submission={submission} disabled={!isChanged}>
        <TextField
          label={t('account.name')}
          hideLabel
          value={name}
          onValue={setName}
          field="name"
          maxLength={100}
        />
        <FormActions action={t('account.saveName')} disabled={!isChanged} />
      </Form>
    </Section>
  );
}
