import { useEffect, useState } from 'preact/hooks';
import { chooseLanguage, directionOf, type LanguageChoice, languages } from '../../i18n/languages.ts';
import { chosenLanguage } from '../state/language.ts';
import { setLanguage } from '../state/texts.ts';

/**
 * Shows the pages in the language that the reader chose. Without a choice, those for people who are not signed in are in the language
 * of their browser, and the others in English.
 *
 * @param isSignedIn undefined while it is not known
 * @returns true once there are texts
 */
export function useLanguage(isSignedIn: boolean | undefined): boolean {
  const [shown, setShown] = useState<boolean>();
  const chosen = chosenLanguage.value;
  useEffect(() => {
    if (isSignedIn === undefined) return;
    let isCurrent = true;
    const choice = languageFor(isSignedIn);
    void setLanguage(choice).then(() => {
      if (!isCurrent) return;
      document.documentElement.lang = choice.language;
      document.documentElement.dir = directionOf(choice.language);
      setShown(isSignedIn);
    });
    return () => {
      isCurrent = false;
    };
  }, [isSignedIn, chosen]);
  return shown !== undefined && shown === isSignedIn;
}

/** Dates and numbers are written as in the reader's own variant of the language, such as `de-AT`. */
function languageFor(isSignedIn: boolean): LanguageChoice {
  const chosen = chosenLanguage.value;
  if (chosen !== undefined) return chooseLanguage([...navigator.languages, chosen], [chosen]);
  return chooseLanguage(navigator.languages, isSignedIn ? ['en'] : languages);
}
