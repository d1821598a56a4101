import { spokenLanguages } from '../../format/languages.ts';
import { t } from '../../texts/shell.ts';
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
      label={t('form.spokenLanguage')}
      options={[
        ...(unchanged === undefined ? [] : [unchanged]),
        ['', t('form.notSet')],
        ...spokenLanguages(),
      ]}
      {...own}
    />
  );
}
