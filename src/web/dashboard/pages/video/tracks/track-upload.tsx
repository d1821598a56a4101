import { useRef, useState } from 'preact/hooks';
import { languageName } from '../../../format/languages.ts';
import { t } from '../../../texts/video.ts';

import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { FileField } from '../../../ui/form/file-field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { LanguageField } from './language-field.tsx';
import { checkTrackFile, type TrackCheck } from './track-file.ts';
import { sendTrack, type TrackKind } from './tracks.ts';

export function TrackUpload({
  kind,
  videoId,
  language: fixed,
  present,
  onDone,
  onClose,
}: {
  kind: TrackKind;
  videoId: string;
  language?: string | undefined;
  present: readonly string[];
  onDone: () => void;
  onClose: () => void;
}) {
  const [language, setLanguage] = useState(fixed ?? '');
  const [chosen, setChosen] = useState<{ file: File; reading: TrackCheck }>();
  const latest = useRef<File>(undefined);
  const submission = useSubmit(async () => {
    if (chosen === undefined) return;
    await sendTrack(kind, videoId, language.trim(), chosen.file);
    showToast(t(`trackUpload.done.${kind}`));
    onDone();
    onClose();
  });
  const choose = async (file: File | undefined) => {
    latest.current = file;
    submission.clear();
    setChosen(undefined);
    if (file === undefined) return;
    const reading = await checkTrackFile(file, language.trim());
    if (latest.current === file) setChosen({ file, reading });
  };
  const reading = chosen?.reading;
  const fault = reading !== undefined && 'fault' in reading ? reading.fault : undefined;
  const isReplaced = fixed === undefined && present.includes(language);
  return (
    <FormDialog
      title={
        fixed === undefined
          ? t(`trackUpload.title.${kind}`)
          : t(`trackUpload.replace.${kind}`, { language: languageName(fixed) })
      }
      action={t('tracks.upload')}
      disabled={chosen === undefined || fault !== undefined || language.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      {fixed === undefined && <LanguageField value={language} onValue={setLanguage} />}
      <FileField
        label={t('trackUpload.file')}
        accept=".vtt,.srt,text/vtt"
        hint={t('trackUpload.hint')}
        error={fault}
        onFile={file => void choose(file)}
      />
      <div role="status">
        {fault !== undefined && <span class="for-readers">{fault}</span>}
        {reading !== undefined && !('fault' in reading) && <Findings kind={kind} {...reading} />}
      </div>
      {isReplaced && <Notice tone="warning">{t(`trackUpload.replaced.${kind}`)}</Notice>}
    </FormDialog>
  );
}

function Findings({
  kind,
  cues,
  wasSubRip,
  warnings,
}: {
  kind: TrackKind;
  cues: number;
  wasSubRip: boolean;
  warnings: readonly string[];
}) {
  return (
    <>
      <Notice tone="good">
        {t(`trackUpload.found.${kind}`, { count: cues })} {wasSubRip && t('trackUpload.converted')}
      </Notice>
      {warnings.length > 0 && <Notice tone="warning">{warnings.join(' ')}</Notice>}
    </>
  );
}
