import type { PlayerTexts } from '../../i18n/player.ts';

export interface MenuItem {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isChosen?: boolean;
  /** The menu stays open: the choice can be seen behind it. */
  readonly isTrial?: boolean;
  readonly opens?: () => MenuPage;
  readonly choose?: () => void;
}

export interface MenuPage {
  readonly title: string;
  readonly items: readonly MenuItem[];
  readonly back?: () => MenuPage;
}

interface MenuOptions {
  readonly element: HTMLElement;
  readonly texts: () => PlayerTexts;
  readonly onToggle: () => void;
}

const clickMs = 700;

/** A menu with pages, above the button that opened it. */
export class Menu {
  readonly #element: HTMLElement;
  readonly #options: MenuOptions;
  #opener: HTMLElement | undefined;
  #page: (() => MenuPage) | undefined;
  #dismissedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: MenuOptions) {
    this.#options = options;
    this.#element = options.element;
    this.#element.addEventListener('keydown', event => this.#onKey(event));
    this.#element.addEventListener('focusout', ({ relatedTarget: to }) => {
      if (to instanceof Node && !this.#element.contains(to) && to !== this.#opener) this.close();
    });
  }

  /** Closes the menu for a press outside of it, anywhere on the page. */
  dismiss(event: Event): void {
    const path = event.composedPath();
    if (!this.isOpen || path.includes(this.#element) || path.includes(this.#opener!)) return;
    this.#dismissedAtMs = performance.now();
    this.close();
  }

  get isOpen(): boolean {
    return this.#opener !== undefined;
  }

  /** True once for the click that has closed the menu, and does nothing else. */
  takeDismissal(): boolean {
    const hasDismissed = performance.now() - this.#dismissedAtMs < clickMs;
    this.#dismissedAtMs = Number.NEGATIVE_INFINITY;
    return hasDismissed;
  }

  toggle(opener: HTMLElement, page: () => MenuPage): void {
    const isSame = this.#opener === opener;
    this.close();
    if (isSame) return;
    this.#opener = opener;
    opener.setAttribute('aria-expanded', 'true');
    this.#element.hidden = false;
    this.#show(page);
    this.#position(opener);
    this.#options.onToggle();
  }

  close(): void {
    const opener = this.#opener;
    if (opener === undefined) return;
    const hadFocus = this.#focused() !== undefined;
    this.#opener = undefined;
    this.#page = undefined;
    opener.setAttribute('aria-expanded', 'false');
    this.#element.hidden = true;
    this.#element.replaceChildren();
    if (hadFocus) opener.focus({ preventScroll: true });
    this.#options.onToggle();
  }

  refresh(): void {
    if (this.#page === undefined) return;
    const items = this.#items();
    const focused = items.indexOf(this.#focused()!);
    const { scrollTop } = this.#element;
    this.#render(this.#page());
    this.#element.scrollTop = scrollTop;
    const again = this.#items();
    if (focused !== -1) again[Math.min(focused, again.length - 1)]?.focus({ preventScroll: true });
  }

  #position(opener: HTMLElement): void {
    const frame = this.#element.parentElement!.getBoundingClientRect();
    const at = opener.getBoundingClientRect();
    const width = this.#element.offsetWidth;
    const middlePx = at.left + at.width / 2 - frame.left - width / 2;
    const leftPx = Math.max(0, Math.min(middlePx, frame.width - width));
    this.#element.style.right = `${frame.width - width - leftPx}px`;
  }

  #show(page: () => MenuPage): void {
    this.#page = page;
    this.#render(page());
    const chosen = this.#element.querySelector<HTMLElement>('[aria-checked="true"]');
    const first = chosen ?? this.#items()[0];
    first?.focus({ preventScroll: true });
    first?.scrollIntoView({ block: 'nearest' });
  }

  #render(page: MenuPage): void {
    const { t, direction } = this.#options.texts();
    this.#element.setAttribute('aria-label', page.title);
    this.#element.dir = direction;
    const lines: HTMLElement[] = [];
    if (page.back !== undefined) {
      const { back } = page;
      const line = this.#line('menuitem', page.title, undefined, () => this.#show(back));
      line.classList.add('is-back');
      line.setAttribute('aria-label', t('player.backFrom', { menu: page.title }));
      lines.push(line);
    } else if (page.items.every(({ opens }) => opens === undefined)) {
      const title = document.createElement('p');
      title.className = 'menu-title';
      title.setAttribute('role', 'presentation');
      title.textContent = page.title;
      lines.push(title);
    }
    for (const item of page.items) lines.push(this.#itemLine(item));
    this.#element.replaceChildren(...lines);
  }

  #itemLine({ label, hint, isChosen, isTrial, opens, choose }: MenuItem): HTMLElement {
    const role = isChosen === undefined ? 'menuitem' : 'menuitemradio';
    const line = this.#line(role, label, hint, () => {
      if (opens !== undefined) this.#show(opens);
      else if (isTrial) {
        choose?.();
        this.refresh();
      } else {
        this.close();
        choose?.();
      }
    });
    if (isChosen !== undefined) line.setAttribute('aria-checked', String(isChosen));
    if (opens !== undefined) {
      line.setAttribute('aria-haspopup', 'menu');
      line.classList.add('is-more');
    }
    return line;
  }

  #line(role: string, label: string, hint: string | undefined, onClick: () => void): HTMLButtonElement {
    const line = document.createElement('button');
    line.type = 'button';
    line.className = 'menu-item';
    line.setAttribute('role', role);
    line.tabIndex = -1;
    const text = document.createElement('span');
    text.textContent = label;
    line.append(text);
    if (hint !== undefined) {
      const quiet = document.createElement('span');
      quiet.className = 'menu-hint';
      quiet.textContent = hint;
      line.append(quiet);
    }
    line.addEventListener('click', onClick);
    return line;
  }

  #items(): HTMLElement[] {
    return [...this.#element.querySelectorAll<HTMLElement>('.menu-item')];
  }

  #focused(): HTMLElement | undefined {
    return this.#element.querySelector<HTMLElement>(':focus') ?? undefined;
  }

  #onKey(event: KeyboardEvent): void {
    // Keeps the keys from the player.
    event.stopPropagation();
    const items = this.#items();
    const at = items.indexOf(this.#focused()!);
    const move = (to: number) => items[(to + items.length) % items.length]?.focus();
    const isAtPage = items[at]?.classList.contains('is-more') === true;
    const back = this.#page?.().back;
    const isRtl = this.#element.dir === 'rtl';
    switch (event.key) {
      case 'ArrowDown':
        move(at + 1);
        break;
      case 'ArrowUp':
        move(at - 1);
        break;
      case 'Home':
        move(0);
        break;
      case 'End':
        move(-1);
        break;
      case isRtl ? 'ArrowLeft' : 'ArrowRight':
        if (isAtPage) items[at]!.click();
        break;
      case isRtl ? 'ArrowRight' : 'ArrowLeft':
        if (back !== undefined) this.#show(back);
        break;
      case 'Escape':
        this.close();
        break;
      default:
        return;
    }
    event.preventDefault();
  }
}
