interface Shortcut {
  readonly keys: readonly string[];
  readonly does: string;
}

function shortcuts(isLive: boolean): readonly Shortcut[] {
  return [
    { keys: ['Space', 'K'], does: 'Play or pause' },
    { keys: ['←', '→'], does: 'Back or forward 5 seconds' },
    { keys: ['J', 'L'], does: 'Back or forward 10 seconds' },
    isLive
      ? { keys: ['Home', 'End'], does: 'Go to the oldest moment, or to live' }
      : { keys: ['Home', 'End'], does: 'Go to the start or the end' },
    { keys: ['0', '…', '9'], does: 'Go to 0 % … 90 % of the seek bar' },
    { keys: [',', '.'], does: 'Previous or next frame' },
    { keys: ['<', '>'], does: 'Slower or faster' },
    { keys: ['↑', '↓'], does: 'Volume up or down' },
    { keys: ['M'], does: 'Mute or unmute' },
    { keys: ['C'], does: 'Captions on or off' },
    { keys: ['F'], does: 'Fullscreen' },
    { keys: ['P'], does: 'Picture in picture' },
    { keys: ['?'], does: 'Show this list' },
  ];
}

export class KeyHelp {
  readonly #root: HTMLElement;
  readonly #isLive: boolean;
  #dialog: HTMLDialogElement | undefined;

  /** The dialog is inside the player, so that fullscreen shows it. */
  constructor(root: HTMLElement, isLive: boolean) {
    this.#root = root;
    this.#isLive = isLive;
  }

  open(): void {
    this.#dialog ??= this.#createDialog();
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  #createDialog(): HTMLDialogElement {
    const dialog = document.createElement('dialog');
    dialog.id = 'key-help';
    dialog.className = 'key-help';
    dialog.setAttribute('aria-labelledby', 'key-help-title');
    const title = element('h2', 'Keyboard shortcuts');
    title.id = 'key-help-title';
    const close = element('button', '×');
    close.type = 'button';
    close.className = 'button';
    close.setAttribute('aria-label', 'Close');
    close.addEventListener('click', () => dialog.close());
    const head = document.createElement('div');
    head.className = 'key-help-head';
    head.append(title, close);
    const list = document.createElement('dl');
    list.append(...shortcuts(this.#isLive).map(listItem));
    dialog.append(head, list);
    dialog.addEventListener('click', ({ target }) => {
      // The dialog has no padding, so only clicks beside it hit the element itself.
      if (target === dialog) dialog.close();
    });
    dialog.addEventListener('keydown', ({ key }) => {
      if (key === '?') dialog.close();
    });
    this.#root.append(dialog);
    return dialog;
  }
}

function listItem({ keys, does }: Shortcut): HTMLElement {
  const item = document.createElement('div');
  const names = document.createElement('dt');
  names.append(...keys.map(key => (key === '…' ? element('span', key) : element('kbd', key))));
  item.append(names, element('dd', does));
  return item;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text: string,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
