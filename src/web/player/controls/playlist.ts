/** Addresses that play one after the other. */
export class Playlist<Entry = undefined> {
  readonly urls: readonly string[];
  readonly #entries = new Map<string, Promise<Entry | undefined>>();

  /** @param list addresses, separated by white space */
  constructor(list: string | null) {
    this.urls = (list ?? '').split(/\s+/).filter(url => url !== '');
  }

  /** @param id of the media that plays; addresses contain it. -1 when it is not in the list */
  indexOf(id: string | undefined): number {
    return id === undefined ? -1 : this.urls.findIndex(url => url.includes(id));
  }

  /** The list follows media that is not in it. */
  neighbor(id: string | undefined, steps: 1 | -1): string | undefined {
    return id === undefined ? undefined : this.urls[this.indexOf(id) + steps];
  }

  /** Asks until there is an answer, which is kept. */
  async describe(url: string, ask: (url: string) => Promise<Entry | undefined>): Promise<Entry | undefined> {
    const asked = this.#entries.get(url) ?? ask(url);
    this.#entries.set(url, asked);
    const entry = await asked;
    if (entry === undefined) this.#entries.delete(url);
    return entry;
  }
}
