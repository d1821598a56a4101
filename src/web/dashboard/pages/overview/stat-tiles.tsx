import type { ComponentChildren } from 'preact';
import type { Usage } from '../../api/api-types.ts';
import { formatBytes, formatNumber, formatPercent } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { t } from '../../texts/overview.ts';
import { Sparkline } from '../../ui/chart/sparkline.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { useCurrentViewers } from '../analytics/current-viewers.tsx';
import { changePercent } from '../analytics/time-range.ts';
import { StorageBar, StorageLegend } from '../usage/storage-bar.tsx';
import { type Stats, useStats } from './use-stats.ts';

const height = 124;
/** A flat line is not magnified. */
/** Lines as high as the other tiles. */
const maxStorageKinds = 2;
const minScale = { viewers: 4, plays: 4, watchSeconds: 60 };

export function StatTiles({ usage }: { usage: Usage }) {
  const loaded = useStats();
  return (
    <LoadedContent loaded={loaded} height={height}>
      {stats => (
        <ul class="tiles" aria-label={t('stats.label')}>
          <WatchingTile stats={stats} />
          <TrendTile
            name={t('stats.plays')}
            label={t('stats.playsLabel', { period: stats.period })}
            period={stats.period}
            trend={stats.plays}
            format={formatNumber}
            minScaleMax={minScale.plays}
            color={1}
          />
          <TrendTile
            name={t('stats.watchTime')}
            label={t('stats.watchTimeLabel', { period: stats.period })}
            period={stats.period}
            trend={stats.watchTime}
            format={formatSpan}
            minScaleMax={minScale.watchSeconds}
            color={2}
          />
          <StorageTile storage={usage.storage} />
        </ul>
      )}
    </LoadedContent>
  );
}

function Tile({
  name,
  value,
  href,
  note,
  children,
}: {
  name: string;
  value: string;
  href: string;
  note: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <li class="tile">
      <a class="tile-link" href={href}>
        {name}
      </a>
      <p class="tile-figures">
        <strong>{value}</strong>
        {note}
      </p>
      {children}
    </li>
  );
}

function WatchingTile({ stats: { viewers } }: { stats: Stats }) {
  const now = useCurrentViewers(undefined) ?? 0;
  const peak = Math.max(now, ...viewers);
  return (
    <Tile
      name={t('stats.watching')}
      value={formatNumber(now)}
      href="/dashboard/analytics"
      note={<span class="quiet">{peak === 0 ? t('stats.lastHour') : t('stats.peak', { count: peak })}</span>}
    >
      <Sparkline
        label={t('stats.viewersLabel')}
        values={[...viewers.slice(0, -1), now]}
        format={formatNumber}
        color={4}
        minScaleMax={minScale.viewers}
      />
    </Tile>
  );
}

function TrendTile({
  name,
  label,
  period,
  trend: { values, total, before },
  format,
  minScaleMax,
  color,
}: {
  name: string;
  label: string;
  period: Stats['period'];
  trend: Stats['plays'];
  format: (value: number) => string;
  minScaleMax: number;
  color: number;
}) {
  return (
    <Tile
      name={name}
      value={format(total)}
      href="/dashboard/analytics"
      note={
        <>
          <span class="quiet">{t('stats.last', { period })}</span>
          {before !== undefined && <Change percent={changePercent(total, before)} period={period} />}
        </>
      }
    >
      <Sparkline
        label={label}
        isLastPartial
        values={values}
        format={format}
        color={color}
        minScaleMax={minScaleMax}
      />
    </Tile>
  );
}

/** Shows nothing without a change, or where there was nothing before. */
function Change({ percent, period }: { percent: number | undefined; period: Stats['period'] }) {
  if (percent === undefined || Math.abs(percent) < 0.5) return null;
  const isMore = percent > 0;
  const change = formatPercent(Math.abs(percent));
  const text = t(isMore ? 'stats.more' : 'stats.less', { change, period });
  return (
    <span class={`tile-change ${isMore ? 'better' : 'worse'}`} title={text}>
      <span aria-hidden="true">
        {isMore ? '↑' : '↓'}
        {change}
      </span>
      <span class="for-readers">{text}</span>
    </span>
  );
}

function StorageTile({ storage }: { storage: Usage['storage'] }) {
  const { totalBytes, maxBytes } = storage;
  return (
    <Tile
      name={t('stats.storage')}
      value={formatBytes(totalBytes)}
      href="/dashboard/usage"
      note={
        <span class="quiet">
          {maxBytes === undefined ? t('stats.used') : t('stats.usedOf', { size: formatBytes(maxBytes) })}
        </span>
      }
    >
      {maxBytes === undefined ? (
        <StorageLegend storage={storage} max={maxStorageKinds} />
      ) : (
        <StorageBar storage={storage} />
      )}
    </Tile>
  );
}
