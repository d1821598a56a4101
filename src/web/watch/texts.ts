import { loadWatchTexts } from '../i18n/watch.ts';

/** The page is in one language while it is open. */
export const texts = await loadWatchTexts();

export const { t } = texts;
