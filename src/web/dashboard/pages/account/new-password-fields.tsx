import { useState } from 'preact/hooks';
import { passwordLength } from '../../../../shared/limits/resource-limits.ts';
import { t } from '../../texts/sign-in.ts';
import { TextField } from '../../ui/form/field.tsx';
import { strengthOf } from './password-strength.ts';

interface FieldProps {
  readonly label?: string;
  readonly email: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  /** Name in the form. */
  readonly field?: string | undefined;
}

export function NewPasswordField({
  label = t('signIn.newPasswordLabel'),
  email,
  value,
  onValue,
  field = 'password',
}: FieldProps) {
  const strength = strengthOf(value, email);
  return (
    <TextField
      label={label}
      type="password"
      name="newPassword"
      autocomplete="new-password"
      value={value}
      onValue={onValue}
      hint={
        <span class="strength" data-score={strength?.score ?? 0} role="status">
          <span class="strength-bar" aria-hidden="true" />
          {strength?.label ?? t('signIn.minLength', { count: passwordLength.min })}
        </span>
      }
      field={field}
    />
  );
}

interface NewPassword {
  readonly email: string;
  readonly value: string;
  readonly repeated: string;
  readonly isReady: boolean;
  setValue(value: string): void;
  setRepeated(value: string): void;
}

export function useNewPassword(email: string): NewPassword {
  const [value, setValue] = useState('');
  const [repeated, setRepeated] = useState('');
  const isAccepted = (strengthOf(value, email)?.score ?? 0) > 0;
  return { email, value, repeated, setValue, setRepeated, isReady: isAccepted && repeated === value };
}

/** The password twice. */
export function NewPasswordFields({
  password,
  field,
}: {
  password: NewPassword;
  field?: string | undefined;
}) {
  const { email, value, repeated, setValue, setRepeated } = password;
  const differs = repeated !== '' && repeated !== value;
  return (
    <>
      <NewPasswordField email={email} value={value} onValue={setValue} field={field} />
      <TextField
        label={t('signIn.confirmPassword')}
        type="password"
        name="repeated"
        autocomplete="new-password"
        value={repeated}
        onValue={setRepeated}
        error={differs ? t('signIn.passwordsDiffer') : undefined}
      />
    </>
  );
}

/** Tells password managers whose password it is. */
export function HiddenUserName({ email }: { email: string }) {
  return <input type="text" hidden readOnly name="username" autocomplete="username" value={email} />;
}
