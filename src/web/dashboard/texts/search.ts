import en from '../../i18n/search/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/search/de.ts'),
  fr: () => import('../../i18n/search/fr.ts'),
  es: () => import('../../i18n/search/es.ts'),
  pt: () => import('../../i18n/search/pt.ts'),
  ja: () => import('../../i18n/search/ja.ts'),
  ar: () => import('../../i18n/search/ar.ts'),
});
