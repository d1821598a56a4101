import { formatClockTime, formatSpokenTime, formatTime } from '../../shared/time-text.ts';
import { pageElement } from '../ui/page-elements.ts';
import { type BarPosition, percentOf, positionAbove, SeekPointer } from '../ui/seek-pointer.ts';
import type { LiveMedia } from './live-media.ts';

const minRewindSeconds = 20;
const keySeconds = 5;
const pageSeconds = 60;
/** Releasing the bar this close to the end means the live edge. */
const liveEdgeSeconds = 2;

export class LiveSeekBar {
  readonly #media: LiveMedia;
  readonly #video: HTMLVideoElement;
  readonly #onSeek: () => void;
  readonly #bar = pageElement('seek', HTMLElement);
  readonly #time = pageElement('seek-time', HTMLElement);
  readonly #behindText = pageElement('seek-behind', HTMLElement);
  readonly #clockText = pageElement('seek-clock', HTMLElement);
  /** Positions are seconds behind live. */
  readonly #pointer: SeekPointer;
  #pointedAt: BarPosition | undefined;

  constructor(media: LiveMedia, video: HTMLVideoElement, onSeek: () => void) {
    this.#media = media;
    this.#video = video;
    this.#onSeek = onSeek;
    this.#bar.hidden = true;
    this.#pointer = new SeekPointer(this.#bar, {
      canSeek: () => media.rewindRange() !== undefined,
      point: place => this.#point(place),
      stopPointing: () => {
        this.#pointedAt = undefined;
        this.#showTime();
      },
      refresh: () => this.refresh(),
      seek: behindSeconds => this.#goTo(behindSeconds),
    });
    this.#bar.addEventListener('keydown', event => this.#onKey(event));
    for (const event of ['focus', 'blur'] as const) {
      this.#bar.addEventListener(event, () => this.refresh());
    }
    for (const event of ['timeupdate', 'seeking'] as const) {
      video.addEventListener(event, () => this.refresh());
    }
  }

  refresh(): void {
    const range = this.#media.rewindRange();
    const length = range === undefined ? 0 : range.end - range.start;
    const { draggedTo } = this.#pointer;
    const isShown = range !== undefined && (length >= minRewindSeconds || draggedTo !== undefined);
    if (this.#bar.hidden === isShown) this.#bar.hidden = !isShown;
    if (!isShown) return;
    const behind = draggedTo ?? Math.min(length, Math.max(0, range.end - this.#video.currentTime));
    const isLive = draggedTo === undefined && this.#media.isAtLiveEdge();
    this.#bar.style.setProperty('--played', isLive ? '100%' : percentOf(length - behind, length));
    this.#bar.setAttribute('aria-valuemin', String(-Math.round(length)));
    this.#bar.setAttribute('aria-valuenow', String(isLive ? 0 : -Math.round(behind)));
    this.#bar.setAttribute('aria-valuetext', isLive ? 'live' : `${formatSpokenTime(behind)} behind live`);
    this.#showTime();
  }

  #showTime(): void {
    const range = this.#media.rewindRange();
    const isShown = this.#pointedAt !== undefined || this.#bar.matches(':focus-visible');
    this.#time.hidden = range === undefined || !isShown;
    if (range === undefined || !isShown) return;
    const place = this.#pointedAt ?? this.#playheadPosition(range);
    const behind = (range.end - range.start) * (1 - place.fraction);
    const date = behind < liveEdgeSeconds ? undefined : this.#media.dateAt(range.end - behind);
    this.#behindText.textContent = behind < liveEdgeSeconds ? 'Live' : `−${formatTime(behind)}`;
    this.#clockText.textContent = date === undefined ? '' : formatClockTime(date, 'en');
    positionAbove(this.#time, place);
  }

  #playheadPosition({ start, end }: { readonly start: number; readonly end: number }): BarPosition {
    const seen = Math.min(1, Math.max(0, (this.#video.currentTime - start) / (end - start)));
    const fraction = this.#media.isAtLiveEdge() ? 1 : seen;
    const width = this.#bar.clientWidth;
    return { fraction, x: fraction * width, width };
  }

  #goTo(behindSeconds: number): void {
    const range = this.#media.rewindRange();
    if (range === undefined) return;
    if (behindSeconds < liveEdgeSeconds) this.#media.goToLive();
    else this.#media.seekTo(range.end - behindSeconds);
    this.#onSeek();
  }

  #point(place: BarPosition): number {
    this.#pointedAt = place;
    this.#showTime();
    const range = this.#media.rewindRange();
    return range === undefined ? 0 : (range.end - range.start) * (1 - place.fraction);
  }

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
