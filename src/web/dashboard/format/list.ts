import { locale } from '../state/texts.ts';

/** Joins names with commas, as the language writes them. */
export function formatList(names: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'unit', style: 'short' }).format(names);
}
