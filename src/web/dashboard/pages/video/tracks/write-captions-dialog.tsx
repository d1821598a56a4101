import { useState } from 'preact/hooks';
import { t } from '../../../texts/video.ts';
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
      title={t('writeCaptions.title')}
      action={isPresent ? t('writeCaptions.edit') : t('writeCaptions.title')}
      disabled={tag === undefined}
      submission={submission}
      onClose={onClose}
    >
      <LanguageField value={language} onValue={setLanguage} />
      {isPresent && <Notice>{t('writeCaptions.present')}</Notice>}
      <p class="hint">{t('writeCaptions.hint')}</p>
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
