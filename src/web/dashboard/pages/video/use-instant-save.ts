import { useState } from 'preact/hooks';
import { showError, showToast } from '../../ui/toast.tsx';
import type { EditedVideo, VideoChanges } from './use-video.ts';

/** Saves a change at once and shows a message. A refused change is reverted. */
export function useInstantSave(change: EditedVideo['change']): (changes: VideoChanges, done: string) => void {
  const [, setRound] = useState(0);
  return (changes, done) => {
    change(changes)
      .then(() => showToast(done), showError)
      .finally(() => setRound(round => round + 1));
  };
}
