import { useState } from 'preact/hooks';
import { formatTime } from '../../../../shared/time-text.ts';
import type { LiveStream } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy.tsx';
import { ConfirmDialog } from '../../../ui/dialog/confirm-dialog.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Card, DetailList } from '../../../ui/page.tsx';
import { connectionQuality, type UplinkStats } from './connection-quality.ts';
import type { Studio, StudioState } from './studio.ts';
import { noMicrophone } from './studio-media.ts';

const nothing = '–';
const stateTexts: Readonly<Record<StudioState['kind'], string>> = {
  off: 'Ready. Nobody can see you yet.',
  connecting: 'Connecting…',
  live: 'You’re live',
  reconnecting: 'The connection was lost. Reconnecting…',
  ended: 'The broadcast has ended',
  failed: 'You’re not live',
};

export function OnAirCard({
  studio,
  stream,
  stats,
}: {
  studio: Studio;
  stream: LiveStream;
  stats: BroadcastStats | undefined;
}) {
  const state = studio.state.value;
  const { media, isOnAir } = studio;
  return (
    <Card title="Broadcast">
      <p class={`glance-state studio-state ${state.kind}`} role="status">
        {stateTexts[state.kind]}
      </p>
      {state.kind === 'failed' && <Notice tone="bad">{state.text}</Notice>}
      {state.kind === 'ended' && (
        <p>
          {state.text !== undefined && `${state.text} `}
          {stream.record !== false && 'The recording appears in your videos within a few seconds.'}
        </p>
      )}
      {isOnAir ? (
        <LiveControls studio={studio} stream={stream} />
      ) : (
        <div class="actions">
          <Button
            kind="primary"
            icon="live"
            disabled={media.video.value === undefined}
            onClick={() => studio.goLive(stream.streamKey ?? '')}
          >
            {state.kind === 'off' ? 'Go live' : 'Go live again'}
          </Button>
          {state.kind === 'ended' && (
            <Button href={`/dashboard/live/${stream.liveStreamId}?part=past`}>Show recordings</Button>
          )}
        </div>
      )}
      <DetailList rows={isOnAir ? rowsOf(stats, studio.uplink.value, media.maxBitsPerSecond) : []} />
      <CopyField label="Link for viewers" value={stream.assets.player} />
    </Card>
  );
}

function LiveControls({ studio, stream }: { studio: Studio; stream: LiveStream }) {
  const [isAsking, setAsking] = useState(false);
  const { media } = studio;
  const isMuted = media.isMuted.value;
  const isVideoOff = media.isVideoOff.value;
  return (
    <div class="actions studio-controls">
      {media.microphoneId.value !== noMicrophone && (
        <Button icon="audio" pressed={isMuted} onClick={() => media.setMuted(!isMuted)}>
          {isMuted ? 'Unmute' : 'Mute'}
        </Button>
      )}
      <Button
        icon={isVideoOff ? 'eye' : 'eye-off'}
        pressed={isVideoOff}
        onClick={() => media.setVideoOff(!isVideoOff)}
      >
        {isVideoOff ? 'Show video' : 'Hide video'}
      </Button>
      <Button kind="danger" icon="stop" onClick={() => setAsking(true)}>
        End broadcast
      </Button>
      {isAsking && (
        <ConfirmDialog
          title="End the broadcast?"
          action="End broadcast"
          work={() => studio.end()}
          onClose={() => setAsking(false)}
        >
          <p>
            Viewers of “{stream.name}” see that the stream has ended, and what was recorded becomes a video.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function rowsOf(
  stats: BroadcastStats | undefined,
  uplink: UplinkStats | undefined,
  maxBitsPerSecond: number,
): (readonly [string, string])[] {
  const size = uplink?.width === undefined ? '' : `${uplink.width} × ${uplink.height}, `;
  return [
    ['Live for', stats === undefined ? nothing : formatTime(stats.durationSeconds)],
    ['Viewers', stats === undefined ? nothing : formatNumber(stats.viewers)],
    ['Connection', uplink === undefined ? nothing : connectionQuality(uplink, maxBitsPerSecond).text],
    ['Sending', uplink === undefined ? nothing : formatBitrate(uplink.bitsPerSecond)],
    ['Resolution', uplink === undefined ? nothing : `${size}${uplink.framesPerSecond} fps`],
    [
      'Round trip, loss',
      uplink?.roundTripMs === undefined
        ? nothing
        : `${uplink.roundTripMs} ms, ${formatNumber(Math.round((uplink.lossShare ?? 0) * 1000) / 10)}%`,
    ],
  ];
}
