import type { PlayerTexts } from '../../i18n/player.ts';
import { openDialog } from './dialog.ts';
import { createElement } from './elements.ts';

export interface KeyHelpOptions {
  readonly isLive: boolean;
  readonly hasTheatre: boolean;
  readonly hasPlaylist: boolean;
}

export function openKeyHelp(root: ParentNode, texts: PlayerTexts, options: KeyHelpOptions): void {
  const { t } = texts;
  const list = createElement('dl', { className: 'keys' }, ...keysOf(texts, options).map(listItem));
  const dialog = openDialog(root, texts, t('player.shortcuts'), list);
  dialog.id = 'key-help';
  dialog.addEventListener('keydown', ({ key }) => {
    if (key === '?') dialog.close();
  });
}

function keysOf({ t }: PlayerTexts, options: KeyHelpOptions): [readonly string[], string][] {
  return [
    [[t('player.keySpace'), 'K'], t('player.keyPlay')],
    [['←', '→'], t('player.keyFiveSeconds')],
    [['J', 'L'], t('player.keyTenSeconds')],
    [[t('player.keyHome'), t('player.keyEnd')], t(options.isLive ? 'player.keyEndsLive' : 'player.keyEnds')],
    [['0', '…', '9'], t('player.keyPercent')],
    [[',', '.'], t('player.keyFrame')],
    [['<', '>'], t('player.keySpeed')],
    [['↑', '↓'], t('player.keyVolume')],
    [['M'], t('player.keyMute')],
    [['C'], t('player.keyCaptions')],
    [['F'], t('player.keyFullscreen')],
    [['P'], t('player.keyPictureInPicture')],
    ...(options.hasTheatre ? [[['T'], t('player.theatre')] as [string[], string]] : []),
    ...(options.hasPlaylist
      ? [[['⇧ P', '⇧ N'], `${t('player.previous')}, ${t('player.next')}`] as [string[], string]]
      : []),
    [['?'], t('player.keyShortcuts')],
  ];
}

function listItem([keys, does]: [readonly string[], string]): HTMLElement {
  const names = keys.map(key => createElement(key === '…' ? 'span' : 'kbd', { text: key }));
  return createElement('div', {}, createElement('dt', {}, ...names), createElement('dd', { text: does }));
}
