import { chooseLanguage } from './languages.ts';
import { type CatalogueImports, loadTexts, type Texts } from './texts.ts';
import en from './watch/en.ts';

export type WatchTexts = Texts<typeof en>;

const imports: CatalogueImports<typeof en> = {
  de: () => import('./watch/de.ts'),
  fr: () => import('./watch/fr.ts'),
  es: () => import('./watch/es.ts'),
  pt: () => import('./watch/pt.ts'),
  ja: () => import('./watch/ja.ts'),
  ar: () => import('./watch/ar.ts'),
};

/** Loads the texts in the browser's language. */
export function loadWatchTexts(): Promise<WatchTexts> {
  return loadTexts(en, imports, chooseLanguage(navigator.languages));
}
