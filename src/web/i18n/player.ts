import { chooseLanguage, english } from './languages.ts';
import en from './player/en.ts';
import { type CatalogueImports, createTexts, loadTexts, type Texts } from './texts.ts';

export type PlayerTexts = Texts<typeof en>;

const imports: CatalogueImports<typeof en> = {
  de: () => import('./player/de.ts'),
  fr: () => import('./player/fr.ts'),
  es: () => import('./player/es.ts'),
  pt: () => import('./player/pt.ts'),
  ja: () => import('./player/ja.ts'),
  ar: () => import('./player/ar.ts'),
};

/** Texts until those of the viewer's language are loaded. */
export const englishPlayerTexts: PlayerTexts = createTexts(en, english);

/** @param lang the player's `lang` attribute; without it, or without texts in it, the browser's languages are used */
export function loadPlayerTexts(lang?: string | null): Promise<PlayerTexts> {
  return loadTexts(en, imports, chooseLanguage([lang ?? '', ...navigator.languages]));
}
