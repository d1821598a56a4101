import en from '../../i18n/server/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/server/de.ts'),
  fr: () => import('../../i18n/server/fr.ts'),
  es: () => import('../../i18n/server/es.ts'),
  pt: () => import('../../i18n/server/pt.ts'),
  ja: () => import('../../i18n/server/ja.ts'),
  ar: () => import('../../i18n/server/ar.ts'),
});
