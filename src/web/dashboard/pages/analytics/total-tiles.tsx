import { formatNumber, formatPercent } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { LoadedContent } from '../../ui/states.tsx';
import type { Totals } from './analytics-data.ts';
import { changePercent } from './time-range.ts';

interface ComparedTotals {
  readonly now: Totals;
  readonly before: Totals | undefined;
}

const tiles: readonly {
  readonly name: keyof Totals;
  readonly label: string;
  readonly hint: string;
  readonly format: (value: number) => string;
  readonly isLessBetter?: boolean;
  readonly needsPlays?: boolean;
}[] = [
  { name: 'plays', label: 'Plays', hint: 'Times that play was pressed', format: formatNumber },
  { name: 'watchSeconds', label: 'Watch time', hint: 'Total of all viewers', format: formatSpan },
  {
    name: 'viewers',
    label: 'Viewers',
    hint: 'Watched 5 s or more, counted once a day',
    format: formatNumber,
  },
  { name: 'peakViewers', label: 'Peak viewers', hint: 'Most viewers at the same time', format: formatNumber },
  { name: 'playPercent', label: 'Play rate', hint: 'Plays per loaded player', format: formatPercent },
  {
    name: 'startSeconds',
    label: 'Startup time',
    hint: 'Average time from play to first frame',
    format: seconds => `${formatNumber(seconds, 2)} s`,
    isLessBetter: true,
    needsPlays: true,
  },
];

export function TotalTiles({ loaded }: { loaded: Loaded<ComparedTotals> }) {
  return (
    <LoadedContent loaded={loaded} height={126}>
      {({ now, before }) => (
        <dl class="totals">
          {tiles.map(({ name, label, hint, format, isLessBetter = false, needsPlays = false }) => {
            const isKnown = !needsPlays || now.plays > 0;
            return (
              <div key={name} class="total">
                <dt>{label}</dt>
                <dd>
                  <span class="total-value">{isKnown ? format(now[name]) : '–'}</span>
                  {before !== undefined && isKnown && (
                    <Change now={now[name]} before={before[name]} isLessBetter={isLessBetter} />
                  )}
                </dd>
                <dd class="hint">{hint}</dd>
              </div>
            );
          })}
        </dl>
      )}
    </LoadedContent>
  );
}

function Change({ now, before, isLessBetter }: { now: number; before: number; isLessBetter: boolean }) {
  const percent = changePercent(now, before);
  if (percent === undefined) return <span class="total-change">{now === 0 ? 'No change' : 'Up from 0'}</span>;
  if (Math.abs(percent) < 0.5) return <span class="total-change">No change</span>;
  const isBetter = percent > 0 !== isLessBetter;
  return (
    <span class={`total-change ${isBetter ? 'better' : 'worse'}`}>
      {formatPercent(Math.abs(percent))} {percent > 0 ? 'more' : 'less'}
    </span>
  );
}
