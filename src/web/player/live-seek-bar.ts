import type { LiveMedia } from './live-media.ts';
import { pageElement } from './page-elements.ts';
import { type BarPlace, partOf, SeekPointer } from './seek-pointer.ts';
import { formatTime, spokenTime } from './time-text.ts';

/** There is a bar as soon as one can go back by so much. */
const leastSeconds = 20;
const keySeconds = 5;
const pageSeconds = 60;
/** Let go so near to its end, the bar means the live edge. */
const edgeSeconds = 2;

/** The bar of a live stream: from the oldest picture that is kept to what is live now. */
export class LiveSeekBar {
  readonly #media: LiveMedia;
  readonly #video: HTMLVideoElement;
  readonly #onSeek: () => void;
  readonly #bar = pageElement('seek', HTMLElement);
  readonly #time = pageElement('seek-time', HTMLElement);
  /** Its positions are seconds behind live. */
  readonly #pointer: SeekPointer;

  /** `onSeek`: called when somebody moved. */
  constructor(media: LiveMedia, video: HTMLVideoElement, onSeek: () => void) {
    this.#media = media;
    this.#video = video;
    this.#onSeek = onSeek;
    this.#pointer = new SeekPointer(this.#bar, {
      canSeek: () => media.rewindRange() !== undefined,
      point: place => this.#point(place),
      stopPointing: () => {
        this.#time.textContent = '';
      },
      refresh: () => this.refresh(),
      seek: behindSeconds => this.#goTo(behindSeconds),
    });
    this.#bar.addEventListener('keydown', event => this.#onKey(event));
    for (const event of ['timeupdate', 'seeking'] as const) {
      video.addEventListener(event, () => this.refresh());
    }
  }

  /** Shows where the viewer is; hides the bar where there is nothing to go back to. */
  refresh(): void {
    const range = this.#media.rewindRange();
    const length = range === undefined ? 0 : range.end - range.start;
    const { draggedTo } = this.#pointer;
    const isShown = range !== undefined && (length >= leastSeconds || draggedTo !== undefined);
    if (this.#bar.hidden === isShown) this.#bar.hidden = !isShown;
    if (!isShown) return;
    const behind = draggedTo ?? Math.min(length, Math.max(0, range.end - this.#video.currentTime));
    const isLive = draggedTo === undefined && this.#media.isAtLiveEdge();
    this.#bar.style.setProperty('--played', isLive ? '100%' : partOf(length - behind, length));
    this.#bar.setAttribute('aria-valuemin', String(-Math.round(length)));
    this.#bar.setAttribute('aria-valuenow', String(isLive ? 0 : -Math.round(behind)));
    this.#bar.setAttribute('aria-valuetext', isLive ? 'live' : `${spokenTime(behind)} behind live`);
  }

  #goTo(behindSeconds: number): void {
    const range = this.#media.rewindRange();
    if (range === undefined) return;
    if (behindSeconds < edgeSeconds) this.#media.goToLive();
    else this.#media.seekTo(range.end - behindSeconds);
    this.#onSeek();
  }

  #point({ part }: BarPlace): number {
    const range = this.#media.rewindRange() ?? { start: 0, end: 0 };
    const behind = (range.end - range.start) * (1 - part);
    this.#time.textContent = behind < edgeSeconds ? 'Live' : `−${formatTime(behind)}`;
    return behind;
  }

  /** What sliders do by custom; the other keys belong to the whole player. */
  #onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const seconds = {
      ArrowUp: keySeconds,
      ArrowDown: -keySeconds,
      PageUp: pageSeconds,
      PageDown: -pageSeconds,
    }[event.key];
    if (seconds === undefined) return;
    event.preventDefault();
    this.#media.seekBy(seconds);
    this.#onSeek();
  }
}
