import { formatTime } from '../../../shared/time-text.ts';
import type { IngestAlarm, LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { type BroadcastStats, isBroadcastEnd } from '../../broadcasts/broadcast-stats.ts';
import { broadcastVerdict } from '../../broadcasts/broadcast-verdict.ts';
import type { StreamState } from '../../broadcasts/stream-state.ts';
import { VerdictLine } from '../../broadcasts/verdict-line.tsx';
import { formatBitrate, formatNumber } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { useFeed } from '../../ui/hooks/use-feed.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Card, DetailList } from '../../ui/page.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { formatMedia } from './broadcast-labels.ts';

const nothing = '–';
export function StatusCard({
  stream,
  state,
  stats,
  alarms,
}: {
  stream: LiveStream;
  state: StreamState;
  stats: BroadcastStats | undefined;
  alarms: readonly IngestAlarm[];
}) {
  const { liveStreamId } = stream;
  const last = useLoad(`${liveStreamId} ${state === 'off'}`, signal =>
    call('GET /live-streams/{liveStreamId}/broadcasts', {
      params: { liveStreamId },
      query: { pageSize: 1 },
      signal,
    }),
  );
  // An ending broadcast is off air before its end is stored.
  useFeed(message => {
    if (message.liveStreamId === liveStreamId && isBroadcastEnd(message)) last.reload();
  });
  const [broadcast] = last.value?.data ?? [];
  return (
    <Card title="Status">
      <VerdictLine verdict={broadcastVerdict({ state, stats, alarms, isPulled: stream.source?.enabled })} />
      <DetailList
        rows={[
          ['Live for', stats === undefined ? nothing : formatTime(stats.durationSeconds)],
          ['Viewers', stats === undefined ? nothing : formatNumber(stats.viewers)],
          ['Bitrate', stats === undefined ? nothing : formatBitrate(stats.bitrateBitsPerSecond)],
          ['Frame rate', stats === undefined ? nothing : `${formatNumber(stats.framesPerSecond)} fps`],
          ['Video, audio', (stats === undefined ? undefined : formatMedia(stats)) ?? nothing],
          state === 'off'
            ? [
                'Last live',
                broadcast === undefined ? (
                  'Never'
                ) : (
                  <RelativeTime time={broadcast.endedAt ?? broadcast.startedAt} />
                ),
              ]
            : ['Started', broadcast === undefined ? nothing : formatDateTime(broadcast.startedAt)],
        ]}
      />
      <p class="hint">All tabs of a browser count as one viewer, including this preview.</p>
    </Card>
  );
}
