import { useRef, useState } from 'preact/hooks';
import { languageName } from '../../../format/languages.ts';
import { formatNumber } from '../../../format/size.ts';
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
    showToast(kind === 'captions' ? 'Captions uploaded.' : 'Chapters uploaded.');
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
      title={fixed === undefined ? `Upload ${kind}` : `Replace ${kind}: ${languageName(fixed)}`}
      action="Upload"
      disabled={chosen === undefined || fault !== undefined || language.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      {fixed === undefined && <LanguageField value={language} onValue={setLanguage} />}
      <FileField
        label="File"
        accept=".vtt,.srt,text/vtt"
        hint="WebVTT (.vtt) or SubRip (.srt), up to 8 MiB."
        error={fault}
        onFile={file => void choose(file)}
      />
      <div role="status">
        {fault !== undefined && <span class="for-readers">{fault}</span>}
        {reading !== undefined && !('fault' in reading) && <Findings kind={kind} {...reading} />}
      </div>
      {isReplaced && <Notice tone="warning">The existing {kind} in this language will be replaced.</Notice>}
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
  const what = kind === 'captions' ? 'captions' : 'chapters';
  return (
    <>
      <Notice tone="good">
        {formatNumber(cues)} {cues === 1 ? what.slice(0, -1) : what} found.
        {wasSubRip && ' The file is converted to WebVTT.'}
      </Notice>
      {warnings.length > 0 && <Notice tone="warning">{warnings.join(' ')}</Notice>}
    </>
  );
}
