import { useState } from 'preact/hooks';
import type { Usage } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/server.ts';
import { Figures } from '../../ui/figures.tsx';
import { Card } from '../../ui/page.tsx';

type Day = Usage['bandwidth']['days'][number];

export function BandwidthCard({ bandwidth }: { bandwidth: Usage['bandwidth'] }) {
  const { days, todayBytes, last30DaysBytes } = bandwidth;
  return (
    <Card title={t('usage.bandwidth')}>
      <Figures
        figures={[
          [t('usage.today'), formatBytes(todayBytes)],
          [t('usage.last30Days'), formatBytes(last30DaysBytes)],
        ]}
      />
      {last30DaysBytes === 0 ? <p class="hint">{t('usage.noTraffic')}</p> : <Days days={days} />}
    </Card>
  );
}

function Days({ days }: { days: readonly Day[] }) {
  const [pointed, setPointed] = useState<Day>();
  const most = Math.max(1, ...days.map(({ bytes }) => bytes));
  return (
    <>
      {/* Shown for the pointer only; the table has the same numbers. */}
      <div class="days" aria-hidden="true" onPointerLeave={() => setPointed(undefined)}>
        {days.map(day => (
          <span
            key={day.date}
            class={`day${day === pointed ? ' pointed' : ''}`}
            onPointerEnter={() => setPointed(day)}
          >
            <span class="day-part color-1" style={{ height: `${(100 * day.videoBytes) / most}%` }} />
            <span class="day-part color-3" style={{ height: `${(100 * day.liveBytes) / most}%` }} />
          </span>
        ))}
      </div>
      <div class="days-foot" aria-hidden="true">
        {pointed === undefined ? (
          <>
            <span>{dayLabel(days[0])}</span>
            <span class="days-legend">
              <span class="with-icon">
                <span class="dot color-3" /> {t('usage.live')}
              </span>
              <span class="with-icon">
                <span class="dot color-1" /> {t('usage.videos')}
              </span>
            </span>
            <span>{t('usage.today')}</span>
          </>
        ) : (
          <span>
            {t('usage.day', {
              day: dayLabel(pointed),
              total: formatBytes(pointed.bytes),
              live: formatBytes(pointed.liveBytes),
              videos: formatBytes(pointed.videoBytes),
            })}
          </span>
        )}
      </div>
      <p class="hint">{t('usage.inUtc')}</p>
      <div class="for-readers">
        <DaysTable days={days} />
      </div>
    </>
  );
}

function DaysTable({ days }: { days: readonly Day[] }) {
  return (
    <table>
      <caption>{t('usage.tableCaption')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('usage.dayHead')}</th>
          <th scope="col">{t('usage.live')}</th>
          <th scope="col">{t('usage.videos')}</th>
        </tr>
      </thead>
      <tbody>
        {days
          .filter(({ bytes }) => bytes > 0)
          .map(day => (
            <tr key={day.date}>
              <th scope="row">{dayLabel(day)}</th>
              <td>{formatBytes(day.liveBytes)}</td>
              <td>{formatBytes(day.videoBytes)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function dayLabel(day: Day | undefined): string {
  if (day === undefined) return '';
  return new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(day.date),
  );
}
