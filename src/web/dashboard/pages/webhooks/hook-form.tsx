import { useState } from 'preact/hooks';
import { maxHookTimeoutSeconds } from '../../../../shared/limits/resource-limits.ts';
import type { Hook } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { EndpointField } from './endpoint-field.tsx';
import { type HookKind, hookLabels } from './hook-labels.ts';

const defaultTimeoutSeconds = 5;
export function HookForm({
  kind,
  hook,
  onSaved,
  onClose,
}: {
  kind: HookKind;
  hook: Hook | null;
  onSaved: () => void;
  onClose: () => void;
}) {
  const [url, setUrl] = useState(hook?.url ?? '');
  const [timeout, setTimeout] = useState(String(hook?.timeoutSeconds ?? defaultTimeoutSeconds));
  const [onFailure, setOnFailure] = useState(hook?.onFailure ?? 'refuse');
  const address = url.trim();
  const { title, failureLabels } = hookLabels[kind];
  const submission = useSubmit(async () => {
    const body = { url: address, timeoutSeconds: Number(timeout), onFailure };
    await call('PUT /hooks/{hook}', { params: { hook: kind }, body });
    onSaved();
  });
  return (
    <FormDialog
      title={title}
      action="Save"
      disabled={address === '' || timeout === ''}
      submission={submission}
      onClose={onClose}
    >
      <EndpointField
        hint="Receives a POST request. A 2xx status allows, and a 4xx status refuses."
        value={url}
        onValue={setUrl}
      />
      <TextField
        label="Timeout (seconds)"
        type="number"
        min={1}
        max={maxHookTimeoutSeconds}
        value={timeout}
        onValue={setTimeout}
        field="timeoutSeconds"
      />
      <SelectField
        label="Without a response"
        hint="Applies when your server is down, too slow, or responds with a 5xx status."
        value={onFailure}
        onValue={setOnFailure}
        options={[
          ['refuse', failureLabels.refuse],
          ['allow', failureLabels.allow],
        ]}
      />
    </FormDialog>
  );
}
