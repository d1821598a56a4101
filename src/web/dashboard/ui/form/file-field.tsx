import type { ComponentChildren } from 'preact';
import { Field } from './field.tsx';

export function FileField({
  label,
  hint,
  error,
  accept,
  onFile,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  accept: string;
  onFile: (file: File | undefined) => void;
}) {
  return (
    <Field label={label} error={error} hint={hint}>
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
