import { enterFullscreen, exitFullscreen, isFullscreen } from 'media-chrome/dist/utils/fullscreen-api.js';

interface FullscreenOwners {
  readonly media: HTMLVideoElement;
  readonly fullscreenElement: HTMLElement;
  readonly documentElement: Document;
}

/** Enters and leaves fullscreen. The browser takes a moment for each, in which the viewer may change their mind. */
export class Fullscreen {
  /** Undefined while nothing changes. */
  #isWanted: boolean | undefined;

  async toggle(owners: FullscreenOwners): Promise<void> {
    const isChanging = this.#isWanted !== undefined;
    this.#isWanted = !(this.#isWanted ?? isFullscreen(owners));
    if (isChanging) return;
    try {
      let isRefused = false;
      while (!isRefused && isFullscreen(owners) !== this.#isWanted) {
        const isEntering = this.#isWanted;
        await (isEntering ? enterFullscreen : exitFullscreen)(owners);
        isRefused = isFullscreen(owners) !== isEntering;
      }
    } finally {
      this.#isWanted = undefined;
    }
  }
}
