import en from '../../i18n/developers/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/developers/de.ts'),
  fr: () => import('../../i18n/developers/fr.ts'),
  es: () => import('../../i18n/developers/es.ts'),
  pt: () => import('../../i18n/developers/pt.ts'),
  ja: () => import('../../i18n/developers/ja.ts'),
  ar: () => import('../../i18n/developers/ar.ts'),
});
