import type { PlayerTexts } from '../../i18n/player.ts';
import { createElement } from './elements.ts';
import { icon } from './icons.ts';
import { trustedHtml } from './trusted-html.ts';

let dialogs = 0;

/** A dialog inside the player, so that fullscreen shows it. It is removed when it is closed. */
export function openDialog(
  root: ParentNode,
  { t, direction }: PlayerTexts,
  title: string,
  ...content: readonly Node[]
): HTMLDialogElement {
  dialogs += 1;
  const id = `dialog-title-${dialogs}`;
  const close = createElement('button', {
    className: 'icon-button',
    type: 'button',
    'aria-label': t('player.close'),
  });
  close.innerHTML = trustedHtml(icon('close'));
  const dialog = createElement(
    'dialog',
    { className: 'dialog', 'aria-labelledby': id, dir: direction },
    createElement('div', { className: 'dialog-head' }, createElement('h2', { id, text: title }), close),
    ...content,
  );
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', ({ target }) => {
    // The dialog has no padding, so only clicks beside it hit the element itself.
    if (target === dialog) dialog.close();
  });
  // Keeps the keys from the player.
  dialog.addEventListener('keydown', event => event.stopPropagation());
  dialog.addEventListener('close', () => dialog.remove());
  root.append(dialog);
  dialog.showModal();
  return dialog;
}
