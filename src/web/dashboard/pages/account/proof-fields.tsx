import { t } from '../../texts/account.ts';
import { TextField } from '../../ui/form/field.tsx';

interface ProofFieldProps {
  value: string;
  onValue: (value: string) => void;
}

export function OwnPasswordField(props: ProofFieldProps) {
  return (
    <TextField
      {...props}
      field="password"
      label={t('proof.password')}
      type="password"
      autocomplete="current-password"
    />
  );
}

export function SecondFactorField(props: ProofFieldProps) {
  return (
    <TextField
      {...props}
      field="code"
      label={t('proof.code')}
      autocomplete="one-time-code"
      hint={t('proof.codeHint')}
      spellcheck={false}
    />
  );
}
