/** A part of a page, as the build and the server write it. */
interface SearchEntry {
  /** Address below `/docs/`. */
  readonly page: string;
  readonly title: string;
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

interface Indexed {
  readonly entry: SearchEntry;
  readonly title: string;
  readonly heading: string;
  readonly text: string;
}

const maxResults = 12;
const maxWords = 8;
/** Characters of a text around the word that was found. */
const excerptLength = 140;

/** Finds parts of pages while somebody types. The index is loaded when the field is first used. */
export function addSearch(): void {
  const form = document.querySelector<HTMLElement>('#search')!;
  const input = document.querySelector<HTMLInputElement>('#query')!;
  const panel = document.querySelector<HTMLElement>('#results')!;
  const status = panel.querySelector('p')!;
  const list = panel.querySelector('ul')!;
  form.hidden = false;
  let loading: Promise<readonly Indexed[]> | undefined;
  let shown = '';

  const search = async () => {
    const query = input.value.trim();
    shown = query;
    panel.hidden = query === '';
    if (query === '') return;
    loading ??= loadIndex([form.dataset.guides!, form.dataset.reference!]);
    try {
      const found = findEntries(await loading, query);
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
    if (event.key === 'Escape') {
      input.focus();
      close();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Enter' && document.activeElement === input) {
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

async function loadIndex(addresses: readonly string[]): Promise<readonly Indexed[]> {
  const lists = await Promise.all(
    addresses.map(async address => {
      const response = await fetch(address);
      if (!response.ok) throw new Error(`status ${response.status}`);
      return (await response.json()) as SearchEntry[];
    }),
  );
  return lists.flat().map(entry => ({
    entry,
    title: plain(entry.title),
    heading: plain(entry.heading),
    text: plain(entry.text),
  }));
}

/** Returns the entries that have a word for each word of the query, best first. */
function findEntries(index: readonly Indexed[], query: string): readonly SearchEntry[] {
  const words = plain(query).split(/\s+/).slice(0, maxWords);
  return index
    .map(one => ({ entry: one.entry, score: weightOf(one.entry) * scoreOf(one, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, maxResults)
    .map(({ entry }) => entry);
}

/** Guides come before operations. */
function weightOf({ page }: SearchEntry): number {
  return page.startsWith('reference/') ? 0.6 : 1;
}

/** Words in headings count more than those in texts, and whole words more than beginnings. 0 when one is missing. */
function scoreOf({ title, heading, text }: Indexed, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const found = 10 * matchOf(heading, word) + 3 * matchOf(title, word) + matchOf(text, word);
    if (found === 0) return 0;
    score += found;
  }
  return score;
}

function matchOf(text: string, word: string): number {
  const at = text.indexOf(word);
  if (at === -1) return 0;
  const isLetter = (character: string | undefined) =>
    character !== undefined && /[\p{L}\p{N}]/u.test(character);
  if (isLetter(text[at - 1])) return 1;
  return isLetter(text[at + word.length]) ? 2 : 3;
}

/** Case and accents do not matter. */
function plain(text: string): string {
  return text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();
}

function resultItem(entry: SearchEntry, base: string, ending: string, query: string): HTMLLIElement {
  const link = document.createElement('a');
  link.href = `${base}${entry.page}${ending}${entry.anchor === '' ? '' : `#${entry.anchor}`}`;
  const heading = document.createElement('strong');
  heading.textContent = entry.heading;
  const page = document.createElement('small');
  page.textContent = entry.title;
  const excerpt = document.createElement('span');
  excerpt.textContent = excerptOf(entry.text, plain(query).split(/\s+/)[0]!);
  link.append(heading, page, excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function excerptOf(text: string, word: string): string {
  const at = Math.max(0, plain(text).indexOf(word) - excerptLength / 3);
  const start = at === 0 ? 0 : text.indexOf(' ', at) + 1;
  const excerpt = text.slice(start, start + excerptLength);
  return `${start === 0 ? '' : '… '}${excerpt}${start + excerptLength < text.length ? ' …' : ''}`;
}
