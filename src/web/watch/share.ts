import { formatTime } from '../shared/time-text.ts';
import { icon, make } from './elements.ts';
import { t } from './texts.ts';

interface SharedPage {
  readonly title: string;
  /** Address of the page, without a token. */
  readonly url: string;
  readonly isLive: boolean;
  readonly width: number;
  readonly height: number;
  seconds(): number;
}

const copiedMs = 2_000;
const embedWidth = 640;

/** A button that opens a dialog with the link and the embed code of the page. */
export function shareButton(page: SharedPage): HTMLButtonElement {
  const button = make('button', { type: 'button', class: 'action' }, icon('share'), t('watch.share'));
  let dialog: HTMLDialogElement | undefined;
  button.addEventListener('click', () => {
    dialog?.remove();
    dialog = shareDialog(page);
    document.body.append(dialog);
    dialog.showModal();
  });
  return button;
}

function shareDialog(page: SharedPage): HTMLDialogElement {
  const seconds = Math.floor(page.seconds());
  const address = (isTimed: boolean) => (isTimed ? `${page.url}#t=${seconds}` : page.url);
  const link = make('input', { type: 'text', id: 'share-link', readonly: true, value: page.url });
  const code = make('textarea', { id: 'share-code', readonly: true, rows: '3' });
  code.value = embedCode(page, page.url);
  const isTimed = make('input', { type: 'checkbox' });
  isTimed.addEventListener('change', () => {
    link.value = address(isTimed.checked);
    code.value = embedCode(page, address(isTimed.checked));
  });
  const startAt =
    page.isLive || seconds === 0
      ? []
      : [make('label', { class: 'check' }, isTimed, t('watch.startAt', { time: formatTime(seconds) }))];
  const close = make(
    'button',
    { type: 'button', class: 'icon-button', 'aria-label': t('watch.close') },
    icon('close'),
  );
  const dialog = make(
    'dialog',
    { class: 'share', 'aria-labelledby': 'share-title' },
    make('div', { class: 'dialog-head' }, make('h2', { id: 'share-title' }, t('watch.share')), close),
    make('label', { for: 'share-link' }, t('watch.link')),
    make('div', { class: 'copy' }, link, copyButton(link)),
    ...startAt,
    make('label', { for: 'share-code' }, t('watch.embedCode')),
    make('div', { class: 'copy' }, code, copyButton(code)),
  );
  if ('share' in navigator) {
    const more = make('button', { type: 'button', class: 'action' }, t('watch.moreWays'));
    more.addEventListener('click', () => {
      // Rejected when the viewer cancels.
      navigator.share({ title: page.title, url: link.value }).catch(() => {});
    });
    dialog.append(more);
  }
  close.addEventListener('click', () => dialog.close());
  dialog.addEventListener('click', event => {
    if (event.target === dialog) dialog.close();
  });
  return dialog;
}

function embedCode({ title, width, height }: SharedPage, url: string): string {
  const escaped = (text: string) => text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`);
  const frameHeight = Math.round((embedWidth * height) / width);
  return `<iframe src="${escaped(url)}" title="${escaped(title)}" width="${embedWidth}" height="${frameHeight}" frameborder="0" allow="autoplay; fullscreen; picture-in-picture" allowfullscreen></iframe>`;
}

function copyButton(field: HTMLInputElement | HTMLTextAreaElement): HTMLButtonElement {
  const button = make('button', { type: 'button', class: 'action' }, t('watch.copy'));
  button.addEventListener('click', async () => {
    field.select();
    try {
      await navigator.clipboard.writeText(field.value);
      button.textContent = t('watch.copied');
    } catch {
      // Pages without TLS have no clipboard.
      button.textContent = t('watch.copyFailed');
    }
    setTimeout(() => {
      button.textContent = t('watch.copy');
    }, copiedMs);
  });
  return button;
}
