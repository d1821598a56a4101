import type { Catalogue } from '../../i18n/catalogue.ts';
import { chooseLanguage, english, type LanguageChoice } from '../../i18n/languages.ts';
import { type CatalogueImports, createTexts, loadTexts, type Texts } from '../../i18n/texts.ts';

/** Dates and numbers are written as in the reader's own variant of English, such as `en-GB`. */
let choice = chooseLanguage(navigator.languages, ['en']);
const catalogues: (() => Promise<void>)[] = [];

/**
 * Defines the texts of a part of the dashboard. They are in English until `setLanguage` or `withTexts` has loaded them, so that code
 * translates while it renders, and never while it is loaded.
 */
export function defineTexts<English extends Catalogue>(
  en: English,
  imports: CatalogueImports<English>,
): Pick<Texts<English>, 't' | 'rich'> {
  let texts = createTexts(en, choice.language === 'en' ? choice : english);
  catalogues.push(async () => {
    if (texts.locale !== choice.locale) texts = await loadTexts(en, imports, choice);
  });
  return {
    t: ((...args: Parameters<typeof texts.t>) => texts.t(...args)) as typeof texts.t,
    rich: (...args) => texts.rich(...args),
  };
}

/** Loads the texts in another language. Does not render the page again. */
export async function setLanguage(next: LanguageChoice): Promise<void> {
  choice = next;
  await Promise.all(catalogues.map(load => load()));
}

/** Waits for code, then for the texts that it brought. @throws what the import throws */
export async function withTexts<Module>(module: Promise<Module>): Promise<Module> {
  const loaded = await module;
  await Promise.all(catalogues.map(load => load()));
  return loaded;
}

/** Tag for `Intl`, which writes dates and numbers in the language of the page. */
export function locale(): string {
  return choice.locale;
}

export function isEnglish(): boolean {
  return choice.language === 'en';
}
