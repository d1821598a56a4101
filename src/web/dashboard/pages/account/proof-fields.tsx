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
      label="Your password"
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
      label="Code"
      autocomplete="one-time-code"
      hint="From your authenticator app, or a recovery code."
      spellcheck={false}
    />
  );
}
