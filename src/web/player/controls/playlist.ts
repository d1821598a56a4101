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

  /** @param id of the video that plays; addresses contain it */
  neighbor(id: string | undefined, steps: 1 | -1): string | undefined {
    const at = id === undefined ? -1 : this.#urls.findIndex(url => url.includes(id));
    return at === -1 ? undefined : this.#urls[at + steps];
  }
}
