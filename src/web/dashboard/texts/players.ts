import en from '../../i18n/players/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/players/de.ts'),
  fr: () => import('../../i18n/players/fr.ts'),
  es: () => import('../../i18n/players/es.ts'),
  pt: () => import('../../i18n/players/pt.ts'),
  ja: () => import('../../i18n/players/ja.ts'),
  ar: () => import('../../i18n/players/ar.ts'),
});
