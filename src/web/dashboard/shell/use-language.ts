import { useEffect, useState } from 'preact/hooks';
import { englishSignInTexts, loadSignInTexts } from '../../i18n/sign-in.ts';
import { setTexts } from '../state/texts.ts';

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
    const loaded = isSignedIn ? Promise.resolve(englishSignInTexts) : loadSignInTexts();
    void loaded.then(texts => {
      if (!isCurrent) return;
      setTexts(texts);
      document.documentElement.lang = texts.language;
      document.documentElement.dir = texts.direction;
      setShown(isSignedIn);
    });
    return () => {
      isCurrent = false;
    };
  }, [isSignedIn]);
  return shown !== undefined && shown === isSignedIn;
}
