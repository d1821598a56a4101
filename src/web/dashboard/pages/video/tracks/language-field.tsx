import { useState } from 'preact/hooks';
import { languageName, trackLanguages } from '../../../format/languages.ts';
import { t } from '../../../texts/video.ts';
import { SelectField, TextField } from '../../../ui/form/field.tsx';

const other = 'other';

export function LanguageField({
  value,
  error,
  onValue,
}: {
  value: string;
  error?: string | undefined;
  onValue: (tag: string) => void;
}) {
  const [options] = useState(trackLanguages);
  const isListed = options.some(([tag]) => tag === value);
  const [isOther, setOther] = useState(value !== '' && !isListed);
  return (
    <>
      <SelectField
        label={t('trackLanguage.label')}
        value={isOther ? other : value}
        onValue={tag => {
          setOther(tag === other);
          onValue(tag === other ? '' : tag);
        }}
        field={isOther ? undefined : 'language'}
        error={isOther ? undefined : error}
        options={[['', t('trackLanguage.choose')], ...options, [other, t('trackLanguage.other')]]}
      />
      {isOther && (
        <TextField
          label={t('trackLanguage.tag')}
          hint={value === '' ? t('trackLanguage.tagHint') : languageName(value)}
          spellcheck={false}
          value={value}
          onValue={onValue}
          field="language"
          error={error}
        />
      )}
    </>
  );
}
