import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { t } from '../../texts/shell.ts';
import { type FieldValue, useFieldError, useFieldValue } from './form-context.tsx';

interface FieldProps {
  readonly label: string;
  readonly hint?: ComponentChildren | undefined;
  /** Name in the form, by which it finds its error. */
  readonly field?: string | undefined;
  /** Replaces the text of the form's error. */
  readonly rule?: string | undefined;
  /** Replaces that of the form. */
  readonly error?: string | undefined;
  readonly hideLabel?: boolean | undefined;
  readonly children: (attributes: {
    id: string;
    'aria-describedby': string | undefined;
    'aria-invalid': boolean;
  }) => ComponentChildren;
}

export function Field({
  label,
  hint,
  field,
  rule,
  error: ownError,
  hideLabel = false,
  children,
}: FieldProps) {
  const id = useId();
  const formError = useFieldError(field);
  const error = ownError ?? (formError === undefined ? undefined : (rule ?? formError));
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
type TextProps = Labels & FieldValue<string>;

interface InputAttributes {
  readonly type?: 'text' | 'email' | 'password' | 'url' | 'search' | 'number' | 'date' | 'datetime-local';
  readonly name?: string;
  readonly autocomplete?: string;
  readonly placeholder?: string;
  readonly required?: boolean;
  readonly spellcheck?: boolean;
  readonly maxLength?: number;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number;
  readonly onBlur?: () => void;
}

export function TextField({
  label,
  hint,
  field,
  error,
  hideLabel,
  value: ownValue,
  onValue: onOwnValue,
  ...input
}: TextProps & InputAttributes) {
  const [value, onValue] = useFieldValue({ field, value: ownValue, onValue: onOwnValue }, '');
  return (
    <Field
      label={label}
      hint={hint}
      field={field}
      rule={rangeRule(input)}
      error={error}
      hideLabel={hideLabel}
    >
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

/** Tells which numbers a field takes. */
function rangeRule({ type, min, max, step = 1 }: InputAttributes): string | undefined {
  if (type !== 'number' || typeof min !== 'number' || typeof max !== 'number') return undefined;
  return t(Number.isInteger(step) ? 'form.wholeNumber' : 'form.number', { min, max });
}

export function TextArea({
  label,
  hint,
  field,
  error,
  hideLabel,
  value: ownValue,
  onValue: onOwnValue,
  rows = 4,
  ...rest
}: TextProps & { rows?: number; maxLength?: number; placeholder?: string; dir?: 'ltr' }) {
  const [value, onValue] = useFieldValue({ field, value: ownValue, onValue: onOwnValue }, '');
  return (
    <Field label={label} hint={hint} field={field} error={error} hideLabel={hideLabel}>
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
  field,
  error,
  hideLabel,
  options,
  ...own
}: Labels &
  FieldValue<Value> & {
    options: readonly (readonly [value: Value, optionLabel: string])[];
  }) {
  const [value, onValue] = useFieldValue({ field, ...own }, '' as Value);
  return (
    <Field label={label} hint={hint} field={field} error={error} hideLabel={hideLabel}>
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
  field,
  checked: ownChecked,
  onValue: onOwnValue,
  disabled = false,
}: Omit<FieldValue<boolean>, 'value'> & {
  label: ComponentChildren;
  hint?: ComponentChildren;
  checked?: boolean;
  disabled?: boolean;
}) {
  const [checked, onValue] = useFieldValue({ field, value: ownChecked, onValue: onOwnValue }, false);
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
