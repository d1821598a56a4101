import { useState } from 'preact/hooks';
import type { UploadToken } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useSubmit } from '../../ui/use-submit.ts';
import { type LifeChoice, type LifeUnit, lifeChoices, lifeUnits, ttlOf } from './token-life.ts';

const unitChoices = (Object.keys(lifeUnits) as LifeUnit[]).map(unit => [unit, unit] as const);

/** Makes an upload token: how long it can be used. */
export function TokenForm({
  onMade,
  onClose,
}: {
  onMade: (token: UploadToken) => void;
  onClose: () => void;
}) {
  const [choice, setChoice] = useState<LifeChoice>('86400');
  const [number, setNumber] = useState('30');
  const [unit, setUnit] = useState<LifeUnit>('days');
  const ttl = ttlOf(choice, number, unit);
  const submission = useSubmit(async () => {
    if (ttl !== undefined) onMade(await call('POST /upload-tokens', { body: { ttl } }));
  });
  return (
    <FormDialog
      title="New upload token"
      action="Create"
      disabled={ttl === undefined}
      submission={submission}
      onClose={onClose}
    >
      <SelectField<LifeChoice>
        label="Can be used for"
        hint="As often as one likes, by whoever has it."
        value={choice}
        options={lifeChoices}
        onValue={setChoice}
        error={submission.errorOf('ttl')}
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
          <SelectField<LifeUnit> label="Unit" value={unit} options={unitChoices} onValue={setUnit} />
        </div>
      )}
    </FormDialog>
  );
}
