import en from '../../i18n/uploads/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/uploads/de.ts'),
  fr: () => import('../../i18n/uploads/fr.ts'),
  es: () => import('../../i18n/uploads/es.ts'),
  pt: () => import('../../i18n/uploads/pt.ts'),
  ja: () => import('../../i18n/uploads/ja.ts'),
  ar: () => import('../../i18n/uploads/ar.ts'),
});
