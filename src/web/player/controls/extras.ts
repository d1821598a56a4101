import type { PlayerTexts } from '../../i18n/player.ts';
import type { PlayerEntry, PlayerMedia } from '../element/player-media.ts';
import type { CaptionSheet } from './caption-style.ts';
import { chaptersOf } from './chapters.ts';
import { ClipCard } from './clip-card.ts';
import type { ControlsView } from './controls-view.ts';
import { EndScreen } from './end-screen.ts';
import styles from './extras.css';
import { openKeyHelp } from './key-help.ts';
import { Menu, type MenuItem } from './menu.ts';
import { type MenuSources, Menus } from './menus.ts';
import type { Playlist } from './playlist.ts';
import { openPlaylist } from './playlist-panel.ts';

export interface ExtrasTarget {
  readonly root: ShadowRoot;
  readonly view: ControlsView;
  readonly captions: CaptionSheet;
  readonly media: PlayerMedia | undefined;
  readonly texts: PlayerTexts;
  readonly playlist: Playlist<PlayerEntry>;
  readonly hasTheatre: boolean;
  menuActions(media: PlayerMedia): MenuItem[];
  playEntry(index: number, playlist: Playlist<PlayerEntry>): void;
  refresh(): void;
}

/** Code that a player needs after its first frame: it is loaded then. */
export class Extras {
  readonly menu: Menu;
  readonly menus: Menus;
  readonly endScreen: EndScreen;
  readonly #clipCard: ClipCard;
  readonly #target: ExtrasTarget;

  constructor(target: ExtrasTarget) {
    const { root, view } = target;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    this.#target = target;
    this.menu = new Menu({
      element: view.get('menu'),
      texts: () => target.texts,
      onToggle: () => target.refresh(),
    });
    this.menus = new Menus(this.#menuSources(target));
    this.endScreen = new EndScreen(view.get('end'));
    this.#clipCard = new ClipCard(view.get('clip-card'), view.get('clip'));
  }

  openKeyHelp({ streamType }: PlayerMedia): void {
    const { root, view, texts, hasTheatre, playlist } = this.#target;
    if (root.querySelector('dialog') !== null) return;
    openKeyHelp(view.get('dialogs'), texts, {
      isLive: streamType === 'live',
      hasTheatre,
      hasPlaylist: playlist.urls.length > 0,
    });
  }

  openPlaylist(media: PlayerMedia): void {
    const { view, texts, playlist, playEntry } = this.#target;
    openPlaylist(view.get('dialogs'), texts, {
      urls: playlist.urls,
      current: playlist.indexOf(media.details?.id),
      describe: url => playlist.describe(url, entry => media.describe(entry)),
      play: index => playEntry(index, playlist),
    });
  }

  #menuSources(target: ExtrasTarget): MenuSources {
    const { captions } = target;
    return {
      get media() {
        return target.media!;
      },
      get texts() {
        return target.texts;
      },
      get chapters() {
        return chaptersOf(target.media!.textTracks);
      },
      get captionStyle() {
        return captions.style;
      },
      get actions() {
        return target.menuActions(target.media!);
      },
      setCaptionStyle: style => captions.change(style),
      clip: seconds => void this.#clipCard.create(target.media!, target.texts, seconds),
    };
  }
}
