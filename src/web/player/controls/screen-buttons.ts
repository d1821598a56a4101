import type { PlayerTexts } from '../../i18n/player.ts';
import type { PlayerMedia } from '../element/player-media.ts';
import { createButton, createElement } from './elements.ts';
import type { ScreenText } from './screens.ts';

/** @param share undefined where viewers cannot share */
export function screenButtons(
  actions: ScreenText['actions'],
  media: PlayerMedia,
  { t }: PlayerTexts,
  share: (() => void) | undefined,
): HTMLElement[] {
  return actions.flatMap((action): HTMLElement[] => {
    if (action === 'try-again') return [createButton(t('player.tryAgain'), () => media.load())];
    if (action === 'share') return share === undefined ? [] : [createButton(t('player.share'), share)];
    const { pageUrl } = media.details ?? {};
    if (pageUrl === undefined) return [];
    const { host } = new URL(pageUrl, location.href);
    const text = t('player.watchOn', { site: host });
    return [
      createElement('a', { className: 'action', text, href: pageUrl, target: '_blank', rel: 'noopener' }),
    ];
  });
}
