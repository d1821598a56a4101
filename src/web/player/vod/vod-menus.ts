import type { Chapter } from '../../shared/chapters.ts';
import { cueAt } from '../../shared/cue-at.ts';
import { formatTime } from '../../shared/time-text.ts';
import type { Captions } from '../media/captions.ts';
import { pageElement } from '../ui/page-elements.ts';
import { playbackRates } from '../ui/player-keys.ts';
import type { MenuItem, MenuPage, PopupMenu } from '../ui/popup-menu.ts';
import { audioItem, audioPage, captionsItem, captionsPage, withBack } from '../ui/track-menus.ts';
import { autoQuality } from './vod-media.ts';
import type { VodPlayer } from './vod-player.ts';

interface VodMenuSources {
  readonly player: VodPlayer;
  readonly captions: Captions;
  chapters(): readonly Chapter[];
  readonly openSmallWindow: (() => void) | undefined;
}

export class VodMenus {
  readonly #sources: VodMenuSources;
  readonly #menu: PopupMenu;
  readonly #settings = pageElement('settings', HTMLButtonElement);
  readonly #captionsButton = pageElement('captions', HTMLButtonElement);
  readonly #chapter = pageElement('chapter', HTMLButtonElement);

  constructor(menu: PopupMenu, sources: VodMenuSources) {
    this.#menu = menu;
    this.#sources = sources;
    this.#settings.addEventListener('click', () => menu.toggle(this.#settings, this.#settingsPage));
    this.#captionsButton.addEventListener('click', () => menu.toggle(this.#captionsButton, this.#captions));
    this.#chapter.addEventListener('click', () => menu.toggle(this.#chapter, this.#chapters));
  }

  refresh(): void {
    const { captions } = this.#sources;
    this.#captionsButton.hidden = captions.tracks.length === 0;
    this.#captionsButton.classList.toggle('is-on', captions.language !== undefined);
    this.#chapter.hidden = this.#sources.chapters().length === 0;
    this.#menu.refresh();
  }

  readonly #settingsPage = (): MenuPage => {
    const { player, captions, openSmallWindow } = this.#sources;
    const items: MenuItem[] = [];
    if (player.session.media.qualities.length > 0) {
      items.push({
        label: 'Quality',
        hint: this.#qualityHint(),
        opens: withBack(this.#qualities, this.#settingsPage),
      });
    }
    const speed = rateText(player.video.playbackRate);
    items.push({ label: 'Speed', hint: speed, opens: withBack(this.#rates, this.#settingsPage) });
    items.push(
      ...audioItem(player.session.media.audioTracks, withBack(this.#audio, this.#settingsPage)),
      ...captionsItem(captions, withBack(this.#captions, this.#settingsPage)),
    );
    const chapters = this.#sources.chapters();
    if (chapters.length > 0) {
      items.push({
        label: 'Chapters',
        hint: String(chapters.length),
        opens: withBack(this.#chapters, this.#settingsPage),
      });
    }
    if (openSmallWindow !== undefined) {
      items.push({ label: 'Picture in picture', choose: openSmallWindow });
    }
    const { mp4 } = player.session.state;
    if (mp4 !== undefined) {
      items.push({ label: 'Download', choose: () => pageElement('download', HTMLButtonElement).click() });
    }
    return { title: 'Settings', items };
  };

  readonly #qualities = (): MenuPage => {
    const { media } = this.#sources.player.session;
    const chosen = media.chosenQuality;
    const shown = media.currentQuality?.label;
    return {
      title: 'Quality',
      items: [
        {
          label: 'Auto',
          hint: chosen === autoQuality ? shown : undefined,
          isChosen: chosen === autoQuality,
          choose: () => media.chooseQuality(autoQuality),
        },
        ...media.qualities.map(({ id, label }) => ({
          label,
          hint: qualityHint(label),
          isChosen: chosen === id,
          choose: () => media.chooseQuality(id),
        })),
      ],
    };
  };

  readonly #rates = (): MenuPage => {
    const { player } = this.#sources;
    return {
      title: 'Speed',
      items: playbackRates.map(rate => ({
        label: rateText(rate),
        isChosen: rate === player.video.playbackRate,
        choose: () => player.setRate(rate),
      })),
    };
  };

  readonly #audio = (): MenuPage => audioPage(this.#sources.player.session.media.audioTracks);

  readonly #captions = (): MenuPage => captionsPage(this.#sources.captions);

  readonly #chapters = (): MenuPage => {
    const { player } = this.#sources;
    const chapters = this.#sources.chapters();
    const present = cueAt(chapters, player.video.currentTime);
    return {
      title: 'Chapters',
      items: chapters.map(chapter => ({
        label: chapter.name,
        hint: formatTime(chapter.startSeconds),
        isChosen: chapter === present,
        choose: () => player.seekTo(chapter.startSeconds),
      })),
    };
  };

  #qualityHint(): string {
    const { media } = this.#sources.player.session;
    const shown = media.currentQuality?.label ?? '';
    if (media.chosenQuality === autoQuality) return shown === '' ? 'Auto' : `Auto (${shown})`;
    return media.qualities.find(({ id }) => id === media.chosenQuality)?.label ?? '';
  }
}

function rateText(rate: number): string {
  return rate === 1 ? 'Normal' : `${rate}×`;
}

function qualityHint(label: string): string | undefined {
  const lines = Number.parseInt(label, 10);
  if (lines >= 2160) return '4K';
  if (lines >= 1440) return '2K';
  return lines >= 720 ? 'HD' : undefined;
}
