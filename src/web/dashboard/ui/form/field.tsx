import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren | undefined;
  readonly error?: string | undefined;
  readonly hideLabel?: boolean | undefined;
  readonly children: (attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ComponentChildren;
}

export function Field({ label, hint, error, hideLabel = false, children }: FieldProps) {
  const id = useId();
  const described = [hint === undefined ? '' : `${id}-hint`, error === undefined ? '' : `${id}-error`];
  const attributes = {
    id,
    'aria-describedby': described.join(' ').trim() || undefined,
    'aria-invalid': error !== undefined,
  };
  return (
    <div class="field">
      <label for={id} class={hideLabel ? 'for-readers' : undefined}>
        {label}
      </label>
      {children(attributes)}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  );
}

type Labels = Pick<FieldProps, 'label' | 'hint' | 'error' | 'hideLabel'>;

interface InputAttributes {
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'search' | 'number' | 'date';
  readonly name?: string;
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number;
}

export function TextField({
  label,
  hint,
  error,
  hideLabel,
  value,
  onValue,
  ...input
}: Labels & { value: string; onValue: (value: string) => void } & InputAttributes) {
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {attributes => (
        <input
          type="text"
          autocomplete="off"
          // The types connect roles to static input types.
          {...(input as InputHTMLAttributes<HTMLInputElement>)}
          {...attributes}
          value={value}
          onInput={event => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function TextArea({
  label,
  hint,
  error,
  hideLabel,
  value,
  onValue,
  rows = 4,
  ...rest
}: Labels & {
  value: string;
  onValue: (value: string) => void;
  rows?: number;
  maxLength?: number;
  placeholder?: string;
}) {
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {attributes => (
        <textarea
          {...rest}
          {...attributes}
          rows={rows}
          value={value}
          onInput={event => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function SelectField<Value extends string>({
  label,
  hint,
  error,
  hideLabel,
  value,
  onValue,
  options,
}: Labels & {
  value: Value;
  onValue: (value: Value) => void;
  options: readonly (readonly [value: Value, optionLabel: string])[];
}) {
  return (
    <Field label={label} hint={hint} error={error} hideLabel={hideLabel}>
      {attributes => (
        <select {...attributes} value={value} onChange={event => onValue(event.currentTarget.value as Value)}>
          {options.map(([option, optionLabel]) => (
            <option key={option} value={option} selected={option === value}>
              {optionLabel}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  hint,
  checked,
  onValue,
  disabled = false,
}: {
  label: ComponentChildren;
  hint?: ComponentChildren;
  checked: boolean;
  onValue: (checked: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="check-field">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={event => onValue(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
