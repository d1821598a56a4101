/** By what viewing can be told apart, as the API names it. The order is that of the tables. */
export const dimensions = [
  'media-id',
  'media-type',
  'continent',
  'country',
  'device-type',
  'operating-system',
  'browser',
  'referrer',
] as const;

/** One of {@link dimensions}. */
export type Dimension = (typeof dimensions)[number];

/** The column of a dimension in the tables. */
export function columnOf(dimension: Dimension): string {
  return dimension.replaceAll('-', '_');
}

/** The number of a dimension in `analytics_sums`; 0 stands for all together. */
export function numberOf(dimension: Dimension | undefined): number {
  return dimension === undefined ? 0 : dimensions.indexOf(dimension) + 1;
}
