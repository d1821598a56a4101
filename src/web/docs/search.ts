import {
  type DocsEntry,
  docsExcerpt,
  findDocs,
  type IndexedDocs,
  loadDocsIndex,
} from '../shared/docs-search.ts';

const maxResults = 12;

/** Finds parts of pages while somebody types. The index is loaded when the field is first used. */
export function addSearch(): void {
  const form = document.querySelector<HTMLElement>('#search')!;
  const input = document.querySelector<HTMLInputElement>('#query')!;
  const panel = document.querySelector<HTMLElement>('#results')!;
  const status = panel.querySelector('p')!;
  const list = panel.querySelector('ul')!;
  form.hidden = false;
  let loading: Promise<readonly IndexedDocs[]> | undefined;
  let shown = '';

  const search = async () => {
    const query = input.value.trim();
    shown = query;
    panel.hidden = query === '';
    if (query === '') return;
    loading ??= loadDocsIndex([form.dataset.guides!, form.dataset.reference!]);
    try {
      const found = findDocs(await loading, query, maxResults, false);
      if (shown !== query) return;
      const { base = '', ending = '' } = form.dataset;
      list.replaceChildren(...found.map(entry => resultItem(entry, base, ending, query)));
      status.textContent = found.length === 0 ? `Nothing found for “${query}”.` : '';
    } catch {
      loading = undefined;
      status.textContent = 'The search could not be loaded. Try again.';
    }
  };
  const close = () => {
    panel.hidden = true;
    shown = '';
  };
  const move = (by: number) => {
    const stops = [input, ...list.querySelectorAll<HTMLElement>('a')];
    const at = stops.indexOf(document.activeElement as HTMLInputElement);
    stops[(at + by + stops.length) % stops.length]?.focus();
  };
  input.addEventListener('input', () => void search());
  input.addEventListener('focus', () => void search());
  form.addEventListener('keydown', event => {
    if (event.isComposing) return;
    if (event.key === 'Escape') {
      input.focus();
      close();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter' && document.activeElement === input && !panel.hidden) {
      list.querySelector('a')?.click();
    }
  });
  list.addEventListener('click', close);
  addEventListener('click', ({ target }) => {
    if (target instanceof Node && !form.contains(target)) close();
  });
  addEventListener('keydown', event => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
    const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!isSlash && !(event.key === 'k' && (event.ctrlKey || event.metaKey))) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function resultItem(entry: DocsEntry, base: string, ending: string, query: string): HTMLLIElement {
  const link = document.createElement('a');
  link.href = `${base}${entry.page}${ending}${entry.anchor === '' ? '' : `#${entry.anchor}`}`;
  const heading = document.createElement('strong');
  heading.textContent = entry.heading;
  const page = document.createElement('small');
  page.textContent = entry.title;
  const excerpt = document.createElement('span');
  excerpt.textContent = docsExcerpt(entry.text, query);
  link.append(heading, page, excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}
