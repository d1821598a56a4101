import { useRef, useState } from 'preact/hooks';
import { t } from '../../texts/video.ts';
import { showToast } from '../../ui/toast.tsx';
import { type CaptionFile, type Cue, timeOf } from './caption-file.ts';
import { addCue, mergeWithNext, removeCue, setText, setTime, splitCue } from './cue-edits.ts';
import { type CueFocus, pageOfCue } from './cue-list.tsx';
import type { CueAction } from './cue-row.tsx';
import { edited, pristine, redone, undone } from './edit-history.ts';

/** The edited file, its history, and the part of it that is shown. */
export function useCueEditing(stored: CaptionFile, playerMs: () => number) {
  const [history, setHistory] = useState(() => pristine(stored));
  const [page, setPage] = useState(1);
  const [, setRound] = useState(0);
  const focus = useRef<CueFocus>(undefined);
  const file = history.value;
  const apply = (next: CaptionFile, key?: string) => setHistory(before => edited(before, next, key));
  const show = ({ cues }: CaptionFile, id: number, part?: CueFocus['part'], seeks?: boolean) => {
    setPage(pageOfCue(cues, id));
    if (part !== undefined) focus.current = { id, part, seeks };
  };
  const add = (ms: number) => {
    const next = addCue(file, ms);
    apply(next);
    show(next, file.nextId, 'text');
  };
  const act = (cue: Cue, action: CueAction) => {
    const { id } = cue;
    switch (action.kind) {
      case 'text':
        apply(setText(file, id, action.text), `${id} text`);
        break;
      case 'time':
        apply(setTime(file, id, action.edge, action.time), `${id} ${action.edge}`);
        break;
      case 'to-player':
        apply(setTime(file, id, action.edge, timeOf(Math.round(playerMs()))));
        break;
      case 'split': {
        const next = splitCue(file, id, action.cursor);
        if (next === undefined) {
          showToast(t('cue.noSplit'));
          break;
        }
        apply(next);
        show(next, file.nextId, 'text');
        break;
      }
      case 'merge':
        apply(mergeWithNext(file, id));
        focus.current = { id, part: 'text' };
        break;
      case 'add':
        add(Number.isNaN(cue.endMs) ? playerMs() : cue.endMs);
        break;
      case 'remove': {
        const next = removeCue(file, id);
        const neighbor = next.cues[Math.min(file.cues.indexOf(cue), next.cues.length - 1)];
        apply(next);
        if (neighbor !== undefined) show(next, neighbor.id, 'text');
        break;
      }
    }
  };
  return {
    file,
    page,
    focus,
    setPage,
    show,
    apply,
    act,
    add,
    canUndo: history.past.length > 0,
    focusCue: (id: number) => {
      show(file, id, 'text', true);
      setRound(round => round + 1);
    },
    drag: (cue: Cue, edge: 'start' | 'end', ms: number, drag: number) =>
      apply(setTime(file, cue.id, edge, timeOf(ms)), `${cue.id} ${edge} drag ${drag}`),
    canRedo: history.future.length > 0,
    undo: () => setHistory(undone),
    redo: () => setHistory(redone),
    reset: (to: CaptionFile) => setHistory(pristine(to)),
    /** Keeps what was typed while `from` was saved as `to`. */
    settle: (from: CaptionFile, to: CaptionFile) =>
      setHistory(before => (before.value === from ? pristine(to) : before)),
  };
}
