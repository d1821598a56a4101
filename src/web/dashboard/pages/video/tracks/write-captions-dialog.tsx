import { useState } from 'preact/hooks';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { LanguageField } from './language-field.tsx';

/** Asks for the language of captions that are written from the start. */
export function WriteCaptionsDialog({
  present,
  onChosen,
  onClose,
}: {
  present: readonly string[];
  onChosen: (language: string) => void;
  onClose: () => void;
}) {
  const [language, setLanguage] = useState('');
  const tag = canonicalTag(language);
  const isPresent = tag !== undefined && present.includes(tag);
  const submission = useSubmit(async () => {
    if (tag !== undefined) onChosen(tag);
  });
  return (
    <FormDialog
      title="Write captions"
      action={isPresent ? 'Edit captions' : 'Write captions'}
      disabled={tag === undefined}
      submission={submission}
      onClose={onClose}
    >
      <LanguageField value={language} onValue={setLanguage} />
      {isPresent && <Notice>There are captions in this language already. You can edit them.</Notice>}
      <p class="hint">
        You write beside the player, with a waveform of the audio. Viewers see the captions once you save
        them.
      </p>
    </FormDialog>
  );
}

/** Undefined for what is no language tag (RFC 5646). */
function canonicalTag(language: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(language.trim())[0];
  } catch {
    return undefined;
  }
}
