import { formatNumber, formatPercent } from '../../format/size.ts';
import { formatSpan } from '../../format/time.ts';
import { t } from '../../texts/server.ts';
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

const plots = [
  {
    name: 'plays',
    plot: ({ plays, impressions }) => ({
      series: [
        { name: t('charts.title.plays'), values: plays },
        { name: t('charts.impressions'), color: 6, values: impressions },
      ],
      format: formatNumber,
      steps: wholeSteps,
      minScaleMax: 4,
    }),
  },
  {
    name: 'watchTime',
    plot: ({ watchSeconds }) => ({
      series: [{ name: t('charts.title.watchTime'), color: 2, values: watchSeconds }],
      format: formatSpan,
      isArea: true,
      steps: spanSteps,
      minScaleMax: 30,
    }),
  },
  {
    name: 'viewers',
    plot: ({ peakViewers, averageViewers }) => ({
      series: [
        { name: t('charts.peak'), color: 4, values: peakViewers },
        { name: t('charts.average'), color: 3, values: averageViewers },
      ],
      format: value => formatNumber(value, 1),
      steps: wholeSteps,
      minScaleMax: 4,
    }),
  },
  {
    name: 'playRate',
    plot: ({ playPercents }) => ({
      series: [{ name: t('charts.playsPerPlayer'), color: 3, values: playPercents }],
      format: formatPercent,
      isArea: true,
      steps: wholeSteps,
      minScaleMax: 100,
    }),
  },
] as const satisfies readonly { readonly name: string; readonly plot: (values: TimeSeries) => Plot }[];

export function TimeSeriesCharts({
  loaded,
  frame: { interval, clock },
}: {
  loaded: Loaded<TimeSeries>;
  frame: TimeFrame;
}) {
  return (
    <div class="columns plots">
      {plots.map(({ name, plot }, index) => {
        const height = plotHeights[index === 0 ? 'first' : 'other'];
        return (
          <Card key={name} title={t(`charts.title.${name}`)}>
            <LoadedContent loaded={loaded} height={height + legendHeight}>
              {values => (
                <LazyChart
                  label={t(interval === 'hour' ? `charts.hourly.${name}` : `charts.daily.${name}`)}
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
