import { t } from '../../texts/shell.ts';
import { momentText } from './chart-axes.ts';
import type { ChartProps } from './chart-values.ts';

export function ChartLegend({
  props: { times, series, format, clock = 'local', showsNewest = false },
  pointed,
}: {
  props: ChartProps;
  pointed: number | undefined;
}) {
  const told = pointed ?? (showsNewest ? times.length - 1 : undefined);
  const time = pointed === undefined ? undefined : times[pointed];
  const spanSeconds = (times.at(-1) ?? 0) - (times[0] ?? 0);
  return (
    <p class="chart-legend" aria-hidden="true">
      {series.map(({ name, color, values }, index) => {
        const value = told === undefined ? undefined : values[told];
        return (
          <span key={name} class="with-icon">
            <span class={`dot color-${color ?? index + 1}`} />
            {name}
            {typeof value === 'number' && <strong class="number">{format(value)}</strong>}
            {told !== undefined && typeof value !== 'number' && <strong>{t('chart.unknown')}</strong>}
          </span>
        );
      })}
      {time !== undefined && <span class="chart-moment number">{momentText(time, spanSeconds, clock)}</span>}
    </p>
  );
}
