/** A place on a bar. */
export interface BarPlace {
  /** Of the bar's length, 0 to 1. */
  readonly part: number;
  /** From the bar's left end, in CSS pixels. */
  readonly x: number;
  /** Of the bar, in CSS pixels. */
  readonly width: number;
}

/** What a bar does with what the pointer does to it. */
export interface SeekPointerUse {
  /** Whether there is anything to move to. */
  readonly canSeek: () => boolean;
  /** Says what is under the pointer. Gives its position in seconds. */
  readonly point: (place: BarPlace) => number;
  readonly stopPointing: () => void;
  /** Shows where the position is dragged to, or is again. */
  readonly refresh: () => void;
  /** The pointer was let go at this position. */
  readonly seek: (seconds: number) => void;
}

/** Pointing at a bar and dragging the position of it. The bar's style has what is pointed at as `--pointed`. */
export class SeekPointer {
  readonly #bar: HTMLElement;
  readonly #use: SeekPointerUse;
  #draggedTo: number | undefined;

  constructor(bar: HTMLElement, use: SeekPointerUse) {
    this.#bar = bar;
    this.#use = use;
    bar.addEventListener('pointerdown', event => {
      if (event.button !== 0 || !use.canSeek()) return;
      bar.setPointerCapture(event.pointerId);
      bar.classList.add('is-dragged');
      this.#dragTo(event);
    });
    bar.addEventListener('pointermove', event => {
      if (this.#draggedTo !== undefined) this.#dragTo(event);
      else if (event.pointerType === 'mouse') this.#point(event);
    });
    bar.addEventListener('pointerup', () => {
      const to = this.#draggedTo;
      this.#letGo();
      if (to !== undefined) use.seek(to);
    });
    bar.addEventListener('pointercancel', () => this.#letGo());
    bar.addEventListener('pointerleave', () => {
      if (this.#draggedTo === undefined) this.#stopPointing();
    });
  }

  /** Position under the pointer while it drags, in seconds. */
  get draggedTo(): number | undefined {
    return this.#draggedTo;
  }

  #letGo(): void {
    this.#draggedTo = undefined;
    this.#bar.classList.remove('is-dragged');
    this.#stopPointing();
    this.#use.refresh();
  }

  #dragTo(event: PointerEvent): void {
    this.#draggedTo = this.#point(event);
    this.#use.refresh();
  }

  #point(event: PointerEvent): number {
    const { left, width } = this.#bar.getBoundingClientRect();
    const x = Math.min(width, Math.max(0, event.clientX - left));
    const part = x / Math.max(1, width);
    this.#bar.style.setProperty('--pointed', `${part * 100}%`);
    return this.#use.point({ part, x, width });
  }

  #stopPointing(): void {
    this.#bar.style.setProperty('--pointed', '0%');
    this.#use.stopPointing();
  }
}

/** Where a position is on a bar, for its style, such as `12.500%`. */
export function partOf(seconds: number, totalSeconds: number): string {
  const part = totalSeconds === 0 ? 0 : Math.min(1, Math.max(0, seconds / totalSeconds));
  return `${(part * 100).toFixed(3)}%`;
}

/** Places an element over a bar, centred above `x` pixels from the bar's left end, or as near to that as the bar's ends allow. */
export function placeOver(element: HTMLElement, { x, width }: Pick<BarPlace, 'x' | 'width'>): void {
  const half = element.offsetWidth / 2;
  const left = width < 2 * half ? width / 2 : Math.min(width - half, Math.max(half, x));
  element.style.setProperty('left', `${left}px`);
}
