import { useEffect, useRef, useState } from 'preact/hooks';
import { useEvery } from '../ui/use-every.ts';
import { useFeed } from '../ui/use-feed.ts';
import { type BroadcastStats, isEnd, isTurn, statsIn } from './broadcast-stats.ts';

/** Those of one second come one after the other: they are shown together. */
const gatheredMs = 120;
/** One that is told of no more has ended, even if nobody said so. */
const forgottenMs = 6_000;

/**
 * How all broadcasts of the environment do, by the id of their live stream.
 *
 * @param onTurn told when one begins or ends; `endedId` is the live stream whose broadcast ended
 */
export function useBroadcasts(onTurn: (endedId?: string) => void): ReadonlyMap<string, BroadcastStats> {
  const heard = useRef(new Map<string, { stats: BroadcastStats; atMs: number }>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [onAir, setOnAir] = useState<ReadonlyMap<string, BroadcastStats>>(new Map());
  const showSoon = () => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      const oldestMs = Date.now() - forgottenMs;
      for (const [id, { atMs }] of heard.current) if (atMs < oldestMs) heard.current.delete(id);
      setOnAir(new Map([...heard.current].map(([id, { stats }]) => [id, stats])));
    }, gatheredMs);
  };
  useFeed(message => {
    const stats = statsIn(message);
    if (stats !== undefined) heard.current.set(stats.liveStreamId, { stats, atMs: Date.now() });
    else if (isTurn(message)) {
      const endedId = isEnd(message) ? message.liveStreamId : undefined;
      if (endedId !== undefined) heard.current.delete(endedId);
      onTurn(endedId);
    } else return;
    showSoon();
  });
  useEvery(onAir.size > 0 ? forgottenMs : undefined, showSoon);
  useEffect(() => () => clearTimeout(timer.current), []);
  return onAir;
}
