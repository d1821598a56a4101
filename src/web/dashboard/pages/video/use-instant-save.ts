import { useState } from 'preact/hooks';
import { showError, showToast } from '../../ui/toast.tsx';
import type { EditedVideo, VideoChanges } from './use-video.ts';

/** Saves choices that hold at once, and says so in the words of `done`. What was refused is shown as it was. */
export function useInstantSave(change: EditedVideo['change']): (changes: VideoChanges, done: string) => void {
  const [, setRound] = useState(0);
  return (changes, done) => {
    change(changes)
      .then(() => showToast(done), showError)
      .finally(() => setRound(round => round + 1));
  };
}
