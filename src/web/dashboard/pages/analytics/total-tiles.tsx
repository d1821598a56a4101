import { formatNumber, formatPercent } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { t } from '../../texts/server.ts';
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

  readonly format: (value: number) => string;
  readonly isLessBetter?: boolean;
  readonly needsPlays?: boolean;
}[] = [
  { name: 'plays', format: formatNumber },
  { name: 'watchSeconds', format: formatSpan },
  { name: 'viewers', format: formatNumber },
  { name: 'peakViewers', format: formatNumber },
  { name: 'playPercent', format: formatPercent },
  {
    name: 'startSeconds',

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
          {tiles.map(({ name, format, isLessBetter = false, needsPlays = false }) => {
            const isKnown = !needsPlays || now.plays > 0;
            return (
              <div key={name} class="total">
                <dt>{t(`totals.name.${name}`)}</dt>
                <dd>
                  <bdi class="total-value">{isKnown ? format(now[name]) : '–'}</bdi>
                  {before !== undefined && isKnown && (
                    <Change now={now[name]} before={before[name]} isLessBetter={isLessBetter} />
                  )}
                </dd>
                <dd class="hint">{t(`totals.hint.${name}`)}</dd>
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
  if (percent === undefined) {
    return <span class="total-change">{t(now === 0 ? 'totals.same' : 'totals.fromZero')}</span>;
  }
  if (Math.abs(percent) < 0.5) return <span class="total-change">{t('totals.same')}</span>;
  const isBetter = percent > 0 !== isLessBetter;
  return (
    <span class={`total-change ${isBetter ? 'better' : 'worse'}`}>
      {t(percent > 0 ? 'totals.more' : 'totals.less', { change: formatPercent(Math.abs(percent)) })}
    </span>
  );
}
