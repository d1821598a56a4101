/** Dimensions in the order of the table columns. */
export const dimensions = [
  'media-id',
  'media-type',
  'continent',
  'country',
  'device-type',
  'operating-system',
  'browser',
  'referrer',
  'viewer-id',
] as const;

export type Dimension = (typeof dimensions)[number];

export function columnOf(dimension: Dimension): string {
  return dimension.replaceAll('-', '_');
}

/** Number in `analytics_sums`. 0 is the total of all values. */
export function numberOf(dimension: Dimension | undefined): number {
  return dimension === undefined ? 0 : dimensions.indexOf(dimension) + 1;
}
