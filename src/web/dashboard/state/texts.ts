import { englishSignInTexts, type SignInTexts } from '../../i18n/sign-in.ts';

let texts = englishSignInTexts;

/** Does not render the page again. */
export function setTexts(next: SignInTexts): void {
  texts = next;
}

export const t = ((...args: Parameters<SignInTexts['t']>) => texts.t(...args)) as SignInTexts['t'];

export const rich: SignInTexts['rich'] = (...args) => texts.rich(...args);

/** Tag for `Intl`, which writes dates and numbers in the language of the page. */
export function locale(): string {
  return texts.locale;
}

export function isEnglish(): boolean {
  return texts.language === 'en';
}
