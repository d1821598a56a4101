/** Addresses of videos that play one after the other. */
export class Playlist {
  readonly #urls: readonly string[];

  /** @param list addresses, separated by white space */
  constructor(list: string | null) {
    this.#urls = (list ?? '').split(/\s+/).filter(url => url !== '');
  }

  get isEmpty(): boolean {
    return this.#urls.length === 0;
  }

  /** @param id of the video that plays; addresses contain it. The list follows a video that is not in it */
  neighbor(id: string | undefined, steps: 1 | -1): string | undefined {
    return id === undefined ? undefined : this.#urls[this.#urls.findIndex(url => url.includes(id)) + steps];
  }
}
