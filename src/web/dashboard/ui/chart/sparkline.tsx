import { type ChartProps, describeSeries } from './chart-values.ts';
import { sparklinePaths } from './sparkline-paths.ts';

/** A line without axes, as wide as its frame. */
export function Sparkline({
  label,
  values,
  format,
  color = 1,
  minScaleMax = 1,
  isLastPartial = false,
}: Pick<ChartProps, 'label' | 'format' | 'minScaleMax'> & {
  readonly values: readonly (number | null)[];
  readonly color?: number;
  /** The last value is of a period that is not over. */
  readonly isLastPartial?: boolean;
}) {
  const { line, area, partial } = sparklinePaths(values, minScaleMax, isLastPartial);
  return (
    <svg
      class={`sparkline color-${color}`}
      role="img"
      aria-label={describeSeries({ name: label, values }, format)}
      viewBox="0 0 100 32"
      preserveAspectRatio="none"
    >
      <path class="sparkline-area" d={area} />
      <path class="sparkline-line" d={line} />
      {partial !== '' && <path class="sparkline-line partial" d={partial} />}
    </svg>
  );
}
