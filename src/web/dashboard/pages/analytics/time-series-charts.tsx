import { formatNumber, formatPercent } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { spanSteps, wholeSteps } from '../../ui/chart/chart-axes.ts';
import type { ChartProps } from '../../ui/chart/chart-values.ts';
import { LazyChart } from '../../ui/chart/lazy-chart.tsx';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { Card } from '../../ui/page.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import type { TimeSeries } from './analytics-data.ts';
import type { TimeFrame } from './time-range.ts';

/** Pixels; the first plot has a row to itself. */
const plotHeights = { first: 240, other: 180 } as const;
const legendHeight = 58;

type Plot = Pick<ChartProps, 'series' | 'format' | 'isArea' | 'steps' | 'minScaleMax'>;

const plots: readonly { readonly title: string; readonly plot: (values: TimeSeries) => Plot }[] = [
  {
    title: 'Plays',
    plot: ({ plays, impressions }) => ({
      series: [
        { name: 'Plays', values: plays },
        { name: 'Players loaded', color: 6, values: impressions },
      ],
      format: formatNumber,
      steps: wholeSteps,
      minScaleMax: 4,
    }),
  },
  {
    title: 'Watch time',
    plot: ({ watchSeconds }) => ({
      series: [{ name: 'Watch time', color: 2, values: watchSeconds }],
      format: formatSpan,
      isArea: true,
      steps: spanSteps,
      minScaleMax: 30,
    }),
  },
  {
    title: 'Concurrent viewers',
    plot: ({ peakViewers, averageViewers }) => ({
      series: [
        { name: 'Peak', color: 4, values: peakViewers },
        { name: 'Average', color: 3, values: averageViewers },
      ],
      format: value => formatNumber(value, 1),
      steps: wholeSteps,
      minScaleMax: 4,
    }),
  },
  {
    title: 'Play rate',
    plot: ({ playPercents }) => ({
      series: [{ name: 'Plays per loaded player', color: 3, values: playPercents }],
      format: formatPercent,
      isArea: true,
      steps: wholeSteps,
      minScaleMax: 100,
    }),
  },
];

export function TimeSeriesCharts({
  loaded,
  frame: { interval, clock },
}: {
  loaded: Loaded<TimeSeries>;
  frame: TimeFrame;
}) {
  const each = interval === 'hour' ? 'by the hour' : 'by the day';
  return (
    <div class="columns plots">
      {plots.map(({ title, plot }, index) => {
        const height = plotHeights[index === 0 ? 'first' : 'other'];
        return (
          <Card key={title} title={title}>
            <LoadedContent loaded={loaded} height={height + legendHeight}>
              {values => (
                <LazyChart
                  label={`${title}, ${each}`}
                  times={values.times}
                  height={height}
                  sync="analytics"
                  clock={clock}
                  {...plot(values)}
                />
              )}
            </LoadedContent>
          </Card>
        );
      })}
    </div>
  );
}
