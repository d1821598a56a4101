import { pageElement } from './page-elements.ts';

const shownMs = 900;

export class Hint {
  readonly #element = pageElement('hint', HTMLElement);
  #timer = 0;

  show(text: string): void {
    this.#element.textContent = text;
    this.#element.classList.add('is-shown');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#element.classList.remove('is-shown'), shownMs);
  }
}
