const hideAfterMs = 2800;

export class IdleHiding {
  readonly #root: HTMLElement;
  readonly #canHide: () => boolean;
  #timer = 0;

  constructor(root: HTMLElement, canHide: () => boolean) {
    this.#root = root;
    this.#canHide = canHide;
    root.addEventListener('pointermove', event => {
      if (event.pointerType === 'mouse') this.show();
    });
    root.addEventListener('pointerleave', event => {
      if (event.pointerType === 'mouse') this.hide();
    });
    root.addEventListener('focusin', () => this.show());
    root.querySelector('.controls')?.addEventListener('pointerdown', () => this.show());
  }

  get isHidden(): boolean {
    return this.#root.classList.contains('is-idle');
  }

  show(): void {
    this.#root.classList.remove('is-idle');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.hide(), hideAfterMs);
  }

  hide(): void {
    const isInUse = this.#root.querySelector('.controls :focus-visible, .controls:hover') !== null;
    if (isInUse) this.show();
    else if (this.#canHide()) this.#root.classList.add('is-idle');
  }
}
