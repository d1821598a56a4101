import type { ComponentChildren } from 'preact';
import { formatTime } from '../../../../shared/time-text.ts';
import type { IngestAlarm, IngestLog, LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { type BroadcastStats, isBroadcastEnd } from '../../../broadcasts/broadcast-stats.ts';
import { broadcastVerdict } from '../../../broadcasts/broadcast-verdict.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import { VerdictLine } from '../../../broadcasts/verdict-line.tsx';
import { codecName } from '../../../format/codec-name.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { withUnit } from '../../../format/with-unit.ts';
import { can } from '../../../state/session.ts';
import { t } from '../../../texts/live.ts';
import { Button } from '../../../ui/button.tsx';
import { Figures } from '../../../ui/figures.tsx';
import { useFeed } from '../../../ui/hooks/use-feed.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Card } from '../../../ui/page.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { formatEndReason, formatMedia } from '../broadcast-labels.ts';
import { SetupChecklist } from './setup-checklist.tsx';

const nothing = '–';
/** More of them hide the recording. */
const maxClips = 25;

/** The state of the broadcast, in a sentence and then in numbers. */
export function StatusPanel({
  stream,
  state,
  stats,
  alarms,
  connecting,
  children,
}: {
  stream: LiveStream;
  state: StreamState;
  stats: BroadcastStats | undefined;
  alarms: readonly IngestAlarm[];
  connecting: IngestLog['connecting'];
  children: ComponentChildren;
}) {
  const isPulled = stream.source?.enabled;
  return (
    <Card title={t('status.title')}>
      <VerdictLine verdict={broadcastVerdict({ state, stats, alarms, isPulled, connecting })} />
      {children}
      {state === 'off' && can('live') && <SetupChecklist isPulled={isPulled} connecting={connecting} />}
      {state === 'off' ? <LastBroadcast stream={stream} /> : <LiveFigures stats={stats} />}
    </Card>
  );
}

function LiveFigures({ stats }: { stats: BroadcastStats | undefined }) {
  const show = <Value,>(value: Value | undefined, format: (value: Value) => string) =>
    value === undefined ? nothing : format(value);
  const size = stats?.width === undefined ? undefined : withUnit(stats.width, `× ${stats.height}`);
  const codecs = stats && formatMedia({ ...stats, width: undefined, height: undefined });
  return (
    <>
      <Figures
        figures={[
          [t('streams.viewers'), show(stats?.viewers, formatNumber)],
          [t('status.liveFor'), show(stats?.durationSeconds, formatTime)],
          [t('live.bitrate'), show(stats?.bitrateBitsPerSecond, formatBitrate)],
          [
            t('status.frameRate'),
            show(stats?.framesPerSecond, value => withUnit(formatNumber(value), 'fps')),
          ],
          [t('status.resolution'), size ?? nothing],
          [t('status.codecs'), codecs ?? show(stats?.videoCodec, codecName)],
        ]}
      />
      <p class="hint">{t('status.hint')}</p>
    </>
  );
}

function LastBroadcast({ stream: { liveStreamId } }: { stream: LiveStream }) {
  const last = useLoad(liveStreamId, signal =>
    call('GET /live-streams/{liveStreamId}/broadcasts', {
      params: { liveStreamId },
      query: { pageSize: 1 },
      signal,
    }),
  );
  const recordings = useLoad(liveStreamId, signal =>
    call('GET /videos', {
      query: {
        liveStreamId,
        sourceType: 'liveStream',
        sortBy: 'createdAt',
        sortOrder: 'desc',
        pageSize: maxClips,
      },
      signal,
    }),
  );
  useFeed(message => {
    if (message.liveStreamId !== liveStreamId) return;
    // An ending broadcast is off air before its end is stored.
    if (isBroadcastEnd(message)) last.reload();
    if (message.type === 'video.source.recorded') recordings.reload();
  });
  const [broadcast] = last.value?.data ?? [];
  if (broadcast === undefined) return null;
  const { startedAt, endedAt, endReason, averageBitrateBitsPerSecond: bitrate } = broadcast;
  const recording = recordings.value?.data.find(({ source }) => source.clippedFrom === undefined);
  const isRecorded = recording !== undefined && Date.parse(recording.createdAt) >= Date.parse(startedAt);
  const seconds = endedAt === undefined ? undefined : (Date.parse(endedAt) - Date.parse(startedAt)) / 1000;
  return (
    <>
      <Figures
        figures={[
          [t('status.lastLive'), <RelativeTime key="time" time={endedAt ?? startedAt} />],
          [t('status.length'), seconds === undefined ? nothing : formatTime(seconds)],
          ...(bitrate === undefined ? [] : [[t('status.averageBitrate'), formatBitrate(bitrate)] as const]),
          ...(endReason === undefined
            ? []
            : [[t('status.whyEnded'), formatEndReason(endReason), 'text'] as const]),
        ]}
      />
      {isRecorded && (
        <div class="actions">
          <Button small icon="video" href={`/dashboard/videos/${recording.videoId}`}>
            {t('status.recording')}
          </Button>
        </div>
      )}
    </>
  );
}
