/** Languages that every catalogue is translated to; English is the source. */
export const languages = ['en', 'de', 'fr', 'es', 'pt', 'ja', 'ar'] as const;

export type Language = (typeof languages)[number];

export interface LanguageChoice {
  /** Language of the texts. */
  readonly language: Language;
  /** Tag for `Intl`: the reader's own variant of the language, such as `de-AT`. */
  readonly locale: string;
}

export const english: LanguageChoice = { language: 'en', locale: 'en' };

/**
 * Chooses the first language that there are texts in.
 *
 * @param preferred BCP 47 tags, the most wanted first, as of `navigator.languages`; invalid ones are left out
 */
export function chooseLanguage(
  preferred: readonly string[],
  among: readonly Language[] = languages,
): LanguageChoice {
  for (const tag of preferred) {
    const locale = parseLocale(tag);
    const language = among.find(known => known === locale?.language);
    if (locale !== undefined && language !== undefined) return { language, locale: locale.toString() };
  }
  return english;
}

export function directionOf(language: Language): 'ltr' | 'rtl' {
  return language === 'ar' ? 'rtl' : 'ltr';
}

function parseLocale(tag: string): Intl.Locale | undefined {
  try {
    const locale = new Intl.Locale(tag);
    // Times of players have European digits in every language.
    return locale.language === 'ar' ? new Intl.Locale(locale, { numberingSystem: 'latn' }) : locale;
  } catch {
    return undefined;
  }
}
