interface ServerWatchHandlers {
  /** The multivariant playlist names another server: it has the broadcast now. */
  onChanged(): void;
  /** The server of the media does not answer. */
  onLost(): void;
}

/** Unanswered requests to a server before another one is looked for. */
const maxUnanswered = 2;
const askAfterSeconds = 2;
const askTimeoutMs = 4000;

/** Notices that another server continues the broadcast, where the media has addresses of several. */
export class ServerWatch {
  readonly #handlers: ServerWatchHandlers;
  #mediaUrl: string | undefined;
  #hasOthers = false;
  #unanswered = 0;
  #silentSeconds = 0;
  #isAsking = false;

  constructor(handlers: ServerWatchHandlers) {
    this.#handlers = handlers;
  }

  /** The media may come from another server than the page. */
  get hasOthers(): boolean {
    return this.#hasOthers;
  }

  reset(): void {
    this.#mediaUrl = undefined;
    this.#unanswered = 0;
    this.#silentSeconds = 0;
  }

  /** @param mediaUrl of a playlist, as the multivariant playlist at `url` names it */
  levelsFound(mediaUrl: string | undefined, url: string): void {
    this.#mediaUrl = mediaUrl;
    if (mediaUrl !== undefined && originOf(mediaUrl) !== originOf(url)) this.#hasOthers = true;
  }

  /** @param url after redirects */
  playlistLoaded(url: string): void {
    this.#unanswered = 0;
    if (this.#mediaUrl === undefined || originOf(url) === originOf(this.#mediaUrl)) return;
    this.#hasOthers = true;
    this.#handlers.onChanged();
  }

  /** @param status 0 or undefined without an answer */
  requestFailed(status: number | undefined): void {
    if (!this.#hasOthers || status) return;
    this.#unanswered += 1;
    if (this.#unanswered === maxUnanswered) this.#handlers.onLost();
  }

  /** Call this once a second. @param url of the multivariant playlist */
  tick(isSilent: boolean, url: string): void {
    this.#silentSeconds = isSilent ? this.#silentSeconds + 1 : 0;
    const mediaUrl = this.#mediaUrl;
    if (!this.#hasOthers || mediaUrl === undefined) return;
    if (this.#silentSeconds < askAfterSeconds || this.#isAsking) return;
    this.#isAsking = true;
    void findServer(url).then(origin => {
      this.#isAsking = false;
      const isOther = origin !== undefined && origin !== originOf(mediaUrl);
      if (isOther && mediaUrl === this.#mediaUrl) this.#handlers.onChanged();
    });
  }
}

function originOf(url: string): string {
  return new URL(url, location.href).origin;
}

/** The server that a multivariant playlist names; undefined while it names none. */
async function findServer(url: string): Promise<string | undefined> {
  try {
    const answer = await fetch(url, { cache: 'no-store', signal: AbortSignal.timeout(askTimeoutMs) });
    if (!answer.ok) return undefined;
    const first = (await answer.text()).split('\n').find(line => line !== '' && !line.startsWith('#'));
    return first === undefined ? undefined : new URL(first, answer.url).origin;
  } catch {
    return undefined;
  }
}
