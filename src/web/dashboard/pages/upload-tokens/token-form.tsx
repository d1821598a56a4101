import { useState } from 'preact/hooks';
import type { UploadToken } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { t } from '../../texts/developers.ts';
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

const units = Object.keys(lifetimeUnits) as LifetimeUnit[];

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
      title={t('tokens.new')}
      action={t('tokens.create')}
      disabled={ttl === undefined}
      submission={submission}
      onClose={onClose}
    >
      <SelectField<LifetimeChoice>
        label={t('tokens.validFor')}
        hint={t('tokens.validForHint')}
        value={choice}
        options={lifetimeChoices()}
        onValue={setChoice}
        field="ttl"
      />
      {choice === 'custom' && (
        <div class="form-grid two">
          <TextField
            label={t('tokens.number')}
            type="number"
            min={1}
            value={number}
            onValue={setNumber}
            error={ttl === undefined ? t('tokens.numberWrong') : undefined}
          />
          <SelectField<LifetimeUnit>
            label={t('tokens.unit')}
            value={unit}
            options={units.map(one => [one, t(`tokens.units.${one}`)] as const)}
            onValue={setUnit}
          />
        </div>
      )}
    </FormDialog>
  );
}
