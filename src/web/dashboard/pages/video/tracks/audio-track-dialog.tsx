import { useState } from 'preact/hooks';
import { languageName, trackLanguages } from '../../../format/languages.ts';
import { t } from '../../../texts/shell.ts';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';

interface AudioTrackLabel {
  readonly name: string;
  /** Empty when it is not set. */
  readonly language: string;
}

export function AudioTrackDialog({
  title,
  track,
  nameHint,
  attribute = name => name,
  save,
  onClose,
}: {
  title: string;
  track: AudioTrackLabel;
  nameHint: string;
  /** Names an attribute as error responses do. */
  attribute?: (name: string) => string;
  save: (track: AudioTrackLabel) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState(track.name);
  const [language, setLanguage] = useState(track.language);
  const [options] = useState(() => languageOptions(track.language));
  const submission = useSubmit(async () => {
    await save({ name: name.trim(), language });
    onClose();
  });
  return (
    <FormDialog title={title} action={t('audioTrack.save')} submission={submission} onClose={onClose}>
      <TextField
        label={t('audioTrack.name')}
        hint={nameHint}
        maxLength={100}
        value={name}
        onValue={setName}
        field={attribute('name')}
      />
      <SelectField
        label={t('audioTrack.language')}
        value={language}
        onValue={setLanguage}
        field={attribute('language')}
        options={[['', t('audioTrack.notSet')], ...options]}
      />
    </FormDialog>
  );
}

function languageOptions(present: string): (readonly [string, string])[] {
  const known = trackLanguages();
  const isKnown = present === '' || known.some(([tag]) => tag === present);
  return isKnown ? known : [[present, languageName(present)], ...known];
}
