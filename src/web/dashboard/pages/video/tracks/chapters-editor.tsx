import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatTimecode, parseTime } from '../../../../shared/time-text.ts';
import { call } from '../../../api/client.ts';
import { languageName } from '../../../format/languages.ts';
import { localUrl } from '../../../format/local-url.ts';
import { t } from '../../../texts/video.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { LeaveGuard } from '../../../ui/dialog/leave-guard.tsx';
import { TextField } from '../../../ui/form/field.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { FormActions } from '../../../ui/form/form-actions.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { edited, pristine, redone, undone } from '../../captions/edit-history.ts';
import { seekPlayer, togglePlayer } from '../../captions/move-player.ts';
import { useEditKeys } from '../../captions/use-edit-keys.ts';
import { fetchText } from '../thumbnail/use-frame-source.ts';
import {
  addRow,
  type ChapterDraft,
  type ChapterRow,
  type ChapterStart,
  draftOf,
  formatChapters,
  parseRows,
  type RowFault,
  removeRow,
  setRow,
  typedFaults,
} from './chapter-rows.ts';
import { LanguageField } from './language-field.tsx';
import { sendTrack } from './tracks.ts';

export interface StoredChapters {
  /** The file. */
  readonly text: string;
  readonly chapters: readonly ChapterStart[];
}

