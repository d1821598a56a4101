import en from '../../i18n/shell/en.ts';
import { defineTexts } from '../state/texts.ts';

export const { t, rich } = defineTexts(en, {
  de: () => import('../../i18n/shell/de.ts'),
  fr: () => import('../../i18n/shell/fr.ts'),
  es: () => import('../../i18n/shell/es.ts'),
  pt: () => import('../../i18n/shell/pt.ts'),
  ja: () => import('../../i18n/shell/ja.ts'),
  ar: () => import('../../i18n/shell/ar.ts'),
});
