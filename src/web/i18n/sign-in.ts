import { chooseLanguage } from './languages.ts';
import en from './sign-in/en.ts';
import { type CatalogueImports, createTexts, loadTexts, type Texts } from './texts.ts';

export type SignInTexts = Texts<typeof en>;

const imports: CatalogueImports<typeof en> = {
  de: () => import('./sign-in/de.ts'),
  fr: () => import('./sign-in/fr.ts'),
  es: () => import('./sign-in/es.ts'),
  pt: () => import('./sign-in/pt.ts'),
  ja: () => import('./sign-in/ja.ts'),
  ar: () => import('./sign-in/ar.ts'),
};

/** Dates and numbers are written as in the reader's own variant of English, such as `en-GB`. */
export const englishSignInTexts: SignInTexts = createTexts(en, chooseLanguage(navigator.languages, ['en']));

export function loadSignInTexts(): Promise<SignInTexts> {
  return loadTexts(en, imports, navigator.languages);
}
