/** Addresses that play one after the other. */
export class Playlist<Entry = undefined> {
  readonly urls: readonly string[];
  #chosen = -1;
  readonly #asked = new Map<string, Promise<Entry | undefined>>();
  readonly #entries = new Map<string, Entry>();

  /** @param list addresses, separated by white space */
  constructor(list: string | null) {
    this.urls = (list ?? '').split(/\s+/).filter(url => url !== '');
  }

  /** @param id of the media that plays; addresses contain it. -1 when it is not in the list */
  indexOf(id: string | undefined): number {
    if (id === undefined) return -1;
    const isChosen = this.urls[this.#chosen]?.includes(id) === true;
    return isChosen ? this.#chosen : this.urls.findIndex(url => url.includes(id));
  }

  /** Index of an entry, undefined at the ends. The list follows media that is not in it. */
  neighbor(id: string | undefined, steps: 1 | -1): number | undefined {
    const index = id === undefined ? undefined : this.indexOf(id) + steps;
    return index === undefined || this.urls[index] === undefined ? undefined : index;
  }

  /** Remembers the entry that plays next: an address may be in the list more than once. */
  choose(index: number): string | undefined {
    this.#chosen = index;
    return this.urls[index];
  }

  /** Asks until there is an answer, which is kept. */
  async describe(url: string, ask: (url: string) => Promise<Entry | undefined>): Promise<Entry | undefined> {
    const asked = this.#asked.get(url) ?? ask(url);
    this.#asked.set(url, asked);
    const entry = await asked;
    if (entry === undefined) this.#asked.delete(url);
    else this.#entries.set(url, entry);
    return entry;
  }

  /** Answer that {@link describe} has got. */
  entryOf(url: string): Entry | undefined {
    return this.#entries.get(url);
  }
}
