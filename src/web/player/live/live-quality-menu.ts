import { pageElement } from '../ui/page-elements.ts';
import { type MenuPage, PopupMenu } from '../ui/popup-menu.ts';
import type { LiveMedia } from './live-media.ts';

export class LiveQualityMenu {
  readonly #media: LiveMedia;
  readonly #button = pageElement('quality', HTMLButtonElement);
  readonly #menu: PopupMenu;

  constructor(media: LiveMedia, onToggle: () => void) {
    this.#media = media;
    this.#menu = new PopupMenu(onToggle);
    this.#button.addEventListener('click', () => this.#menu.toggle(this.#button, this.#page));
  }

  get isOpen(): boolean {
    return this.#menu.isOpen;
  }

  refresh(): void {
    const hasChoice = this.#media.qualities.length > 1;
    if (this.#button.hidden === !hasChoice && !this.#menu.isOpen) return;
    this.#button.hidden = !hasChoice;
    if (hasChoice) this.#menu.refresh();
    else this.#menu.close();
  }

  readonly #page = (): MenuPage => {
    const media = this.#media;
    const chosen = media.chosenQuality;
    return {
      title: 'Quality',
      items: [
        {
          label: 'Auto',
          hint: chosen === undefined ? media.currentQuality : undefined,
          isChosen: chosen === undefined,
          choose: () => media.chooseQuality(undefined),
        },
        ...media.qualities.map(label => ({
          label,
          isChosen: chosen === label,
          choose: () => media.chooseQuality(label),
        })),
      ],
    };
  };
}
