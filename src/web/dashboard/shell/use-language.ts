import { effect } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { chooseLanguage, directionOf, type LanguageChoice } from '../../i18n/languages.ts';
import { chosenLanguage } from '../state/language.ts';
import { setLanguage, shownLanguage } from '../state/texts.ts';

/**
 * Shows the pages in the language that the reader chose, else in that of the browser.
 *
 * @returns true once there are texts
 */
export function useLanguage(): boolean {
  const [hasTexts, setHasTexts] = useState(false);
  const chosen = chosenLanguage.value;
  useEffect(() => {
    let isCurrent = true;
    void setLanguage(languageFor(chosen)).then(() => {
      if (isCurrent) setHasTexts(true);
    });
    return () => {
      isCurrent = false;
    };
  }, [chosen]);
  useEffect(
    () =>
      effect(() => {
        document.documentElement.lang = shownLanguage();
        document.documentElement.dir = directionOf(shownLanguage());
      }),
    [],
  );
  return hasTexts;
}

/** Dates and numbers are written as in the reader's own variant of the language, such as `de-AT`. */
function languageFor(chosen: typeof chosenLanguage.value): LanguageChoice {
  return chosen === undefined
    ? chooseLanguage(navigator.languages)
    : chooseLanguage([...navigator.languages, chosen], [chosen]);
}
