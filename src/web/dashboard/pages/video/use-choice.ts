import { useState } from 'preact/hooks';
import { tell, tellProblem } from '../../ui/toast.tsx';
import type { EditedVideo, VideoChanges } from './use-video.ts';

/** Saves choices that hold at once, and says so in the words of `done`. What was refused is shown as it was. */
export function useChoice(change: EditedVideo['change']): (changes: VideoChanges, done: string) => void {
  const [, setRound] = useState(0);
  return (changes, done) => {
    change(changes)
      .then(() => tell(done), tellProblem)
      .finally(() => setRound(round => round + 1));
  };
}
