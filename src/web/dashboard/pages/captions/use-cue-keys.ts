import type { RefObject } from 'preact';
import { seekPlayer, togglePlayer } from './move-player.ts';
import type { useCueEditing } from './use-cue-editing.ts';
import { useEditKeys } from './use-edit-keys.ts';

/** Keys for the cue that has the focus, else for the one that the player shows. */
export function useCueKeys({
  list,
  editing,
  player,
  shownId,
  isReadOnly,
  save,
}: {
  list: RefObject<HTMLOListElement | null>;
  editing: ReturnType<typeof useCueEditing>;
  player: HTMLVideoElement | undefined;
  shownId: number | undefined;
  isReadOnly: boolean;
  save: () => void;
}): void {
  const { file } = editing;
  const seconds = () => player?.currentTime ?? 0;
  const indexOf = (target: Element) => {
    const id = target.closest<HTMLElement>('[data-cue]')?.dataset.cue;
    const wanted = id === undefined ? shownId : Number(id);
    return file.cues.findIndex(cue => cue.id === wanted);
  };
  const setEdge = (target: Element, edge: 'start' | 'end') => {
    const cue = file.cues[indexOf(target)];
    if (cue !== undefined) editing.act(cue, { kind: 'to-player', edge });
  };
  const step = (target: Element, by: number) => {
    const next = file.cues[Math.max(0, indexOf(target) + by)];
    if (next !== undefined) editing.focusCue(next.id);
  };
  const changes: Parameters<typeof useEditKeys>[1] = {
    undo: editing.undo,
    redo: editing.redo,
    save,
    add: () => editing.add(seconds() * 1000),
    start: target => setEdge(target, 'start'),
    end: target => setEdge(target, 'end'),
    previous: target => step(target, -1),
    next: target => step(target, 1),
  };
  useEditKeys(list, {
    play: () => togglePlayer(player),
    back: () => seekPlayer(player, seconds() - 1),
    forward: () => seekPlayer(player, seconds() + 1),
    ...(isReadOnly ? {} : changes),
  });
}
