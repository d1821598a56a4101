import { useState } from 'preact/hooks';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { languageName, trackLanguages } from './languages.ts';

const other = 'other';

export function LanguageField({
  value,
  onValue,
  error,
}: {
  value: string;
  onValue: (tag: string) => void;
  error?: string | undefined;
}) {
  const [options] = useState(trackLanguages);
  const isListed = options.some(([tag]) => tag === value);
  const [isOther, setOther] = useState(value !== '' && !isListed);
  return (
    <>
      <SelectField
        label="Language"
        value={isOther ? other : value}
        onValue={tag => {
          setOther(tag === other);
          onValue(tag === other ? '' : tag);
        }}
        {...(isOther ? {} : { error })}
        options={[['', 'Choose a language'], ...options, [other, 'Another language']]}
      />
      {isOther && (
        <TextField
          label="Language tag"
          hint={value === '' ? 'Such as fr-LU or sr-Cyrl-BA.' : languageName(value)}
          spellcheck={false}
          value={value}
          onValue={onValue}
          error={error}
        />
      )}
    </>
  );
}
