import en from '../../i18n/videos/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/videos/de.ts'),
  fr: () => import('../../i18n/videos/fr.ts'),
  es: () => import('../../i18n/videos/es.ts'),
  pt: () => import('../../i18n/videos/pt.ts'),
  ja: () => import('../../i18n/videos/ja.ts'),
  ar: () => import('../../i18n/videos/ar.ts'),
});
