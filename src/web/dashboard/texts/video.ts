import en from '../../i18n/video/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/video/de.ts'),
  fr: () => import('../../i18n/video/fr.ts'),
  es: () => import('../../i18n/video/es.ts'),
  pt: () => import('../../i18n/video/pt.ts'),
  ja: () => import('../../i18n/video/ja.ts'),
  ar: () => import('../../i18n/video/ar.ts'),
});
