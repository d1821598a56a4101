import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { languageName } from '../../../format/languages.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { showToast } from '../../../ui/toast.tsx';
import {
  type ChapterRow,
  type ChapterStart,
  formatChapters,
  parseRows,
  type RowFault,
  rowsOf,
} from './chapter-rows.ts';
import { LanguageField } from './language-field.tsx';
import { sendTrack } from './tracks.ts';

const noFaults: ReadonlyMap<number, RowFault> = new Map();

export function ChaptersEditor({
  videoId,
  language: fixed,
  chapters,
  present,
  duration,
  onDone,
  onClose,
}: {
  videoId: string;
  language?: string | undefined;
  chapters: readonly ChapterStart[];
  present: readonly string[];
  duration: number | undefined;
  onDone: () => void;
  onClose: () => void;
}) {
  const [language, setLanguage] = useState(fixed ?? '');
  const [rows, setRows] = useState<readonly ChapterRow[]>(() =>
    chapters.length === 0 ? [{ id: 0, time: '0:00', title: '' }] : rowsOf(chapters),
  );
  const [faults, setFaults] = useState(noFaults);
  const count = useRef(rows.length);
  const list = useRef<HTMLOListElement>(null);
  const isAdding = useRef(false);
  const submission = useSubmit(async () => {
    const read = parseRows(rows, duration);
    setFaults(read.faults);
    if (read.faults.size > 0) return;
    await sendTrack('chapters', videoId, language.trim(), formatChapters(read.chapters, duration));
    showToast('Chapters saved.');
    onDone();
    onClose();
  });
  const set = (id: number, part: Partial<ChapterRow>) =>
    setRows(rows.map(row => (row.id === id ? { ...row, ...part } : row)));
  const add = () => {
    setRows([...rows, { id: count.current++, time: '', title: '' }]);
    isAdding.current = true;
  };
  // Runs before the row is painted, so that no keystroke is lost.
  useLayoutEffect(() => {
    if (isAdding.current) list.current?.querySelector<HTMLElement>('li:last-child input')?.focus();
    isAdding.current = false;
  }, [rows]);
  const isReplaced = fixed === undefined && present.includes(language);
  return (
    <FormDialog
      title={fixed === undefined ? 'Write chapters' : `Edit chapters: ${languageName(fixed)}`}
      action="Save"
      wide
      disabled={language.trim() === '' || rows.every(({ title }) => title.trim() === '')}
      submission={submission}
      onClose={onClose}
    >
      {fixed === undefined && <LanguageField value={language} onValue={setLanguage} />}
      {isReplaced && <Notice tone="warning">The existing chapters in this language will be replaced.</Notice>}
      <ol class="chapter-rows" ref={list}>
        {rows.map(({ id, time, title }, index) => (
          <li key={id}>
            <TextField
              label={`Start of chapter ${index + 1}`}
              hideLabel
              placeholder="0:00"
              value={time}
              onValue={text => set(id, { time: text })}
              error={faults.get(id)?.time}
            />
            <TextField
              label={`Title of chapter ${index + 1}`}
              hideLabel
              placeholder="Title"
              value={title}
              onValue={text => set(id, { title: text })}
              error={faults.get(id)?.title}
            />
            <IconButton
              icon="close"
              label={`Remove chapter ${index + 1}`}
              disabled={rows.length === 1}
              onClick={() => setRows(rows.filter(row => row.id !== id))}
            />
          </li>
        ))}
      </ol>
      <div class="chapter-add">
        <Button small icon="plus" onClick={add}>
          Add chapter
        </Button>
        <p class="hint">Each chapter ends where the next one begins. The first should start at 0:00.</p>
      </div>
    </FormDialog>
  );
}
