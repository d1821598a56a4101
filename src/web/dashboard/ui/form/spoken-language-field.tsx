import { spokenLanguages } from '../../format/languages.ts';
import { SelectField } from './field.tsx';
import type { FieldValue } from './form-context.tsx';

export function SpokenLanguageField({
  unchanged,
  ...own
}: Omit<FieldValue<string>, 'field'> & {
  /** A first choice beside the languages. */
  unchanged?: readonly [value: string, label: string];
}) {
  return (
    <SelectField
      field="language"
      label="Spoken language"
      options={[...(unchanged === undefined ? [] : [unchanged]), ['', 'Not set'], ...spokenLanguages()]}
      {...own}
    />
  );
}
