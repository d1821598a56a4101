import { useState } from 'preact/hooks';
import type { UploadToken } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../ui/form/field.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import {
  type LifetimeChoice,
  type LifetimeUnit,
  lifetimeChoices,
  lifetimeUnits,
  ttlOf,
} from './token-lifetime.ts';

const unitChoices = (Object.keys(lifetimeUnits) as LifetimeUnit[]).map(unit => [unit, unit] as const);

export function TokenForm({
  onMade,
  onClose,
}: {
  onMade: (token: UploadToken) => void;
  onClose: () => void;
}) {
  const [choice, setChoice] = useState<LifetimeChoice>('86400');
  const [number, setNumber] = useState('30');
  const [unit, setUnit] = useState<LifetimeUnit>('days');
  const ttl = ttlOf(choice, number, unit);
  const submission = useSubmit(async () => {
    if (ttl !== undefined) onMade(await call('POST /upload-tokens', { body: { ttl } }));
  });
  return (
    <FormDialog
      title="New upload token"
      action="Create token"
      disabled={ttl === undefined}
      submission={submission}
      onClose={onClose}
    >
      <SelectField<LifetimeChoice>
        label="Valid for"
        hint="Anyone with the token can use it any number of times."
        value={choice}
        options={lifetimeChoices}
        onValue={setChoice}
        field="ttl"
      />
      {choice === 'custom' && (
        <div class="form-grid two">
          <TextField
            label="Number"
            type="number"
            min={1}
            value={number}
            onValue={setNumber}
            error={ttl === undefined ? 'From one second to 68 years.' : undefined}
          />
          <SelectField<LifetimeUnit> label="Unit" value={unit} options={unitChoices} onValue={setUnit} />
        </div>
      )}
    </FormDialog>
  );
}
