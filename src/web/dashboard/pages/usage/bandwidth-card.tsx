import { useState } from 'preact/hooks';
import type { Usage } from '../../api/api-types.ts';
import { formatBytes } from '../../format/size.ts';
import { locale } from '../../state/texts.ts';
import { Figures } from '../../ui/figures.tsx';
import { Card } from '../../ui/page.tsx';

type Day = Usage['bandwidth']['days'][number];

export function BandwidthCard({ bandwidth }: { bandwidth: Usage['bandwidth'] }) {
  const { days, todayBytes, last30DaysBytes } = bandwidth;
  return (
    <Card title="Bandwidth">
      <Figures
        figures={[
          ['Today', formatBytes(todayBytes)],
          ['Last 30 days', formatBytes(last30DaysBytes)],
        ]}
      />
      {last30DaysBytes === 0 ? <p class="hint">No traffic yet.</p> : <Days days={days} />}
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
                <span class="dot color-3" /> Live
              </span>
              <span class="with-icon">
                <span class="dot color-1" /> Videos
              </span>
            </span>
            <span>Today</span>
          </>
        ) : (
          <span>
            {dayLabel(pointed)}: {formatBytes(pointed.bytes)} (live {formatBytes(pointed.liveBytes)}, videos{' '}
            {formatBytes(pointed.videoBytes)})
          </span>
        )}
      </div>
      <p class="hint">Times are in UTC.</p>
      <div class="for-readers">
        <DaysTable days={days} />
      </div>
    </>
  );
}

function DaysTable({ days }: { days: readonly Day[] }) {
  return (
    <table>
      <caption>Bandwidth of the last 30 days. Days without traffic are left out.</caption>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col">Live</th>
          <th scope="col">Videos</th>
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
