import type { ChartClock } from './chart-axes.ts';

interface Series {
  readonly name: string;
  /** Number of the colour in the style sheet, 1 to 6; the index in the list unless given. */
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
  /** Tick distances, ascending. */
  readonly steps?: readonly number[];
  readonly clock?: ChartClock;
  /** Start of the time axis in seconds since 1970, if the first point comes later. */
  readonly from?: number;
  /** The legend shows the newest values while nothing is pointed at. */
  readonly showsNewest?: boolean;
}

/** Chooses evenly spaced rows, always with the newest. */
export function sampleRows(count: number, maxRows: number): number[] {
  const stride = Math.max(1, Math.ceil(count / maxRows));
  const rows: number[] = [];
  for (let index = count - 1; index >= 0; index -= stride) rows.unshift(index);
  return rows;
}

export function describeSeries({ name, values }: Series, format: ChartProps['format']): string {
  const known = values.filter(value => value !== null);
  const newest = known.at(-1);
  if (newest === undefined) return `${name}: no values yet`;
  const [lowest, highest] = known.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [newest, newest],
  );
  return `${name}: lowest ${format(lowest)}, highest ${format(highest)}, newest ${format(newest)}`;
}
