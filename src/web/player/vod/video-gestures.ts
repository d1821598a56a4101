import { toggleFullscreen } from '../ui/fullscreen.ts';
import type { IdleHiding } from '../ui/idle-hiding.ts';
import type { VodPlayer } from './vod-player.ts';

const doubleTapMs = 300;
const tapSeekSeconds = 10;
/** A double tap seeks at the sides and toggles fullscreen between them. */
const sideFraction = 0.36;

export class VideoGestures {
  readonly #player: VodPlayer;
  readonly #idleHiding: IdleHiding;
  readonly #onSeek: (seconds: number) => void;
  #lastTapAtMs = Number.NEGATIVE_INFINITY;
  #lastTapX = 0;
  #tapTimer = 0;

  /** `onSeek` receives seconds; `isTaken`: the click was already used. */
  constructor(
    player: VodPlayer,
    surface: HTMLElement,
    hiding: IdleHiding,
    handlers: { onSeek(seconds: number): void; isTaken(): boolean },
  ) {
    this.#player = player;
    this.#idleHiding = hiding;
    this.#onSeek = handlers.onSeek;
    surface.addEventListener('click', event => {
      if (handlers.isTaken()) return;
      if (event instanceof PointerEvent && event.pointerType !== 'mouse') this.#onTap(event);
      else player.toggle();
    });
    surface.addEventListener('dblclick', event => {
      const isTouch = performance.now() - this.#lastTapAtMs < 2 * doubleTapMs;
      if (!isTouch && event.button === 0) void toggleFullscreen(player.root, player.video);
    });
  }

  #onTap({ clientX }: PointerEvent): void {
    clearTimeout(this.#tapTimer);
    const { left, width } = this.#player.root.getBoundingClientRect();
    const nowMs = performance.now();
    const isSecond = nowMs - this.#lastTapAtMs < doubleTapMs && Math.abs(clientX - this.#lastTapX) < 60;
    this.#lastTapAtMs = nowMs;
    this.#lastTapX = clientX;
    if (!this.#player.hasBegun) {
      this.#player.play();
      return;
    }
    if (!isSecond) {
      // A single tap waits until it cannot become a double tap.
      this.#tapTimer = setTimeout(() => this.#toggleControls(), doubleTapMs);
      return;
    }
    const part = (clientX - left) / Math.max(1, width);
    if (part > sideFraction && part < 1 - sideFraction) {
      void toggleFullscreen(this.#player.root, this.#player.video);
      return;
    }
    const seconds = part <= sideFraction ? -tapSeekSeconds : tapSeekSeconds;
    this.#player.seekBy(seconds);
    this.#onSeek(seconds);
  }

  #toggleControls(): void {
    if (this.#idleHiding.isHidden) this.#idleHiding.show();
    else if (this.#player.playing.wantsToPlay) this.#idleHiding.hide();
  }
}
