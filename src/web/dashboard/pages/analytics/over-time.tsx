import { formatNumber, formatPercent } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { spanSteps, wholeSteps } from '../../ui/chart-axes.ts';
import type { ChartProps } from '../../ui/chart-values.ts';
import { LazyChart } from '../../ui/lazy-chart.tsx';
import { Card } from '../../ui/page.tsx';
import { Shown } from '../../ui/states.tsx';
import type { Loaded } from '../../ui/use-load.ts';
import type { OverTime } from './numbers.ts';
import type { Frame } from './range.ts';

const plotHeight = 200;
/** With the legend. */
const placeHeight = plotHeight + 58;

type Plot = Pick<ChartProps, 'series' | 'format' | 'isArea' | 'steps' | 'atLeast'>;

const plots: readonly { readonly title: string; readonly plot: (values: OverTime) => Plot }[] = [
  {
    title: 'Plays',
    plot: ({ plays, impressions }) => ({
      series: [
        { name: 'Plays', values: plays },
        { name: 'Players loaded', color: 6, values: impressions },
      ],
      ...{ format: formatNumber, steps: wholeSteps, atLeast: 4 },
    }),
  },
  {
    title: 'Watch time',
    plot: ({ watchSeconds }) => ({
      series: [{ name: 'Watch time', color: 2, values: watchSeconds }],
      ...{ format: formatSpan, isArea: true, steps: spanSteps, atLeast: 30 },
    }),
  },
  {
    title: 'Concurrent viewers',
    plot: ({ peakViewers, averageViewers }) => ({
      series: [
        { name: 'Peak', color: 4, values: peakViewers },
        { name: 'Average', color: 3, values: averageViewers },
      ],
      ...{ format: value => formatNumber(value, 1), steps: wholeSteps, atLeast: 4 },
    }),
  },
  {
    title: 'Play rate',
    plot: ({ playPercents }) => ({
      series: [{ name: 'Plays of players loaded', color: 3, values: playPercents }],
      ...{ format: formatPercent, isArea: true, steps: wholeSteps, atLeast: 100 },
    }),
  },
];

/** What happened when, as plots that point at the same moment. */
export function OverTimePlots({
  loaded,
  frame: { interval, clock },
}: {
  loaded: Loaded<OverTime>;
  frame: Frame;
}) {
  const each = interval === 'hour' ? 'by the hour' : 'by the day';
  return (
    <div class="columns plots">
      {plots.map(({ title, plot }) => (
        <Card key={title} title={title}>
          <Shown loaded={loaded} height={placeHeight}>
            {values => (
              <LazyChart
                label={`${title}, ${each}`}
                times={values.times}
                height={plotHeight}
                sync="analytics"
                clock={clock}
                {...plot(values)}
              />
            )}
          </Shown>
        </Card>
      ))}
    </div>
  );
}
