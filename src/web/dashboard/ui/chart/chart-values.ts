import { t } from '../../texts/shell.ts';
import type { ChartClock } from './chart-axes.ts';

interface Series {
  readonly name: string;
  /** Number of the color in the style sheet; the position in the list by default. */
  readonly color?: number;
  /** One per time of the chart; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

export interface ChartProps {
  readonly label: string;
  /** Seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
  readonly height?: number;
  readonly isArea?: boolean;
  /** Charts with the same name share the cursor. */
  readonly sync?: string;
  /** The scale ends at this value or above, so that a flat line is not magnified. */
  readonly minScaleMax?: number;
  readonly steps?: readonly number[];
  readonly clock?: ChartClock;
  /** Start of the time axis in seconds since 1970. */
  readonly from?: number;
  readonly showsNewest?: boolean;
}

export function sampleRows(count: number, maxRows: number): number[] {
  const stride = Math.max(1, Math.ceil(count / maxRows));
  const rows: number[] = [];
  for (let index = count - 1; index >= 0; index -= stride) rows.unshift(index);
  return rows;
}

export function describeSeries({ name, values }: Series, format: ChartProps['format']): string {
  const known = values.filter(value => value !== null);
  const newest = known.at(-1);
  if (newest === undefined) return t('chart.noValues', { name });
  const [lowest, highest] = known.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [newest, newest],
  );
  return t('chart.summary', {
    name,
    lowest: format(lowest),
    highest: format(highest),
    newest: format(newest),
  });
}
