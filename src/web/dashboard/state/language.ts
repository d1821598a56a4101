import { signal } from '@preact/signals';
import { type Language, languages } from '../../i18n/languages.ts';
import { readStored, writeStored } from './local-storage.ts';

/** The language that the reader chose in this browser. */
export const chosenLanguage = signal<Language | undefined>(storedLanguage());

/** @param language undefined follows the browser */
export function changeLanguage(language: Language | undefined): void {
  chosenLanguage.value = language;
  writeStored('language', language);
}

function storedLanguage(): Language | undefined {
  const stored = readStored('language');
  return languages.find(language => language === stored);
}
