import type { PlayerTexts } from '../../i18n/player.ts';
import { saveFile } from '../../shared/save-file.ts';
import type { PlayerMedia } from '../element/player-media.ts';
import { type ControlsView, captionTracks } from './controls-view.ts';
import type { MenuItem } from './menu.ts';

/** Entries of the settings menu for buttons that the bar has no room for, and for the download. */
export function menuActions(view: ControlsView, media: PlayerMedia, { t }: PlayerTexts): MenuItem[] {
  const { downloadUrl } = media.details ?? {};
  const hidden = (id: string, label: string): MenuItem[] => {
    const button = view.get(id);
    const isInBar = getComputedStyle(button).display !== 'none';
    return isOffered(button) && !isInBar ? [{ label, choose: () => button.click() }] : [];
  };
  return [
    ...hidden('playlist', t('player.playlist')),
    ...hidden('share', t('player.share')),
    ...hidden('pip', t('player.pictureInPicture')),
    ...(downloadUrl === undefined
      ? []
      : [{ label: t('player.download'), choose: () => download(downloadUrl) }]),
  ];
}

export function hasSettings(view: ControlsView, media: PlayerMedia, texts: PlayerTexts): boolean {
  return (
    media.streamType !== 'live' ||
    media.latency?.hasUltraLow === true ||
    media.videoRenditions.length > 1 ||
    media.audioTracks.length > 1 ||
    captionTracks(media).length > 0 ||
    menuActions(view, media, texts).length > 0
  );
}

export function isOffered(button: HTMLElement): boolean {
  return !button.hidden && !button.hasAttribute('mediapipunavailable');
}

/** `dl` makes the server send a file name. */
function download(address: string): void {
  const url = new URL(address, location.href);
  url.searchParams.set('dl', '1');
  saveFile(url.href, '');
}
