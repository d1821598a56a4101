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
  readonly atLeast?: number;
  /** Distances that the lines of the scale may have, ascending; any unless given. */
  readonly steps?: readonly number[];
  /** Each moment stands for the day of UTC that begins with it. */
  readonly areDays?: boolean;
}
