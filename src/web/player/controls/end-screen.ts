import type { PlayerTexts } from '../../i18n/player.ts';
import { createButton, createElement } from './elements.ts';
import { icon } from './icons.ts';
import { trustedHtml } from './trusted-html.ts';

const countdownSeconds = 8;

export interface EndScreenTarget {
  readonly next:
    | { readonly title: string; readonly url: string; readonly poster?: string | undefined }
    | undefined;
  readonly canShare: boolean;
  replay(): void;
  share(): void;
  playNext(): void;
}

/** Covers a video that has ended: replay, share, and the next video, which plays after some seconds. */
export class EndScreen {
  readonly #element: HTMLElement;
  #timer = 0;

  constructor(element: HTMLElement) {
    this.#element = element;
  }

  get isShown(): boolean {
    return !this.#element.hidden;
  }

  show(target: EndScreenTarget, texts: PlayerTexts): void {
    if (this.isShown) return;
    const { t } = texts;
    const actions = createElement(
      'div',
      { className: 'actions' },
      withIcon(
        'replay',
        createButton(t('player.replay'), () => target.replay()),
      ),
      ...(target.canShare
        ? [
            withIcon(
              'share',
              createButton(t('player.share'), () => target.share()),
            ),
          ]
        : []),
    );
    this.#element.replaceChildren(
      ...(target.next === undefined ? [] : [this.#nextCard(target, texts)]),
      actions,
    );
    this.#element.hidden = false;
  }

  hide(): void {
    clearInterval(this.#timer);
    if (this.isShown) this.#element.hidden = true;
  }

  #nextCard({ next, playNext }: EndScreenTarget, { t }: PlayerTexts): HTMLElement {
    const title = createElement('p', { className: 'next-title', text: next?.title ?? '' });
    const heading = createElement('p', { className: 'next-heading', text: t('player.upNext') });
    const cancel = createButton(t('player.cancel'), () => {
      clearInterval(this.#timer);
      heading.textContent = t('player.upNext');
      cancel.remove();
    });
    const play = createButton(t('player.playNow'), playNext);
    play.classList.add('is-primary');
    let left = countdownSeconds;
    const tell = () => {
      heading.textContent = t('player.upNextIn', { seconds: left });
    };
    tell();
    this.#timer = setInterval(() => {
      left -= 1;
      if (left > 0) {
        tell();
        return;
      }
      clearInterval(this.#timer);
      playNext();
    }, 1000);
    const poster = next?.poster === undefined ? [] : [createElement('img', { src: next.poster, alt: '' })];
    return createElement(
      'div',
      { className: 'next-card' },
      ...poster,
      createElement('div', {}, heading, title, createElement('div', { className: 'actions' }, play, cancel)),
    );
  }
}

function withIcon(name: 'replay' | 'share', button: HTMLButtonElement): HTMLButtonElement {
  button.insertAdjacentHTML('afterbegin', trustedHtml(icon(name)));
  return button;
}
