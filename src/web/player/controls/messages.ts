import type { ControlsView } from './controls-view.ts';
import { createButton, createElement } from './elements.ts';

const hintMs = 900;
const toastMs = 8000;

/** Short texts over the media, which disappear. */
export class Messages {
  readonly #view: ControlsView;
  #hintTimer = 0;
  #toastTimer = 0;

  constructor(view: ControlsView) {
    this.#view = view;
  }

  hint(text: string): void {
    const hint = this.#view.get('hint');
    hint.textContent = text;
    hint.classList.add('is-shown');
    clearTimeout(this.#hintTimer);
    this.#hintTimer = setTimeout(() => hint.classList.remove('is-shown'), hintMs);
  }

  toast(text: string, action: string, onAction: () => void): void {
    const toast = this.#view.get('toast');
    const hide = () => {
      toast.hidden = true;
    };
    toast.replaceChildren(
      createElement('span', { text }),
      createButton(action, () => {
        hide();
        onAction();
      }),
    );
    toast.hidden = false;
    clearTimeout(this.#toastTimer);
    this.#toastTimer = setTimeout(hide, toastMs);
  }

  stop(): void {
    clearTimeout(this.#hintTimer);
    clearTimeout(this.#toastTimer);
  }
}
