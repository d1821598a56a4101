import { formatTime } from '../../../../shared/time-text.ts';
import type { LiveStream } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import { formatBitrate, formatNumber } from '../../../format/size.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy.tsx';
import { type Figure, Figures } from '../../../ui/figures.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Card } from '../../../ui/page.tsx';
import { connectionQuality, type UplinkStats } from './connection-quality.ts';
import type { Studio, StudioState } from './studio.ts';

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
  const uplink = studio.uplink.value;
  const quality = uplink && connectionQuality(uplink, media.maxBitsPerSecond);
  return (
    <Card title="Broadcast">
      <p class={`studio-state ${state.kind}`} role="status">
        {stateTexts[state.kind]}
      </p>
      {state.kind === 'failed' && <Notice tone="bad">{state.text}</Notice>}
      {state.kind === 'ended' && (
        <p>
          {state.text !== undefined && `${state.text} `}
          {stream.record !== false && 'The recording appears in your videos within a few seconds.'}
        </p>
      )}
      {state.kind === 'ended' && (
        <div class="actions">
          <Button href={`/dashboard/live/${stream.liveStreamId}?part=past`}>Show recordings</Button>
        </div>
      )}
      {isOnAir && <Figures figures={figuresOf(stats, studio.uplink.value)} />}
      {isOnAir && uplink !== undefined && (
        <p class={`studio-connection ${quality?.grade}`}>
          <strong>Connection</strong> {quality?.text}
        </p>
      )}
      <CopyField label="Link for viewers" value={stream.assets.player} />
    </Card>
  );
}

function figuresOf(stats: BroadcastStats | undefined, uplink: UplinkStats | undefined): Figure[] {
  const size = uplink?.width === undefined ? nothing : `${uplink.width} × ${uplink.height}`;
  return [
    ['Live for', stats === undefined ? nothing : formatTime(stats.durationSeconds)],
    ['Viewers', stats === undefined ? nothing : formatNumber(stats.viewers)],
    ['Sending', uplink === undefined ? nothing : formatBitrate(uplink.bitsPerSecond)],
    ['Resolution', size],
    ['Frame rate', uplink === undefined ? nothing : `${formatNumber(uplink.framesPerSecond)} fps`],
    [
      'Packet loss',
      uplink?.lossShare === undefined ? nothing : `${formatNumber(uplink.lossShare * 100, 1)}%`,
    ],
  ];
}
