import { isRightToLeft } from '../state/texts.ts';

/** Writes a value with its Latin unit behind it, also among words that are read from the right. */
export function withUnit(value: number | string, unit: string): string {
  const text = `${value} ${unit}`;
  // Isolates, of Unicode's bidirectional algorithm.
  return isRightToLeft() ? `\u2066${text}\u2069` : text;
}
