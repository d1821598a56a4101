import { useState } from 'preact/hooks';
import { useEvery } from '../ui/use-every.ts';

const periodMs = 10_000;

/** A number for the addresses of pictures of what is on air: another one whenever they are to be looked at anew. */
export function usePictureRound(isOnAir: boolean): number {
  const [round, setRound] = useState(() => Date.now());
  useEvery(isOnAir ? periodMs : undefined, () => setRound(Date.now()));
  return round;
}
