export interface BarPosition {
  /** 0 to 1. */
  readonly fraction: number;
  /** CSS pixels from the left end of the bar. */
  readonly x: number;
  readonly width: number;
}

interface SeekPointerHandlers {
  readonly canSeek: () => boolean;
  readonly point: (place: BarPosition) => number;
  readonly stopPointing: () => void;
  readonly refresh: () => void;
  readonly seek: (seconds: number) => void;
}

export class SeekPointer {
  readonly #bar: HTMLElement;
  readonly #handlers: SeekPointerHandlers;
  #draggedTo: number | undefined;

  constructor(bar: HTMLElement, handlers: SeekPointerHandlers) {
    this.#bar = bar;
    this.#handlers = handlers;
    bar.addEventListener('pointerdown', event => {
      if (event.button !== 0 || !handlers.canSeek()) return;
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
      this.#release();
      if (to !== undefined) handlers.seek(to);
    });
    bar.addEventListener('pointercancel', () => this.#release());
    bar.addEventListener('pointerleave', () => {
      if (this.#draggedTo === undefined) this.#stopPointing();
    });
  }

  /** Seconds. */
  get draggedTo(): number | undefined {
    return this.#draggedTo;
  }

  #release(): void {
    this.#draggedTo = undefined;
    this.#bar.classList.remove('is-dragged');
    this.#stopPointing();
    this.#handlers.refresh();
  }

  #dragTo(event: PointerEvent): void {
    this.#draggedTo = this.#point(event);
    this.#handlers.refresh();
  }

  #point(event: PointerEvent): number {
    const { left, width } = this.#bar.getBoundingClientRect();
    const x = Math.min(width, Math.max(0, event.clientX - left));
    const fraction = x / Math.max(1, width);
    this.#bar.style.setProperty('--pointed', `${fraction * 100}%`);
    return this.#handlers.point({ fraction, x, width });
  }

  #stopPointing(): void {
    this.#bar.style.setProperty('--pointed', '0%');
    this.#handlers.stopPointing();
  }
}

export function percentOf(seconds: number, totalSeconds: number): string {
  const part = totalSeconds === 0 ? 0 : Math.min(1, Math.max(0, seconds / totalSeconds));
  return `${(part * 100).toFixed(3)}%`;
}

export function positionAbove(element: HTMLElement, { x, width }: Pick<BarPosition, 'x' | 'width'>): void {
  const half = element.offsetWidth / 2;
  const left = width < 2 * half ? width / 2 : Math.min(width - half, Math.max(half, x));
  element.style.setProperty('left', `${left}px`);
}
