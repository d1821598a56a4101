import { useMemo, useState } from 'preact/hooks';
import { call } from '../../../api/client.ts';
import { isBroadcastChange, statsOf } from '../../../broadcasts/broadcast-stats.ts';
import { useFeed } from '../../../ui/hooks/use-feed.ts';
import { useInterval } from '../../../ui/hooks/use-interval.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import {
  type FeedSamples,
  type HealthSample,
  mergeSamples,
  minShownSeconds,
  withStats,
} from './health-samples.ts';

const minStepMs = 1000;

interface HealthHistory {
  readonly samples: readonly HealthSample[];
  readonly endedAt: string | undefined;
  readonly isLoading: boolean;
}

export function useHealthHistory(liveStreamId: string, minutes: number): HealthHistory {
  const [heard, setHeard] = useState<FeedSamples>();
  const loaded = useLoad(`${liveStreamId} ${minutes}`, async signal => ({
    minutes,
    history: await call('GET /live-streams/{liveStreamId}/health/history', {
      params: { liveStreamId },
      query: { minutes },
      signal,
    }),
  }));
  useFeed(message => {
    if (message.type === 'hello') {
      setHeard(undefined);
      loaded.reload();
    }
    if (message.liveStreamId !== liveStreamId) return;
    const stats = statsOf(message);
    if (stats !== undefined) {
      const time = message.emittedAt === undefined ? Date.now() : Date.parse(message.emittedAt);
      setHeard(before => withStats(before, stats, Math.floor(time / 1000)));
    } else if (isBroadcastChange(message)) loaded.reload();
  });
  const history = loaded.value?.minutes === minutes ? loaded.value.history : undefined;
  const isOld = history !== undefined && heard !== undefined && heard.broadcastId !== history.broadcastId;
  const stepMs = (history?.stepSeconds ?? 1) * minStepMs;
  const isShort = minutes * 60 <= minShownSeconds;
  const reloadMs = isOld ? minStepMs : isShort || !history?.broadcasting ? undefined : stepMs;
  useInterval(reloadMs, loaded.reload);
  return {
    samples: useMemo(
      () => mergeSamples(history, isShort ? heard : undefined, minutes * 60),
      [history, heard, minutes],
    ),
    endedAt: history?.endedAt,
    isLoading: history === undefined && loaded.isLoading,
  };
}
