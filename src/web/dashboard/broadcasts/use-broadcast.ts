import { useEffect, useState } from 'preact/hooks';
import type { IngestAlarm, IngestHealth } from '../api/api-types.ts';
import { call } from '../api/client.ts';
import { useFeed } from '../ui/hooks/use-feed.ts';
import { useLoad } from '../ui/hooks/use-load.ts';
import { type BroadcastStats, isBroadcastChange, isBroadcastEnd, statsOf } from './broadcast-stats.ts';

export interface RunningBroadcast {
  readonly stats: BroadcastStats | undefined;
  readonly state: IngestHealth['state'];
  readonly alarms: readonly IngestAlarm[];
}

/** `onTurn`: a broadcast began or ended, or may have done so unnoticed. */
export function useBroadcast(liveStreamId: string, onTurn: (isEnd: boolean) => void): RunningBroadcast {
  const [stats, setStats] = useState<BroadcastStats>();
  const health = useLoad(liveStreamId, signal =>
    call('GET /live-streams/{liveStreamId}/health', { params: { liveStreamId }, signal }),
  );
  useFeed(message => {
    if (message.type === 'hello') {
      health.reload();
      onTurn(false);
    }
    if (message.liveStreamId !== liveStreamId) return;
    const told = statsOf(message);
    if (told !== undefined) {
      setStats(told);
    } else if (isBroadcastChange(message)) {
      if (isBroadcastEnd(message)) health.set({ broadcasting: false, alarms: [] });
      health.reload();
      onTurn(isBroadcastEnd(message));
    } else if (message.type.startsWith('live-stream.alarm.')) {
      health.reload();
    }
  });
  const { value } = health;
  useEffect(() => {
    if (value?.broadcasting === false) setStats(undefined);
  }, [value]);
  return { stats, state: stats?.state ?? value?.state, alarms: value?.alarms ?? [] };
}
