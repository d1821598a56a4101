const hideAfterMs = 2800;

/** Hides the controls, and the mouse's arrow, while nobody touches them: the class `is-idle` on the player. */
export class IdleHiding {
  readonly #root: HTMLElement;
  readonly #mayHide: () => boolean;
  #timer = 0;

  /** `mayHide`: asked at the moment of hiding. */
  constructor(root: HTMLElement, mayHide: () => boolean) {
    this.#root = root;
    this.#mayHide = mayHide;
    root.addEventListener('pointermove', event => {
      if (event.pointerType === 'mouse') this.keepShown();
    });
    root.addEventListener('pointerleave', event => {
      if (event.pointerType === 'mouse') this.hide();
    });
    root.addEventListener('focusin', () => this.keepShown());
    root.querySelector('.controls')?.addEventListener('pointerdown', () => this.keepShown());
  }

  get isHidden(): boolean {
    return this.#root.classList.contains('is-idle');
  }

  /** Shows the controls, and hides them again after a while without another call. */
  keepShown(): void {
    this.#root.classList.remove('is-idle');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.hide(), hideAfterMs);
  }

  /** Hides the controls, unless somebody is using them. */
  hide(): void {
    const isUsed = this.#root.querySelector('.controls :focus-visible, .controls:hover') !== null;
    if (isUsed) this.keepShown();
    else if (this.#mayHide()) this.#root.classList.add('is-idle');
  }
}
