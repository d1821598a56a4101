import type { PlayerMedia } from '../element/player-media.ts';
import type { Extras, ExtrasTarget } from './extras.ts';

/** Loads the menus, the dialogs and the end screen when they are needed first. */
export class ExtrasLoader {
  readonly #target: ExtrasTarget;
  #loaded: Extras | undefined;
  #loading: Promise<Extras> | undefined;

  constructor(target: ExtrasTarget) {
    this.#target = target;
  }

  /** Undefined until they are loaded. */
  get loaded(): Extras | undefined {
    return this.#loaded;
  }

  preload(): void {
    this.#use(() => {});
  }

  toggleMenu(id: string, page: (menus: Extras['menus']) => Extras['menus']['settings']): void {
    const toggle = ({ menu, menus }: Extras) => menu.toggle(this.#target.view.get(id), page(menus));
    // A click on a menu that is there opens it at once.
    if (this.#loaded !== undefined) toggle(this.#loaded);
    else this.#use(toggle);
  }

  openKeyHelp(media: PlayerMedia): void {
    this.#use(extras => extras.openKeyHelp(media));
  }

  openPlaylist(): void {
    const { media } = this.#target;
    if (media !== undefined) this.#use(extras => extras.openPlaylist(media));
  }

  async openShareSheet(): Promise<void> {
    const { media, view } = this.#target;
    if (media?.details === undefined) return;
    const seconds = media.details.kind === 'video' ? media.currentTime : undefined;
    const [{ openShareSheet }] = await Promise.all([import('./share-sheet.ts'), this.#load()]);
    if (media.details !== undefined)
      openShareSheet(view.get('dialogs'), this.#target.texts, media.details, seconds);
  }

  /** The next use tries again if the code does not arrive. */
  #use(use: (extras: Extras) => void): void {
    void this.#load().then(use, () => {});
  }

  #load(): Promise<Extras> {
    this.#loading ??= this.#create().catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  async #create(): Promise<Extras> {
    const code = await import('./extras.ts');
    this.#loaded = new code.Extras(this.#target);
    this.#target.refresh();
    return this.#loaded;
  }
}
