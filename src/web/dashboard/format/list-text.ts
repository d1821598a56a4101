import { locale } from '../state/texts.ts';

/** Enumerates as the language does, without “and”: “a, b”. */
export function listText(items: readonly string[]): string {
  return new Intl.ListFormat(locale(), { type: 'unit' }).format(items);
}
