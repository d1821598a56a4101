import { useState } from 'preact/hooks';
import { maxHookTimeoutSeconds } from '../../../../shared/limits/resource-limits.ts';
import type { Hook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { EndpointField } from './endpoint-field.tsx';

const defaultTimeoutSeconds = 5;
export function HookForm({
  kind,
  hook,
  onSaved,
  onClose,
}: {
  kind: Hook['hook'];
  hook: Hook | null;
  onSaved: () => void;
  onClose: () => void;
}) {
  const [url, setUrl] = useState(hook?.url ?? '');
  const [timeout, setTimeout] = useState(String(hook?.timeoutSeconds ?? defaultTimeoutSeconds));
  const [onFailure, setOnFailure] = useState(hook?.onFailure ?? 'refuse');
  const address = url.trim();
  const submission = useSubmit(async () => {
    const body = { url: address, timeoutSeconds: Number(timeout), onFailure };
    await call('PUT /hooks/{hook}', { params: { hook: kind }, body });
    onSaved();
  });
  return (
    <FormDialog
      title={t('hooks.title', { hook: kind })}
      action={t('hooks.save')}
      disabled={address === '' || timeout === ''}
      submission={submission}
      onClose={onClose}
    >
      <EndpointField hint={t('hooks.endpointHint')} value={url} onValue={setUrl} />
      <TextField
        label={t('hooks.timeoutSeconds')}
        type="number"
        min={1}
        max={maxHookTimeoutSeconds}
        value={timeout}
        onValue={setTimeout}
        field="timeoutSeconds"
      />
      <SelectField
        label={t('hooks.onFailure')}
        hint={t('hooks.onFailureHint')}
        value={onFailure}
        onValue={setOnFailure}
        options={[
          ['refuse', t('hooks.refuse', { hook: kind })],
          ['allow', t('hooks.allow', { hook: kind })],
        ]}
      />
    </FormDialog>
  );
}