/** Edits the chapters of a language beside the player. */
export function ChaptersEditor({
  videoId,
  language: fixed,
  stored: file,
  present,
  duration,
  player,
  onDone,
  onClose,
}: {
  videoId: string;
  /** Chosen here unless given. */
  language?: string;
  /** Undefined for new chapters. */
  stored?: StoredChapters;
  present: readonly string[];
  duration: number | undefined;
  player: HTMLVideoElement | undefined;
  onDone: () => void;
  onClose: () => void;
}) {
  const [language, setLanguage] = useState(fixed ?? '');
  const [stored] = useState(() => draftOf(file?.chapters ?? []));
  const [history, setHistory] = useState(() => pristine(stored));
  const [isChecked, setChecked] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const list = useRef<HTMLOListElement>(null);
  const focused = useRef<string>(undefined);
  const draft = history.value;
  const { rows } = draft;
  const apply = (next: ChapterDraft, key?: string) => setHistory(before => edited(before, next, key));
  const parsed = parseRows(rows, duration);
  const isMissing = parsed.chapters.length === 0 && parsed.faults.size === 0;
  const allFaults = isMissing ? new Map([[rows[0]!.id, { title: t('chapters.noTitle') }]]) : parsed.faults;
  const faults = isChecked ? allFaults : typedFaults(rows, duration);
  const hasLanguage = language.trim() !== '';
  const isReplaced = fixed === undefined && present.includes(language);
  const send = async () => {
    await sendTrack('chapters', videoId, language.trim(), formatChapters(parsed.chapters, duration));
    showToast(t('chapters.saved'));
    onDone();
    onClose();
  };
  const submission = useSubmit(async () => {
    setChecked(true);
    if (!hasLanguage || allFaults.size > 0) {
      focused.current = '[aria-invalid=true]';
      return;
    }
    if (isReplaced || (await storedText(videoId, language.trim())) === file?.text) await send();
    else setAsking(true);
  });
  const add = () => {
    const seconds = roundedTime(player);
    // The first chapter is there, and starts at 0:00.
    const isTaken = seconds === undefined || rows.some(({ time }) => parseTime(time) === seconds);
    apply(addRow(draft, isTaken ? undefined : seconds));
    focused.current = `[data-chapter="${draft.nextId}"] ${isTaken ? 'input' : '.chapter-title input'}`;
  };
  const toPlayer = (id: number) => {
    const seconds = roundedTime(player);
    if (seconds !== undefined) apply(setRow(draft, id, { time: formatTimecode(seconds) }));
  };
  const undo = () => setHistory(undone);
  useEditKeys(list, {
    undo,
    redo: () => setHistory(redone),
    save: () => submission.submit(),
    add,
    play: () => togglePlayer(player),
    back: () => seekPlayer(player, (player?.currentTime ?? 0) - 1),
    forward: () => seekPlayer(player, (player?.currentTime ?? 0) + 1),
    start: target => {
      const id = target.closest<HTMLElement>('[data-chapter]')?.dataset.chapter;
      if (id !== undefined) toPlayer(Number(id));
    },
  });
  // Runs before the paint, so that no keystroke is lost.
  useLayoutEffect(() => {
    if (focused.current === undefined) return;
    const target = list.current?.closest('form')?.querySelector<HTMLElement>(focused.current);
    if (target == null) return;
    focused.current = undefined;
    target.focus();
  });
  return (
    <>
      <Form
        submission={submission}
        label={
          fixed === undefined ? t('chapters.new') : t('chapters.list', { language: languageName(fixed) })
        }
      >
        {fixed === undefined && (
          <LanguageField
            value={language}
            error={isChecked && !hasLanguage ? t('chapters.noLanguage') : undefined}
            onValue={setLanguage}
          />
        )}
        {isReplaced && <Notice tone="warning">{t('trackUpload.replaced.chapters')}</Notice>}
        <ol class="chapter-rows" ref={list}>
          {rows.map((row, index) => (
            <ChapterFields
              key={row.id}
              row={row}
              number={index + 1}
              fault={faults.get(row.id)}
              isOnly={rows.length === 1}
              hasPlayer={player !== undefined}
              onSeek={() => seekPlayer(player, parseTime(row.time) ?? Number.NaN)}
              onToPlayer={() => toPlayer(row.id)}
              onChange={part => apply(setRow(draft, row.id, part), `${row.id} ${Object.keys(part)}`)}
              onRemove={() => apply(removeRow(draft, row.id))}
            />
          ))}
        </ol>
        <div class="chapter-add">
          <Button small icon="plus" onClick={add}>
            {t('chapters.add')}
          </Button>
          <IconButton
            icon="restore"
            label={t('chapters.undo')}
            disabled={history.past.length === 0}
            onClick={undo}
          />
        </div>
        <p class="hint">{player === undefined ? t('chapters.hint') : t('chapters.hintPlayer')}</p>
        <FormActions>
          <Button kind="quiet" onClick={onClose}>
            {t('chapters.cancel')}
          </Button>
        </FormActions>
      </Form>
      <LeaveGuard isActive={draft !== stored} />
      {isAsking && (
        <ConfirmDialog
          title={t('chapters.replaceTitle')}
          action={t('chapters.replace')}
          work={send}
          onClose={() => setAsking(false)}
        >
          <p>{t('chapters.replaceText')}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function ChapterFields({
  row: { id, time, title },
  number,
  fault,
  isOnly,
  hasPlayer,
  onSeek,
  onToPlayer,
  onChange,
  onRemove,
}: {
  row: ChapterRow;
  number: number;
  fault: RowFault | undefined;
  isOnly: boolean;
  hasPlayer: boolean;
  onSeek: () => void;
  onToPlayer: () => void;
  onChange: (part: Partial<ChapterRow>) => void;
  onRemove: () => void;
}) {
  return (
    <li data-chapter={id}>
      <button
        type="button"
        class="row-number"
        aria-label={t('chapters.goTo', { number })}
        title={t('chapters.goTo', { number })}
        onClick={onSeek}
      >
        {number}
      </button>
      <div class="time-with-button">
        <TextField
          label={t('chapters.startOf', { number })}
          hideLabel
          placeholder="0:00"
          spellcheck={false}
          value={time}
          onValue={text => onChange({ time: text })}
          error={fault?.time}
        />
        {hasPlayer && (
          <IconButton icon="clock" label={t('chapters.useCurrent', { number })} onClick={onToPlayer} />
        )}
      </div>
      <div class="chapter-title">
        <TextField
          label={t('chapters.titleOf', { number })}
          hideLabel
          placeholder={t('chapters.titlePlaceholder')}
          value={title}
          onValue={text => onChange({ title: text })}
          error={fault?.title}
        />
      </div>
      <IconButton
        icon="close"
        label={t('chapters.removeNumber', { number })}
        disabled={isOnly}
        onClick={onRemove}
      />
    </li>
  );
}

/** The file on the server now; undefined when there is none. */
async function storedText(videoId: string, language: string): Promise<string | undefined> {
  const { data } = await call('GET /videos/{videoId}/chapters', {
    params: { videoId },
    query: { pageSize: 100 },
  });
  const found = data.find(one => one.language.toLowerCase() === language.toLowerCase());
  return found && fetchText(localUrl(found.src), new AbortController().signal);
}

/** Rounds to tenths of a second, which are easier to read. */
function roundedTime(player: HTMLVideoElement | undefined): number | undefined {
  return player && Math.round(player.currentTime * 10) / 10;
}
