import { useState } from 'preact/hooks';
import { formatNumber } from '../../format/size.ts';
import { FormDialog } from '../../ui/dialog.tsx';
import { FileField } from '../../ui/file-field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { tell } from '../../ui/toast.tsx';
import { useSubmit } from '../../ui/use-submit.ts';
import { LanguageField } from './language-field.tsx';
import { languageName } from './languages.ts';
import { readTrackFile, type TrackContent } from './track-file.ts';
import { sendTrack, type TrackKind } from './tracks.ts';

/** Asks for a file of captions or chapters and its language, and looks into it before it is sent. */
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
  /** The file of this language is replaced; undefined lets one choose. */
  language?: string | undefined;
  /** Languages that have a file. */
  present: readonly string[];
  onDone: () => void;
  onClose: () => void;
}) {
  const [language, setLanguage] = useState(fixed ?? '');
  const [chosen, setChosen] = useState<{ file: File; content: TrackContent }>();
  const submission = useSubmit(async () => {
    if (chosen === undefined) return;
    await sendTrack(kind, videoId, language.trim(), chosen.file);
    tell(kind === 'captions' ? 'Captions uploaded.' : 'Chapters uploaded.');
    onDone();
    onClose();
  });
  const isReplaced = fixed === undefined && present.includes(language);
  return (
    <FormDialog
      title={fixed === undefined ? `Upload ${kind}` : `Replace ${kind}: ${languageName(fixed)}`}
      action="Upload"
      disabled={chosen === undefined || language.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      {fixed === undefined && (
        <LanguageField value={language} onValue={setLanguage} error={submission.errorOf('language')} />
      )}
      <FileField
        label="File"
        accept=".vtt,.srt,text/vtt"
        hint="WebVTT (.vtt) or SubRip (.srt)."
        error={submission.errorOf('file')}
        onFile={file => {
          if (file === undefined) setChosen(undefined);
          else void file.text().then(text => setChosen({ file, content: readTrackFile(text) }));
        }}
      />
      {chosen !== undefined && <Findings kind={kind} content={chosen.content} />}
      {isReplaced && <Notice tone="warning">The {kind} that this language has are replaced.</Notice>}
    </FormDialog>
  );
}

function Findings({ kind, content: { cues, wasSubRip } }: { kind: TrackKind; content: TrackContent }) {
  if (cues === 0) {
    return (
      <Notice tone="warning" title="Nothing in this file can be shown.">
        Use WebVTT, with WEBVTT as the first line and times such as 00:01.000 --&gt; 00:04.000, or SubRip,
        with times such as 00:00:01,000 --&gt; 00:00:04,000.
      </Notice>
    );
  }
  const what = kind === 'captions' ? 'captions' : 'chapters';
  return (
    <Notice tone="good">
      {formatNumber(cues)} {cues === 1 ? what.slice(0, -1) : what} found.
      {wasSubRip && ' The file is turned into WebVTT.'}
    </Notice>
  );
}
