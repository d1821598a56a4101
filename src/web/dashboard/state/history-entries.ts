import { withoutBasePath } from '../../shared/base-path.ts';
import { readStored, writeStored } from './local-storage.ts';

interface Entry {
  readonly url: string;
  readonly scrollY: number;
}

const maxEntries = 50;
const storageName = 'entries';

/** Entries of the history of this tab, by their number in it. */
const entries = new Map<number, Entry>(storedEntries());
let current = numberInHistory() ?? 0;
let isRestoring = false;

/** Remembers how far each page of the history is scrolled. The browser would restore it before the page has its content. */
export function watchScroll(): void {
  history.scrollRestoration = 'manual';
  addEventListener('scroll', remember, { passive: true });
  addEventListener('pagehide', () => {
    remember();
    writeStored(storageName, JSON.stringify([...entries].slice(-maxEntries)), 'tab');
  });
}

/** Numbers the entry of the page that is shown now. @param isNew true after a link */
export function enterPage(isNew: boolean): void {
  const known = numberInHistory();
  if (known !== undefined) current = known;
  else {
    if (isNew) {
      current += 1;
      // A new page ends what was ahead of it.
      for (const number of entries.keys()) if (number >= current) entries.delete(number);
    }
    history.replaceState({ entry: current }, '');
  }
  const url = withoutBasePath(location.pathname) + location.search;
  entries.set(current, { url, scrollY: entries.get(current)?.scrollY ?? 0 });
}

/** Returns how far the page that is shown now was scrolled before. */
export function scrollOfPage(): number {
  return entries.get(current)?.scrollY ?? 0;
}

/** Returns how many steps back a page was shown last: with its filters, and where it was scrolled. */
export function stepsBackTo(path: string): number | undefined {
  for (let number = current - 1; ; number -= 1) {
    const entry = entries.get(number);
    if (entry === undefined) return undefined;
    if (entry.url.split('?')[0] === path) return current - number;
  }
}

const waitedMs = 10_000;
const ownGestures = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;

/** Scrolls when the content is there, unless the reader is faster. Returns a function that gives up. */
export function scrollWhenLoaded(scroll: () => boolean): () => void {
  isRestoring = true;
  const observer = new ResizeObserver(() => {
    if (scroll()) end();
  });
  const end = () => {
    isRestoring = false;
    observer.disconnect();
    clearTimeout(timer);
    for (const gesture of ownGestures) removeEventListener(gesture, end, true);
  };
  const timer = setTimeout(end, waitedMs);
  for (const gesture of ownGestures) addEventListener(gesture, end, { capture: true, passive: true });
  observer.observe(document.body);
  return end;
}

function remember(): void {
  const entry = entries.get(current);
  if (isRestoring || entry === undefined || numberInHistory() !== current) return;
  entries.set(current, { ...entry, scrollY: Math.round(scrollY) });
}

function numberInHistory(): number | undefined {
  const { entry } = (history.state ?? {}) as { entry?: unknown };
  return typeof entry === 'number' ? entry : undefined;
}

function storedEntries(): [number, Entry][] {
  try {
    return JSON.parse(readStored(storageName, 'tab') ?? '[]') as [number, Entry][];
  } catch {
    return [];
  }
}
