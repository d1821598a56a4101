import type { LiveMedia } from './live-media.ts';
import { pageElement } from './page-elements.ts';
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
  /** Where the pointer has it while it drags, in seconds behind live. */
  #draggedTo: number | undefined;

  /** `onSeek`: called when somebody moved. */
  constructor(media: LiveMedia, video: HTMLVideoElement, onSeek: () => void) {
    this.#media = media;
    this.#video = video;
    this.#onSeek = onSeek;
    this.#wirePointer();
    this.#bar.addEventListener('keydown', event => this.#onKey(event));
    for (const event of ['timeupdate', 'seeking'] as const) {
      video.addEventListener(event, () => this.refresh());
    }
  }

  /** Shows where the viewer is; hides the bar where there is nothing to go back to. */
  refresh(): void {
    const range = this.#media.rewindRange();
    const length = range === undefined ? 0 : range.end - range.start;
    const isShown = range !== undefined && (length >= leastSeconds || this.#draggedTo !== undefined);
    if (this.#bar.hidden === isShown) this.#bar.hidden = !isShown;
    if (!isShown) return;
    const behind = this.#draggedTo ?? Math.min(length, Math.max(0, range.end - this.#video.currentTime));
    const isLive = this.#draggedTo === undefined && this.#media.isAtLiveEdge();
    this.#bar.style.setProperty('--played', isLive ? '100%' : partOf(length - behind, length));
    this.#bar.setAttribute('aria-valuemin', String(-Math.round(length)));
    this.#bar.setAttribute('aria-valuenow', String(isLive ? 0 : -Math.round(behind)));
    this.#bar.setAttribute('aria-valuetext', isLive ? 'live' : `${spokenTime(behind)} behind live`);
  }

  #wirePointer(): void {
    const bar = this.#bar;
    bar.addEventListener('pointerdown', event => {
      if (event.button !== 0 || this.#media.rewindRange() === undefined) return;
      bar.setPointerCapture(event.pointerId);
      bar.classList.add('is-dragged');
      this.#dragTo(event);
    });
    bar.addEventListener('pointermove', event => {
      if (this.#draggedTo !== undefined) this.#dragTo(event);
      else if (event.pointerType === 'mouse') this.#point(event);
    });
    bar.addEventListener('pointerup', () => {
      const behind = this.#draggedTo;
      this.#letGo();
      if (behind !== undefined) this.#goTo(behind);
    });
    bar.addEventListener('pointercancel', () => this.#letGo());
    bar.addEventListener('pointerleave', () => {
      if (this.#draggedTo === undefined) this.#stopPointing();
    });
  }

  #goTo(behindSeconds: number): void {
    const range = this.#media.rewindRange();
    if (range === undefined) return;
    if (behindSeconds < edgeSeconds) this.#media.goToLive();
    else this.#media.seekTo(range.end - behindSeconds);
    this.#onSeek();
  }

  #letGo(): void {
    this.#draggedTo = undefined;
    this.#bar.classList.remove('is-dragged');
    this.#stopPointing();
    this.refresh();
  }

  #dragTo(event: PointerEvent): void {
    this.#draggedTo = this.#point(event);
    this.refresh();
  }

  /** Says what is under the pointer. Gives it in seconds behind live. */
  #point(event: PointerEvent): number {
    const range = this.#media.rewindRange() ?? { start: 0, end: 0 };
    const { left, width } = this.#bar.getBoundingClientRect();
    const part = Math.min(1, Math.max(0, (event.clientX - left) / Math.max(1, width)));
    const behind = (range.end - range.start) * (1 - part);
    this.#bar.style.setProperty('--pointed', `${part * 100}%`);
    this.#time.textContent = behind < edgeSeconds ? 'Live' : `−${formatTime(behind)}`;
    return behind;
  }

  #stopPointing(): void {
    this.#bar.style.setProperty('--pointed', '0%');
    this.#time.textContent = '';
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

function partOf(seconds: number, totalSeconds: number): string {
  const part = totalSeconds === 0 ? 0 : Math.min(1, Math.max(0, seconds / totalSeconds));
  return `${(part * 100).toFixed(3)}%`;
}
