import en from '../../i18n/account/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/account/de.ts'),
  fr: () => import('../../i18n/account/fr.ts'),
  es: () => import('../../i18n/account/es.ts'),
  pt: () => import('../../i18n/account/pt.ts'),
  ja: () => import('../../i18n/account/ja.ts'),
  ar: () => import('../../i18n/account/ar.ts'),
});
