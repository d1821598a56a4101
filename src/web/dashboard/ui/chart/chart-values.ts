import type { ChartClock } from './chart-axes.ts';

/** A line or area of a chart. */
export interface Series {
  readonly name: string;
  /** Number of the colour in the style sheet, 1..6; its place in the list unless given. */
  readonly color?: number;
  /** One for each time of the chart; null where nothing is known. */
  readonly values: readonly (number | null)[];
}

/** What a chart over time shows. */
export interface ChartProps {
  /** What it shows, in words: its name for screen readers. */
  readonly label: string;
  /** Moments, in seconds since 1970, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** A value in words, with its unit. */
  readonly format: (value: number) => string;
  /** Pixels; 180 unless given. */
  readonly height?: number;
  /** Filled down to zero instead of a line alone. */
  readonly isArea?: boolean;
  /** Charts of the same name show the same moment under the pointer. */
  readonly sync?: string;
  /** Upper end of the scale at least, so that a flat line is not blown up. */
  readonly minScaleMax?: number;
  /** Distances that the lines of the scale may have, ascending; any unless given. */
  readonly steps?: readonly number[];
  /** Which clock times are told by; the viewer's unless given. */
  readonly clock?: ChartClock;
  /** The time axis begins here, in seconds since 1970, where the first point comes later. */
  readonly from?: number;
  /** While nothing is pointed at, the newest values are told. */
  readonly showsNewest?: boolean;
}

/** Which of so many points are told in a table of `maxRows`: evenly chosen, the newest one always. */
export function sampleRows(count: number, maxRows: number): number[] {
  const stride = Math.max(1, Math.ceil(count / maxRows));
  const rows: number[] = [];
  for (let index = count - 1; index >= 0; index -= stride) rows.unshift(index);
  return rows;
}

/** A series in a few words: its lowest, highest and newest value; that nothing is known where it has none. */
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
