import { pageElement } from './page-elements.ts';

const clickMs = 700;
/** The maximum width that the style sheet has, too. */
const maxWidthPx = 340;

export interface MenuItem {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly isChosen?: boolean;
  readonly opens?: () => MenuPage;
  readonly choose?: () => void;
}

export interface MenuPage {
  readonly title: string;
  readonly items: readonly MenuItem[];
  readonly back?: () => MenuPage;
}

export class PopupMenu {
  readonly #element = pageElement('menu', HTMLElement);
  readonly #onToggle: (isOpen: boolean) => void;
  #opener: HTMLElement | undefined;
  #page: (() => MenuPage) | undefined;
  #dismissedAtMs = Number.NEGATIVE_INFINITY;

  constructor(onToggle: (isOpen: boolean) => void) {
    this.#onToggle = onToggle;
    this.#element.addEventListener('keydown', event => this.#onKey(event));
    document.addEventListener('pointerdown', event => {
      if (!this.isOpen || !(event.target instanceof Node)) return;
      const isInside = this.#element.contains(event.target) || this.#opener?.contains(event.target) === true;
      if (isInside) return;
      this.#dismissedAtMs = performance.now();
      this.close();
    });
    this.#element.addEventListener('focusout', event => {
      const to = event.relatedTarget;
      if (to instanceof Node && !this.#element.contains(to) && to !== this.#opener) this.close();
    });
  }

  get isOpen(): boolean {
    return this.#opener !== undefined;
  }

  /** The click that follows has closed the menu and does nothing else. */
  get wasJustDismissed(): boolean {
    return performance.now() - this.#dismissedAtMs < clickMs;
  }

  toggle(opener: HTMLElement, page: () => MenuPage): void {
    const isSame = this.#opener === opener;
    this.close();
    if (isSame) return;
    this.#opener = opener;
    opener.setAttribute('aria-expanded', 'true');
    this.#element.hidden = false;
    this.#position(opener);
    this.#show(page);
    this.#onToggle(true);
  }

  close(): void {
    const opener = this.#opener;
    if (opener === undefined) return;
    const hadFocus = this.#element.contains(document.activeElement);
    this.#opener = undefined;
    this.#page = undefined;
    opener.setAttribute('aria-expanded', 'false');
    this.#element.hidden = true;
    this.#element.replaceChildren();
    if (hadFocus) opener.focus({ preventScroll: true });
    this.#onToggle(false);
  }

  refresh(): void {
    if (this.#page === undefined) return;
    const items = this.#items();
    const focused = items.indexOf(document.activeElement as HTMLElement);
    const { scrollTop } = this.#element;
    this.#render(this.#page());
    this.#element.scrollTop = scrollTop;
    const again = this.#items();
    if (focused !== -1) again[Math.min(focused, again.length - 1)]?.focus({ preventScroll: true });
  }

  #position(opener: HTMLElement): void {
    const { left, width } = this.#element.parentElement!.getBoundingClientRect();
    const atPx = opener.getBoundingClientRect().left - left;
    const isLeft = atPx + maxWidthPx <= width && atPx < width / 2;
    this.#element.style.left = isLeft ? `${atPx}px` : '';
    this.#element.style.right = isLeft ? 'auto' : '';
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
    this.#element.setAttribute('aria-label', page.title);
    const lines: HTMLElement[] = [];
    if (page.back !== undefined) {
      const { back } = page;
      const line = this.#line('menuitem', page.title, undefined, () => this.#show(back));
      line.classList.add('is-back');
      line.setAttribute('aria-label', `Back from ${page.title}`);
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

  #itemLine({ label, hint, isChosen, opens, choose }: MenuItem): HTMLElement {
    const role = isChosen === undefined ? 'menuitem' : 'menuitemradio';
    const line = this.#line(role, label, hint, () => {
      if (opens !== undefined) this.#show(opens);
      else {
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

  #onKey(event: KeyboardEvent): void {
    // Keeps the keys from the player.
    event.stopPropagation();
    const items = this.#items();
    const at = items.indexOf(document.activeElement as HTMLElement);
    const move = (to: number) => items[(to + items.length) % items.length]?.focus();
    const isAtPage = items[at]?.classList.contains('is-more') === true;
    const back = this.#page?.().back;
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
      case 'ArrowRight':
        if (isAtPage) items[at]!.click();
        break;
      case 'ArrowLeft':
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
