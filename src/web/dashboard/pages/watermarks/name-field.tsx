import { t } from '../../texts/players.ts';
import { TextField } from '../../ui/form/field.tsx';

const maxLength = 100;

export function NameField({ value, onValue }: { value: string; onValue: (name: string) => void }) {
  return (
    <TextField
      label={t('players.name')}
      hint={t('watermarks.nameHint')}
      value={value}
      onValue={onValue}
      field="name"
      maxLength={maxLength}
    />
  );
}
