import { formatTime } from '../../../../shared/time-text.ts';
import type { LiveStream } from '../../../api/api-types.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import { formatBitrate, formatNumber, formatPercent } from '../../../format/size.ts';
import { withUnit } from '../../../format/with-unit.ts';
import { rich, t } from '../../../texts/live.ts';
import { bold } from '../../../ui/bold.tsx';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy.tsx';
import { type Figure, Figures } from '../../../ui/figures.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Card } from '../../../ui/page.tsx';
import { connectionQuality, type UplinkStats } from './connection-quality.ts';
import type { Studio } from './studio.ts';

const nothing = '–';

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
    <Card title={t('studio.broadcast')}>
      <p class={`studio-state ${state.kind}`} role="status">
        {t(`studio.state.${state.kind}`)}
      </p>
      {state.kind === 'failed' && <Notice tone="bad">{state.text}</Notice>}
      {state.kind === 'ended' && (
        <p>
          {state.text !== undefined && `${state.text} `}
          {stream.record !== false && t('studio.recordingSoon')}
        </p>
      )}
      {state.kind === 'ended' && (
        <div class="actions">
          <Button href={`/dashboard/live/${stream.liveStreamId}?part=past`}>
            {t('studio.showRecordings')}
          </Button>
        </div>
      )}
      {isOnAir && <Figures figures={figuresOf(stats, studio.uplink.value)} />}
      {isOnAir && uplink !== undefined && (
        <p class={`studio-connection ${quality?.grade}`}>
          {rich('studio.connection', { quality: quality?.text ?? '' }, bold)}
        </p>
      )}
      <CopyField label={t('studio.link')} value={stream.assets.player} />
    </Card>
  );
}

function figuresOf(stats: BroadcastStats | undefined, uplink: UplinkStats | undefined): Figure[] {
  const size = uplink?.width === undefined ? nothing : withUnit(uplink.width, `× ${uplink.height}`);
  return [
    [t('status.liveFor'), stats === undefined ? nothing : formatTime(stats.durationSeconds)],
    [t('streams.viewers'), stats === undefined ? nothing : formatNumber(stats.viewers)],
    [t('studio.sending'), uplink === undefined ? nothing : formatBitrate(uplink.bitsPerSecond)],
    [t('status.resolution'), size],
    [
      t('status.frameRate'),
      uplink === undefined ? nothing : withUnit(formatNumber(uplink.framesPerSecond), 'fps'),
    ],
    [
      t('health.packetLoss'),
      uplink?.lossShare === undefined ? nothing : formatPercent(uplink.lossShare * 100, 1),
    ],
  ];
}
