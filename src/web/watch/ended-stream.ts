import { withBasePath } from '../shared/base-path.ts';
import { make, part } from './elements.ts';
import { t } from './texts.ts';

interface Recording {
  readonly videoId: string;
}

/** The recording is there once the server has given up waiting for the encoder. */
const pollDelaysMs = [1_000, 2_000, 3_000, 5_000, 5_000, 10_000, 15_000, 30_000, 60_000, 60_000, 120_000];
const liveAgainPollMs = 15_000;
/** About an hour and a half. */
const maxLivePolls = 240;

/** Turns a live page into that of its recording when the stream has ended, and offers the stream when it is live again. */
export class EndedStream {
  readonly #address: string;
  readonly #show: (recordingUrl: string) => void;
  #timer = 0;
  #hasEnded = false;
  #isShown = false;

  /** @param liveStreamId of this page, with the query that its token is in */
  constructor(liveStreamId: string, show: (recordingUrl: string) => void) {
    this.#address = withBasePath(`/live/${liveStreamId}`);
    this.#show = show;
  }

  ended(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    part('badge').hidden = true;
    this.#poll(0);
  }

  /** The stream goes on. */
  live(): void {
    if (this.#isShown) return;
    this.#hasEnded = false;
    clearTimeout(this.#timer);
    part('badge').hidden = false;
    part('notices').replaceChildren();
  }

  #poll(attempt: number): void {
    const delayMs = pollDelaysMs[attempt];
    if (delayMs === undefined) return;
    // Viewers of one stream do not ask at the same moment.
    this.#timer = setTimeout(
      async () => {
        const recording = await this.#fetch<Recording>('recording');
        if (!this.#hasEnded || this.#isShown) return;
        if (recording === undefined) this.#poll(attempt + 1);
        else this.#showRecording(recording);
      },
      delayMs * (1 + Math.random() / 2),
    );
  }

  #showRecording({ videoId }: Recording): void {
    this.#isShown = true;
    const url = withBasePath(`/vod/${videoId}`);
    this.#show(url);
    notify(t('watch.streamEnded'), t('watch.openRecording'), url);
    this.#pollLive(0);
  }

  #pollLive(attempt: number): void {
    if (attempt === maxLivePolls) return;
    setTimeout(
      async () => {
        const state = await this.#fetch<{ readonly live?: boolean }>('state');
        if (state?.live === true)
          notify(t('watch.liveAgain'), t('watch.watchLive'), location.pathname + location.search);
        else this.#pollLive(attempt + 1);
      },
      liveAgainPollMs * (1 + Math.random()),
    );
  }

  async #fetch<Answer>(name: string): Promise<Answer | undefined> {
    try {
      const response = await fetch(`${this.#address}/${name}${location.search}`);
      return response.status === 200 ? ((await response.json()) as Answer) : undefined;
    } catch {
      return undefined;
    }
  }
}

function notify(text: string, link: string, url: string): void {
  part('notices').replaceChildren(make('p', { class: 'notice' }, `${text} `, make('a', { href: url }, link)));
}
