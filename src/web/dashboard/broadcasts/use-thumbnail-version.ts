import { useState } from 'preact/hooks';
import { useInterval } from '../ui/hooks/use-interval.ts';

const refreshMs = 10_000;

/** A number for the addresses of pictures of what is on air: another one whenever they are to be looked at anew. */
export function useThumbnailVersion(isLive: boolean): number {
  const [round, setRound] = useState(() => Date.now());
  useInterval(isLive ? refreshMs : undefined, () => setRound(Date.now()));
  return round;
}
