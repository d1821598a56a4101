import { t } from '../texts/shell.ts';

export function titleOf({ title }: { readonly title: string }): string {
  return title.trim() === '' ? t('video.untitled') : title;
}

const maxShortChars = 60;

/** The title where only one line has room. */
export function shortTitleOf(video: { readonly title: string }): string {
  const chars = [...titleOf(video)];
  return chars.length <= maxShortChars ? chars.join('') : `${chars.slice(0, maxShortChars).join('')}…`;
}
