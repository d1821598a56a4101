import { batch, signal } from '@preact/signals';
import type { Catalogue } from '../../i18n/catalogue.ts';
import {
  chooseLanguage,
  directionOf,
  english,
  type Language,
  type LanguageChoice,
} from '../../i18n/languages.ts';
import { type CatalogueImports, createTexts, loadTexts, type Texts } from '../../i18n/texts.ts';

/** Dates and numbers are written as in the reader's own variant of English, such as `en-GB`. */
let wanted = chooseLanguage(navigator.languages, ['en']);
const shown = signal(wanted);
/** Each loads its texts as wanted. */
const catalogues: ((choice: LanguageChoice) => Promise<LoadedCatalogue>)[] = [];

interface LoadedCatalogue {
  /** False if the texts are the English ones, since those of the language cannot be loaded. */
  readonly isTranslated: boolean;
  readonly show: () => void;
}

/**
 * Defines the texts of a part of the dashboard. They are in English until `setLanguage` or `withTexts` has loaded them, so that code
 * translates while it renders, and never while it is loaded. What has rendered a text renders again in another language.
 */
export function defineTexts<English extends Catalogue>(
  en: English,
  imports: CatalogueImports<English>,
): Pick<Texts<English>, 't' | 'rich'> {
  let texts = createTexts(en, wanted.language === 'en' ? wanted : english);
  const shownLocale = signal(texts.locale);
  catalogues.push(async choice => {
    if (texts.locale === choice.locale) return { isTranslated: true, show: () => {} };
    const loaded = await loadTexts(en, imports, choice);
    return {
      isTranslated: loaded.language === choice.language,
      show: () => {
        texts = loaded;
        shownLocale.value = loaded.locale;
      },
    };
  });
  return {
    t: ((...args: Parameters<typeof texts.t>) => {
      void shownLocale.value;
      return texts.t(...args);
    }) as typeof texts.t,
    rich: (...args) => {
      void shownLocale.value;
      return texts.rich(...args);
    },
  };
}

/** Shows the page in another language once its texts are loaded. It stays as it is while none can be. */
export async function setLanguage(next: LanguageChoice): Promise<void> {
  wanted = next;
  await loadWanted();
}

/** Waits for code, then for the texts that it brought. @throws what the import throws */
export async function withTexts<Module>(module: Promise<Module>): Promise<Module> {
  const loaded = await module;
  await loadWanted();
  return loaded;
}

async function loadWanted(): Promise<void> {
  const choice = wanted;
  const loaded = await Promise.all(catalogues.map(load => load(choice)));
  // Another one may have been wanted meanwhile.
  if (choice !== wanted) return;
  // The server was most likely updated, and the texts of the old page are gone.
  if (loaded.length > 0 && !loaded.some(({ isTranslated }) => isTranslated)) return;
  batch(() => {
    shown.value = choice;
    for (const { show } of loaded) show();
  });
}

export function shownLanguage(): Language {
  return shown.value.language;
}

/** Tag for `Intl`, which writes dates and numbers in the language of the page. */
export function locale(): string {
  return shown.value.locale;
}

/** True where lines of text begin at the right. */
export function isRightToLeft(): boolean {
  return directionOf(shownLanguage()) === 'rtl';
}

export function isEnglish(): boolean {
  return shownLanguage() === 'en';
}
