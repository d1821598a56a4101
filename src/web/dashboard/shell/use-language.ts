import { useEffect, useState } from 'preact/hooks';
import { chooseLanguage, directionOf, languages } from '../../i18n/languages.ts';
import { setLanguage } from '../state/texts.ts';

/**
 * Shows the pages for people who are not signed in in the language of their browser, and the others in English.
 *
 * @param isSignedIn undefined while it is not known
 * @returns true once there are texts
 */
export function useLanguage(isSignedIn: boolean | undefined): boolean {
  const [shown, setShown] = useState<boolean>();
  useEffect(() => {
    if (isSignedIn === undefined) return;
    let isCurrent = true;
    const choice = chooseLanguage(navigator.languages, isSignedIn ? ['en'] : languages);
    void setLanguage(choice).then(() => {
      if (!isCurrent) return;
      document.documentElement.lang = choice.language;
      document.documentElement.dir = directionOf(choice.language);
      setShown(isSignedIn);
    });
    return () => {
      isCurrent = false;
    };
  }, [isSignedIn]);
  return shown !== undefined && shown === isSignedIn;
}
