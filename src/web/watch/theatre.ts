import { icon, make } from './elements.ts';
import { t } from './texts.ts';

const settingKey = 'millrace.theatre';

/** A button that gives the player the width of the window, where there is room for a column beside it. */
export function theatreButton(page: HTMLElement): HTMLButtonElement {
  const button = make(
    'button',
    { type: 'button', class: 'action theatre-action' },
    icon('theatre'),
    t('watch.theatre'),
  );
  const show = (isTheatre: boolean) => {
    page.classList.toggle('is-theatre', isTheatre);
    button.setAttribute('aria-pressed', String(isTheatre));
  };
  const toggle = () => {
    const isTheatre = !page.classList.contains('is-theatre');
    show(isTheatre);
    try {
      localStorage.setItem(settingKey, String(isTheatre));
    } catch {
      // Not remembered without storage.
    }
  };
  button.addEventListener('click', toggle);
  addEventListener('keydown', event => {
    if (event.key !== 't' || event.ctrlKey || event.metaKey || event.altKey) return;
    const [target] = event.composedPath();
    if (target instanceof Element && target.closest('input, textarea, select, dialog') !== null) return;
    toggle();
  });
  try {
    show(localStorage.getItem(settingKey) === 'true');
  } catch {
    show(false);
  }
  return button;
}
