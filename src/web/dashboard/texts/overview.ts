import en from '../../i18n/overview/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/overview/de.ts'),
  fr: () => import('../../i18n/overview/fr.ts'),
  es: () => import('../../i18n/overview/es.ts'),
  pt: () => import('../../i18n/overview/pt.ts'),
  ja: () => import('../../i18n/overview/ja.ts'),
  ar: () => import('../../i18n/overview/ar.ts'),
});
