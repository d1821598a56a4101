import type { PlayerTexts } from '../../i18n/player.ts';
import type { PlayerClip, PlayerMedia } from '../element/player-media.ts';
import { copyButton, createButton, createElement } from './elements.ts';

const problemKeys = {
  'too-many': 'player.clipTooMany',
  'too-soon': 'player.clipTooSoon',
  failed: 'player.clipFailed',
  unreachable: 'player.clipUnreachable',
} as const;

/** Shows how a clip is created, and its link. */
export class ClipCard {
  readonly #card: HTMLElement;
  readonly #opener: HTMLElement;
  #isCreating = false;

  constructor(card: HTMLElement, opener: HTMLElement) {
    this.#card = card;
    this.#opener = opener;
    card.addEventListener('keydown', event => {
      if (event.key !== 'Escape' || this.#isCreating) return;
      event.stopPropagation();
      this.#hide();
    });
  }

  async create(media: PlayerMedia, texts: PlayerTexts, lastSeconds: number): Promise<void> {
    const { clips } = media;
    if (this.#isCreating || clips === undefined) return;
    this.#isCreating = true;
    this.#card.hidden = false;
    this.#card.setAttribute('aria-label', texts.t('player.yourClip'));
    this.#show(texts.t('player.clipCreating'));
    const clip = await clips.create(lastSeconds);
    this.#isCreating = false;
    this.#showResult(clip, media, texts);
  }

  #showResult(clip: PlayerClip, media: PlayerMedia, { t }: PlayerTexts): void {
    const close = createButton(t('player.close'), () => this.#hide());
    if ('problem' in clip) {
      this.#show(t(problemKeys[clip.problem]), close);
    } else {
      const { url, isPrivate } = clip;
      const watch = createElement('a', {
        className: 'action is-primary',
        text: t('player.watch'),
        href: url,
        target: '_blank',
        rel: 'noopener',
      });
      watch.addEventListener('click', () => media.pause());
      const text = t(isPrivate ? 'player.clipReadyPrivate' : 'player.clipReady');
      const copy = copyButton(
        { copy: t('player.copyLink'), copied: t('player.copied') },
        () => url,
        () => this.#text(url),
      );
      copy.classList.remove('is-primary');
      this.#show(text, watch, copy, close);
    }
    // The button that opened the menu comes after the card: a keyboard would reach the card last.
    if (this.#opener.matches(':focus'))
      this.#card.querySelector<HTMLElement>('a, button')?.focus({ preventScroll: true });
  }

  #show(text: string, ...actions: readonly HTMLElement[]): void {
    const status = this.#card.querySelector('p') ?? createElement('p', { role: 'status' });
    status.textContent = text;
    this.#card.replaceChildren(status, createElement('div', { className: 'actions' }, ...actions));
  }

  #text(url: string): void {
    const status = this.#card.querySelector('p')!;
    status.textContent = url;
    getSelection()?.selectAllChildren(status);
  }

  #hide(): void {
    this.#card.hidden = true;
    this.#opener.focus({ preventScroll: true });
  }
}
