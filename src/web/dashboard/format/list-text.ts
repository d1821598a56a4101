import { locale } from '../state/texts.ts';

/** Enumerates as the language does: “a, b” in English. */
export function listText(items: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'unit' }).format(items);
}
