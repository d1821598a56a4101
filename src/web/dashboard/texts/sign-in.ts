import en from '../../i18n/sign-in/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/sign-in/de.ts'),
  fr: () => import('../../i18n/sign-in/fr.ts'),
  es: () => import('../../i18n/sign-in/es.ts'),
  pt: () => import('../../i18n/sign-in/pt.ts'),
  ja: () => import('../../i18n/sign-in/ja.ts'),
  ar: () => import('../../i18n/sign-in/ar.ts'),
});
