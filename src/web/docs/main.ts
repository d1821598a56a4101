import { withBasePath } from '../shared/base-path.ts';
import { addExampleTabs } from './examples.ts';
import { addSearch } from './search.ts';

/** Parts of the guide that was one page. */
const oldChapters: Readonly<Record<string, string>> = {
  '#keys': 'api#keys-and-tokens',
  '#video': 'start',
  '#stream': 'start',
  '#webhooks': 'webhooks',
  '#errors': 'api#errors',
  '#lists': 'api#lists',
  '#limits': 'api#limits',
  '#clients': 'api',
  '#reference': 'reference',
};

followOldLinks();
addMenu();
addThemeButton();
addExampleTabs();
addCopyButtons(document);
addSearch();
if (document.querySelector('#caller') !== null) {
  const { addCallerToPage } = await import('./caller-page.ts');
  addCallerToPage();
}

/** Links to operations were `/docs#/Videos/get-videos` once, and those to the guide `/docs#webhooks`. */
function followOldLinks(): void {
  if (document.querySelector('main.overview') === null) return;
  const [, tag, operation] = /^#\/([^/]+)(?:\/(.+))?$/.exec(location.hash) ?? [];
  if (tag !== undefined) {
    const page = decodeURIComponent(tag).toLowerCase().replaceAll(/[ _]/g, '-');
    location.replace(
      withBasePath(`/docs/reference/${page}${operation === undefined ? '' : `#${operation}`}`),
    );
    return;
  }
  const page = oldChapters[location.hash];
  if (page !== undefined) location.replace(withBasePath(`/docs/${page}`));
}

/** On narrow screens, a button shows the pages. */
function addMenu(): void {
  const button = document.querySelector<HTMLButtonElement>('#menu')!;
  const root = document.documentElement;
  root.classList.add('has-menu');
  button.hidden = false;
  const show = (isOpen: boolean) => {
    root.classList.toggle('menu-open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => show(button.ariaExpanded !== 'true'));
  document.querySelector('#side')!.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') !== null) show(false);
  });
  addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || button.ariaExpanded !== 'true') return;
    show(false);
    button.focus();
  });
  document.querySelector('#side [aria-current]')?.scrollIntoView({ block: 'nearest' });
}

/** The dashboard has the same choice. */
function addThemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>('#theme')!;
  const root = document.documentElement;
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme === undefined ? system.matches : root.dataset.theme === 'dark');
  const show = () => button.setAttribute('aria-pressed', String(isDark()));
  button.hidden = false;
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    show();
    try {
      localStorage.setItem('millrace.theme', root.dataset.theme);
    } catch {
      // The choice is lost with the page.
    }
  });
  system.addEventListener('change', show);
  show();
}

function addCopyButtons(within: ParentNode): void {
  // Only pages of HTTPS and of this machine may write to the clipboard.
  if (!isSecureContext) return;
  for (const block of within.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(block.querySelector('pre:not([hidden]) code')!.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 2000);
    });
    block.append(button);
  }
}
