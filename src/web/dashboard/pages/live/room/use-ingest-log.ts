import { useEffect, useRef } from 'preact/hooks';
import type { IngestLog } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { isBroadcastChange } from '../../../broadcasts/broadcast-stats.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import { useFeed } from '../../../ui/hooks/use-feed.ts';
import { useInterval } from '../../../ui/hooks/use-interval.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';

/** The feed does not tell of encoders that connect or are refused. */
const idleReloadMs = 2_000;
const liveReloadMs = 10_000;

const empty: IngestLog = { data: [] };

/**
 * @param reloadMs `never` while the live stream is about to be deleted
 * @param onMissing somebody else has deleted it
 */
export function useIngestLog(
  liveStreamId: string,
  state: StreamState,
  reloadMs: number | 'never' = state === 'off' ? idleReloadMs : liveReloadMs,
  onMissing?: () => void,
): IngestLog {
  const log = useLoad(liveStreamId, signal =>
    call('GET /live-streams/{liveStreamId}/ingest-log', { params: { liveStreamId }, signal }),
  );
  useFeed(message => {
    const isOfStream = message.liveStreamId === liveStreamId;
    const isAlarm = message.type.startsWith('live-stream.alarm.');
    if (message.type === 'hello' || (isOfStream && (isAlarm || isBroadcastChange(message)))) log.reload();
  });
  useInterval(reloadMs === 'never' ? undefined : reloadMs, () => {
    // Another request would give up the one that a slow connection still answers.
    if (!log.isLoading) log.reload();
  });
  const isMissing = log.problem?.status === 404;
  useEffect(() => {
    if (isMissing) onMissing?.();
  }, [isMissing]);
  const shownState = useRef(state);
  useEffect(() => {
    if (shownState.current !== state) log.reload();
    shownState.current = state;
  }, [state]);
  return log.value ?? empty;
}
