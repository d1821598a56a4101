import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

export function FileField({
  label,
  hint,
  error,
  field = 'file',
  accept,
  onFile,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  field?: string;
  accept: string;
  onFile: (file: File | undefined) => void;
}) {
  return (
    <Field label={label} hint={hint} field={field} error={error}>
      {attributes => (
        <input
          {...attributes}
          type="file"
          accept={accept}
          onChange={event => onFile(event.currentTarget.files?.[0])}
        />
      )}
    </Field>
  );
}
