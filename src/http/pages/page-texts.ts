import {
  chooseLanguage,
  directionOf,
  english,
  type LanguageChoice,
  languages,
} from '../../web/i18n/languages.ts';
import ar from '../../web/i18n/pages/ar.ts';
import de from '../../web/i18n/pages/de.ts';
import en from '../../web/i18n/pages/en.ts';
import es from '../../web/i18n/pages/es.ts';
import fr from '../../web/i18n/pages/fr.ts';
import ja from '../../web/i18n/pages/ja.ts';
import pt from '../../web/i18n/pages/pt.ts';
import { weightedItems } from '../responses/content-negotiation.ts';

const maxConsidered = 20;

export type PageTextKey = keyof typeof en;

/** Texts of the pages that the server writes, in one language. */
export interface PageTexts extends LanguageChoice {
  readonly direction: 'ltr' | 'rtl';
  readonly t: (key: PageTextKey) => string;
}

const catalogues: Readonly<Record<LanguageChoice['language'], Readonly<Record<PageTextKey, string>>>> = {
  en,
  de,
  fr,
  es,
  pt,
  ja,
  ar,
};

export const allPageTexts: readonly PageTexts[] = languages.map(language => ({
  language,
  locale: language,
  direction: directionOf(language),
  t: key => catalogues[language][key],
}));

/** @param acceptLanguage header of the request (RFC 9110 12.5.4). The response depends on it: name it in `Vary` */
export function languageFor(acceptLanguage: string | undefined): LanguageChoice {
  if (acceptLanguage === undefined) return english;
  return chooseLanguage(weightedItems(acceptLanguage).slice(0, maxConsidered));
}

export function pageTextsFor(acceptLanguage: string | undefined): PageTexts {
  const { language, locale } = languageFor(acceptLanguage);
  return { ...allPageTexts.find(texts => texts.language === language)!, locale };
}
