import en from '../../i18n/live/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/live/de.ts'),
  fr: () => import('../../i18n/live/fr.ts'),
  es: () => import('../../i18n/live/es.ts'),
  pt: () => import('../../i18n/live/pt.ts'),
  ja: () => import('../../i18n/live/ja.ts'),
  ar: () => import('../../i18n/live/ar.ts'),
});
