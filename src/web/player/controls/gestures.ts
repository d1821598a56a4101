import type { PlayerMedia } from '../element/player-media.ts';

const doubleTapMs = 300;
const maxDoubleTapPx = 60;
const tapSeekSeconds = 10;
/** A double tap seeks at the sides and toggles fullscreen between them. */
const sideFraction = 0.36;
const minSwipePx = 24;
/** Seconds of a swipe over the whole width. */
const swipeSeconds = 90;

export interface GestureTarget {
  readonly media: PlayerMedia;
  /** True for a click that has already closed a menu. */
  isTaken(): boolean;
  readonly canSeek: boolean;
  toggleFullscreen(): void;
  showSeek(seconds: number, side: 'left' | 'right'): void;
  showSwipe(seconds: number): void;
}

/** Clicks, taps and swipes on the video. media-chrome shows and hides the controls. */
export class Gestures {
  readonly #surface: HTMLElement;
  readonly #target: GestureTarget;
  #lastTapAtMs = Number.NEGATIVE_INFINITY;
  #lastTapX = 0;
  #swipe: { readonly id: number; readonly x: number; readonly y: number; seconds?: number } | undefined;

  constructor(surface: HTMLElement, target: GestureTarget, signal: AbortSignal) {
    this.#surface = surface;
    this.#target = target;
    const on = <Name extends keyof HTMLElementEventMap>(
      name: Name,
      listener: (event: HTMLElementEventMap[Name]) => void,
    ) => surface.addEventListener(name, listener, { signal });
    const onVideo = (event: Event) => event.target === target.media;
    on('click', event => {
      if (!onVideo(event) || target.isTaken()) return;
      if (isTouch(event)) this.#onTap(event as PointerEvent);
      else toggle(target.media);
    });
    on('dblclick', event => {
      const isTap = performance.now() - this.#lastTapAtMs < 2 * doubleTapMs;
      if (!isTap && event.button === 0 && onVideo(event)) target.toggleFullscreen();
    });
    on('pointerdown', event => {
      if (onVideo(event) && isTouch(event) && event.isPrimary && target.canSeek)
        this.#swipe = { id: event.pointerId, x: event.clientX, y: event.clientY };
    });
    on('pointermove', event => this.#onMove(event));
    on('pointerup', event => this.#onSwipeEnd(event));
    on('pointercancel', () => {
      this.#swipe = undefined;
    });
  }

  #onTap({ clientX }: PointerEvent): void {
    const { media } = this.#target;
    const nowMs = performance.now();
    const isSecond =
      nowMs - this.#lastTapAtMs < doubleTapMs && Math.abs(clientX - this.#lastTapX) < maxDoubleTapPx;
    this.#lastTapAtMs = nowMs;
    this.#lastTapX = clientX;
    if (!media.hasBegun && !media.wantsToPlay) {
      void media.play();
      return;
    }
    if (!isSecond) return;
    const { left, width } = this.#surface.getBoundingClientRect();
    const part = (clientX - left) / Math.max(1, width);
    if (part > sideFraction && part < 1 - sideFraction) this.#target.toggleFullscreen();
    else if (this.#target.canSeek) this.#seek(part <= sideFraction ? -tapSeekSeconds : tapSeekSeconds);
  }

  #seek(seconds: number): void {
    this.#target.media.seekBy(seconds);
    this.#target.showSeek(seconds, seconds < 0 ? 'left' : 'right');
  }

  #onMove(event: PointerEvent): void {
    const swipe = this.#swipe;
    if (swipe?.id !== event.pointerId) return;
    const dx = event.clientX - swipe.x;
    // A vertical movement scrolls the page.
    if (
      swipe.seconds === undefined &&
      (Math.abs(dx) < minSwipePx || Math.abs(event.clientY - swipe.y) > Math.abs(dx))
    )
      return;
    swipe.seconds = Math.round((dx / Math.max(1, this.#surface.clientWidth)) * swipeSeconds);
    this.#target.showSwipe(swipe.seconds);
  }

  #onSwipeEnd(event: PointerEvent): void {
    const swipe = this.#swipe;
    if (swipe?.id !== event.pointerId) return;
    this.#swipe = undefined;
    if (swipe.seconds !== undefined && swipe.seconds !== 0) this.#target.media.seekBy(swipe.seconds);
  }
}

function toggle(media: PlayerMedia): void {
  if (media.wantsToPlay) media.pause();
  else void media.play();
}

function isTouch(event: Event): boolean {
  return event instanceof PointerEvent && event.pointerType !== 'mouse';
}
