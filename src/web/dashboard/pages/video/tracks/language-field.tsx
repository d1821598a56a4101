import { useState } from 'preact/hooks';
import { languageName, trackLanguages } from '../../../format/languages.ts';
import { SelectField, TextField } from '../../../ui/form/field.tsx';

const other = 'other';

export function LanguageField({ value, onValue }: { value: string; onValue: (tag: string) => void }) {
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
        field={isOther ? undefined : 'language'}
        options={[['', 'Choose a language'], ...options, [other, 'Another language']]}
      />
      {isOther && (
        <TextField
          label="Language tag"
          hint={value === '' ? 'Such as fr-LU or sr-Cyrl-BA.' : languageName(value)}
          spellcheck={false}
          value={value}
          onValue={onValue}
          field="language"
        />
      )}
    </>
  );
}
